//! Does the relay deliver what is meant, and only that, and give up in plain sight?

use core::time::Duration;
use std::sync::Arc;

use async_trait::async_trait;
use lifecycle_adapters::{
    alert::Alert,
    outbox::WorkState,
    provider::{Delivered, Listing, Provider, ProviderError, Seen, Target, VolumeReading},
    relay::Relay,
    simulated::{Fault, Operation, SimulatedProvider},
};
use lifecycle_core::{Cause, Effect, Source, Status};
use tokio_util::sync::CancellationToken;

use crate::bench::Bench;

crate::stories! {
    a_dead_letter_is_visible_and_can_be_retried,
    a_relay_past_its_lease_does_not_call,
    what_the_adapter_cannot_do_stays_owed,
    a_running_relay_stops_when_told,
    a_volume_at_risk_keeps_the_compute_owed,
}

async fn a_dead_letter_is_visible_and_can_be_retried(bench: Bench) {
    let id = bench.running("a", None).await;
    bench
        .fleet
        .fault(|faults| faults.always(Operation::DestroyCompute, Fault::Refused(Cause::Malformed)));
    bench
        .reconciler
        .force(&id, Source::User)
        .await
        .expect("forced");
    bench.drain().await;
    let dead = bench.store.dead_letters(10).await.expect("an answer");
    assert_eq!(dead.len(), 1);
    assert!(
        bench
            .alerts
            .all()
            .iter()
            .any(|alert| matches!(alert, Alert::DeadLetter { .. }))
    );
    assert_eq!(
        bench.state(&id, Effect::ReleaseCompute).await,
        Some(WorkState::Pending),
        "it waits for the destroy"
    );
    bench.fleet.fault(|faults| faults.clear());
    assert!(
        bench
            .store
            .retry_dead(&dead[0].work.key)
            .await
            .expect("retried")
    );
    bench.live(Duration::from_secs(60)).await;
    assert_eq!(bench.fleet.change(|world| world.alive().count()), 0);
    assert_eq!(bench.capacity.held(&id), 0);
}

async fn a_relay_past_its_lease_does_not_call(bench: Bench) {
    let id = bench.running("a", None).await;
    bench
        .reconciler
        .force(&id, Source::User)
        .await
        .expect("forced");
    let (_, relay) = bench.with_provider(Arc::new(Sleepy {
        fleet: bench.fleet.clone(),
        clock: bench.clock.clone(),
    }));
    relay.deliver_due().await.expect("delivered");
    // The sleep before the call ate the lease: whatever was called, nothing is lost or wrongly done.
    bench.live(Duration::from_secs(120)).await;
    assert_eq!(bench.fleet.change(|world| world.alive().count()), 0);
    let done = bench
        .fleet
        .calls()
        .iter()
        .filter(|call| call.was_done)
        .count();
    assert_eq!(done, 1, "{:?}", bench.fleet.calls());
}

async fn what_the_adapter_cannot_do_stays_owed(bench: Bench) {
    let id = bench.running("a", Some("v-1")).await;
    bench
        .fleet
        .fault(|faults| faults.always(Operation::StopCompute, Fault::Refused(Cause::Unsupported)));
    bench
        .reconciler
        .delete(&id, Source::User)
        .await
        .expect("deleted");
    bench.live(Duration::from_secs(120)).await;
    assert_eq!(
        bench.state(&id, Effect::StopCompute).await,
        Some(WorkState::Pending)
    );
    // It blocks nothing else.
    bench.live(Duration::from_secs(900)).await;
    assert_eq!(bench.status(&id).await, Status::Destroyed);
    assert_eq!(
        bench.state(&id, Effect::StopCompute).await,
        Some(WorkState::Cancelled)
    );
}

async fn a_running_relay_stops_when_told(bench: Bench) {
    let id = bench.running("a", None).await;
    let stop = CancellationToken::new();
    let running = tokio::spawn({
        let (relay, stop): (Relay, _) = (bench.relay.clone(), stop.clone());
        async move { relay.run(stop).await }
    });
    bench
        .reconciler
        .force(&id, Source::User)
        .await
        .expect("forced");
    for _ in 0..10_000 {
        if bench.fleet.change(|world| world.alive().count()) == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    stop.cancel();
    tokio::time::timeout(Duration::from_secs(10), running)
        .await
        .expect("it stops")
        .expect("no panic");
    assert_eq!(bench.fleet.change(|world| world.alive().count()), 0);
}

async fn a_volume_at_risk_keeps_the_compute_owed(bench: Bench) {
    let id = bench.running("a", Some("v-1")).await;
    bench
        .reconciler
        .force(&id, Source::User)
        .await
        .expect("forced");
    let (_, relay) = bench.with_provider(Arc::new(AtRisk {
        fleet: bench.fleet.clone(),
    }));
    relay.deliver_due().await.expect("delivered");
    let work = bench.work(&id, Effect::DestroyCompute).await;
    assert_eq!(work[0].state, WorkState::Pending);
    assert!(
        work[0]
            .note
            .as_deref()
            .is_some_and(|note| note.contains("volume")),
        "{:?}",
        work[0].note
    );
    assert_eq!(bench.fleet.change(|world| world.alive().count()), 1);
}

/// A fleet whose first question takes longer than any lease.
#[derive(Debug)]
struct Sleepy {
    fleet: SimulatedProvider,
    clock: Arc<lifecycle_adapters::clock::ManualClock>,
}

/// A fleet that would take volumes down with their compute.
#[derive(Debug)]
struct AtRisk {
    fleet: SimulatedProvider,
}

macro_rules! forwarded {
    ($provider:ident, |$self:ident, $target:ident| $destroy:expr) => {
        #[async_trait]
        impl Provider for $provider {
            async fn observe(&self, target: &Target) -> Seen {
                self.fleet.observe(target).await
            }

            async fn list(&self) -> Result<Listing, ProviderError> {
                self.fleet.list().await
            }

            async fn read_volume(&self, target: &Target) -> VolumeReading {
                self.fleet.read_volume(target).await
            }

            async fn stop_compute(&self, target: &Target) -> Result<Delivered, ProviderError> {
                self.fleet.stop_compute(target).await
            }

            async fn destroy_compute(&$self, $target: &Target) -> Result<Delivered, ProviderError> {
                $destroy
            }

            async fn destroy_volume(&self, target: &Target) -> Result<Delivered, ProviderError> {
                self.fleet.destroy_volume(target).await
            }
        }
    };
}

forwarded!(Sleepy, |self, target| {
    let delivered = self.fleet.destroy_compute(target).await;
    self.clock.advance(Duration::from_secs(90));
    delivered
});
forwarded!(AtRisk, |self, target| Err(ProviderError::VolumeAtRisk(
    target.provider_id.clone()
)));
