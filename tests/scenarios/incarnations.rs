//! Is every incarnation of a machine taken care of, late and old ones too?

use core::time::Duration;

use lifecycle_adapters::{
    id::MachineId,
    outbox::WorkState,
    reconciler::{NewIncarnation, ReconcileError},
};
use lifecycle_core::{Effect, NotRecoverable, Source, Status};

use crate::bench::{Bench, new_machine};

crate::stories! {
    a_create_that_finishes_after_the_delete_does_not_run_on,
    a_create_that_never_finished_ends_without_a_machine,
    a_create_whose_answer_was_lost_is_found_by_its_marker,
    a_create_that_never_finished_fails_by_itself,
    a_machine_deleted_before_it_was_created_ends,
    a_recovery_destroys_the_old_incarnation_that_lives,
    only_lost_compute_is_recovered,
    a_late_name_of_an_old_incarnation_is_destroyed,
    a_machine_registered_again_keeps_its_ledger_apart,
    evidence_about_an_old_incarnation_changes_nothing,
}

async fn a_create_that_finishes_after_the_delete_does_not_run_on(bench: Bench) {
    let id = MachineId::new("late").expect("a name");
    bench
        .reconciler
        .register(&new_machine(&id, None, None))
        .await
        .expect("registered");
    bench
        .reconciler
        .force(&id, Source::User)
        .await
        .expect("forced");
    bench.live(Duration::from_secs(60)).await;
    assert_eq!(
        bench.state(&id, Effect::DestroyCompute).await,
        Some(WorkState::Pending),
        "still owed"
    );
    // The create was in flight all the while.
    let (provider_id, marker) = bench.fleet.create(&id, 1, None);
    bench
        .reconciler
        .assign(&id, 1, &provider_id, Some(&marker))
        .await
        .expect("assigned");
    bench.live(Duration::from_secs(120)).await;
    assert_eq!(bench.fleet.change(|world| world.alive().count()), 0);
    assert_eq!(bench.count(&id, Effect::RecordDestroyed).await, 1);
}

async fn a_create_that_never_finished_ends_without_a_machine(bench: Bench) {
    let id = MachineId::new("never").expect("a name");
    bench
        .reconciler
        .register(&new_machine(&id, None, None))
        .await
        .expect("registered");
    bench
        .reconciler
        .force(&id, Source::User)
        .await
        .expect("forced");
    bench.live(Duration::from_secs(3_600)).await;
    assert_eq!(
        bench.state(&id, Effect::DestroyCompute).await,
        Some(WorkState::Cancelled)
    );
    let fact = bench
        .store
        .ledger(&id)
        .await
        .expect("an answer")
        .pop()
        .expect("a fact");
    assert!(!fact.was_sighted);
}

async fn a_create_whose_answer_was_lost_is_found_by_its_marker(bench: Bench) {
    let id = MachineId::new("lost").expect("a name");
    let new = lifecycle_adapters::row::NewMachine {
        marker: Some("lost/1".to_owned()),
        ..new_machine(&id, None, None)
    };
    bench.reconciler.register(&new).await.expect("registered");
    let (provider_id, _) = bench.fleet.create(&id, 1, None);
    bench.live(Duration::from_secs(120)).await;
    assert_eq!(bench.row(&id).await.provider_id, Some(provider_id));
    assert_eq!(bench.status(&id).await, Status::Running);
}

async fn a_create_that_never_finished_fails_by_itself(bench: Bench) {
    let id = MachineId::new("never").expect("a name");
    bench
        .reconciler
        .register(&new_machine(&id, None, None))
        .await
        .expect("registered");
    bench.live(Duration::from_secs(1_500)).await;
    assert_eq!(
        bench.status(&id).await,
        Status::Provisioning,
        "its create may still be in flight"
    );
    bench.live(Duration::from_secs(600)).await;
    assert_eq!(bench.status(&id).await, Status::Failed);
    // Late, but there: the policy adopts it.
    let (provider_id, marker) = bench.fleet.create(&id, 1, None);
    bench
        .reconciler
        .assign(&id, 1, &provider_id, Some(&marker))
        .await
        .expect("assigned");
    bench.live(Duration::from_secs(60)).await;
    assert_eq!(bench.status(&id).await, Status::Running);
    assert_eq!(bench.capacity.held(&id), 1);
}

