//! What would stores look like that break one promise each?

use core::time::Duration;
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use lifecycle_adapters::{
    id::MachineId,
    journal::Entry,
    ledger::Fact,
    outbox::{Claimed, Enqueue, OutboxRow, Settlement, WorkKey, WorkState},
    row::{NewMachine, Row},
    store::{
        Admission, Adopted, Change, Commit, KeptVolume, Loaded, Registered, RepairMode, Repaired,
        Store, StoreError,
    },
};
use lifecycle_core::{Effect, ScopeWindow, Timestamp};

/// Which promise is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// The revision is not compared.
    LostUpdate,
    /// Facts are written whether the commit is won or lost.
    LedgerOutsideTheTransaction,
    /// Work is queued whether the commit is won or lost.
    EffectsOfALostRace,
    /// Decisions are journalled whether the commit is won or lost.
    JournalOfLostCommits,
    /// Machines count as newly gone, whether the commit is won or lost.
    LostCommitsCount,
    /// A hold that was done is queued again.
    DoneHoldDoneAgain,
    /// Work that is there already is queued beside itself.
    OutboxDuplicate,
    /// Dirty work that was delivered is done.
    DirtyLost,
    /// Work is claimed again while its lease runs.
    LeaseIgnored,
    /// Work of a relay that went away stays with it.
    LeaseWithoutEnd,
    /// Whoever settles may.
    TokenNotChecked,
    /// Rows that are taken stay first.
    SweepWithoutRotation,
    /// A dry run mends.
    DryRunMends,
}

/// A store that keeps all promises but one.
#[derive(Debug)]
pub(crate) struct BrokenStore {
    inner: Arc<dyn Store>,
    flaw: Flaw,
    beside: Mutex<Beside>,
}

/// What the flaw adds to what the sound store has.
#[derive(Debug, Default)]
struct Beside {
    facts: Vec<Fact>,
    work: Vec<OutboxRow>,
    journal: Vec<Entry>,
    newly_gone: u64,
    claimed: Vec<Claimed>,
    first_due: Vec<MachineId>,
}

impl BrokenStore {
    pub(crate) fn new(inner: Arc<dyn Store>, flaw: Flaw) -> Self {
        Self {
            inner,
            flaw,
            beside: Mutex::default(),
        }
    }

    fn has(&self, flaw: Flaw) -> bool {
        self.flaw == flaw
    }

    fn beside(&self) -> MutexGuard<'_, Beside> {
        self.beside.lock().unwrap()
    }

    /// Keeps what a change should have left unwritten.
    fn write_beside(&self, change: &Change, commit: &Commit) {
        let is_lost = matches!(commit, Commit::Lost(_));
        let mut beside = self.beside();
        if is_lost && self.has(Flaw::LedgerOutsideTheTransaction) {
            beside.facts.extend(change.facts.iter().cloned());
        }
        if is_lost && self.has(Flaw::EffectsOfALostRace) {
            beside.work.extend(change.work.iter().map(pending));
        }
        if is_lost && self.has(Flaw::JournalOfLostCommits) {
            beside.journal.extend(change.journal.clone());
        }
        if is_lost && self.has(Flaw::LostCommitsCount) && change.newly_gone.is_some() {
            beside.newly_gone += 1;
        }
    }
}

#[async_trait]
impl Store for BrokenStore {
    async fn now(&self) -> Result<Timestamp, StoreError> {
        self.inner.now().await
    }

    async fn register(&self, new: &NewMachine) -> Result<Registered, StoreError> {
        self.inner.register(new).await
    }

    async fn load(&self, id: &MachineId) -> Result<Option<Loaded>, StoreError> {
        self.inner.load(id).await
    }

    async fn commit(&self, change: &Change) -> Result<Commit, StoreError> {
        let known = self.inner.work(&change.next.id).await?;
        let commit = match self.inner.commit(change).await? {
            Commit::Lost(Some(row)) if self.has(Flaw::LostUpdate) => {
                let next = Row {
                    revision: row.revision,
                    ..change.next.clone()
                };
                let change = Change {
                    next,
                    ..change.clone()
                };
                self.inner.commit(&change).await?
            }
            commit @ (Commit::Won(_) | Commit::Lost(_)) => commit,
        };
        self.write_beside(change, &commit);
        let queued_again = known
            .iter()
            .filter(|row| change.work.iter().any(|work| work.key == row.work.key))
            .filter(|row| {
                let is_done = matches!(row.state, WorkState::Done);
                let is_hold = matches!(row.work.key.effect, Effect::HoldCompute);
                let is_queued = matches!(row.state, WorkState::Pending | WorkState::Claimed);
                (self.has(Flaw::DoneHoldDoneAgain) && is_done && is_hold)
                    || (self.has(Flaw::OutboxDuplicate) && is_queued)
            })
            .map(|row| pending(&row.work));
        self.beside().work.extend(queued_again);
        Ok(commit)
    }

    async fn commit_many(&self, changes: &[Change]) -> Result<Vec<Commit>, StoreError> {
        let mut commits = Vec::new();
        for change in changes {
            commits.push(self.commit(change).await?);
        }
        Ok(commits)
    }

