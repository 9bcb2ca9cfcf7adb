//! How is work queued, claimed and settled?

use core::time::Duration;

use lifecycle_core::{Effect, Timestamp};

use super::state::{State, as_usize};
use crate::{
    id::MachineId,
    outbox::{
        Claimed, Enqueue, OutboxRow, Settlement, WorkKey, WorkState, claims_row,
        waits_for_destroy_compute,
    },
    row::Claim,
};

/// A piece of work with the claim that it is under.
#[derive(Debug)]
pub(super) struct Work {
    row: OutboxRow,
    /// Set exactly while it is claimed.
    lease: Option<Lease>,
}

#[derive(Debug)]
struct Lease {
    token: String,
    until: Timestamp,
}

impl Work {
    pub(super) fn new(work: &Enqueue, state: WorkState, now: Timestamp) -> Self {
        Self {
            row: OutboxRow {
                work: work.clone(),
                state,
                is_dirty: false,
                attempts: 0,
                due_at: now,
                note: None,
                accepted_at: None,
            },
            lease: None,
        }
    }

    pub(super) const fn key(&self) -> &WorkKey {
        &self.row.work.key
    }

    /// Makes the work pending as though it had just been queued.
    fn begin_anew(&mut self, now: Timestamp) {
        *self = Self::new(&self.row.work, WorkState::Pending, now);
    }

    /// Ends the claim in this state.
    fn end(&mut self, state: WorkState, note: Option<String>) {
        self.row.state = state;
        self.row.note = note;
        self.lease = None;
    }

    /// Returns when it may be claimed; none where it need not be.
    fn claimable_at(&self) -> Option<Timestamp> {
        match self.row.state {
            WorkState::Pending => Some(self.row.due_at),
            WorkState::Claimed => self.lease.as_ref().map(|lease| lease.until),
            WorkState::Done | WorkState::Cancelled | WorkState::Dead | WorkState::Dropped => None,
        }
    }
}

impl State {
    /// Queues work by its key, as [`Store::commit`](crate::store::Store::commit) says.
    pub(super) fn queue(&mut self, work: &Enqueue, now: Timestamp) {
        // The commit happens now; a decision may have been made some time before, and credentials
        // that were minted in between are to be revoked by it as well.
        let work = Enqueue {
            committed_at: now,
            ..work.clone()
        };
        let Some(known) = self.found(&work.key) else {
            let works = self.outbox.entry(work.key.machine.clone()).or_default();
            works.push(Work::new(&work, WorkState::Pending, now));
            return;
        };
        match known.row.state {
            // What the provider accepted meanwhile stays true of what is still being delivered.
            WorkState::Pending | WorkState::Claimed => {
                known.row.work = work;
                known.row.due_at = now;
                known.row.attempts = 0;
                known.row.note = None;
                known.row.is_dirty = matches!(known.row.state, WorkState::Claimed);
            }
            WorkState::Dead | WorkState::Cancelled | WorkState::Dropped => {
                *known = Work::new(&work, WorkState::Pending, now);
            }
            WorkState::Done => match work.key.effect {
                Effect::HoldCompute | Effect::ReleaseCompute => {}
                Effect::StopCompute
                | Effect::RevokeCredentials
                | Effect::DestroyCompute
                | Effect::DestroyVolume
                | Effect::RecordRunning
                | Effect::RecordPaused
                | Effect::RecordQuarantined
                | Effect::RecordDestroying
                | Effect::RecordDestroyed
                | Effect::RecordFailed
                | Effect::RecordComputeLost
                | Effect::RecordOrphan => *known = Work::new(&work, WorkState::Pending, now),
            },
        }
    }

    pub(super) fn claim(&mut self, limit: u32, lease: Duration, now: Timestamp) -> Vec<Claimed> {
        let until = now.saturating_add(lease);
        let mut claimed = Vec::new();
        for key in self.due(now) {
            if claimed.len() >= as_usize(limit) {
                break;
            }
            claimed.extend(self.claim_one(&key, until, now));
        }
        claimed
    }

    /// Claims one piece of due work; none where it must wait.
    fn claim_one(&mut self, key: &WorkKey, until: Timestamp, now: Timestamp) -> Option<Claimed> {
        if waits_for_destroy_compute(key.effect) && self.owes_destroy_compute(key) {
            return None;
        }
        let token = format!("claim-{}", self.claims.saturating_add(1));
        let machine = self.rows.get_mut(&key.machine)?;
        if claims_row(key.effect) {
            if machine.claim_at(now).is_some() {
                return None;
            }
            machine.claim = Some(Claim {
                effect: key.effect,
                until,
                token: token.clone(),
            });
            machine.revision = machine.revision.saturating_add(1);
        }
        let machine = machine.clone();
        self.claims = self.claims.saturating_add(1);
        let work = self.found(key)?;
        work.row.state = WorkState::Claimed;
        // What it says now is what will be delivered.
        work.row.is_dirty = false;
        work.lease = Some(Lease {
            token: token.clone(),
            until,
        });
        Some(Claimed {
            row: work.row.clone(),
            machine,
            token,
            until,
            now,
        })
    }

