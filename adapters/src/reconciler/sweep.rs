//! How are all machines looked at, in a few questions to the provider?

use core::time::Duration;
use std::collections::BTreeMap;

use lifecycle_core::{Answer, Asked, Cause, DecisionKind, Proof, Source, Timestamp};

use super::{
    Outcome, Read, ReconcileError, Reconciler,
    question::{Evidence, Question, is_awaiting_destroy},
};
use crate::{
    clock::Clock,
    id::MachineId,
    provider::{self, Completeness, Listing, ProviderError, Seen},
    store::Loaded,
};

/// What a sweep did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Rows that were looked at.
    pub looked_at: u64,
    /// Rows that changed their status or had effects.
    pub transitions: u64,
    /// Rows that somebody else changed first.
    pub lost: u64,
}

impl Swept {
    fn add(&mut self, outcomes: &[Outcome]) {
        for outcome in outcomes {
            self.looked_at += 1;
            self.transitions += u64::from(matches!(outcome.kind, DecisionKind::Transition));
            self.lost += u64::from(outcome.rule.is_none());
        }
    }
}

impl Reconciler {
    /// Looks at up to `limit` machines that are due, the longest unchecked first.
    ///
    /// Rows are taken, decided and committed in batches. One listing answers for all of its scope, until
    /// it is too old; what it does not have is asked about singly, and a second time where the policy
    /// wants that and it can be had soon.
    ///
    /// # Errors
    ///
    /// Returns the store's errors. That the provider did not answer is an observation.
    pub async fn sweep(&self, limit: u32) -> Result<Swept, ReconcileError> {
        let mut swept = Swept::default();
        let mut listing: Option<Snapshot> = None;
        let mut left = limit;
        while left > 0 {
            let batch = left.min(self.settings.sweep_batch.max(1));
            let due = self
                .store
                .take_due(self.settings.scope.as_deref(), batch)
                .await?;
            let taken = u32::try_from(due.len()).unwrap_or(u32::MAX);
            let Some(first) = due.first() else {
                break;
            };
            let fresh = match listing.take().filter(|one| !one.is_old(&*self.clock)) {
                Some(fresh) => fresh,
                None => {
                    let (begun_at, taken_at) = (first.now, self.clock.monotonic());
                    Snapshot {
                        begun_at,
                        taken_at,
                        answer: Listed::of(self.provider.list().await),
                    }
                }
            };
            self.sweep_batch(due, &fresh, &mut swept).await?;
            listing = Some(fresh);
            if taken < batch {
                break;
            }
            left = left.saturating_sub(taken);
        }
        Ok(swept)
    }

    async fn sweep_batch(
        &self,
        due: Vec<Loaded>,
        listing: &Snapshot,
        swept: &mut Swept,
    ) -> Result<(), ReconcileError> {
        let mut questions = Vec::with_capacity(due.len());
        let mut absent = Vec::new();
        for loaded in due {
            let loaded = Read::of(loaded, &*self.clock);
            let evidence = match self.listed(&loaded, listing).await {
                Ok(evidence) => evidence,
                Err(error) if error.is_retryable() => return Err(error),
                // A row that cannot be handled must not keep the others from being looked at.
                Err(error) => {
                    tracing::error!(machine = %loaded.loaded.row.id, %error, "a row is passed over");
                    continue;
                }
            };
            let is_absent = matches!(&evidence, Some(Evidence { seen: Seen { answer: Answer::Absent(proof), .. }, .. })
                if !proof.is_final());
            if is_absent {
                absent.push((loaded.loaded.row.id.clone(), evidence));
            } else {
                questions.push(Question {
                    loaded,
                    evidence,
                    asked: Asked::NOTHING,
                    source: Source::Sweep,
                });
            }
        }
        swept.add(&self.round(questions).await?);
        swept.add(&self.probe(absent).await?);
        Ok(())
    }

    /// Asks about machines singly, and once more about those that only need that to be believed gone.
    async fn probe(&self, absent: Vec<Absent>) -> Result<Vec<Outcome>, ReconcileError> {
        let mut outcomes = self.probe_once(absent).await?;
        let waits = outcomes
            .iter()
            .filter_map(|outcome| self.confirmation_wait(outcome))
            .max();
        if let Some(wait) = waits {
            self.clock.sleep(wait).await;
            let unconfirmed: Vec<_> = outcomes
                .iter()
                .filter(|outcome| self.confirmation_wait(outcome).is_some())
                .map(|outcome| (outcome.row.id.clone(), None))
                .collect();
            outcomes.retain(|outcome| !unconfirmed.iter().any(|(id, _)| *id == outcome.row.id));
            outcomes.extend(self.probe_once(unconfirmed).await?);
        }
        Ok(outcomes)
    }

