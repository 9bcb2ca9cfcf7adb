//! Does pruning the journal leave the ledger alone?

use lifecycle_adapters::store::Store as _;

use crate::{
    changes::{destroys, id, row},
    database::{Database, new_machine, pool, schema},
};

#[tokio::test]
async fn old_decisions_go_and_facts_stay() {
    let database = Database::new();
    let owner = database.store().await;
    let (role, url) = database.role();
    owner.grant_role(&role).await.expect("the owner grants");
    let store = lifecycle_adapters::postgres::PostgresStore::open(pool(&url, 2).await, schema())
        .await
        .expect("it is up to date");
    store.register(&new_machine("a")).await.expect("it is new");
    let seen = row(&store, &id("a")).await;
    // The entry and the fact of this commit are stamped with the beginning of time.
    store.commit(&destroys(&seen)).await.expect("it is written");

    let before = seen.checked_at;
    assert_eq!(store.prune_journal(before).await.expect("it may prune"), 1);
    assert_eq!(store.prune_journal(before).await.expect("it may prune"), 0);
    assert_eq!(store.journal(&id("a")).await.expect("it is read").len(), 1);
    assert_eq!(store.ledger(&id("a")).await.expect("it is read").len(), 1);
}
