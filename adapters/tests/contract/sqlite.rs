//! Does the SQLite store keep the promises of its trait, on a file as services have it?

use core::{
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};
use std::sync::Arc;

use async_trait::async_trait;
use lifecycle_adapters::{
    clock::ManualClock, conformance::store::StoreHarness, sqlite::SqliteStore, store::Store,
};
use lifecycle_core::Timestamp;
use tempfile::TempDir;

use crate::suite;

#[tokio::test]
async fn the_sqlite_store_keeps_every_promise() {
    suite::check(Sqlite::new()).await;
}

/// Makes stores in files of their own, on a clock that stands still.
struct Sqlite {
    folder: TempDir,
    stores: AtomicU32,
    clock: Arc<ManualClock>,
}

impl Sqlite {
    fn new() -> Self {
        let now = Timestamp::from_millis(1_700_000_000_000);
        Self {
            folder: tempfile::tempdir().unwrap(),
            stores: AtomicU32::new(0),
            clock: Arc::new(ManualClock::at(now)),
        }
    }
}

#[async_trait]
impl StoreHarness for Sqlite {
    async fn fresh(&self) -> Arc<dyn Store> {
        let serial = self.stores.fetch_add(1, Ordering::Relaxed);
        let path = self.folder.path().join(format!("{serial}.db"));
        let store = SqliteStore::open(path, self.clock.clone()).await;
        Arc::new(store.unwrap())
    }

    async fn advance(&self, by: Duration) {
        self.clock.advance(by);
    }
}
