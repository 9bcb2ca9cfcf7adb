//! Was a call answered as its fault allows?

use std::collections::BTreeSet;

use lifecycle_core::{Answer, Cause, Power};

use super::{Address, Fault, HttpHarness, HttpRequest, RETRY_AFTER, Server};
use crate::provider::{
    Completeness, Delivered, Listing, Provider, ProviderError, Seen, Target, VolumeReading,
};

/// What can be asked of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    Observe,
    List,
    ReadVolume,
    StopCompute,
    DestroyCompute,
    DestroyVolume,
}

/// What was answered.
#[derive(Debug)]
pub(super) enum Answered {
    Seen(Seen),
    Listed(Result<Listing, ProviderError>),
    Read(VolumeReading),
    Done(Result<Delivered, ProviderError>),
}

impl Answered {
    /// Tells whether it is what a service that is well and has the target makes of it.
    pub(super) fn is_well(&self, target: &Target) -> bool {
        match self {
            Self::Seen(seen) => {
                seen.answer == Answer::Present(Power::Running)
                    && seen.scope.as_ref() == Some(&target.scope)
            }
            Self::Listed(Ok(listing)) => {
                listing.completeness == Completeness::Complete
                    && listing.scope == target.scope
                    && listing
                        .machines
                        .iter()
                        .any(|one| one.provider_id == target.provider_id)
            }
            Self::Listed(Err(_)) => false,
            Self::Read(reading) => *reading == VolumeReading::Exclusive,
            Self::Done(done) => *done == Ok(Delivered::Accepted),
        }
    }
}

impl Call {
    pub(super) const ALL: [Self; 6] = [
        Self::Observe,
        Self::List,
        Self::ReadVolume,
        Self::StopCompute,
        Self::DestroyCompute,
        Self::DestroyVolume,
    ];

    pub(super) async fn ask(self, harness: &dyn HttpHarness, server: &Server) -> Answered {
        self.at(harness, server.address()).await
    }

    /// Asks at an address, and not without an end.
    pub(super) async fn at(self, harness: &dyn HttpHarness, address: &Address) -> Answered {
        let (provider, target) = (harness.provider(address), harness.target());
        let patience = harness.patience();
        match tokio::time::timeout(patience, self.of(&*provider, &target)).await {
            Ok(answered) => answered,
            Err(_) => panic!("a call ends by itself within {patience:?}, but not {self:?}"),
        }
    }

    async fn of(self, provider: &dyn Provider, target: &Target) -> Answered {
        match self {
            Self::Observe => Answered::Seen(provider.observe(target).await),
            Self::List => Answered::Listed(provider.list().await),
            Self::ReadVolume => Answered::Read(provider.read_volume(target).await),
            Self::StopCompute => Answered::Done(provider.stop_compute(target).await),
            Self::DestroyCompute => Answered::Done(provider.destroy_compute(target).await),
            Self::DestroyVolume => Answered::Done(provider.destroy_volume(target).await),
        }
    }
}

pub(super) fn assert_taken_well(
    answered: &Answered,
    fault: &Fault,
    was_changed: bool,
    place: &str,
) {
    let expected = fault.expected;
    let is_well = match answered {
        Answered::Seen(seen) => match seen.answer {
            Answer::Unknown(cause) => expected.allows(cause),
            Answer::Absent(proof) => expected.proves(proof),
            // Without a scope nothing is proved by it.
            Answer::Present(_) => seen.scope.is_none(),
        },
        Answered::Read(reading) => match reading {
            VolumeReading::Unknown(cause) => expected.allows(*cause),
            VolumeReading::Absent(proof) => expected.proves(*proof),
            VolumeReading::Shared => true,
            VolumeReading::Exclusive => false,
        },
        Answered::Listed(listed) => {
            is_incomplete(listed)
                && listed
                    .as_ref()
                    .err()
                    .is_none_or(|error| is_told(error, fault))
        }
        Answered::Done(Ok(Delivered::Accepted)) => was_changed,
        Answered::Done(Ok(Delivered::NotFound(proof))) => expected.proves(*proof),
        Answered::Done(Err(error)) => is_told(error, fault),
    };
    assert!(
        is_well,
        "a broken answer is taken for what it is ({expected:?}), but {place}: {answered:?}"
    );
}

/// Tells whether an error says why, and when to ask again.
fn is_told(error: &ProviderError, fault: &Fault) -> bool {
    match error {
        ProviderError::Refused {
            cause,
            message: _,
            retry_after,
        } => {
            let waits = matches!(cause, Cause::RateLimited);
            fault.expected.allows(*cause) && (!waits || *retry_after == Some(RETRY_AFTER))
        }
        ProviderError::Unproven
        | ProviderError::VolumeAtRisk(_)
        | ProviderError::OutOfBounds(_) => false,
    }
}

pub(super) fn is_incomplete(listed: &Result<Listing, ProviderError>) -> bool {
    listed.as_ref().map_or(true, |listing| {
        listing.completeness != Completeness::Complete
    })
}

pub(super) fn assert_sent_once(
    harness: &dyn HttpHarness,
    server: &Server,
    call: Call,
    place: &str,
) {
    let mut sent = BTreeSet::new();
    for request in server.requests() {
        let HttpRequest { method, path, body } = request.clone();
        assert!(
            !harness.is_change(&request) || sent.insert((method, path, body)),
            "what changes something is sent once, but {place}: {call:?} sent {request:?} again"
        );
    }
}
