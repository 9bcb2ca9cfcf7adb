//! Does a delete come to its end, and a restore in time take it back?

use core::time::Duration;
use std::sync::Arc;

use lifecycle_adapters::{
    clock::{Clock as _, ManualClock},
    outbox::WorkState,
    reconciler::ReconcileError,
    simulated::{Fault, Operation},
};
use lifecycle_core::{Cause, Effect, Phase, Refusal, Rule, Source, Status, Timestamp};

use crate::bench::Bench;

crate::stories! {
    a_deleted_machine_is_stopped_held_and_destroyed_once,
    a_restore_in_time_keeps_everything,
    a_restore_past_the_point_of_no_return_is_refused,
    a_restore_waits_for_a_claimed_stop,
    a_stop_is_not_delivered_after_a_restore,
    a_busy_operation_is_refused_while_a_destroy_is_claimed,
    a_forced_end_keeps_the_volume_and_leaves_no_compute,
    forcing_with_work_owed_destroys_once,
    a_slow_destroy_is_no_orphan,
    a_host_clock_behind_does_not_end_a_quarantine,
    a_store_clock_ahead_does_not_end_a_quarantine,
    a_provider_that_fails_for_hours_delays_and_loses_nothing,
    deleting_twice_is_deleting_once,
}

async fn a_deleted_machine_is_stopped_held_and_destroyed_once(bench: Bench) {
    let id = bench.running("a", Some("v-1")).await;
    assert!(bench.mint(&id).await);
    bench
        .reconciler
        .delete(&id, Source::User)
        .await
        .expect("deleted");
    bench.drain().await;
    assert_eq!(bench.tokens.live(&id), 0);
    assert!(!bench.mint(&id).await, "no token for what is to be deleted");

    bench.live(Duration::from_secs(200)).await;
    let report = bench.reconciler.report(&id).await.expect("a report");
    assert_eq!(report.phase, Phase::Quarantined);
    assert!(
        bench.fleet.change(|world| world.volume("v-1").is_some()),
        "held inside the grace"
    );
    assert_eq!(
        bench.capacity.held(&id),
        0,
        "capacity is given back once the guest is off"
    );

    bench.live(Duration::from_secs(900)).await;
    assert_eq!(bench.status(&id).await, Status::Destroyed);
    assert_eq!(bench.count(&id, Effect::RecordDestroyed).await, 1);
    assert_eq!(bench.fleet.change(|world| world.alive().count()), 0);
    assert!(bench.fleet.change(|world| world.volume("v-1").is_none()));
    assert!(
        bench
            .store
            .kept_volumes()
            .await
            .expect("an answer")
            .is_empty()
    );
}

async fn a_restore_in_time_keeps_everything(bench: Bench) {
    let id = bench.running("a", Some("v-1")).await;
    bench
        .reconciler
        .delete(&id, Source::User)
        .await
        .expect("deleted");
    bench.live(Duration::from_secs(120)).await;
    let restored = bench
        .reconciler
        .restore(&id, Source::User)
        .await
        .expect("restored");
    assert_eq!(
        (restored.rule, restored.refused),
        (Some(Rule::Restored), None)
    );
    bench.live(Duration::from_secs(3_600)).await;
    assert_eq!(bench.status(&id).await, Status::Paused);
    assert!(
        bench
            .fleet
            .change(|world| world.machine("m-1").is_some() && world.volume("v-1").is_some())
    );
    assert!(
        bench.mint(&id).await,
        "a restored machine may have tokens again"
    );
}

async fn a_restore_past_the_point_of_no_return_is_refused(bench: Bench) {
    let id = bench.running("a", Some("v-1")).await;
    bench
        .reconciler
        .delete(&id, Source::User)
        .await
        .expect("deleted");
    bench.clock.advance(Duration::from_secs(303));
    let refused = bench
        .reconciler
        .restore(&id, Source::User)
        .await
        .expect("an answer");
    assert_eq!(refused.refused, Some(Refusal::PointOfNoReturn));
    assert_eq!(bench.status(&id).await, Status::Destroying);
    let journal = bench.store.journal(&id).await.expect("an answer");
    assert!(
        journal
            .iter()
            .any(|entry| entry.why.contains("the restore was refused"))
    );
}

