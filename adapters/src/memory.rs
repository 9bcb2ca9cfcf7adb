//! How does a store keep its promises, in as few words as possible?
//!
//! Everything lives in this process, behind one lock, which is the transaction: a call takes it, reads
//! the time, checks before it writes anything, and gives it back. For tests of services, and as the
//! readable form of what every other store does in SQL.

mod capacity;
mod outbox;
mod repair;
mod revoker;
mod state;

use core::time::Duration;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use lifecycle_core::{ScopeWindow, Timestamp};

pub use capacity::MemoryCapacity;
pub use revoker::{MemoryRevoker, Token};

use crate::{
    clock::Clock,
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
use state::State;

/// Keeps machines in this process.
///
/// ```
/// use std::sync::Arc;
/// use lifecycle_adapters::{
///     clock::ManualClock, id::MachineId, memory::MemoryStore, row::NewMachine,
///     store::{Registered, Store},
/// };
/// use lifecycle_core::{Timestamp, Volume};
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let store = MemoryStore::new(Arc::new(ManualClock::at(Timestamp::from_millis(10_000))));
/// let new = NewMachine {
///     id: MachineId::new("a")?,
///     scope: "account-1/eu".to_owned(),
///     marker: None,
///     provider_id: None,
///     volume: Volume::None,
///     volume_id: None,
///     policy: None,
/// };
/// assert!(matches!(store.register(&new).await?, Registered::Created(_)));
/// assert!(matches!(store.register(&new).await?, Registered::Existing(_)));
/// # Ok::<(), Box<dyn core::error::Error>>(()) })?;
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct MemoryStore {
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
}

impl MemoryStore {
    /// Makes an empty store that tells the time by this clock.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            state: Mutex::new(State::default()),
        }
    }

    /// Tells whether credentials may be minted now, and mints them before anybody else may write.
    ///
    /// This is [`Store::admit`] on the caller's own transaction. `mint` must not call the store.
    pub fn admitted<T>(&self, id: &MachineId, mint: impl FnOnce(Admission, Timestamp) -> T) -> T {
        self.transact(|state, now| mint(state.admit(id), now))
    }

    /// Runs one transaction.
    fn transact<T>(&self, call: impl FnOnce(&mut State, Timestamp) -> T) -> T {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        // Read under the lock, so that what is written later is never stamped earlier.
        let now = self.clock.now();
        call(&mut state, now)
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn now(&self) -> Result<Timestamp, StoreError> {
        Ok(self.transact(|_, now| now))
    }

    async fn register(&self, new: &NewMachine) -> Result<Registered, StoreError> {
        Ok(self.transact(|state, now| state.register(new, now)))
    }

    async fn load(&self, id: &MachineId) -> Result<Option<Loaded>, StoreError> {
        Ok(self.transact(|state, now| {
            let row = state.rows.get(id)?.clone();
            Some(Loaded { row, now })
        }))
    }

    async fn commit(&self, change: &Change) -> Result<Commit, StoreError> {
        Ok(self.transact(|state, now| state.commit(change, now)))
    }

    async fn commit_many(&self, changes: &[Change]) -> Result<Vec<Commit>, StoreError> {
        Ok(self.transact(|state, now| {
            changes
                .iter()
                .map(|change| state.commit(change, now))
                .collect()
        }))
    }

    async fn take_due(&self, scope: Option<&str>, limit: u32) -> Result<Vec<Loaded>, StoreError> {
        Ok(self.transact(|state, now| state.take_due(scope, limit, now)))
    }

    async fn claim(&self, limit: u32, lease: Duration) -> Result<Vec<Claimed>, StoreError> {
        Ok(self.transact(|state, now| state.claim(limit, lease, now)))
    }

    async fn settle(
        &self,
        key: &WorkKey,
        token: &str,
        settlement: &Settlement,
    ) -> Result<bool, StoreError> {
        Ok(self.transact(|state, now| state.settle(key, token, settlement, now)))
    }

    async fn work(&self, id: &MachineId) -> Result<Vec<OutboxRow>, StoreError> {
        Ok(self.transact(|state, _| state.work(id)))
    }

    async fn dead_letters(&self, limit: u32) -> Result<Vec<OutboxRow>, StoreError> {
        Ok(self.transact(|state, _| state.dead_letters(limit)))
    }

    async fn retry_dead(&self, key: &WorkKey) -> Result<bool, StoreError> {
        Ok(self.transact(|state, now| state.retry_dead(key, now)))
    }

    async fn drop_dead(&self, key: &WorkKey, reason: &str) -> Result<bool, StoreError> {
        Ok(self.transact(|state, _| state.drop_dead(key, reason)))
    }

    async fn next_work_at(&self) -> Result<Option<Timestamp>, StoreError> {
        Ok(self.transact(|state, _| state.next_work_at()))
    }

    async fn ledger(&self, id: &MachineId) -> Result<Vec<Fact>, StoreError> {
        Ok(self.transact(|state, _| state.ledger.get(id).cloned().unwrap_or_default()))
    }

    async fn journal(&self, id: &MachineId) -> Result<Vec<Entry>, StoreError> {
        Ok(self.transact(|state, _| state.journal.get(id).cloned().unwrap_or_default()))
    }

    async fn kept_volumes(&self) -> Result<Vec<KeptVolume>, StoreError> {
        Ok(self.transact(|state, _| state.kept_volumes()))
    }

    async fn scope_window(&self, scope: &str, window: Duration) -> Result<ScopeWindow, StoreError> {
        Ok(self.transact(|state, now| state.scope_window(scope, window, now)))
    }

    async fn release_scope(&self, scope: &str) -> Result<(), StoreError> {
        self.transact(|state, now| state.release_scope(scope, now));
        Ok(())
    }

    async fn admit(&self, id: &MachineId) -> Result<Admission, StoreError> {
        Ok(self.transact(|state, _| state.admit(id)))
    }

    async fn adopt(&self, batch: &[Adopted]) -> Result<Vec<Registered>, StoreError> {
        Ok(self.transact(|state, now| {
            batch
                .iter()
                .map(|adopted| state.adopt(adopted, now))
                .collect()
        }))
    }

    async fn repair(&self, mode: RepairMode) -> Result<Repaired, StoreError> {
        Ok(self.transact(|state, now| state.repair(mode, now)))
    }
}