    async fn probe_once(&self, absent: Vec<Absent>) -> Result<Vec<Outcome>, ReconcileError> {
        let mut questions = Vec::with_capacity(absent.len());
        for (id, listed) in absent {
            let loaded = self.loaded(&id).await?;
            let asked = self.ask(&loaded).await?;
            let is_answered = asked
                .as_ref()
                .is_some_and(|asked| !matches!(asked.seen.answer, Answer::Unknown(_)));
            // Where the single question brought nothing, the listing is all the evidence there is.
            let evidence = if is_answered { asked } else { listed.or(asked) };
            questions.push(Question {
                loaded,
                evidence,
                asked: Asked::NOTHING,
                source: Source::Sweep,
            });
        }
        self.round(questions).await
    }

    /// Returns what a listing says of a row; nothing where nothing is to be asked about it.
    async fn listed(
        &self,
        read: &Read,
        listing: &Snapshot,
    ) -> Result<Option<Evidence>, ReconcileError> {
        let row = &read.loaded.row;
        if is_awaiting_destroy(row, &*self.store).await? {
            return Ok(None);
        }
        let machine = row.facts.machine();
        let seen = match (
            &row.provider_id,
            machine.marker.and_then(|own| listing.answer.marked(own)),
        ) {
            (Some(provider_id), _) => listing.answer.seen(provider_id),
            // Its create finished, and the answer was lost: the marker tells which it is.
            (None, Some(found)) => {
                self.assign(
                    &row.id,
                    machine.generation,
                    &found.provider_id,
                    machine.marker,
                )
                .await?;
                return Ok(None);
            }
            (None, None) => listing.answer.without(),
        };
        Ok(Some(Evidence {
            seen,
            begun_at: listing.begun_at,
        }))
    }
}

/// A machine that a listing does not have, with that as evidence.
type Absent = (MachineId, Option<Evidence>);

/// A listing, and when it was asked for by the store's clock and by the host's.
struct Snapshot {
    begun_at: Timestamp,
    taken_at: Duration,
    answer: Listed,
}

impl Snapshot {
    fn is_old(&self, clock: &dyn Clock) -> bool {
        clock.monotonic().saturating_sub(self.taken_at) > LISTING_LASTS
    }
}

/// How long one listing answers for: well within what a policy takes as recent.
const LISTING_LASTS: Duration = Duration::from_secs(60);

/// A listing by the provider's id.
enum Listed {
    All {
        scope: String,
        completeness: Completeness,
        machines: BTreeMap<String, provider::Listed>,
    },
    Unknown(Cause),
}

impl Listed {
    fn of(listing: Result<Listing, ProviderError>) -> Self {
        match listing {
            Ok(listing) => Self::All {
                scope: listing.scope,
                completeness: listing.completeness,
                machines: listing
                    .machines
                    .into_iter()
                    .map(|one| (one.provider_id.clone(), one))
                    .collect(),
            },
            Err(ProviderError::Refused {
                cause,
                message: _,
                retry_after: _,
            }) => Self::Unknown(cause),
            Err(
                ProviderError::Unproven
                | ProviderError::VolumeAtRisk(_)
                | ProviderError::OutOfBounds(_),
            ) => Self::Unknown(Cause::Unsupported),
        }
    }

    fn seen(&self, provider_id: &str) -> Seen {
        match self {
            Self::All {
                scope,
                completeness: _,
                machines,
            } => match machines.get(provider_id) {
                Some(one) => Seen {
                    answer: one.answer,
                    scope: Some(scope.clone()),
                    marker: one.marker.clone(),
                },
                None => self.without(),
            },
            Self::Unknown(_) => self.without(),
        }
    }

    /// Returns what the listing says of a machine that is not in it.
    fn without(&self) -> Seen {
        match self {
            Self::Unknown(cause) => Seen::unknown(*cause),
            Self::All {
                scope,
                completeness,
                machines: _,
            } => Seen {
                answer: Answer::Absent(absence(*completeness)),
                scope: Some(scope.clone()),
                marker: None,
            },
        }
    }

    /// Returns the machine that carries a marker.
    fn marked(&self, marker: &str) -> Option<&provider::Listed> {
        match self {
            Self::Unknown(_) => None,
            Self::All {
                scope: _,
                completeness: _,
                machines,
            } => machines
                .values()
                .find(|one| one.marker.as_deref() == Some(marker)),
        }
    }
}

const fn absence(completeness: Completeness) -> Proof {
    match completeness {
        Completeness::Complete => Proof::CompleteList,
        Completeness::Partial => Proof::PartialList,
        Completeness::Stale => Proof::StaleList,
    }
}
