//! Which changes do the tests commit?

use lifecycle_adapters::{
    facts::Facts,
    id::MachineId,
    journal::Entry,
    ledger::{Fact, occurrence},
    outbox::{Enqueue, WorkKey},
    row::Row,
    store::{Change, Commit, Store},
};
use lifecycle_core::{Effect, Machine, Source, Status, Timestamp};

pub(crate) fn id(text: &str) -> MachineId {
    MachineId::new(text).expect("it is plain")
}

/// Enters a status, with a fact, work and an entry of the journal.
pub(crate) fn enters(row: &Row, status: Status, fact: Effect, work: &[Effect]) -> Change {
    let machine = row.facts.machine();
    let at = Timestamp::from_millis(0);
    let next = Row {
        facts: Facts::of(&Machine { status, ..machine }),
        ..row.clone()
    };
    Change {
        facts: vec![Fact {
            machine: row.id.clone(),
            generation: machine.generation,
            fact,
            occurrence: occurrence(fact, row.revision + 1),
            at,
            source: Source::Sweep,
            rule: None,
            was_sighted: row.was_sighted,
            volume: machine.volume,
            volume_id: row.volume_id.clone(),
        }],
        work: work.iter().map(|effect| owed(row, *effect)).collect(),
        journal: Some(Entry {
            machine: row.id.clone(),
            revision: row.revision + 1,
            at,
            source: Source::Sweep,
            rule: None,
            input: String::new(),
            why: format!("it is {status} now"),
        }),
        ..Change::of(next)
    }
}

pub(crate) fn destroys(row: &Row) -> Change {
    let work = [Effect::RevokeCredentials, Effect::DestroyCompute];
    enters(row, Status::Destroyed, Effect::RecordDestroyed, &work)
}

pub(crate) fn quarantines(row: &Row) -> Change {
    let work = [Effect::RevokeCredentials, Effect::StopCompute];
    enters(row, Status::Quarantined, Effect::RecordQuarantined, &work)
}

fn owed(row: &Row, effect: Effect) -> Enqueue {
    let machine = row.facts.machine();
    Enqueue {
        key: WorkKey {
            machine: row.id.clone(),
            generation: machine.generation,
            effect,
            holds: 0,
        },
        provider_id: row.provider_id.clone(),
        marker: None,
        scope: machine.scope.to_owned(),
        volume_id: row.volume_id.clone(),
        quarantine_id: None,
        committed_at: Timestamp::from_millis(0),
        was_sighted: row.was_sighted,
    }
}

pub(crate) async fn row(store: &dyn Store, id: &MachineId) -> Row {
    let loaded = store.load(id).await.expect("it is read");
    loaded.expect("it is there").row
}

pub(crate) fn status(row: &Row) -> Status {
    row.facts.machine().status
}

/// Returns how many destroyed facts a machine has.
pub(crate) async fn destroyed_facts(store: &dyn Store, id: &MachineId) -> usize {
    let facts = store.ledger(id).await.expect("it is read");
    let destroyed = |fact: &&Fact| matches!(fact.fact, Effect::RecordDestroyed);
    facts.iter().filter(destroyed).count()
}

/// Tells whether a commit won.
pub(crate) fn is_won(commit: &Commit) -> bool {
    matches!(commit, Commit::Won(_))
}
