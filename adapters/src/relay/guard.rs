//! Is a piece of work still meant, by the row as it is right before the call?

use lifecycle_core::{Effect, Policy, Status, Timestamp, Volume};

use crate::{outbox::Enqueue, row::Row};

/// What a guard says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The work is still meant.
    Go,
    /// It is not, and will not be: nothing is called.
    Cancel(&'static str),
    /// It may not be done yet.
    Wait(&'static str),
}

/// Checks work against its machine's row. `now` is the store's time, `host_now` the host's own.
pub(super) fn check(
    work: &Enqueue,
    row: &Row,
    policy: &Policy<'_>,
    now: Timestamp,
    host_now: Timestamp,
) -> Verdict {
    let machine = row.facts.machine();
    let is_current = work.key.generation == machine.generation;
    let is_older = work.key.generation < machine.generation;
    let same_quarantine = work.quarantine_id == machine.quarantine.map(|stamp| stamp.id);
    match work.key.effect {
        Effect::StopCompute => match (is_current && same_quarantine, machine.status) {
            (true, Status::Quarantined) => Verdict::Go,
            (_, _) => Verdict::Cancel("no longer in this quarantine"),
        },
        Effect::DestroyCompute => match machine.status {
            // Nothing tells it apart from the machine that lives now.
            _ if is_older && is_same_machine(work, row) => {
                Verdict::Cancel("the provider's id is the present machine's")
            }
            _ if is_older => Verdict::Go,
            Status::Destroying | Status::Destroyed | Status::Failed if is_current => Verdict::Go,
            Status::Provisioning
            | Status::Running
            | Status::Paused
            | Status::Quarantined
            | Status::Destroying
            | Status::Destroyed
            | Status::Failed => Verdict::Cancel("the machine is not to be destroyed"),
        },
        Effect::DestroyVolume => {
            if !is_current || !same_quarantine || !matches!(machine.status, Status::Destroying) {
                return Verdict::Cancel("the volume is not to be destroyed");
            }
            if !matches!(machine.volume, Volume::Owned) {
                return Verdict::Cancel("the volume is not this machine's alone, or gone already");
            }
            match machine.quarantine {
                Some(stamp)
                    if !policy.has_passed(stamp.destroy_at, now)
                        || !policy.has_passed(stamp.destroy_at, host_now) =>
                {
                    Verdict::Wait("the grace is not over by every clock")
                }
                Some(_) | None => Verdict::Go,
            }
        }
        Effect::RevokeCredentials | Effect::HoldCompute | Effect::ReleaseCompute => Verdict::Go,
        Effect::RecordRunning
        | Effect::RecordPaused
        | Effect::RecordQuarantined
        | Effect::RecordDestroying
        | Effect::RecordDestroyed
        | Effect::RecordFailed
        | Effect::RecordComputeLost
        | Effect::RecordOrphan => Verdict::Cancel("a fact of the ledger is not delivered"),
    }
}

/// Tells whether work of an older incarnation names the machine of the present one: the same id, and no
/// two markers that differ.
fn is_same_machine(work: &Enqueue, row: &Row) -> bool {
    let own = row.facts.machine().marker;
    let is_told_apart =
        matches!((work.marker.as_deref(), own), (Some(old), Some(own)) if old != own);
    work.provider_id.is_some() && work.provider_id == row.provider_id && !is_told_apart
}
