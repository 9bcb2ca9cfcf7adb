//! Is nothing lost or done twice when the server goes away in the middle?

use core::time::Duration;

use lifecycle_adapters::{
    postgres::PostgresStore,
    postgres_kit::{Options, Server},
    store::{Commit, Store as _},
};
use lifecycle_core::Status;

use crate::{
    changes::{destroyed_facts, destroys, id, row, status},
    database::{new_machine, pool, schema},
};

const MACHINES: usize = 300;

/// Destroys every machine as a service does: what may help is tried again.
async fn destroy_all(store: PostgresStore) {
    for n in 0..MACHINES {
        let id = id(&format!("vm-{n}"));
        loop {
            let Ok(Some(loaded)) = store.load(&id).await else {
                continue;
            };
            if status(&loaded.row) == Status::Destroyed {
                break;
            }
            match store.commit(&destroys(&loaded.row)).await {
                Ok(Commit::Won(_)) => break,
                Ok(Commit::Lost(row)) => panic!("nobody else commits: {row:?}"),
                Err(error) => assert!(error.is_retryable(), "{error:?}"),
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_stops_and_crashes_in_the_middle_loses_nothing() {
    let mut server = Server::private(Options::default()).expect("it starts");
    let url = server.create_database("store").expect("it is created");
    let store = PostgresStore::migrate(pool(&url, 4).await, schema())
        .await
        .expect("it is created");
    for n in 0..MACHINES {
        let name = format!("vm-{n}");
        store
            .register(&new_machine(&name))
            .await
            .expect("it is new");
    }
    let service = tokio::spawn(destroy_all(store.clone()));
    for is_crash in [false, true, false] {
        tokio::time::sleep(Duration::from_millis(150)).await;
        tokio::task::block_in_place(|| {
            if is_crash {
                server.kill()
            } else {
                server.stop()
            }
            .expect("it ends");
            server.start().expect("it starts again");
        });
    }
    service.await.expect("it does not panic");
    for n in 0..MACHINES {
        let id = id(&format!("vm-{n}"));
        assert_eq!(status(&row(&store, &id).await), Status::Destroyed);
        assert_eq!(destroyed_facts(&store, &id).await, 1, "{id}");
        assert_eq!(store.work(&id).await.expect("it is read").len(), 3, "{id}");
        assert_eq!(
            store.journal(&id).await.expect("it is read").len(),
            2,
            "{id}"
        );
    }
}
