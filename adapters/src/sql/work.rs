//! Which columns hold one piece of work?

use lifecycle_core::{Delivery, Effect, Timestamp};

use super::{corrupt, count, instant, machine_id, ordinal, stored, word};
use crate::{
    outbox::{Enqueue, OutboxRow, WorkKey},
    store::StoreError,
};

/// One piece of work, a field for each column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WorkColumns {
    pub(crate) machine: String,
    pub(crate) generation: i64,
    pub(crate) effect: String,
    pub(crate) holds: i64,
    pub(crate) provider_id: Option<String>,
    pub(crate) marker: Option<String>,
    pub(crate) scope: String,
    pub(crate) volume_id: Option<String>,
    pub(crate) quarantine_id: Option<i64>,
    pub(crate) committed_at: i64,
    pub(crate) was_sighted: bool,
    pub(crate) state: String,
    pub(crate) is_dirty: bool,
    pub(crate) attempts: i64,
    pub(crate) due_at: i64,
    pub(crate) note: Option<String>,
    pub(crate) accepted_at: Option<i64>,
}

/// The key of a piece of work as a database has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeyColumns<'a> {
    pub(crate) machine: &'a str,
    pub(crate) generation: i64,
    pub(crate) effect: &'static str,
    pub(crate) holds: i64,
}

impl<'a> KeyColumns<'a> {
    /// Writes a key as columns.
    pub(crate) fn of(key: &'a WorkKey) -> Result<Self, StoreError> {
        let WorkKey {
            machine,
            generation,
            effect,
            holds,
        } = key;
        match effect.delivery() {
            Delivery::Outbox => Ok(Self {
                machine: machine.as_str(),
                generation: stored("generation", *generation)?,
                effect: effect.word(),
                holds: stored("holds", *holds)?,
            }),
            Delivery::WithCommit => Err(StoreError::Unstorable(format!(
                "{effect} is a fact of the ledger, not work"
            ))),
        }
    }
}

impl WorkColumns {
    /// Writes work as columns: pending, due now, no attempts.
    ///
    /// It is committed now: a decision may have been made some time before, and credentials that were
    /// minted in between are to be revoked by it as well.
    pub(crate) fn pending(work: &Enqueue, now: Timestamp) -> Result<Self, StoreError> {
        let Enqueue {
            key,
            provider_id,
            marker,
            scope,
            volume_id,
            quarantine_id,
            committed_at: _,
            was_sighted,
        } = work;
        let KeyColumns {
            machine,
            generation,
            effect,
            holds,
        } = KeyColumns::of(key)?;
        Ok(Self {
            machine: machine.to_owned(),
            generation,
            effect: effect.to_owned(),
            holds,
            provider_id: provider_id.clone(),
            marker: marker.clone(),
            scope: scope.clone(),
            volume_id: volume_id.clone(),
            quarantine_id: quarantine_id
                .map(|id| stored("quarantine_id", id))
                .transpose()?,
            committed_at: now.as_millis(),
            was_sighted: *was_sighted,
            state: "pending".to_owned(),
            is_dirty: false,
            attempts: 0,
            due_at: now.as_millis(),
            note: None,
            accepted_at: None,
        })
    }

    /// Reads work from columns.
    pub(crate) fn read(&self) -> Result<OutboxRow, StoreError> {
        let id = self.machine.as_str();
        let effect: Effect = word(id, "effect of the work", &self.effect)?;
        match effect.delivery() {
            Delivery::Outbox => {}
            Delivery::WithCommit => {
                return Err(corrupt(id, format_args!("{effect} is queued as work")));
            }
        }
        Ok(OutboxRow {
            work: Enqueue {
                key: WorkKey {
                    machine: machine_id(id)?,
                    generation: ordinal(id, "generation of the work", self.generation)?,
                    effect,
                    holds: count(id, "holds of the work", self.holds)?,
                },
                provider_id: self.provider_id.clone(),
                marker: self.marker.clone(),
                scope: self.scope.clone(),
                volume_id: self.volume_id.clone(),
                quarantine_id: self
                    .quarantine_id
                    .map(|stored| count(id, "quarantine_id of the work", stored))
                    .transpose()?,
                committed_at: Timestamp::from_millis(self.committed_at),
                was_sighted: self.was_sighted,
            },
            state: word(id, "state of the work", &self.state)?,
            is_dirty: self.is_dirty,
            attempts: u32::try_from(self.attempts)
                .map_err(|_| corrupt(id, format_args!("attempts is {}", self.attempts)))?,
            due_at: Timestamp::from_millis(self.due_at),
            note: self.note.clone(),
            accepted_at: instant(self.accepted_at),
        })
    }
}
