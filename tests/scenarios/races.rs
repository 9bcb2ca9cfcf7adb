//! Is a request never dropped, and nothing done twice, while others change the same row?

use core::time::Duration;

use lifecycle_core::{Effect, Source, Status};

use crate::bench::Bench;

crate::stories! {
    a_delete_wins_through_a_storm_of_observers,
    several_relays_deliver_each_effect_once,
    a_second_occurrence_of_an_effect_while_the_first_is_in_flight_is_delivered_too,
}

async fn a_delete_wins_through_a_storm_of_observers(bench: Bench) {
    let id = bench.running("a", Some("v-1")).await;
    let storm: Vec<_> = (0..16)
        .map(|_| {
            let (reconciler, id, clock) =
                (bench.reconciler.clone(), id.clone(), bench.clock.clone());
            tokio::spawn(async move {
                for _ in 0..10 {
                    clock.advance(Duration::from_millis(3));
                    reconciler
                        .observe(&id, Source::StatusRead)
                        .await
                        .expect("an answer");
                }
            })
        })
        .collect();
    let deleted = bench
        .reconciler
        .delete(&id, Source::User)
        .await
        .expect("never dropped");
    assert!(deleted.rule.is_some());
    for observer in storm {
        observer.await.expect("no panic");
    }
    assert_eq!(bench.status(&id).await, Status::Quarantined);
    assert_eq!(bench.count(&id, Effect::RecordQuarantined).await, 1);
}

async fn several_relays_deliver_each_effect_once(bench: Bench) {
    let mut ids = Vec::new();
    for number in 0..20 {
        ids.push(bench.running(&format!("m{number}"), None).await);
    }
    for id in &ids {
        bench
            .reconciler
            .force(id, Source::AccountDeletion)
            .await
            .expect("forced");
    }
    let relays: Vec<_> = (0..4)
        .map(|_| {
            let relay = bench.relay.clone();
            tokio::spawn(async move {
                while relay.deliver_due().await.expect("delivered").claimed > 0 {
                    tokio::task::yield_now().await;
                }
            })
        })
        .collect();
    for relay in relays {
        relay.await.expect("no panic");
    }
    bench.live(Duration::from_secs(60)).await;
    let done = bench
        .fleet
        .calls()
        .iter()
        .filter(|call| call.was_done)
        .count();
    assert_eq!(done, ids.len(), "{:?}", bench.fleet.calls());
}

async fn a_second_occurrence_of_an_effect_while_the_first_is_in_flight_is_delivered_too(
    bench: Bench,
) {
    let id = bench.running("a", Some("v-1")).await;
    bench
        .reconciler
        .delete(&id, Source::User)
        .await
        .expect("deleted");
    let claimed = bench
        .store
        .claim(10, Duration::from_secs(30))
        .await
        .expect("claimed");
    let stop = claimed
        .iter()
        .find(|work| work.row.work.key.effect == Effect::StopCompute)
        .expect("a stop");
    // The guest is seen running once more while the first stop is in flight.
    bench.clock.advance(Duration::from_secs(1));
    bench
        .reconciler
        .observe(&id, Source::Sweep)
        .await
        .expect("an answer");
    let work = bench.work(&id, Effect::StopCompute).await;
    assert!(work[0].is_dirty);
    let done = lifecycle_adapters::outbox::Settlement::Done;
    assert!(
        bench
            .store
            .settle(&stop.row.work.key, &stop.token, &done)
            .await
            .expect("settled")
    );
    bench.drain().await;
    assert_eq!(bench.fleet.calls().len(), 1, "delivered after all");
}
