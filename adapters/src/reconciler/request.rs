//! How is a request of a machine's owner carried through, whoever else changes the row?

use core::time::Duration;

use lifecycle_core::{Asked, Force, Machine, Request, Source, Timestamp};

use super::{Outcome, Read, ReconcileError, Reconciler, question::Question};
use crate::{
    facts::Facts,
    id::MachineId,
    row::Row,
    store::{Change, Commit},
};

impl Reconciler {
    /// Deletes a machine: it is stopped, loses its credentials, and is held for its grace.
    ///
    /// # Errors
    ///
    /// Returns [`ReconcileError::Conflict`] where the row never stood still, [`ReconcileError::NotFound`],
    /// and the store's errors. The request is then not done, and may be repeated.
    pub async fn delete(&self, id: &MachineId, source: Source) -> Result<Outcome, ReconcileError> {
        self.request(id, Asked::DELETE, source).await
    }

    /// Takes a deletion back. Past the point of no return [`Outcome::refused`] says so.
    ///
    /// # Errors
    ///
    /// As [`Self::delete`]; also a conflict where a stop or destroy stays claimed for too long.
    pub async fn restore(&self, id: &MachineId, source: Source) -> Result<Outcome, ReconcileError> {
        self.request(id, Asked::RESTORE, source).await
    }

    /// Ends the row now, whatever is seen. The volume is kept; compute that may be alive is destroyed.
    ///
    /// # Errors
    ///
    /// As [`Self::restore`].
    pub async fn force(&self, id: &MachineId, source: Source) -> Result<Outcome, ReconcileError> {
        self.request(id, Asked::FORCE_DESTROYED, source).await
    }

    /// Says that an operation of the host holds the row until then: an absence meanwhile is not believed.
    ///
    /// # Errors
    ///
    /// Returns [`ReconcileError::Conflict`] while a stop or destroy is being delivered, and as [`Self::delete`].
    pub async fn busy(
        &self,
        id: &MachineId,
        until: Option<Timestamp>,
    ) -> Result<Row, ReconcileError> {
        for _ in 0..TRIES {
            let read = self.loaded(id).await?;
            if read.loaded.row.claim_at(read.now(&*self.clock)).is_some() {
                return Err(ReconcileError::Conflict(id.clone()));
            }
            let row = &read.loaded.row;
            let facts = Facts::of(&Machine {
                busy_until: until,
                ..row.facts.machine()
            });
            let change = Change::of(Row {
                facts,
                ..row.clone()
            });
            if let Commit::Won(row) = self.store.commit(&change).await? {
                return Ok(row);
            }
        }
        Err(ReconcileError::Conflict(id.clone()))
    }

    /// Decides a request again on the fresh row until it is won: it is never dropped.
    async fn request(
        &self,
        id: &MachineId,
        asked: Asked,
        source: Source,
    ) -> Result<Outcome, ReconcileError> {
        let mut evidence = match asked.request {
            // Whether it may be restored hangs on the clock and the row alone.
            Some(Request::Restore) => None,
            Some(Request::Delete) | None => {
                let read = self.loaded(id).await?;
                self.ask(&read).await?
            }
        };
        for attempt in 0..TRIES {
            let loaded = match (asked.request, asked.force) {
                (Some(Request::Delete), Force::None) => self.loaded(id).await?,
                (Some(Request::Restore) | None, _) | (Some(Request::Delete), Force::Destroyed) => {
                    self.unclaimed(id).await?
                }
            };
            if attempt > 0 && evidence.is_some() {
                evidence = self.ask(&loaded).await?;
            }
            let outcome = self
                .round_of_one(Question {
                    loaded,
                    evidence: evidence.clone(),
                    asked,
                    source,
                })
                .await?;
            if outcome.rule.is_some() {
                return Ok(outcome);
            }
        }
        Err(ReconcileError::Conflict(id.clone()))
    }

    /// Reads a row of which no stop or destroy is being delivered, waiting for that.
    pub(super) async fn unclaimed(&self, id: &MachineId) -> Result<Read, ReconcileError> {
        let start = self.clock.monotonic();
        loop {
            let read = self.loaded(id).await?;
            if read.loaded.row.claim_at(read.now(&*self.clock)).is_none() {
                return Ok(read);
            }
            if self.clock.monotonic().saturating_sub(start) >= self.settings.request_timeout {
                return Err(ReconcileError::Conflict(id.clone()));
            }
            self.clock.sleep(CLAIM_POLL).await;
        }
    }
}

/// How often a request meets a changed row before it says so.
pub(super) const TRIES: u32 = 64;

const CLAIM_POLL: Duration = Duration::from_millis(50);
