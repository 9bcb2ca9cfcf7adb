//! Is each deliberately broken provider caught, and by which promise?

use std::sync::Arc;

use async_trait::async_trait;
use lifecycle_adapters::{
    conformance::provider::{Cannot, Equipment, ProviderHarness},
    provider::{
        Completeness, Delivered, Listing, Provider, ProviderError, Seen, Target, VolumeReading,
    },
    simulated::SimulatedProvider,
};
use lifecycle_core::{Answer, Power, Proof};

use crate::{simulated::Simulated, suite};

/// Which promise is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flaw {
    /// A destroy of compute takes the volume with it.
    VolumeGoesDown,
    /// Whoever has the id is destroyed and stopped.
    MarkerIgnored,
    /// What could not be asked is said to be gone.
    FailureIsAbsence,
    /// Only what runs is listed.
    StoppedNotListed,
    /// Half of it is listed and called everything.
    HalfIsComplete,
    /// Others that use a volume are not seen.
    SharedIsExclusive,
    /// Answers name no scope.
    NoScope,
    /// What is not there is accepted.
    AnythingAccepted,
    /// A stop does nothing.
    StopIsNothing,
    /// Absence is told by the weakest proof.
    WeakProof,
}

#[tokio::test]
async fn every_broken_provider_is_caught() {
    for (flaw, promises) in [
        (
            Flaw::VolumeGoesDown,
            &[
                "a_destroy_keeps_the_volume",
                "a_destroy_may_be_repeated",
                "a_stopped_machine_can_be_destroyed",
                "many_destroys_at_once_end_it_once",
            ][..],
        ),
        (
            Flaw::MarkerIgnored,
            &[
                "a_stop_never_touches_another_machine",
                "a_destroy_never_touches_another_machine",
            ],
        ),
        (
            Flaw::FailureIsAbsence,
            &[
                "a_refused_connection_is_unknown_and_not_absent",
                "a_provider_that_never_answers_is_unknown_and_not_absent",
            ],
        ),
        (Flaw::StoppedNotListed, &["a_stopped_machine_stays_listed"]),
        (
            Flaw::HalfIsComplete,
            &["a_complete_listing_has_exactly_what_is_there"],
        ),
        (
            Flaw::SharedIsExclusive,
            &["a_shared_volume_is_read_as_shared"],
        ),
        (Flaw::NoScope, &["an_answer_names_the_scope"]),
        (
            Flaw::AnythingAccepted,
            &[
                "a_stop_of_what_is_gone_is_not_found",
                "a_destroy_of_what_is_gone_is_not_found",
                "the_destroy_of_a_volume_may_be_repeated",
            ],
        ),
        (Flaw::StopIsNothing, &["a_stop_stops"]),
        (
            Flaw::WeakProof,
            &["a_machine_that_vanished_is_absent_by_proof"],
        ),
    ] {
        let report = suite::report(Harness {
            inner: Simulated::new(),
            flaw,
        })
        .await;
        for promise in promises {
            assert!(
                report.broken.contains_key(promise),
                "{flaw:?} breaks {promise}, but only these were told: {:?}",
                report.broken
            );
        }
    }
}

/// A provider that keeps all promises but one.
#[derive(Debug)]
struct Broken {
    inner: Arc<dyn Provider>,
    fleet: SimulatedProvider,
    flaw: Flaw,
}

impl Broken {
    /// The target as a provider without care takes it.
    fn meant(&self, target: &Target) -> Target {
        let marker = target.marker.clone();
        Target {
            marker: marker.filter(|_| self.flaw != Flaw::MarkerIgnored),
            ..target.clone()
        }
    }

    fn answered(
        &self,
        answer: Result<Delivered, ProviderError>,
    ) -> Result<Delivered, ProviderError> {
        match answer {
            Ok(Delivered::NotFound(_)) if self.flaw == Flaw::AnythingAccepted => {
                Ok(Delivered::Accepted)
            }
            answer => answer,
        }
    }
}

