//! What does a provider notice of what is asked too long, too often or too soon?

use core::{num::NonZeroU32, time::Duration};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use lifecycle_adapters::{
    clock::{Clock, ManualClock},
    conformance::provider::{Equipment, ProviderHarness as _},
    guarded::{Guarded, Limits},
    provider::{Delivered, Listing, Provider, ProviderError, Seen, Target, VolumeReading},
    simulated::{Fault, Operation, SimulatedProvider},
};
use lifecycle_core::{Answer, Cause, Power, Timestamp};

use crate::simulated::Simulated;

#[tokio::test]
async fn readings_are_repeated_and_changes_never() {
    let (fleet, target) = fleet().await;
    for operation in [
        Operation::Observe,
        Operation::List,
        Operation::ReadVolume,
        Operation::StopCompute,
        Operation::DestroyCompute,
        Operation::DestroyVolume,
    ] {
        fleet.fault(|faults| faults.once(operation, Fault::Refused(Cause::ServerError)));
    }
    let guarded = guarded(fleet.clone(), |_| {});
    let seen = guarded.observe(&target).await;
    assert_eq!(seen.answer, Answer::Present(Power::Running));
    assert!(guarded.list().await.is_ok());
    assert_eq!(guarded.read_volume(&target).await, VolumeReading::Exclusive);
    for ended in [
        guarded.stop_compute(&target).await,
        guarded.destroy_compute(&target).await,
        guarded.destroy_volume(&target).await,
    ] {
        assert!(ended.is_err(), "{ended:?}");
    }
    assert_eq!(fleet.calls().len(), 3, "each was asked once");
    assert!(fleet.calls().iter().all(|call| !call.was_done));
}

#[tokio::test]
async fn a_change_whose_answer_was_lost_is_not_repeated() {
    let (fleet, target) = fleet().await;
    fleet.fault(|faults| faults.once(Operation::DestroyCompute, Fault::AnswerLost));
    let guarded = guarded(fleet.clone(), |_| {});
    let destroyed = guarded.destroy_compute(&target).await;
    assert!(destroyed.is_err_and(|error| error.is_retryable()));
    assert_eq!(fleet.calls().len(), 1);
}

