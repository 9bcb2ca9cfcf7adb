//! Does an outage or a wrong account leave a fleet alone?

use core::time::Duration;

use lifecycle_adapters::{
    alert::Alert,
    simulated::{Fault, Operation},
};
use lifecycle_core::{Effect, Policy, Source, Status};

use crate::bench::{Bench, SCOPE};

crate::stories! {
    an_outage_that_reads_as_absence_retires_a_handful_at_most,
    an_operator_may_say_that_it_is_true,
    rows_that_were_deleted_do_not_count,
    observers_side_by_side_do_not_pass_the_guard_together,
}

async fn fleet(bench: &Bench, count: usize) -> Vec<lifecycle_adapters::id::MachineId> {
    let mut ids = Vec::new();
    for number in 0..count {
        ids.push(bench.registered(&format!("m{number:02}"), None).await);
    }
    bench.clock.advance(Duration::from_secs(120));
    bench.live(Duration::from_secs(60)).await;
    ids
}

async fn destroyed(bench: &Bench, ids: &[lifecycle_adapters::id::MachineId]) -> usize {
    let mut destroyed = 0;
    for id in ids {
        destroyed += usize::from(bench.status(id).await == Status::Destroyed);
    }
    destroyed
}

async fn an_outage_that_reads_as_absence_retires_a_handful_at_most(bench: Bench) {
    let ids = fleet(&bench, 20).await;
    bench.fleet.fault(|faults| {
        faults.always(Operation::Observe, Fault::Invisible);
        faults.always(Operation::List, Fault::Invisible);
    });
    bench.live(Duration::from_secs(600)).await;
    assert_eq!(destroyed(&bench, &ids).await, 5, "then the guard holds");
    let held = bench
        .alerts
        .all()
        .iter()
        .filter(|alert| matches!(alert, Alert::FleetHeld { .. }))
        .count();
    assert_eq!(held, 1, "one alert: {:?}", bench.alerts.all());
    bench.fleet.fault(|faults| faults.clear());
    bench.live(Duration::from_secs(600)).await;
    let mut running = 0;
    for id in &ids {
        running += usize::from(bench.status(id).await == Status::Running);
    }
    assert_eq!(running, 15);
}

async fn an_operator_may_say_that_it_is_true(bench: Bench) {
    let ids = fleet(&bench, 20).await;
    bench
        .fleet
        .change(|world| (1..=20).for_each(|number| world.vanish(&format!("m-{number}"))));
    bench.live(Duration::from_secs(400)).await;
    assert_eq!(destroyed(&bench, &ids).await, 5);
    bench
        .reconciler
        .release_scope(SCOPE)
        .await
        .expect("released");
    bench.live(Duration::from_secs(400)).await;
    assert_eq!(destroyed(&bench, &ids).await, 20);
    for id in &ids {
        assert_eq!(bench.count(id, Effect::RecordDestroyed).await, 1);
    }
}

async fn rows_that_were_deleted_do_not_count(bench: Bench) {
    let ids = fleet(&bench, 12).await;
    for id in &ids[..10] {
        bench
            .reconciler
            .delete(id, Source::AccountDeletion)
            .await
            .expect("deleted");
    }
    bench.live(Duration::from_secs(900)).await;
    assert_eq!(destroyed(&bench, &ids).await, 10);
    assert!(bench.alerts.all().is_empty(), "{:?}", bench.alerts.all());
}

async fn observers_side_by_side_do_not_pass_the_guard_together(bench: Bench) {
    let bench = bench.settled(|settings| settings.policy = Policy::IMMEDIATE);
    let ids = fleet(&bench, 30).await;
    bench.clock.advance(Duration::from_secs(1_800));
    bench
        .fleet
        .fault(|faults| faults.always(Operation::Observe, Fault::Invisible));
    let observers: Vec<_> = ids
        .iter()
        .map(|id| {
            let (reconciler, id) = (bench.reconciler.clone(), id.clone());
            tokio::spawn(async move { reconciler.observe(&id, Source::StatusRead).await })
        })
        .collect();
    for observer in observers {
        observer.await.expect("no panic").expect("an answer");
    }
    // A fifth of thirty, by the default guard.
    assert_eq!(destroyed(&bench, &ids).await, 6);
}