    async fn take_due(&self, scope: Option<&str>, limit: u32) -> Result<Vec<Loaded>, StoreError> {
        if !self.has(Flaw::SweepWithoutRotation) {
            return self.inner.take_due(scope, limit).await;
        }
        let first = self.beside().first_due.clone();
        let all = self.inner.take_due(scope, u32::MAX).await?;
        let mut due = Vec::new();
        for id in &first {
            due.extend(all.iter().filter(|one| one.row.id == *id).cloned());
        }
        due.extend(all.into_iter().filter(|one| !first.contains(&one.row.id)));
        self.beside().first_due = due.iter().map(|one| one.row.id.clone()).collect();
        due.truncate(usize::try_from(limit).unwrap());
        Ok(due)
    }

    async fn claim(&self, limit: u32, lease: Duration) -> Result<Vec<Claimed>, StoreError> {
        let lease = if self.has(Flaw::LeaseWithoutEnd) {
            Duration::MAX
        } else {
            lease
        };
        let mut claimed = self.inner.claim(limit, lease).await?;
        let held = self.beside().claimed.clone();
        self.beside().claimed.extend(claimed.iter().cloned());
        if self.has(Flaw::LeaseIgnored) {
            claimed.extend(held);
            claimed.truncate(usize::try_from(limit).unwrap());
        }
        Ok(claimed)
    }

    async fn settle(
        &self,
        key: &WorkKey,
        token: &str,
        settlement: &Settlement,
    ) -> Result<bool, StoreError> {
        let is_dirty = {
            let work = self.inner.work(&key.machine).await?;
            work.iter().any(|row| row.work.key == *key && row.is_dirty)
        };
        let mut is_settled = self.inner.settle(key, token, settlement).await?;
        if self.has(Flaw::DirtyLost) && is_settled && is_dirty {
            // Take it again from under everybody, and put it down as said.
            for claimed in self.inner.claim(u32::MAX, Duration::ZERO).await? {
                let settlement = if claimed.row.work.key == *key {
                    settlement
                } else {
                    &Settlement::Released
                };
                let key = &claimed.row.work.key;
                self.inner.settle(key, &claimed.token, settlement).await?;
            }
        }
        if self.has(Flaw::TokenNotChecked) && !is_settled {
            let held = self.beside().claimed.clone();
            for claimed in held.iter().filter(|one| one.row.work.key == *key) {
                is_settled |= self.inner.settle(key, &claimed.token, settlement).await?;
            }
        }
        self.beside()
            .claimed
            .retain(|one| !(is_settled && one.row.work.key == *key));
        Ok(is_settled)
    }

    async fn work(&self, id: &MachineId) -> Result<Vec<OutboxRow>, StoreError> {
        let mut work = self.inner.work(id).await?;
        let beside = self.beside().work.clone();
        work.extend(beside.into_iter().filter(|row| row.work.key.machine == *id));
        Ok(work)
    }

    async fn dead_letters(&self, limit: u32) -> Result<Vec<OutboxRow>, StoreError> {
        self.inner.dead_letters(limit).await
    }

    async fn retry_dead(&self, key: &WorkKey) -> Result<bool, StoreError> {
        self.inner.retry_dead(key).await
    }

    async fn drop_dead(&self, key: &WorkKey, reason: &str) -> Result<bool, StoreError> {
        self.inner.drop_dead(key, reason).await
    }

    async fn next_work_at(&self) -> Result<Option<Timestamp>, StoreError> {
        self.inner.next_work_at().await
    }

    async fn ledger(&self, id: &MachineId) -> Result<Vec<Fact>, StoreError> {
        let mut ledger = self.inner.ledger(id).await?;
        let beside = self.beside().facts.clone();
        ledger.extend(beside.into_iter().filter(|fact| fact.machine == *id));
        Ok(ledger)
    }

    async fn journal(&self, id: &MachineId) -> Result<Vec<Entry>, StoreError> {
        let mut journal = self.inner.journal(id).await?;
        let beside = self.beside().journal.clone();
        journal.extend(beside.into_iter().filter(|entry| entry.machine == *id));
        Ok(journal)
    }

    async fn kept_volumes(&self) -> Result<Vec<KeptVolume>, StoreError> {
        self.inner.kept_volumes().await
    }

    async fn scope_window(&self, scope: &str, window: Duration) -> Result<ScopeWindow, StoreError> {
        let sound = self.inner.scope_window(scope, window).await?;
        Ok(ScopeWindow {
            newly_gone: sound.newly_gone + self.beside().newly_gone,
            ..sound
        })
    }

    async fn release_scope(&self, scope: &str) -> Result<(), StoreError> {
        self.inner.release_scope(scope).await
    }

    async fn admit(&self, id: &MachineId) -> Result<Admission, StoreError> {
        self.inner.admit(id).await
    }

    async fn adopt(&self, batch: &[Adopted]) -> Result<Vec<Registered>, StoreError> {
        self.inner.adopt(batch).await
    }

    async fn repair(&self, mode: RepairMode) -> Result<Repaired, StoreError> {
        let mode = if self.has(Flaw::DryRunMends) {
            RepairMode::Mend
        } else {
            mode
        };
        self.inner.repair(mode).await
    }
}

fn pending(work: &Enqueue) -> OutboxRow {
    OutboxRow {
        work: work.clone(),
        state: WorkState::Pending,
        is_dirty: false,
        attempts: 0,
        due_at: work.committed_at,
        note: None,
        accepted_at: None,
    }
}