async fn a_restore_waits_for_a_claimed_stop(bench: Bench) {
    let id = bench.running("a", Some("v-1")).await;
    bench
        .reconciler
        .delete(&id, Source::User)
        .await
        .expect("deleted");
    let claimed = bench
        .store
        .claim(10, Duration::from_secs(20))
        .await
        .expect("claimed");
    assert!(
        claimed
            .iter()
            .any(|work| work.row.work.key.effect == Effect::StopCompute)
    );
    let before = bench.clock.now();
    let restored = bench
        .reconciler
        .restore(&id, Source::User)
        .await
        .expect("restored");
    assert_eq!(restored.rule, Some(Rule::Restored));
    // The claim's lease had to end first: the stop may have been on its way.
    assert!(bench.clock.now() >= before.saturating_add(Duration::from_secs(20)));
}

async fn a_stop_is_not_delivered_after_a_restore(bench: Bench) {
    let id = bench.running("a", Some("v-1")).await;
    bench
        .reconciler
        .delete(&id, Source::User)
        .await
        .expect("deleted");
    bench
        .reconciler
        .restore(&id, Source::User)
        .await
        .expect("restored");
    bench.drain().await;
    assert_eq!(
        bench.state(&id, Effect::StopCompute).await,
        Some(WorkState::Cancelled)
    );
    assert!(bench.fleet.calls().is_empty(), "{:?}", bench.fleet.calls());
    // Deleted again, it is stopped under the new quarantine.
    bench
        .reconciler
        .delete(&id, Source::User)
        .await
        .expect("deleted");
    bench.drain().await;
    assert_eq!(bench.fleet.calls().len(), 1);
}

async fn a_busy_operation_is_refused_while_a_destroy_is_claimed(bench: Bench) {
    let id = bench.running("a", None).await;
    bench
        .reconciler
        .delete(&id, Source::User)
        .await
        .expect("deleted");
    let claimed = bench
        .store
        .claim(10, Duration::from_secs(20))
        .await
        .expect("claimed");
    assert!(!claimed.is_empty());
    let until = Some(bench.clock.now().saturating_add(Duration::from_secs(60)));
    let refused = bench.reconciler.busy(&id, until).await;
    assert!(
        matches!(refused, Err(ReconcileError::Conflict(_))),
        "{refused:?}"
    );
    bench.clock.advance(Duration::from_secs(21));
    bench
        .reconciler
        .busy(&id, until)
        .await
        .expect("the lease is over");
}

async fn a_forced_end_keeps_the_volume_and_leaves_no_compute(bench: Bench) {
    let id = bench.running("base", Some("v-1")).await;
    bench
        .reconciler
        .force(&id, Source::BaseReopen)
        .await
        .expect("forced");
    assert_eq!(bench.status(&id).await, Status::Destroyed);
    bench.live(Duration::from_secs(60)).await;
    assert_eq!(bench.fleet.change(|world| world.alive().count()), 0);
    assert!(bench.fleet.change(|world| world.volume("v-1").is_some()));
    let kept = bench.store.kept_volumes().await.expect("an answer");
    assert_eq!(
        kept.iter()
            .map(|one| one.volume_id.as_deref())
            .collect::<Vec<_>>(),
        [Some("v-1")]
    );
}

async fn forcing_with_work_owed_destroys_once(bench: Bench) {
    let id = bench.running("a", Some("v-1")).await;
    bench
        .fleet
        .fault(|faults| faults.always(Operation::StopCompute, Fault::Refused(Cause::ServerError)));
    bench
        .reconciler
        .delete(&id, Source::User)
        .await
        .expect("deleted");
    bench.drain().await;
    bench
        .reconciler
        .force(&id, Source::User)
        .await
        .expect("forced");
    bench.live(Duration::from_secs(1_200)).await;
    assert_eq!(bench.count(&id, Effect::RecordDestroyed).await, 1);
    assert_eq!(
        bench.state(&id, Effect::StopCompute).await,
        Some(WorkState::Cancelled)
    );
    let destroyed = bench
        .fleet
        .calls()
        .iter()
        .filter(|call| call.was_done)
        .count();
    assert_eq!(destroyed, 1, "{:?}", bench.fleet.calls());
    assert!(bench.fleet.change(|world| world.volume("v-1").is_some()));
}

