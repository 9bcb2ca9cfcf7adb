//! Do memory and SQLite keep the promises of every store, and are broken stores caught?

mod broken;
mod broken_stores;
mod sqlite;
mod suite;

use core::time::Duration;
use std::sync::Arc;

use async_trait::async_trait;
use lifecycle_adapters::{
    clock::ManualClock, conformance::store::StoreHarness, memory::MemoryStore, store::Store,
};
use lifecycle_core::Timestamp;

#[tokio::test]
async fn the_memory_store_keeps_every_promise() {
    suite::check(Memory::new()).await;
}

/// Makes stores in memory, on a clock that stands still.
struct Memory(Arc<ManualClock>);

impl Memory {
    fn new() -> Self {
        Self(Arc::new(ManualClock::at(Timestamp::from_millis(
            1_700_000_000_000,
        ))))
    }
}

#[async_trait]
impl StoreHarness for Memory {
    async fn fresh(&self) -> Arc<dyn Store> {
        Arc::new(MemoryStore::new(self.0.clone()))
    }

    async fn advance(&self, by: Duration) {
        self.0.advance(by);
    }
}
