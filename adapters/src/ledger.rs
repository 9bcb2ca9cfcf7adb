//! Which facts are kept for good?

use lifecycle_core::{Effect, Rule, Source, Timestamp, Volume};

use crate::id::MachineId;

/// One fact of the ledger: append-only, written in the transaction of the commit that made it true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// The machine.
    pub machine: MachineId,
    /// The incarnation.
    pub generation: u64,
    /// The fact: one of the `record_*` effects.
    pub fact: Effect,
    /// Which one of its kind: 0 for what happens once in a generation, else the row's revision.
    pub occurrence: u64,
    /// When it was committed, by the store's clock.
    pub at: Timestamp,
    /// Which path noticed.
    pub source: Source,
    /// Which rule answered; none for facts taken over from an older system.
    pub rule: Option<Rule>,
    /// Whether the machine was ever seen at the provider.
    pub was_sighted: bool,
    /// The volume left behind.
    pub volume: Volume,
    /// The provider's id of that volume.
    pub volume_id: Option<String>,
}

/// Returns which occurrence of its kind a fact is: what a generation has once counts 0, the
/// repeatable rest is told apart by the revision that it made.
#[must_use]
pub const fn occurrence(fact: Effect, revision: u64) -> u64 {
    match fact {
        Effect::RecordDestroyed | Effect::RecordFailed | Effect::RecordOrphan => 0,
        Effect::RecordRunning
        | Effect::RecordPaused
        | Effect::RecordQuarantined
        | Effect::RecordDestroying
        | Effect::RecordComputeLost
        | Effect::StopCompute
        | Effect::HoldCompute
        | Effect::ReleaseCompute
        | Effect::RevokeCredentials
        | Effect::DestroyCompute
        | Effect::DestroyVolume => revision,
    }
}