async fn a_slow_destroy_is_no_orphan(bench: Bench) {
    let id = bench.running("a", None).await;
    bench.fleet.destroy_takes(Duration::from_secs(45));
    bench
        .reconciler
        .force(&id, Source::User)
        .await
        .expect("forced");
    bench.live(Duration::from_secs(1_200)).await;
    assert_eq!(bench.count(&id, Effect::RecordOrphan).await, 0);
    assert_eq!(
        bench.state(&id, Effect::DestroyCompute).await,
        Some(WorkState::Done)
    );
    assert_eq!(bench.capacity.held(&id), 0);
}

async fn a_host_clock_behind_does_not_end_a_quarantine(bench: Bench) {
    let behind = Arc::new(ManualClock::at(Timestamp::from_millis(1_600_000_000_000)));
    let id = bench.running("a", Some("v-1")).await;
    bench
        .reconciler
        .delete(&id, Source::User)
        .await
        .expect("deleted");
    bench.drain().await;
    bench.clock.advance(Duration::from_secs(3_600));
    let slow = bench.reconciler.clone().with_clock(behind);
    slow.observe(&id, Source::Sweep).await.expect("an answer");
    assert_eq!(bench.status(&id).await, Status::Quarantined);
    bench
        .reconciler
        .observe(&id, Source::Sweep)
        .await
        .expect("an answer");
    assert_eq!(bench.status(&id).await, Status::Destroying);
}

async fn a_store_clock_ahead_does_not_end_a_quarantine(bench: Bench) {
    let id = bench.running("a", Some("v-1")).await;
    bench
        .reconciler
        .delete(&id, Source::User)
        .await
        .expect("deleted");
    bench.drain().await;
    let host = Arc::new(ManualClock::at(bench.clock.now()));
    // The store's clock runs days ahead; the host's own does not agree.
    bench.clock.advance(Duration::from_secs(3 * 86_400));
    let (reconciler, _) = bench.with_provider(Arc::new(bench.fleet.clone()));
    let reconciler = reconciler.with_clock(host);
    reconciler.sweep(10).await.expect("swept");
    assert_eq!(bench.status(&id).await, Status::Quarantined);
}

async fn a_provider_that_fails_for_hours_delays_and_loses_nothing(bench: Bench) {
    let id = bench.running("a", Some("v-1")).await;
    assert!(bench.mint(&id).await);
    for operation in [
        Operation::Observe,
        Operation::List,
        Operation::StopCompute,
        Operation::DestroyCompute,
    ] {
        bench
            .fleet
            .fault(|faults| faults.always(operation, Fault::Refused(Cause::Transport)));
    }
    bench
        .reconciler
        .delete(&id, Source::User)
        .await
        .expect("a delete needs no provider");
    bench.live(Duration::from_secs(4 * 3_600)).await;
    assert_eq!(
        bench.tokens.live(&id),
        0,
        "credentials do not wait for the provider"
    );
    assert_eq!(bench.status(&id).await, Status::Destroying);
    bench.fleet.fault(|faults| faults.clear());
    bench.live(Duration::from_secs(1_800)).await;
    assert_eq!(bench.status(&id).await, Status::Destroyed);
    assert_eq!(bench.count(&id, Effect::RecordDestroyed).await, 1);
    assert!(bench.fleet.change(|world| world.volume("v-1").is_none()));
}

async fn deleting_twice_is_deleting_once(bench: Bench) {
    let id = bench.running("a", Some("v-1")).await;
    bench
        .reconciler
        .delete(&id, Source::User)
        .await
        .expect("deleted");
    let stamp = bench.row(&id).await.facts.machine().quarantine;
    bench.clock.advance(Duration::from_secs(60));
    bench
        .reconciler
        .delete(&id, Source::AccountDeletion)
        .await
        .expect("deleted");
    assert_eq!(bench.row(&id).await.facts.machine().quarantine, stamp);
    assert_eq!(bench.count(&id, Effect::RecordQuarantined).await, 1);
    bench.live(Duration::from_secs(1_200)).await;
    bench
        .reconciler
        .delete(&id, Source::User)
        .await
        .expect("an answer");
    assert_eq!(bench.count(&id, Effect::RecordDestroyed).await, 1);
}