#[async_trait]
impl Provider for Broken {
    async fn observe(&self, target: &Target) -> Seen {
        let mut seen = self.inner.observe(target).await;
        seen.answer = match seen.answer {
            Answer::Unknown(_) if self.flaw == Flaw::FailureIsAbsence => {
                Answer::Absent(Proof::TypedNotFound)
            }
            Answer::Absent(Proof::TypedNotFound) if self.flaw == Flaw::WeakProof => {
                Answer::Absent(Proof::UntypedNotFound)
            }
            answer @ (Answer::Present(_) | Answer::Absent(_) | Answer::Unknown(_)) => answer,
        };
        seen.scope = seen.scope.filter(|_| self.flaw != Flaw::NoScope);
        seen
    }

    async fn list(&self) -> Result<Listing, ProviderError> {
        let mut listing = self.inner.list().await?;
        let half = listing.machines.len() / 2;
        if self.flaw == Flaw::HalfIsComplete {
            listing.machines.truncate(half);
            listing.completeness = Completeness::Complete;
        }
        listing.machines.retain(|one| {
            self.flaw != Flaw::StoppedNotListed || one.answer == Answer::Present(Power::Running)
        });
        Ok(listing)
    }

    async fn read_volume(&self, target: &Target) -> VolumeReading {
        match self.inner.read_volume(target).await {
            VolumeReading::Shared if self.flaw == Flaw::SharedIsExclusive => {
                VolumeReading::Exclusive
            }
            reading @ (VolumeReading::Exclusive
            | VolumeReading::Shared
            | VolumeReading::Absent(_)
            | VolumeReading::Unknown(_)) => reading,
        }
    }

    async fn stop_compute(&self, target: &Target) -> Result<Delivered, ProviderError> {
        if self.flaw == Flaw::StopIsNothing {
            return Ok(Delivered::Accepted);
        }
        self.answered(self.inner.stop_compute(&self.meant(target)).await)
    }

    async fn destroy_compute(&self, target: &Target) -> Result<Delivered, ProviderError> {
        if self.flaw == Flaw::VolumeGoesDown {
            let _ = self.fleet.destroy_volume(target).await;
        }
        self.answered(self.inner.destroy_compute(&self.meant(target)).await)
    }

    async fn destroy_volume(&self, target: &Target) -> Result<Delivered, ProviderError> {
        self.answered(self.inner.destroy_volume(target).await)
    }
}

struct Harness {
    inner: Simulated,
    flaw: Flaw,
}

impl Harness {
    fn broken(&self, inner: Arc<dyn Provider>) -> Arc<dyn Provider> {
        Arc::new(Broken {
            inner,
            fleet: self.inner.fleet(),
            flaw: self.flaw,
        })
    }
}

#[async_trait]
impl ProviderHarness for Harness {
    fn provider(&self) -> Arc<dyn Provider> {
        self.broken(self.inner.provider())
    }

    async fn make(&self, equipment: Equipment) -> Target {
        self.inner.make(equipment).await
    }

    async fn vanish(&self, target: &Target) {
        self.inner.vanish(target).await;
    }

    async fn supersede(&self, target: &mut Target) -> Result<Target, Cannot> {
        self.inner.supersede(target).await
    }

    async fn share_volume(&self, target: &Target) -> Result<(), Cannot> {
        self.inner.share_volume(target).await
    }

    async fn refused(&self) -> Result<Arc<dyn Provider>, Cannot> {
        Ok(self.broken(self.inner.refused().await?))
    }

    async fn silent(&self) -> Result<Arc<dyn Provider>, Cannot> {
        Ok(self.broken(self.inner.silent().await?))
    }

    fn malformed_ids(&self) -> Vec<String> {
        Vec::new()
    }

    fn patience(&self) -> core::time::Duration {
        // A broken promise is waited for in vain, each time.
        core::time::Duration::from_millis(100)
    }
}
