//! What is put before the core: a row, what was seen of it, and what was asked?

use lifecycle_core::{
    Answer, Asked, Effect, Observation, Proof, SeenMarker, Source, Status, Timestamp,
};

use super::{Read, ReconcileError};
use crate::{provider::Seen, row::Row, store::Store};

/// One question to the core.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    pub(crate) loaded: Read,
    pub(crate) evidence: Option<Evidence>,
    pub(crate) asked: Asked,
    pub(crate) source: Source,
}

/// What the provider said, and when it was asked.
#[derive(Clone, Debug)]
pub(crate) struct Evidence {
    pub(crate) seen: Seen,
    pub(crate) begun_at: Timestamp,
}

impl Evidence {
    /// Returns the evidence as an observation of a row's machine.
    ///
    /// After a destroy of ours was accepted, an absence asked for later is the confirmation of it.
    pub(crate) fn observation<'a>(&'a self, row: &Row, source: Source) -> Observation<'a> {
        let answer = match self.seen.answer {
            Answer::Absent(proof)
                if confirms_destroy(proof, self.begun_at, row.destroy_accepted_at) =>
            {
                Answer::Absent(Proof::DeleteConfirmed)
            }
            answer @ (Answer::Present(_) | Answer::Absent(_) | Answer::Unknown(_)) => answer,
        };
        Observation {
            answer,
            generation: row.facts.machine().generation,
            // A provider that does not say where it looked has proved nothing about any scope.
            scope: self.seen.scope.as_deref().unwrap_or(""),
            marker: match self.seen.marker.as_deref() {
                None => SeenMarker::NotRead,
                Some("") => SeenMarker::Blank,
                Some(marker) => SeenMarker::Is(marker),
            },
            begun_at: self.begun_at,
            source,
        }
    }
}

pub(crate) fn confirms_destroy(
    proof: Proof,
    begun_at: Timestamp,
    accepted_at: Option<Timestamp>,
) -> bool {
    proof.strength() >= Proof::UntypedNotFound.strength()
        && accepted_at.is_some_and(|at| begun_at > at)
}

/// Tells whether the row ended while the destroy of its compute is still owed.
pub(crate) async fn is_awaiting_destroy(
    row: &Row,
    store: &dyn Store,
) -> Result<bool, ReconcileError> {
    let machine = row.facts.machine();
    if !matches!(machine.status, Status::Destroyed) {
        return Ok(false);
    }
    let work = store.work(&row.id).await?;
    Ok(work.iter().any(|owed| {
        owed.state.is_owed()
            && matches!(owed.work.key.effect, Effect::DestroyCompute)
            && owed.work.key.generation == machine.generation
    }))
}