    pub(super) fn settle(
        &mut self,
        key: &WorkKey,
        token: &str,
        settlement: &Settlement,
        now: Timestamp,
    ) -> bool {
        let is_holder = |work: &&mut Work| {
            let lease = work.lease.as_ref();
            lease.is_some_and(|lease| lease.token == token)
        };
        let Some(work) = self.found(key).filter(is_holder) else {
            return false;
        };
        let is_dirty = work.row.is_dirty;
        match settlement {
            Settlement::Done => work.end(WorkState::Done, None),
            Settlement::Cancelled(why) => work.end(WorkState::Cancelled, Some(why.clone())),
            Settlement::Retry {
                after,
                note,
                accepted_at,
            } => {
                work.end(WorkState::Pending, Some(note.clone()));
                work.row.due_at = now.saturating_add(*after);
                work.row.attempts = work.row.attempts.saturating_add(1);
                work.row.accepted_at = accepted_at.or(work.row.accepted_at);
            }
            Settlement::Dead(error) => {
                work.end(WorkState::Dead, Some(error.clone()));
                work.row.attempts = work.row.attempts.saturating_add(1);
            }
            Settlement::Released => {
                work.end(WorkState::Pending, work.row.note.clone());
                work.row.due_at = now;
            }
        }
        if is_dirty {
            work.begin_anew(now);
        }
        self.take_claim_off(&key.machine, token);
        true
    }

    /// Takes a claim off its row; leaves one that another relay has made since.
    fn take_claim_off(&mut self, id: &MachineId, token: &str) {
        if let Some(row) = self.rows.get_mut(id)
            && row.claim.take_if(|claim| claim.token == token).is_some()
        {
            row.revision = row.revision.saturating_add(1);
        }
    }

    pub(super) fn work(&self, id: &MachineId) -> Vec<OutboxRow> {
        let works = self.outbox.get(id).into_iter().flatten();
        works.map(|work| work.row.clone()).collect()
    }

    pub(super) fn dead_letters(&self, limit: u32) -> Vec<OutboxRow> {
        let works = self.outbox.values().flatten().map(|work| &work.row);
        let mut dead: Vec<_> = works
            .filter(|row| matches!(row.state, WorkState::Dead))
            .cloned()
            .collect();
        dead.sort_by_key(|row| row.work.committed_at);
        dead.truncate(as_usize(limit));
        dead
    }

    pub(super) fn retry_dead(&mut self, key: &WorkKey, now: Timestamp) -> bool {
        let dead = self.found_dead(key);
        dead.map(|work| work.begin_anew(now)).is_some()
    }

    pub(super) fn drop_dead(&mut self, key: &WorkKey, reason: &str) -> bool {
        let dead = self.found_dead(key);
        dead.map(|work| work.end(WorkState::Dropped, Some(reason.to_owned())))
            .is_some()
    }

    pub(super) fn next_work_at(&self) -> Option<Timestamp> {
        let works = self.outbox.values().flatten();
        works.filter_map(Work::claimable_at).min()
    }

    fn found(&mut self, key: &WorkKey) -> Option<&mut Work> {
        let works = self.outbox.get_mut(&key.machine)?;
        works.iter_mut().find(|work| work.key() == key)
    }

    fn found_dead(&mut self, key: &WorkKey) -> Option<&mut Work> {
        self.found(key)
            .filter(|work| matches!(work.row.state, WorkState::Dead))
    }

    /// Returns the keys of what may be claimed, the longest due first.
    fn due(&self, now: Timestamp) -> Vec<WorkKey> {
        let works = self.outbox.values().flatten();
        let mut due: Vec<_> = works
            .filter_map(|work| Some((work.claimable_at().filter(|at| *at <= now)?, work.key())))
            .collect();
        due.sort_by_key(|(at, _)| *at);
        due.into_iter().map(|(_, key)| key.clone()).collect()
    }

    /// Tells whether compute is still to be destroyed that this work waits for.
    fn owes_destroy_compute(&self, key: &WorkKey) -> bool {
        let works = self.outbox.get(&key.machine).into_iter().flatten();
        works.map(|work| &work.row).any(|row| {
            matches!(row.work.key.effect, Effect::DestroyCompute)
                && (row.work.key.generation == key.generation
                    || matches!(key.effect, Effect::DestroyVolume))
                && row.state.is_owed()
        })
    }
}