#[tokio::test]
async fn what_will_not_pass_is_not_asked_again() {
    let (fleet, target) = fleet().await;
    for cause in [Cause::Unauthorized, Cause::Forbidden, Cause::Malformed] {
        let guarded = guarded(fleet.clone(), |_| {});
        fleet.fault(|faults| faults.once(Operation::Observe, Fault::Refused(cause)));
        let seen = guarded.observe(&target).await;
        assert_eq!(seen, Seen::unknown(cause));
        let seen = guarded.observe(&target).await;
        assert_eq!(seen.answer, Answer::Present(Power::Running));
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_has_an_end() {
    let (_, target) = fleet().await;
    let guarded = guarded(Answering(|| None), |limits| limits.repetitions = 1);
    let seen = guarded.observe(&target).await;
    assert_eq!(seen, Seen::unknown(Cause::Timeout));
    let reading = guarded.read_volume(&target).await;
    assert_eq!(reading, VolumeReading::Unknown(Cause::Timeout));
    assert_eq!(cause(guarded.list().await), Cause::Timeout);
    assert_eq!(cause(guarded.stop_compute(&target).await), Cause::Timeout);
    assert_eq!(
        cause(guarded.destroy_compute(&target).await),
        Cause::Timeout
    );
    assert_eq!(cause(guarded.destroy_volume(&target).await), Cause::Timeout);
}

#[tokio::test]
async fn calls_wait_for_their_turn_and_not_too_long() {
    let (fleet, target) = fleet().await;
    let clock = clock();
    let mut limits = Limits::default();
    (limits.per_second, limits.burst) = (NonZeroU32::MIN, NonZeroU32::MIN);
    limits.longest_wait = Duration::from_millis(1_500);
    let guarded = Guarded::new(fleet.clone(), limits, clock.clone());
    let begun = clock.monotonic();
    for _ in 0..3 {
        assert!(guarded.stop_compute(&target).await.is_ok());
    }
    let taken = clock.monotonic() - begun;
    assert!(taken >= Duration::from_secs(2), "{taken:?}");

    limits.longest_wait = Duration::from_millis(10);
    let guarded = Guarded::new(fleet.clone(), limits, clock);
    assert!(guarded.stop_compute(&target).await.is_ok());
    let refused = guarded.destroy_compute(&target).await;
    let Err(ProviderError::Refused {
        cause: Cause::RateLimited,
        retry_after: Some(wait),
        ..
    }) = refused
    else {
        panic!("{refused:?}");
    };
    assert!(wait <= Duration::from_secs(1), "{wait:?}");
    let seen = guarded.observe(&target).await;
    assert_eq!(seen, Seen::unknown(Cause::RateLimited));
    let was_destroyed =
        |call: &lifecycle_adapters::simulated::Call| call.operation == Operation::DestroyCompute;
    assert!(!fleet.calls().iter().any(was_destroyed), "it was not asked");
}

#[tokio::test]
async fn who_is_told_to_wait_asks_nothing_before() {
    let (_, target) = fleet().await;
    let clock = clock();
    let asked = Arc::new(Mutex::new(0));
    let count = asked.clone();
    let busy = Answering(move || {
        *count.lock().expect("a count") += 1;
        Some(Err(ProviderError::Refused {
            cause: Cause::RateLimited,
            message: "enough".to_owned(),
            retry_after: Some(Duration::from_secs(60)),
        }))
    });
    let guarded = Guarded::new(busy, Limits::default(), clock.clone());
    assert_eq!(cause(guarded.list().await), Cause::RateLimited);
    assert_eq!(
        *asked.lock().expect("a count"),
        1,
        "no repetition before its time"
    );
    for _ in 0..3 {
        assert_eq!(
            cause(guarded.destroy_compute(&target).await),
            Cause::RateLimited
        );
    }
    assert_eq!(*asked.lock().expect("a count"), 1, "whatever the call");
    clock.advance(Duration::from_secs(60));
    assert_eq!(
        cause(guarded.stop_compute(&target).await),
        Cause::RateLimited
    );
    assert_eq!(*asked.lock().expect("a count"), 2, "and after it again");
}

fn guarded<P>(provider: P, change: impl FnOnce(&mut Limits)) -> Guarded<P> {
    let mut limits = Limits::default();
    change(&mut limits);
    Guarded::new(provider, limits, clock())
}

fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::at(Timestamp::from_millis(1_700_000_000_000)))
}

async fn fleet() -> (SimulatedProvider, Target) {
    let simulated = Simulated::new();
    let target = simulated.make(Equipment::Volume).await;
    (simulated.fleet(), target)
}

fn cause<T: core::fmt::Debug>(answer: Result<T, ProviderError>) -> Cause {
    match answer {
        Err(ProviderError::Refused { cause, .. }) => cause,
        answer => panic!("{answer:?}"),
    }
}

/// Answers every call so; none: never.
struct Answering<F>(F);

impl<F> core::fmt::Debug for Answering<F> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Answering")
    }
}

impl<F: Fn() -> Option<Result<Delivered, ProviderError>> + Send + Sync> Answering<F> {
    async fn answer(&self) -> Result<Delivered, ProviderError> {
        match (self.0)() {
            Some(answer) => answer,
            None => core::future::pending().await,
        }
    }
}

#[async_trait]
impl<F: Fn() -> Option<Result<Delivered, ProviderError>> + Send + Sync> Provider for Answering<F> {
    async fn observe(&self, _target: &Target) -> Seen {
        Seen::unknown(cause(self.answer().await))
    }

    async fn list(&self) -> Result<Listing, ProviderError> {
        match self.answer().await {
            Err(error) => Err(error),
            Ok(delivered) => panic!("{delivered:?}"),
        }
    }

    async fn read_volume(&self, _target: &Target) -> VolumeReading {
        VolumeReading::Unknown(cause(self.answer().await))
    }

    async fn stop_compute(&self, _target: &Target) -> Result<Delivered, ProviderError> {
        self.answer().await
    }

    async fn destroy_compute(&self, _target: &Target) -> Result<Delivered, ProviderError> {
        self.answer().await
    }

    async fn destroy_volume(&self, _target: &Target) -> Result<Delivered, ProviderError> {
        self.answer().await
    }
}
