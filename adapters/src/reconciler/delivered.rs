//! What does the relay learn while it delivers, and how does the row come to know?

use lifecycle_core::{Answer, Asked, Machine, Source, Status, Timestamp, Volume};

use super::{
    ReconcileError, Reconciler,
    question::{Evidence, Question},
    request::TRIES,
    volume,
};
use crate::{
    facts::Facts,
    id::MachineId,
    provider::VolumeReading,
    row::Row,
    store::{Change, Commit},
};

impl Reconciler {
    /// Takes the relay's own look at a machine as an observation.
    ///
    /// A machine that ended and is still there while its destroy is being delivered is no orphan.
    pub(crate) async fn observe_delivered(
        &self,
        id: &MachineId,
        generation: u64,
        evidence: Evidence,
    ) -> Result<(), ReconcileError> {
        let loaded = self.loaded(id).await?;
        let machine = loaded.loaded.row.facts.machine();
        let is_still_there = matches!(evidence.seen.answer, Answer::Present(_));
        if machine.generation != generation
            || (is_still_there && matches!(machine.status, Status::Destroyed))
        {
            return Ok(());
        }
        let question = Question {
            loaded,
            evidence: Some(evidence),
            asked: Asked::NOTHING,
            source: Source::Relay,
        };
        self.round_of_one(question).await.map(|_| ())
    }

    /// Notes that the provider accepted a destroy: an absence asked for later confirms it.
    pub(crate) async fn accept_destroy(
        &self,
        id: &MachineId,
        generation: u64,
        at: Timestamp,
    ) -> Result<(), ReconcileError> {
        self.amend(id, generation, |row, _| {
            row.destroy_accepted_at.is_none().then(|| Row {
                destroy_accepted_at: Some(at),
                ..row.clone()
            })
        })
        .await
    }

    /// Notes that our destroy of the volume was acknowledged.
    pub(crate) async fn volume_destroyed(
        &self,
        id: &MachineId,
        generation: u64,
    ) -> Result<(), ReconcileError> {
        self.amend(id, generation, |row, now| {
            let facts = Facts::of(&Machine {
                volume: Volume::None,
                ..row.facts.machine()
            });
            // The row can end now: look at once.
            Some(Row {
                facts,
                volume_missing: None,
                look_again_at: Some(now),
                ..row.clone()
            })
        })
        .await
    }

    /// Notes what a reading of the volume said.
    pub(crate) async fn volume_read(
        &self,
        id: &MachineId,
        generation: u64,
        reading: VolumeReading,
        begun_at: Timestamp,
    ) -> Result<(), ReconcileError> {
        self.amend(id, generation, |row, _| {
            let known = volume::read(row, reading, begun_at, &self.policy_of(row));
            let machine = row.facts.machine();
            let is_news = known.volume != machine.volume || known.missing != row.volume_missing;
            is_news.then(|| Row {
                facts: Facts::of(&Machine {
                    volume: known.volume,
                    ..machine
                }),
                volume_missing: known.missing,
                ..row.clone()
            })
        })
        .await
    }

    /// Changes a row of this incarnation until that is won; another incarnation is left alone.
    async fn amend(
        &self,
        id: &MachineId,
        generation: u64,
        amended: impl Fn(&Row, Timestamp) -> Option<Row> + Send,
    ) -> Result<(), ReconcileError> {
        for _ in 0..TRIES {
            let read = self.loaded(id).await?;
            let row = &read.loaded.row;
            if row.facts.machine().generation != generation {
                return Ok(());
            }
            let Some(next) = amended(row, read.now(&*self.clock)) else {
                return Ok(());
            };
            if let Commit::Won(_) = self.store.commit(&Change::of(next)).await? {
                return Ok(());
            }
        }
        Err(ReconcileError::Conflict(id.clone()))
    }
}
