//! What does a decision write?

use lifecycle_core::{Decision, DecisionKind, Delivery, Effect, Ground, Observation, Source};

use super::{JournalObservations, volume::KnownVolume};
use crate::{
    facts::Facts,
    journal::Entry,
    ledger::{self, Fact},
    outbox::{Enqueue, WorkKey},
    row::Row,
    store::Change,
    wire,
};

/// Turns a decision about a row into one change; none where there is nothing to write.
pub(super) fn of(
    row: &Row,
    decision: &Decision<'_>,
    observation: Option<&Observation<'_>>,
    source: Source,
    volume: KnownVolume,
    journal: JournalObservations,
) -> Option<Change> {
    let kind = decision.kind();
    let is_idle = matches!(kind, DecisionKind::Nothing)
        && decision.look_again_at == row.look_again_at
        && volume
            == (KnownVolume {
                volume: row.facts.machine().volume,
                missing: row.volume_missing,
            });
    if is_idle && decision.refused.is_none() {
        return None;
    }
    let was_sighted = row.was_sighted || matches!(decision.judgement.ground, Ground::Seen);
    let next = Row {
        facts: Facts::of(&decision.next),
        volume_missing: volume.missing,
        checked_at: decision.now,
        look_again_at: decision.look_again_at,
        was_sighted,
        ..row.clone()
    };
    let is_journalled = match kind {
        DecisionKind::Transition => true,
        DecisionKind::Observed | DecisionKind::Nothing => {
            decision.refused.is_some() || matches!(journal, JournalObservations::Yes)
        }
    };
    let effects = decision.transition.effects;
    Some(Change {
        facts: effects
            .delivered(Delivery::WithCommit)
            .iter()
            .map(|fact| recorded(&next, decision, fact, source))
            .collect(),
        work: effects
            .delivered(Delivery::Outbox)
            .iter()
            .map(|effect| owed(&next, decision, effect))
            .collect(),
        journal: is_journalled.then(|| entry(row, decision, observation, source)),
        newly_gone: None,
        hold: None,
        next,
    })
}

fn recorded(next: &Row, decision: &Decision<'_>, fact: Effect, source: Source) -> Fact {
    Fact {
        machine: next.id.clone(),
        generation: decision.next.generation,
        fact,
        occurrence: ledger::occurrence(fact, next.revision.saturating_add(1)),
        at: decision.now,
        source,
        rule: Some(decision.transition.rule),
        was_sighted: next.was_sighted,
        volume: decision.next.volume,
        volume_id: next.volume_id.clone(),
    }
}

fn owed(next: &Row, decision: &Decision<'_>, effect: Effect) -> Enqueue {
    let holds = match effect {
        // What is released is what was held before; what is held is a reservation of its own.
        Effect::HoldCompute | Effect::ReleaseCompute => decision.next.holds,
        Effect::StopCompute
        | Effect::RevokeCredentials
        | Effect::DestroyCompute
        | Effect::DestroyVolume
        | Effect::RecordRunning
        | Effect::RecordPaused
        | Effect::RecordQuarantined
        | Effect::RecordDestroying
        | Effect::RecordDestroyed
        | Effect::RecordFailed
        | Effect::RecordComputeLost
        | Effect::RecordOrphan => 0,
    };
    enqueue(next, effect, holds, decision.now)
}

/// Queues an effect for a row's present incarnation.
pub(super) fn enqueue(
    row: &Row,
    effect: Effect,
    holds: u64,
    now: lifecycle_core::Timestamp,
) -> Enqueue {
    let machine = row.facts.machine();
    Enqueue {
        key: WorkKey {
            machine: row.id.clone(),
            generation: machine.generation,
            effect,
            holds,
        },
        provider_id: row.provider_id.clone(),
        marker: machine.marker.map(str::to_owned),
        scope: machine.scope.to_owned(),
        volume_id: row.volume_id.clone(),
        quarantine_id: machine.quarantine.map(|stamp| stamp.id),
        committed_at: now,
        was_sighted: row.was_sighted,
    }
}

fn entry(
    row: &Row,
    decision: &Decision<'_>,
    observation: Option<&Observation<'_>>,
    source: Source,
) -> Entry {
    let asked = lifecycle_core::Asked {
        request: decision.request,
        force: decision.cell.force,
    };
    Entry {
        machine: row.id.clone(),
        revision: row.revision.saturating_add(1),
        at: decision.now,
        source,
        rule: Some(decision.transition.rule),
        input: wire::line(
            row.id.as_str(),
            &decision.before,
            observation,
            asked,
            decision.now,
            &decision.policy,
        ),
        why: decision.why().to_string(),
    }
}
