//! How does the Postgres store answer the trait: which calls are made again, and under which mark?

use core::time::Duration;

use async_trait::async_trait;
use lifecycle_core::{ScopeWindow, Timestamp};

use super::{
    PostgresStore,
    failure::{Failure, Tries},
};
use crate::{
    id::MachineId,
    journal::Entry,
    ledger::Fact,
    outbox::{Claimed, OutboxRow, Settlement, WorkKey},
    row::NewMachine,
    store::{
        Admission, Adopted, Change, Commit, KeptVolume, Loaded, Registered, RepairMode, Repaired,
        Store, StoreError,
    },
};

/// Makes a call, and makes it again while that may help; `$tries` is there for calls that must know
/// themselves again.
macro_rules! again {
    ($tries:ident => $call:expr) => {{
        let mut $tries = Tries::new()?;
        loop {
            match $call.await {
                Ok(answer) => return Ok(answer),
                Err(failure) => $tries.wait_after(failure).await?,
            }
        }
    }};
}

#[async_trait]
impl Store for PostgresStore {
    async fn now(&self) -> Result<Timestamp, StoreError> {
        again!(tries => self.time())
    }

    async fn register(&self, new: &NewMachine) -> Result<Registered, StoreError> {
        self.register_new(new).await
    }

    async fn load(&self, id: &MachineId) -> Result<Option<Loaded>, StoreError> {
        again!(tries => self.read_row(id))
    }

    async fn commit(&self, change: &Change) -> Result<Commit, StoreError> {
        let commits = self.commit_all(core::slice::from_ref(change)).await?;
        Ok(commits.into_iter().next().unwrap_or(Commit::Lost(None)))
    }

    async fn commit_many(&self, changes: &[Change]) -> Result<Vec<Commit>, StoreError> {
        self.commit_all(changes).await
    }

    async fn take_due(&self, scope: Option<&str>, limit: u32) -> Result<Vec<Loaded>, StoreError> {
        // Rows that were taken by a call whose answer was lost come again when they are due again.
        again!(tries => self.take(scope, limit))
    }

    async fn claim(&self, limit: u32, lease: Duration) -> Result<Vec<Claimed>, StoreError> {
        // Work that was claimed by a call whose answer was lost is free again when its lease ends.
        again!(tries => self.claim_once(limit, lease))
    }

    async fn settle(
        &self,
        key: &WorkKey,
        token: &str,
        settlement: &Settlement,
    ) -> Result<bool, StoreError> {
        again!(tries => self.settle_once(key, token, settlement, tries.is_unsure()))
    }

    async fn work(&self, id: &MachineId) -> Result<Vec<OutboxRow>, StoreError> {
        again!(tries => self.work_of(id))
    }

    async fn dead_letters(&self, limit: u32) -> Result<Vec<OutboxRow>, StoreError> {
        again!(tries => self.dead(limit))
    }

    async fn retry_dead(&self, key: &WorkKey) -> Result<bool, StoreError> {
        again!(tries => self.retry(key, tries.mark()))
    }

    async fn drop_dead(&self, key: &WorkKey, reason: &str) -> Result<bool, StoreError> {
        again!(tries => self.drop_work(key, tries.mark(), reason))
    }

    async fn next_work_at(&self) -> Result<Option<Timestamp>, StoreError> {
        again!(tries => self.next_at())
    }

    async fn ledger(&self, id: &MachineId) -> Result<Vec<Fact>, StoreError> {
        again!(tries => self.facts_of(id))
    }

    async fn journal(&self, id: &MachineId) -> Result<Vec<Entry>, StoreError> {
        again!(tries => self.entries_of(id))
    }

    async fn kept_volumes(&self) -> Result<Vec<KeptVolume>, StoreError> {
        again!(tries => self.kept())
    }

    async fn scope_window(&self, scope: &str, window: Duration) -> Result<ScopeWindow, StoreError> {
        again!(tries => self.window(scope, window))
    }

    async fn release_scope(&self, scope: &str) -> Result<(), StoreError> {
        again!(tries => self.release(scope))
    }

    async fn admit(&self, id: &MachineId) -> Result<Admission, StoreError> {
        again!(tries => self.admit_now(id))
    }

    async fn adopt(&self, batch: &[Adopted]) -> Result<Vec<Registered>, StoreError> {
        self.adopt_all(batch).await
    }

    async fn repair(&self, mode: RepairMode) -> Result<Repaired, StoreError> {
        self.repair_all(mode).await
    }
}

impl PostgresStore {
    async fn time(&self) -> Result<Timestamp, Failure> {
        let mut connection = self.connection().await?;
        let (now,): (i64,) = self
            .statements()
            .rows
            .now
            .rows()
            .fetch_one(&mut *connection)
            .await?;
        Ok(Timestamp::from_millis(now))
    }

    async fn admit_now(&self, id: &MachineId) -> Result<Admission, Failure> {
        let mut connection = self.connection().await?;
        self.admission(&mut connection, id).await
    }
}
