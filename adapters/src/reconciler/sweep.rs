//! How are all machines looked at, in a few questions to the provider?

use std::collections::BTreeMap;

use lifecycle_core::{Answer, Asked, Cause, DecisionKind, Proof, Source};

use super::{
    Outcome, Read, ReconcileError, Reconciler,
    question::{Evidence, Question, is_awaiting_destroy},
};
use crate::{
    id::MachineId,
    provider::{Completeness, Listed, Listing, ProviderError, Seen},
};

/// What a sweep did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Swept {
    /// What became of each row, in the order looked at.
    pub outcomes: Vec<Outcome>,
}

impl Swept {
    /// Returns how many rows changed their status or had effects.
    #[must_use]
    pub fn transitions(&self) -> usize {
        self.outcomes
            .iter()
            .filter(|outcome| matches!(outcome.kind, DecisionKind::Transition))
            .count()
    }
}

impl Reconciler {
    /// Looks at up to `limit` machines that are due, the longest unchecked first.
    ///
    /// One listing answers for all of its scope; what it does not have is asked about singly, and a
    /// second time where the policy wants that and it can be had soon.
    ///
    /// # Errors
    ///
    /// Returns the store's errors. That the provider did not answer is an observation.
    pub async fn sweep(&self, limit: u32) -> Result<Swept, ReconcileError> {
        let due = self
            .store
            .take_due(self.settings.scope.as_deref(), limit)
            .await?;
        if due.is_empty() {
            return Ok(Swept::default());
        }
        let rows: Vec<Read> = due
            .into_iter()
            .map(|loaded| Read::of(loaded, &*self.clock))
            .collect();
        let listing = Snapshot::of(self.provider.list().await);
        let mut questions = Vec::with_capacity(rows.len());
        let mut absent = Vec::new();
        for loaded in rows {
            let evidence = self.listed(&loaded, &listing).await?;
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
        let mut outcomes = self.round(questions).await?;
        outcomes.extend(self.probe(absent).await?);
        Ok(Swept { outcomes })
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
            machine.marker.and_then(|own| listing.marked(own)),
        ) {
            (Some(provider_id), _) => listing.seen(provider_id),
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
            (None, None) => listing.without(),
        };
        // The rows were read before the listing began.
        Ok(Some(Evidence {
            seen,
            begun_at: read.loaded.now,
        }))
    }
}

/// A machine that a listing does not have, with that as evidence.
type Absent = (MachineId, Option<Evidence>);

/// A listing by the provider's id.
enum Snapshot {
    Listed {
        scope: String,
        completeness: Completeness,
        machines: BTreeMap<String, Listed>,
    },
    Unknown(Cause),
}

impl Snapshot {
    fn of(listing: Result<Listing, ProviderError>) -> Self {
        match listing {
            Ok(listing) => Self::Listed {
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
            Self::Listed {
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
            Self::Listed {
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
    fn marked(&self, marker: &str) -> Option<&Listed> {
        match self {
            Self::Unknown(_) => None,
            Self::Listed {
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
