//! What does every case do again and again?

use core::time::Duration;
use std::{sync::Arc, time::Instant};

use lifecycle_core::{Answer, Power, Proof};

use super::{Equipment, ProviderHarness};
use crate::provider::{
    Completeness, Delivered, Listing, Provider, ProviderError, Seen, Target, VolumeReading,
};

/// A provider under examination.
pub(super) struct Trial<'h> {
    pub(super) harness: &'h dyn ProviderHarness,
    pub(super) provider: Arc<dyn Provider>,
}

impl<'h> Trial<'h> {
    pub(super) fn begin(harness: &'h dyn ProviderHarness) -> Self {
        Self {
            provider: harness.provider(),
            harness,
        }
    }

    /// Makes a machine, and waits until it is seen running.
    pub(super) async fn running(&self, equipment: Equipment) -> Target {
        let target = self.harness.make(equipment).await;
        self.until_running(&target).await;
        target
    }

    pub(super) async fn until_running(&self, target: &Target) {
        self.until(target, "a machine that was made runs", |seen| {
            seen.answer == Answer::Present(Power::Running)
        })
        .await;
    }

    /// Observes until that is seen; panics where it is not in time.
    pub(super) async fn until(
        &self,
        target: &Target,
        promise: &str,
        is_there: impl Fn(&Seen) -> bool,
    ) -> Seen {
        let begun = Instant::now();
        loop {
            let seen = self.provider.observe(target).await;
            if is_there(&seen) {
                return seen;
            }
            assert!(
                begun.elapsed() < self.harness.patience(),
                "{promise}, but it was never so; the last that was seen of {target:?} is {seen:?}"
            );
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Observes until the machine is absent by a proof that is good enough.
    pub(super) async fn until_gone(&self, target: &Target, promise: &str) {
        let least = self.harness.proof();
        self.until(target, promise, |seen| is_absent(seen.answer, least))
            .await;
    }

    /// Observes until the machine is not running, whether off, ended or gone.
    pub(super) async fn until_stopped(&self, target: &Target, promise: &str) {
        let least = self.harness.proof();
        self.until(target, promise, |seen| {
            is_off(seen.answer) || is_absent(seen.answer, least)
        })
        .await;
    }

    /// Reads the volume until that is read; panics where it is not in time.
    pub(super) async fn until_volume(
        &self,
        target: &Target,
        promise: &str,
        is_there: impl Fn(VolumeReading) -> bool,
    ) {
        let begun = Instant::now();
        loop {
            let reading = self.provider.read_volume(target).await;
            if is_there(reading) {
                return;
            }
            assert!(
                begun.elapsed() < self.harness.patience(),
                "{promise}, but {reading:?} was read of {:?}",
                target.volume_id
            );
            tokio::time::sleep(PAUSE).await;
        }
    }

    pub(super) async fn listing(&self) -> Listing {
        match self.provider.list().await {
            Ok(listing) => {
                assert_eq!(
                    listing.completeness,
                    Completeness::Complete,
                    "a provider that is well lists everything"
                );
                listing
            }
            Err(error) => panic!("a provider that is well can be listed, but it said: {error}"),
        }
    }

    pub(super) async fn stop(&self, target: &Target) -> Delivered {
        delivered(self.provider.stop_compute(target).await)
    }

    pub(super) async fn destroy(&self, target: &Target) -> Delivered {
        delivered(self.provider.destroy_compute(target).await)
    }

    pub(super) async fn destroy_volume(&self, target: &Target) -> Delivered {
        delivered(self.provider.destroy_volume(target).await)
    }

    /// Asserts that a machine runs as if nothing had happened to any other.
    pub(super) async fn assert_untouched(&self, target: &Target, promise: &str) {
        let seen = self.provider.observe(target).await;
        assert_eq!(
            seen.answer,
            Answer::Present(Power::Running),
            "{promise}: {target:?}"
        );
    }

    /// Asserts that something is not there, and how well that is proven.
    pub(super) fn assert_not_found(&self, delivered: Delivered, promise: &str) {
        let least = self.harness.proof();
        match delivered {
            Delivered::NotFound(proof) => assert!(
                proof.strength() >= least.strength(),
                "{promise}, by {least} at least, but it was by {proof}"
            ),
            Delivered::Accepted => panic!("{promise}, but it was accepted"),
        }
    }
}

/// Unwraps what a provider that is well must answer.
pub(super) fn delivered(answer: Result<Delivered, ProviderError>) -> Delivered {
    match answer {
        Ok(delivered) => delivered,
        Err(error) => panic!("a provider that is well does what it is asked, but it said: {error}"),
    }
}

pub(super) fn is_absent(answer: Answer, least: Proof) -> bool {
    match answer {
        Answer::Absent(proof) => proof.strength() >= least.strength(),
        Answer::Present(_) | Answer::Unknown(_) => false,
    }
}

pub(super) fn is_off(answer: Answer) -> bool {
    matches!(answer, Answer::Present(Power::Off | Power::Suspended))
}

const PAUSE: Duration = Duration::from_millis(20);
