//! Does a row that cannot be read hurt only itself?

use core::time::Duration;

use lifecycle_adapters::{
    sqlite::SqliteStore,
    store::{RepairMode, Store as _, StoreError},
};
use lifecycle_core::Effect;

use crate::{Kit, change, id, registered, sql};

/// What a hand in the database may do to `lifecycle_machines`.
const HARM: &[&str] = &[
    "status = 'asleep'",
    "volume = ''",
    "generation = 0",
    "holds = -1",
    "last_seen_power = 'running'",
    "quarantine_id = 1",
    "claim_token = 'nobody'",
    "scope = CAST(x'ff' AS TEXT)",
    "was_sighted = 7",
];

#[tokio::test]
async fn the_others_are_still_taken() {
    for harm in HARM {
        let (_kit, store) = harmed(harm).await;
        let taken = store.take_due(None, 1).await.unwrap();
        if *harm == "was_sighted = 7" {
            // Any number but 0 is true to SQLite.
            continue;
        }
        assert_eq!(taken.len(), 1, "{harm}");
        assert_eq!(taken[0].row.id, id("b"), "{harm}");
        let error = store.load(&id("a")).await.unwrap_err();
        assert!(
            matches!(&error, StoreError::Corrupt { machine, .. } if machine == "a"),
            "{harm}: {error}"
        );
    }
}

#[tokio::test]
async fn the_work_of_the_others_is_still_claimed() {
    for harm in HARM {
        let (_kit, store) = harmed(harm).await;
        let claimed = store.claim(2, Duration::from_secs(60)).await.unwrap();
        let machines: Vec<&str> = claimed
            .iter()
            .map(|work| work.machine.id.as_str())
            .collect();
        if *harm != "was_sighted = 7" {
            assert_eq!(machines, ["b", "b"], "{harm}");
            // What cannot be read says so, and is tried again later.
            let (note, due): (String, i64) = sqlx::query_as(
                "SELECT note, due_at - 1000000 FROM lifecycle_outbox WHERE machine = 'a'",
            )
            .fetch_one(store.pool())
            .await
            .unwrap();
            assert!(note.starts_with("the row of a cannot be read"), "{note}");
            assert_eq!(due, 60_000);
        }
    }
}

#[tokio::test]
async fn work_that_cannot_be_read_does_not_hold_up_the_rest() {
    for harm in [
        "effect = 'dance'",
        "attempts = -1",
        "generation = 0",
        "scope = CAST(x'ff' AS TEXT)",
    ] {
        let kit = Kit::new();
        let store = kit.open().await;
        registered(&store, "a").await;
        registered(&store, "b").await;
        harm_table(
            &store,
            &format!("UPDATE lifecycle_outbox SET {harm} WHERE machine = 'a'"),
        )
        .await;
        let claimed = store.claim(1, Duration::from_secs(60)).await.unwrap();
        assert_eq!(claimed.len(), 1, "{harm}");
        assert_eq!(claimed[0].machine.id, id("b"), "{harm}");
        assert!(
            matches!(store.work(&id("a")).await, Err(StoreError::Corrupt { .. })),
            "{harm}"
        );
    }
}

#[tokio::test]
async fn the_others_are_still_repaired() {
    let kit = Kit::new();
    let store = kit.open().await;
    for name in ["a", "b"] {
        registered(&store, name).await;
    }
    harm_table(
        &store,
        "UPDATE lifecycle_machines SET status = 'destroyed';
         UPDATE lifecycle_machines SET volume = 'leaking' WHERE id = 'a'",
    )
    .await;
    let repaired = store.repair(RepairMode::Mend).await.unwrap();
    assert_eq!(
        (
            repaired.destroy_facts,
            repaired.revocations,
            repaired.releases
        ),
        (1, 1, 1)
    );
    let facts = store.ledger(&id("b")).await.unwrap();
    assert_eq!(facts[0].fact, Effect::RecordDestroyed);
}

/// Two machines with work, the older of which is harmed.
async fn harmed(harm: &str) -> (Kit, SqliteStore) {
    let kit = Kit::new();
    let store = kit.open().await;
    for name in ["a", "b"] {
        let row = registered(&store, name).await;
        store.commit(&change(&row)).await.unwrap();
    }
    harm_table(
        &store,
        &format!("UPDATE lifecycle_machines SET {harm} WHERE id = 'a'"),
    )
    .await;
    (kit, store)
}

/// Does what the checks of the tables would refuse.
async fn harm_table(store: &SqliteStore, statements: &str) {
    let mut connection = store.pool().acquire().await.unwrap();
    sql(
        &mut connection,
        &format!(
            "PRAGMA ignore_check_constraints = ON; {statements}; PRAGMA ignore_check_constraints = OFF"
        ),
    )
    .await;
}
