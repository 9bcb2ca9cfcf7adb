//! Does a volume live exactly as long as it should, whatever readings say?

use core::time::Duration;

use lifecycle_adapters::{
    outbox::WorkState,
    simulated::{Fault, Operation},
};
use lifecycle_core::{Cause, Effect, Source, Status, Volume};

use crate::bench::Bench;

crate::stories! {
    an_unreadable_volume_is_waited_for_and_then_wiped,
    a_volume_that_became_shared_is_never_wiped,
    a_volume_shared_between_decision_and_delivery_survives,
    a_reading_that_lies_once_wipes_and_ends_nothing,
    a_volume_wiped_by_hand_is_believed_after_a_second_reading,
    a_lost_answer_to_the_wipe_is_found_out,
}

async fn an_unreadable_volume_is_waited_for_and_then_wiped(bench: Bench) {
    let id = bench.running("a", Some("v-1")).await;
    bench
        .fleet
        .fault(|faults| faults.always(Operation::ReadVolume, Fault::Refused(Cause::Forbidden)));
    bench
        .reconciler
        .delete(&id, Source::User)
        .await
        .expect("deleted");
    bench.live(Duration::from_secs(900)).await;
    assert_eq!(bench.status(&id).await, Status::Destroying);
    assert_eq!(bench.row(&id).await.facts.machine().volume, Volume::Unknown);
    assert!(bench.fleet.change(|world| world.volume("v-1").is_some()));
    bench.fleet.fault(|faults| faults.clear());
    bench.live(Duration::from_secs(300)).await;
    assert_eq!(bench.status(&id).await, Status::Destroyed);
    assert!(bench.fleet.change(|world| world.volume("v-1").is_none()));
}

async fn a_volume_that_became_shared_is_never_wiped(bench: Bench) {
    let id = bench.running("a", Some("v-1")).await;
    bench.fleet.change(|world| world.share_volume("v-1"));
    bench
        .reconciler
        .delete(&id, Source::User)
        .await
        .expect("deleted");
    bench.live(Duration::from_secs(900)).await;
    assert_eq!(bench.status(&id).await, Status::Destroyed);
    assert!(bench.fleet.change(|world| world.volume("v-1").is_some()));
    let kept = bench.store.kept_volumes().await.expect("an answer");
    assert_eq!(kept.len(), 1);
    assert_eq!(kept[0].volume, Volume::Shared);
}

async fn a_volume_shared_between_decision_and_delivery_survives(bench: Bench) {
    let id = bench.running("a", Some("v-1")).await;
    bench.fleet.fault(|faults| {
        faults.always(Operation::DestroyVolume, Fault::Refused(Cause::ServerError))
    });
    bench
        .reconciler
        .delete(&id, Source::User)
        .await
        .expect("deleted");
    bench.live(Duration::from_secs(600)).await;
    assert_eq!(bench.status(&id).await, Status::Destroying);
    bench.fleet.change(|world| world.share_volume("v-1"));
    bench.fleet.fault(|faults| faults.clear());
    bench.live(Duration::from_secs(600)).await;
    assert_eq!(
        bench.state(&id, Effect::DestroyVolume).await,
        Some(WorkState::Cancelled)
    );
    assert_eq!(bench.status(&id).await, Status::Destroyed);
    assert!(bench.fleet.change(|world| world.volume("v-1").is_some()));
}

async fn a_reading_that_lies_once_wipes_and_ends_nothing(bench: Bench) {
    let id = bench.running("a", Some("v-1")).await;
    bench.fleet.change(|world| world.vanish("m-1"));
    bench
        .fleet
        .fault(|faults| faults.once(Operation::ReadVolume, Fault::Invisible));
    bench
        .reconciler
        .observe(&id, Source::Sweep)
        .await
        .expect("an answer");
    assert_eq!(bench.status(&id).await, Status::Paused);
    bench.live(Duration::from_secs(600)).await;
    assert_eq!(bench.status(&id).await, Status::Paused);
    assert_eq!(bench.row(&id).await.facts.machine().volume, Volume::Owned);
    assert_eq!(bench.count(&id, Effect::RecordDestroyed).await, 0);
}

async fn a_volume_wiped_by_hand_is_believed_after_a_second_reading(bench: Bench) {
    let id = bench.running("a", Some("v-1")).await;
    bench
        .fleet
        .fault(|faults| faults.always(Operation::ReadVolume, Fault::Invisible));
    bench.fleet.change(|world| world.vanish("m-1"));
    bench.live(Duration::from_secs(1_200)).await;
    assert_eq!(bench.status(&id).await, Status::Destroyed);
    assert_eq!(bench.count(&id, Effect::RecordDestroyed).await, 1);
}

async fn a_lost_answer_to_the_wipe_is_found_out(bench: Bench) {
    let id = bench.running("a", Some("v-1")).await;
    bench
        .fleet
        .fault(|faults| faults.once(Operation::DestroyVolume, Fault::AnswerLost));
    bench
        .reconciler
        .delete(&id, Source::User)
        .await
        .expect("deleted");
    bench.live(Duration::from_secs(1_800)).await;
    assert_eq!(bench.status(&id).await, Status::Destroyed);
    assert_eq!(bench.count(&id, Effect::RecordDestroyed).await, 1);
    assert!(
        bench
            .store
            .kept_volumes()
            .await
            .expect("an answer")
            .is_empty()
    );
}
