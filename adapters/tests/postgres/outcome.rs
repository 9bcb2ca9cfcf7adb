//! Is a commit whose answer was lost resolved by reading, never by guessing?

use core::time::Duration;

use lifecycle_adapters::{
    outbox::{Settlement, WorkState},
    postgres::{PostgresStore, TokenTable},
    store::{Registered, Store as _},
};
use lifecycle_core::{Effect, Status};

use crate::{
    changes::{destroyed_facts, destroys, id, is_won, quarantines, row, status},
    database::{Database, new_machine, pool, schema},
    proxy::Proxy,
    tokens::{create, example, mint, working},
};

/// A store whose connections pass a proxy, and one whose connections do not.
async fn stores(
    database: &Database,
    table: Option<TokenTable>,
) -> (Proxy, PostgresStore, PostgresStore) {
    let direct = database.store().await;
    if let Some(table) = &table {
        create(direct.pool(), table).await;
    }
    let proxy = Proxy::to(database.port()).await;
    let url = proxy.url(&database.url, database.port());
    let distant = PostgresStore::open(pool(&url, 1).await, schema())
        .await
        .expect("it is up to date");
    let distant = match table {
        Some(table) => distant.with_tokens(table),
        None => distant,
    };
    (proxy, distant, direct)
}

/// Cuts the connection before each message of a call in turn, until the call is over before the cut.
macro_rules! at_every_cut {
    ($proxy:expr, $cut:ident => $call:block) => {
        let mut $cut = 0;
        loop {
            $call
            if !$proxy.has_cut() {
                break;
            }
            $cut += 1;
            assert!($cut < 100, "a call has fewer messages");
        }
        assert!($cut > 2, "something was cut");
    };
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_cut_between_any_two_messages_is_won_once() {
    let database = Database::new();
    let (proxy, distant, direct) = stores(&database, None).await;
    at_every_cut!(proxy, cut => {
        let name = format!("vm-{cut}");
        direct.register(&new_machine(&name)).await.expect("it is new");
        let seen = row(&direct, &id(&name)).await;
        proxy.cut_after(cut);
        let commit = distant.commit(&destroys(&seen)).await.expect("it is resolved");
        assert!(is_won(&commit), "cut {cut}: {commit:?}");
        assert_eq!(row(&direct, &id(&name)).await.revision, seen.revision + 1);
        assert_eq!(destroyed_facts(&direct, &id(&name)).await, 1);
        assert_eq!(direct.journal(&id(&name)).await.expect("it is read").len(), 2);
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_that_revokes_inside_is_won_once_wherever_it_is_cut() {
    let database = Database::new();
    let table = example();
    let (proxy, distant, direct) = stores(&database, Some(table)).await;
    at_every_cut!(proxy, cut => {
        let name = format!("vm-{cut}");
        direct.register(&new_machine(&name)).await.expect("it is new");
        mint(direct.pool(), &name, 1).await;
        let seen = row(&direct, &id(&name)).await;
        proxy.cut_after(cut);
        let commit = distant.commit(&destroys(&seen)).await.expect("it is resolved");
        assert!(is_won(&commit), "cut {cut}: {commit:?}");
        assert_eq!(destroyed_facts(&direct, &id(&name)).await, 1);
        assert_eq!(working(direct.pool(), &name).await, 0);
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_registration_cut_between_any_two_messages_is_created_once() {
    let database = Database::new();
    let (proxy, distant, direct) = stores(&database, None).await;
    at_every_cut!(proxy, cut => {
        let name = format!("vm-{cut}");
        proxy.cut_after(cut);
        let registered = distant.register(&new_machine(&name)).await.expect("it is resolved");
        assert!(matches!(registered, Registered::Created(_)), "cut {cut}: {registered:?}");
        assert_eq!(direct.journal(&id(&name)).await.expect("it is read").len(), 1);
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_settlement_cut_between_any_two_messages_is_settled_once() {
    let database = Database::new();
    let (proxy, distant, direct) = stores(&database, None).await;
    at_every_cut!(proxy, cut => {
        let name = format!("vm-{cut}");
        direct.register(&new_machine(&name)).await.expect("it is new");
        let claimed = direct.claim(1, Duration::from_secs(60)).await.expect("it is due");
        let claimed = claimed.first().expect("it is due");
        proxy.cut_after(cut);
        let key = &claimed.row.work.key;
        let settled = distant.settle(key, &claimed.token, &Settlement::Done).await;
        assert!(settled.expect("it is resolved"), "cut {cut}");
        let work = direct.work(&id(&name)).await.expect("it is read");
        assert!(work.iter().all(|work| work.state == WorkState::Done), "{work:?}");
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_that_still_runs_when_its_connection_is_gone_is_waited_for() {
    let database = Database::new();
    let (proxy, distant, direct) = stores(&database, None).await;
    direct.register(&new_machine("a")).await.expect("it is new");
    let seen = row(&direct, &id("a")).await;
    let pool = database.pool(1).await;
    let mut host = pool.begin().await.expect("it begins");
    direct
        .admit_on(&mut host, &id("a"))
        .await
        .expect("it is locked");

    let commit = tokio::spawn({
        let (distant, change) = (distant.clone(), destroys(&seen));
        async move { distant.commit(&change).await }
    });
    until_waiting(direct.pool(), 1).await;
    // The server does not notice: it waits on for the lock, and then commits.
    proxy.cut_all();
    until_waiting(direct.pool(), 2).await;
    host.commit().await.expect("it is committed");
    let commit = commit
        .await
        .expect("it does not panic")
        .expect("it is resolved");
    assert!(is_won(&commit), "{commit:?}");
    assert_eq!(destroyed_facts(&direct, &id("a")).await, 1);
    assert_eq!(row(&direct, &id("a")).await.revision, seen.revision + 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_whose_backend_is_terminated_is_made_again() {
    let database = Database::new();
    let store = database.store().await;
    store.register(&new_machine("a")).await.expect("it is new");
    let seen = row(&store, &id("a")).await;
    let pool = database.pool(1).await;
    let mut host = pool.begin().await.expect("it begins");
    store
        .admit_on(&mut host, &id("a"))
        .await
        .expect("it is locked");
    let commit = tokio::spawn({
        let (store, change) = (store.clone(), destroys(&seen));
        async move { store.commit(&change).await }
    });
    until_waiting(store.pool(), 1).await;
    let (ended,): (i64,) = sqlx::query_as(
        "select count(pg_terminate_backend(pid)) from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock'",
    )
    .fetch_one(store.pool())
    .await
    .expect("a superuser may");
    assert_eq!(ended, 1);
    host.commit().await.expect("it is committed");
    let commit = commit
        .await
        .expect("it does not panic")
        .expect("it is resolved");
    assert!(is_won(&commit), "{commit:?}");
    assert_eq!(destroyed_facts(&store, &id("a")).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_with_others_on_top_of_it_is_still_known() {
    let database = Database::new();
    let (proxy, distant, direct) = stores(&database, None).await;
    at_every_cut!(proxy, cut => {
        let name = id(&format!("vm-{cut}"));
        direct.register(&new_machine(name.as_str())).await.expect("it is new");
        let seen = row(&direct, &name).await;
        proxy.cut_after(cut);
        let winner = quarantines(&seen);
        let rival = async {
            loop {
                let fresh = row(&direct, &name).await;
                if status(&fresh) == Status::Quarantined {
                    return direct.commit(&destroys(&fresh)).await;
                }
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        let (commit, rival) = tokio::join!(distant.commit(&winner), rival);
        assert!(is_won(&rival.expect("it is answered")));
        let commit = commit.expect("it is resolved");
        assert!(is_won(&commit), "cut {cut}: {commit:?}");
        let facts = direct.ledger(&name).await.expect("it is read");
        let facts: Vec<Effect> = facts.iter().map(|fact| fact.fact).collect();
        assert_eq!(facts, [Effect::RecordQuarantined, Effect::RecordDestroyed]);
    });
}

/// Waits until so many backends of this database wait for a lock.
async fn until_waiting(pool: &sqlx::PgPool, count: i64) {
    loop {
        let (waiting,): (i64,) = sqlx::query_as(
            "select count(*) from pg_stat_activity
             where datname = current_database() and wait_event_type = 'Lock'",
        )
        .fetch_one(pool)
        .await
        .expect("it is read");
        if waiting >= count {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
