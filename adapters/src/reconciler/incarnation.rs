//! How does a machine begin anew, and how is it told its provider's name for it?

use lifecycle_core::{Compute, Effect, Machine, Source, Status, Timestamp};

use super::{ReconcileError, Reconciler, change::enqueue, request::TRIES};
use crate::{
    facts::Facts,
    id::MachineId,
    journal::Entry,
    outbox::Enqueue,
    row::Row,
    store::{Change, Commit},
};

/// What is known of the machine that a new incarnation will have.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct NewIncarnation {
    /// The provider's id, where it is known already; else [`Reconciler::assign`] tells it later.
    pub provider_id: Option<String>,
    /// What it carries to say that it is this incarnation.
    pub marker: Option<String>,
}

impl Reconciler {
    /// Begins a machine anew on its kept volume, after its compute was lost.
    ///
    /// The incarnation that it replaces is destroyed: it may be alive after all.
    ///
    /// # Errors
    ///
    /// Returns [`ReconcileError::NotRecoverable`] for any other row, [`ReconcileError::Conflict`] where the
    /// row never stood still, [`ReconcileError::NotFound`], and the store's errors.
    pub async fn recover(
        &self,
        id: &MachineId,
        new: &NewIncarnation,
        source: Source,
    ) -> Result<Row, ReconcileError> {
        self.begin_anew(
            id,
            new,
            source,
            "recovered on its volume",
            |machine, marker, now| Ok(machine.recovered(marker, now)?),
        )
        .await
    }

    /// Begins a machine anew whatever its status: the replacement of a base. The incarnation that it
    /// replaces is destroyed, its capacity given back, its credentials revoked.
    ///
    /// # Errors
    ///
    /// As [`Self::recover`], any row being fit for it.
    pub async fn replace(
        &self,
        id: &MachineId,
        new: &NewIncarnation,
        source: Source,
    ) -> Result<Row, ReconcileError> {
        self.begin_anew(id, new, source, "replaced", |machine, marker, now| {
            Ok(machine.next_generation(marker, now))
        })
        .await
    }

    /// Tells the provider's id of an incarnation, once its create was answered.
    ///
    /// A create that finishes after the machine was given up is not lost: what it made is destroyed.
    ///
    /// # Errors
    ///
    /// Returns [`ReconcileError::Wrong`] for an incarnation that was never begun, and as [`Self::recover`].
    pub async fn assign(
        &self,
        id: &MachineId,
        generation: u64,
        provider_id: &str,
        marker: Option<&str>,
    ) -> Result<Row, ReconcileError> {
        if marker == Some("") {
            return Err(ReconcileError::Wrong(
                "a blank marker says nothing; leave it out",
            ));
        }
        for _ in 0..TRIES {
            let read = self.loaded(id).await?;
            let now = read.now(&*self.clock);
            let row = &read.loaded.row;
            let machine = row.facts.machine();
            let is_current = generation == machine.generation;
            if is_current
                && row
                    .provider_id
                    .as_deref()
                    .is_some_and(|known| known != provider_id)
            {
                return Err(ReconcileError::Wrong(
                    "this incarnation has another name already",
                ));
            }
            let named = Row {
                provider_id: Some(provider_id.to_owned()),
                facts: Facts::of(&Machine {
                    // What registration said is not taken back.
                    marker: if is_current {
                        marker.or(machine.marker)
                    } else {
                        marker
                    },
                    generation,
                    // Without a name it could only be missing from listings.
                    missing: None,
                    ..machine
                }),
                ..row.clone()
            };
            let destroy = || enqueue(&named, Effect::DestroyCompute, 0, now);
            let change = if generation > machine.generation || generation == 0 {
                return Err(ReconcileError::Wrong("this incarnation was never begun"));
            } else if generation < machine.generation {
                let late = Enqueue {
                    was_sighted: false,
                    ..destroy()
                };
                Change {
                    work: vec![late],
                    ..Change::of(row.clone())
                }
            } else {
                // A failed one is decided by the policy once it is seen: adopted or destroyed.
                let is_ending = matches!(machine.status, Status::Destroying | Status::Destroyed);
                Change {
                    work: is_ending.then(destroy).into_iter().collect(),
                    ..Change::of(Row {
                        look_again_at: Some(now),
                        ..named.clone()
                    })
                }
            };
            if let Commit::Won(row) = self.store.commit(&change).await? {
                return Ok(row);
            }
        }
        Err(ReconcileError::Conflict(id.clone()))
    }

    async fn begin_anew(
        &self,
        id: &MachineId,
        new: &NewIncarnation,
        source: Source,
        why: &str,
        begin: impl for<'m> Fn(
            &Machine<'m>,
            Option<&'m str>,
            Timestamp,
        ) -> Result<Machine<'m>, ReconcileError>,
    ) -> Result<Row, ReconcileError> {
        for _ in 0..TRIES {
            let read = self.unclaimed(id).await?;
            let now = read.now(&*self.clock);
            let row = &read.loaded.row;
            let machine = row.facts.machine();
            let begun = begin(&machine, new.marker.as_deref(), now)?;
            let policy = self.policy_of(row);
            let next = Row {
                facts: Facts::of(&begun),
                provider_id: new.provider_id.clone(),
                volume_missing: None,
                checked_at: now,
                look_again_at: Some(now.saturating_add(policy.thresholds().recheck)),
                was_sighted: false,
                destroy_accepted_at: None,
                ..row.clone()
            };
            let mut work = vec![
                enqueue(row, Effect::DestroyCompute, 0, now),
                enqueue(&next, Effect::HoldCompute, begun.holds, now),
            ];
            if matches!(machine.compute, Compute::Held) {
                work.push(enqueue(row, Effect::ReleaseCompute, machine.holds, now));
            }
            if !matches!(machine.compute, Compute::Lost) {
                // What was issued to the machine that is replaced; a recovery keeps what it may.
                work.push(enqueue(row, Effect::RevokeCredentials, 0, now));
            }
            let change = Change {
                work,
                journal: Some(Entry {
                    machine: id.clone(),
                    revision: row.revision.saturating_add(1),
                    at: now,
                    source,
                    rule: None,
                    input: String::new(),
                    why: format!("{why} as generation {}", begun.generation),
                }),
                ..Change::of(next)
            };
            if let Commit::Won(row) = self.store.commit(&change).await? {
                return Ok(row);
            }
        }
        Err(ReconcileError::Conflict(id.clone()))
    }
}
