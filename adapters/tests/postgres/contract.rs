//! Does the store pass the suite that every store must pass, as its owner and as a role with no more
//! rights than it needs?

use core::time::Duration;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use lifecycle_adapters::{
    conformance::store::{self, StoreHarness},
    postgres::PostgresStore,
    store::Store,
};

use crate::database::{Database, pool, schema};

/// Who the store connects as.
enum As {
    Owner,
    LeastPrivileged,
}

struct Harness {
    connects: As,
    /// The latest store, its owner, and their database.
    latest: Mutex<Option<Latest>>,
}

struct Latest {
    /// Only held: it keeps the server running.
    _database: Database,
    owner: PostgresStore,
    store: PostgresStore,
}

impl Harness {
    fn new(connects: As) -> Self {
        Self {
            connects,
            latest: Mutex::default(),
        }
    }
}

#[async_trait]
impl StoreHarness for Harness {
    async fn fresh(&self) -> Arc<dyn Store> {
        let database = Database::new();
        let owner = database.store().await;
        let store = match self.connects {
            As::Owner => owner.clone(),
            As::LeastPrivileged => {
                let (role, url) = database.role();
                owner.grant_role(&role).await.expect("the owner grants");
                PostgresStore::open(pool(&url, 8).await, schema())
                    .await
                    .expect("it is up to date")
            }
        };
        let latest = Latest {
            _database: database,
            owner,
            store: store.clone(),
        };
        let previous = self.latest.lock().expect("nobody panicked").replace(latest);
        if let Some(previous) = previous {
            // A server has only so many connections.
            previous.store.pool().close().await;
            previous.owner.pool().close().await;
        }
        Arc::new(store)
    }

    async fn advance(&self, by: Duration) {
        let owner = {
            let latest = self.latest.lock().expect("nobody panicked");
            latest.as_ref().map(|latest| latest.owner.clone())
        };
        let owner = owner.expect("a store was made");
        owner.advance_clock(by).await.expect("the owner may");
    }
}

#[tokio::test]
async fn the_store_passes_the_suite() {
    store::run(&Harness::new(As::Owner)).await;
}

#[tokio::test]
async fn the_store_passes_the_suite_as_a_role_that_may_do_no_more_than_it_needs() {
    store::run(&Harness::new(As::LeastPrivileged)).await;
}