async fn a_machine_deleted_before_it_was_created_ends(bench: Bench) {
    let id = MachineId::new("early").expect("a name");
    bench
        .reconciler
        .register(&new_machine(&id, None, None))
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

async fn a_recovery_destroys_the_old_incarnation_that_lives(bench: Bench) {
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
    let (provider_id, marker) = bench.fleet.create(&id, 2, Some("v-1"));
    let new = NewIncarnation {
        provider_id: Some(provider_id.clone()),
        marker: Some(marker),
    };
    let row = bench
        .reconciler
        .recover(&id, &new, Source::User)
        .await
        .expect("recovered");
    assert_eq!(row.facts.machine().generation, 2);
    // The absence was a lie: the old machine is back, beside the new one, on the same volume.
    bench.fleet.change(|world| world.put_back(old));
    bench.live(Duration::from_secs(300)).await;
    let alive = bench.fleet.change(|world| {
        world
            .alive()
            .map(|one| one.provider_id.clone())
            .collect::<Vec<_>>()
    });
    assert_eq!(alive, [provider_id]);
    assert_eq!(bench.status(&id).await, Status::Running);
    assert!(bench.fleet.change(|world| world.volume("v-1").is_some()));
    assert_eq!(bench.capacity.held(&id), 1);
}

async fn only_lost_compute_is_recovered(bench: Bench) {
    let id = bench.running("a", Some("v-1")).await;
    let refused = bench
        .reconciler
        .recover(&id, &NewIncarnation::default(), Source::User)
        .await;
    assert!(
        matches!(
            refused,
            Err(ReconcileError::NotRecoverable(NotRecoverable::NotPaused(
                Status::Running
            )))
        ),
        "{refused:?}"
    );
    let unknown = bench
        .reconciler
        .observe(&MachineId::new("nobody").expect("a name"), Source::User)
        .await;
    assert!(matches!(unknown, Err(ReconcileError::NotFound(_))));
}

async fn a_late_name_of_an_old_incarnation_is_destroyed(bench: Bench) {
    let id = MachineId::new("base").expect("a name");
    bench
        .reconciler
        .register(&new_machine(&id, None, None))
        .await
        .expect("registered");
    bench
        .reconciler
        .replace(&id, &NewIncarnation::default(), Source::BaseReopen)
        .await
        .expect("replaced");
    let (new_id, new_marker) = bench.fleet.create(&id, 2, None);
    bench
        .reconciler
        .assign(&id, 2, &new_id, Some(&new_marker))
        .await
        .expect("assigned");
    let (old_id, old_marker) = bench.fleet.create(&id, 1, None);
    bench
        .reconciler
        .assign(&id, 1, &old_id, Some(&old_marker))
        .await
        .expect("assigned");
    bench.live(Duration::from_secs(120)).await;
    let alive = bench.fleet.change(|world| {
        world
            .alive()
            .map(|one| one.provider_id.clone())
            .collect::<Vec<_>>()
    });
    assert_eq!(alive, [new_id]);
    let never = bench.reconciler.assign(&id, 3, "m-9", None).await;
    assert!(matches!(never, Err(ReconcileError::Wrong(_))));
}

async fn a_machine_registered_again_keeps_its_ledger_apart(bench: Bench) {
    let id = bench.running("base", Some("v-1")).await;
    bench
        .reconciler
        .force(&id, Source::BaseReopen)
        .await
        .expect("forced");
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
    bench.live(Duration::from_secs(300)).await;
    assert_eq!(bench.status(&id).await, Status::Running);
    bench
        .reconciler
        .force(&id, Source::BaseReopen)
        .await
        .expect("forced");
    assert_eq!(
        bench.count(&id, Effect::RecordDestroyed).await,
        2,
        "one for each incarnation"
    );
}

async fn evidence_about_an_old_incarnation_changes_nothing(bench: Bench) {
    let id = bench.running("a", Some("v-1")).await;
    bench.fleet.change(|world| world.vanish("m-1"));
    bench
        .reconciler
        .observe(&id, Source::Access)
        .await
        .expect("an answer");
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
    bench.clock.advance(Duration::from_secs(1));
    bench
        .reconciler
        .observe(&id, Source::Access)
        .await
        .expect("an answer");
    // Another machine takes over the id: ours is gone, theirs is not touched.
    bench
        .fleet
        .change(|world| world.reuse(&provider_id, "somebody-else"));
    bench.live(Duration::from_secs(600)).await;
    assert_eq!(bench.status(&id).await, Status::Paused);
    bench
        .reconciler
        .delete(&id, Source::User)
        .await
        .expect("deleted");
    bench.live(Duration::from_secs(900)).await;
    assert_eq!(bench.status(&id).await, Status::Destroyed);
    let theirs = bench
        .fleet
        .change(|world| world.machine(&provider_id).cloned())
        .expect("untouched");
    assert_eq!(theirs.power, lifecycle_core::Power::Running);
}
