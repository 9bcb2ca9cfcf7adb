//! Is an incarnation told from the one that it replaced, by name, volume and what it held?

use core::time::Duration;

use lifecycle_adapters::{
    id::MachineId,
    reconciler::{NewIncarnation, ReconcileError},
    simulated::{Fault, Operation},
};
use lifecycle_core::{Cause, Effect, Source, Status};

use crate::bench::{Bench, new_machine};

crate::stories! {
    an_old_incarnation_under_the_present_name_is_not_destroyed,
    an_incarnation_has_one_name,
    a_replacement_gives_back_what_the_replaced_one_held,
    a_volume_waits_for_the_old_incarnation_on_it,
    a_machine_with_a_volume_that_was_never_created_ends,
}

async fn an_old_incarnation_under_the_present_name_is_not_destroyed(bench: Bench) {
    let id = bench.running("base", None).await;
    // The provider answered the same id again, and gives no markers.
    let new = NewIncarnation {
        provider_id: Some("m-1".to_owned()),
        marker: None,
    };
    bench
        .reconciler
        .replace(&id, &new, Source::BaseReopen)
        .await
        .expect("replaced");
    bench.live(Duration::from_secs(120)).await;
    assert_eq!(bench.fleet.change(|world| world.alive().count()), 1);
    assert_eq!(bench.status(&id).await, Status::Running);
}

async fn an_incarnation_has_one_name(bench: Bench) {
    let id = bench.running("a", None).await;
    let again = bench
        .reconciler
        .assign(&id, 1, "m-1", None)
        .await
        .expect("the same name");
    assert_eq!(
        again.facts.machine().marker,
        Some("a/1"),
        "what was known stays known"
    );
    let other = bench.reconciler.assign(&id, 1, "m-2", None).await;
    assert!(matches!(other, Err(ReconcileError::Wrong(_))), "{other:?}");
    let blank = bench.reconciler.assign(&id, 1, "m-1", Some("")).await;
    assert!(matches!(blank, Err(ReconcileError::Wrong(_))), "{blank:?}");
}

async fn a_replacement_gives_back_what_the_replaced_one_held(bench: Bench) {
    let id = bench.running("base", Some("v-1")).await;
    assert!(bench.mint(&id).await);
    let (provider_id, marker) = bench.fleet.create(&id, 2, Some("v-1"));
    let new = NewIncarnation {
        provider_id: Some(provider_id),
        marker: Some(marker),
    };
    bench
        .reconciler
        .replace(&id, &new, Source::BaseReopen)
        .await
        .expect("replaced");
    bench.live(Duration::from_secs(120)).await;
    assert_eq!(bench.capacity.held(&id), 1);
    assert_eq!(bench.tokens.live(&id), 0, "the old incarnation's token");
    assert!(bench.mint(&id).await);
    bench.live(Duration::from_secs(120)).await;
    assert_eq!(bench.tokens.live(&id), 1, "the new incarnation's token");
}

async fn a_volume_waits_for_the_old_incarnation_on_it(bench: Bench) {
    let id = bench.running("a", Some("v-1")).await;
    let old = bench
        .fleet
        .change(|world| world.machine("m-1").cloned())
        .expect("a machine");
    bench.fleet.change(|world| world.vanish("m-1"));
    bench
        .reconciler
        .observe(&id, Source::Access)
        .await
        .expect("an answer");
    bench.fleet.fault(|faults| {
        faults.always(
            Operation::DestroyCompute,
            Fault::Refused(Cause::ServerError),
        )
    });
    let (provider_id, marker) = bench.fleet.create(&id, 2, Some("v-1"));
    let new = NewIncarnation {
        provider_id: Some(provider_id.clone()),
        marker: Some(marker),
    };
    bench
        .reconciler
        .recover(&id, &new, Source::User)
        .await
        .expect("recovered");
    bench.fleet.change(|world| world.put_back(old));
    bench.live(Duration::from_secs(60)).await;
    bench
        .reconciler
        .delete(&id, Source::User)
        .await
        .expect("deleted");
    bench.fleet.change(|world| world.vanish(&provider_id));
    bench.live(Duration::from_secs(900)).await;
    assert!(
        bench.fleet.change(|world| world.volume("v-1").is_some()),
        "the old incarnation is still on it"
    );
    bench.fleet.fault(|faults| faults.clear());
    // After so many refusals the destroy is a dead letter, until somebody retries it.
    for dead in bench.store.dead_letters(10).await.expect("an answer") {
        assert!(
            bench
                .store
                .retry_dead(&dead.work.key)
                .await
                .expect("retried")
        );
    }
    bench.live(Duration::from_secs(900)).await;
    assert_eq!(bench.status(&id).await, Status::Destroyed);
    assert!(
        bench
            .fleet
            .change(|world| world.alive().count() == 0 && world.volume("v-1").is_none())
    );
}

async fn a_machine_with_a_volume_that_was_never_created_ends(bench: Bench) {
    let id = MachineId::new("early").expect("a name");
    bench
        .reconciler
        .register(&new_machine(&id, None, Some("v-9")))
        .await
        .expect("registered");
    bench
        .reconciler
        .delete(&id, Source::User)
        .await
        .expect("deleted");
    bench.live(Duration::from_secs(3_600)).await;
    assert_eq!(bench.status(&id).await, Status::Destroyed);
    assert_eq!(bench.count(&id, Effect::RecordDestroyed).await, 1);
}
