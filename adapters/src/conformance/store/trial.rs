//! What does every case do again and again?

use core::time::Duration;
use std::sync::Arc;

use lifecycle_core::{Effect, Machine, QuarantineStamp, Rule, Source, Status, Timestamp, Volume};

use super::StoreHarness;
use crate::{
    facts::Facts,
    id::MachineId,
    journal::Entry,
    ledger::Fact,
    outbox::{Claimed, Enqueue, OutboxRow, Settlement, WorkKey, WorkState},
    row::{NewMachine, Row},
    store::{Change, Commit, Loaded, Registered, Store, StoreError},
};

/// How long work is claimed for; far more than a case takes.
pub(super) const LEASE: Duration = Duration::from_secs(600);

/// Longer than what any case takes.
pub(super) const WHILE: Duration = Duration::from_secs(60);

/// A store under examination.
pub(super) struct Trial<'h> {
    harness: &'h dyn StoreHarness,
    pub(super) store: Arc<dyn Store>,
}

impl<'h> Trial<'h> {
    pub(super) async fn begin(harness: &'h dyn StoreHarness) -> Self {
        Self {
            store: harness.fresh().await,
            harness,
        }
    }

    pub(super) async fn advance(&self, by: Duration) {
        self.harness.advance(by).await;
    }

    pub(super) async fn now(&self) -> Timestamp {
        answered(self.store.now().await)
    }

    /// Registers a machine without a volume.
    pub(super) async fn registered(&self, id: &str) -> Row {
        self.registered_as(&new_machine(id)).await
    }

    pub(super) async fn registered_as(&self, new: &NewMachine) -> Row {
        match answered(self.store.register(new).await) {
            Registered::Created(row) => row,
            Registered::Existing(row) => {
                panic!("a machine that nobody registered is new, but there was {row:?}")
            }
        }
    }

    /// Registers a machine and delivers all that is due, so that nothing is owed for it.
    pub(super) async fn settled(&self, id: &str) -> Row {
        let row = self.registered(id).await;
        for claimed in self.claim(100).await {
            self.settle(&claimed, Settlement::Done).await;
        }
        row
    }

    pub(super) async fn all_settled(&self, ids: &[&str]) -> Vec<Row> {
        let mut rows = Vec::new();
        for id in ids {
            rows.push(self.settled(id).await);
        }
        rows
    }

    pub(super) async fn loaded(&self, id: &MachineId) -> Loaded {
        match answered(self.store.load(id).await) {
            Some(loaded) => loaded,
            None => panic!("a row that was written can be read, but {id} was not found"),
        }
    }

    pub(super) async fn row(&self, id: &MachineId) -> Row {
        self.loaded(id).await.row
    }

    pub(super) async fn commit(&self, change: &Change) -> Commit {
        answered(self.store.commit(change).await)
    }

    /// Commits a change that nobody stands in the way of.
    pub(super) async fn won(&self, change: &Change) -> Row {
        won(self.commit(change).await)
    }

    /// Queues work with a change of its row, whatever the row's revision has become.
    pub(super) async fn queue(&self, id: &MachineId, effects: &[Effect]) -> Row {
        let row = self.row(id).await;
        let now = self.now().await;
        let change = Change {
            work: effects
                .iter()
                .map(|effect| work(&row, *effect, now))
                .collect(),
            ..Change::of(row)
        };
        self.won(&change).await
    }

    /// Puts a row into a status.
    pub(super) async fn enter(&self, id: &MachineId, status: Status) -> Row {
        let row = self.row(id).await;
        self.won(&Change::of(with(row, |machine| Machine {
            status,
            ..machine
        })))
        .await
    }

    pub(super) async fn claim(&self, limit: u32) -> Vec<Claimed> {
        answered(self.store.claim(limit, LEASE).await)
    }

    /// Claims all that can be claimed, which must be exactly these effects.
    pub(super) async fn claim_exactly(&self, effects: &[Effect], promise: &str) -> Vec<Claimed> {
        let claimed = self.claim(100).await;
        let mut found: Vec<Effect> = claimed.iter().map(|one| one.row.work.key.effect).collect();
        found.sort_by_key(|effect| effect.tag());
        let mut expected = effects.to_vec();
        expected.sort_by_key(|effect| effect.tag());
        assert_eq!(found, expected, "{promise}");
        claimed
    }

    /// Claims the only work that can be claimed.
    pub(super) async fn claim_only(&self, effect: Effect, promise: &str) -> Claimed {
        match self.claim_exactly(&[effect], promise).await.pop() {
            Some(claimed) => claimed,
            None => panic!("{promise}"),
        }
    }

    pub(super) async fn try_settle(&self, claimed: &Claimed, settlement: Settlement) -> bool {
        let key = &claimed.row.work.key;
        answered(self.store.settle(key, &claimed.token, &settlement).await)
    }

    pub(super) async fn settle(&self, claimed: &Claimed, settlement: Settlement) {
        assert!(
            self.try_settle(claimed, settlement).await,
            "who holds a claim may settle it"
        );
    }

    pub(super) async fn all_work(&self, id: &MachineId) -> Vec<OutboxRow> {
        answered(self.store.work(id).await)
    }

    /// Returns the only work of this effect.
    pub(super) async fn work(&self, id: &MachineId, effect: Effect) -> OutboxRow {
        let mut found = self.all_work(id).await;
        found.retain(|row| row.work.key.effect == effect);
        match (found.pop(), found.is_empty()) {
            (Some(row), true) => row,
            (first, _) => panic!(
                "there is one piece of work for each machine, generation, effect and reservation, \
                 but of {effect} there are {first:?} and {found:?}"
            ),
        }
    }

    pub(super) async fn state(&self, id: &MachineId, effect: Effect) -> WorkState {
        self.work(id, effect).await.state
    }

    pub(super) async fn ledger(&self, id: &MachineId) -> Vec<Fact> {
        answered(self.store.ledger(id).await)
    }

    pub(super) async fn journal(&self, id: &MachineId) -> Vec<Entry> {
        answered(self.store.journal(id).await)
    }

    /// Puts the work of one effect into a state by the trait's own calls.
    pub(super) async fn bring(&self, id: &MachineId, effect: Effect, state: WorkState) -> Claimed {
        self.queue(id, &[effect]).await;
        let promise = "work that is due can be claimed";
        let claimed = self.claim_only(effect, promise).await;
        let settlement = match state {
            WorkState::Claimed => return claimed,
            WorkState::Pending => Settlement::Released,
            WorkState::Done => Settlement::Done,
            WorkState::Cancelled => Settlement::Cancelled("pointless".to_owned()),
            WorkState::Dead | WorkState::Dropped => Settlement::Dead("hopeless".to_owned()),
        };
        self.settle(&claimed, settlement).await;
        if matches!(state, WorkState::Dropped) {
            let key = &claimed.row.work.key;
            let dropped = answered(self.store.drop_dead(key, "given up").await);
            assert!(dropped, "a dead letter can be given up");
        }
        assert_eq!(
            self.state(id, effect).await,
            state,
            "a settlement is what becomes of the work"
        );
        claimed
    }
}

/// Unwraps what a store that is well must answer.
pub(super) fn answered<T>(answer: Result<T, StoreError>) -> T {
    match answer {
        Ok(answer) => answer,
        Err(error) => {
            panic!("a store that is well answers, but this one said: {error} ({error:?})")
        }
    }
}

pub(super) fn won(commit: Commit) -> Row {
    match commit {
        Commit::Won(row) => row,
        Commit::Lost(row) => {
            panic!("a commit on the revision that is stored wins, but it lost to {row:?}")
        }
    }
}

pub(super) fn id(text: &str) -> MachineId {
    match MachineId::new(text) {
        Ok(id) => id,
        Err(error) => panic!("{error}"),
    }
}

pub(super) fn new_machine(id: &str) -> NewMachine {
    NewMachine {
        id: self::id(id),
        scope: "account-1/eu".to_owned(),
        marker: Some(format!("marker-{id}")),
        provider_id: Some(format!("provider-{id}")),
        volume: Volume::None,
        volume_id: None,
        policy: None,
    }
}

/// Returns a row with other facts.
pub(super) fn with(row: Row, change: impl FnOnce(Machine<'_>) -> Machine<'_>) -> Row {
    let mut row = row;
    row.facts.update(change);
    row
}

/// Work for a row's present incarnation.
pub(super) fn work(row: &Row, effect: Effect, now: Timestamp) -> Enqueue {
    let machine = row.facts.machine();
    let is_reservation = matches!(effect, Effect::HoldCompute | Effect::ReleaseCompute);
    Enqueue {
        key: WorkKey {
            machine: row.id.clone(),
            generation: machine.generation,
            effect,
            holds: if is_reservation { machine.holds } else { 0 },
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

/// A fact of a row's present incarnation.
pub(super) fn fact(row: &Row, fact: Effect, occurrence: u64, at: Timestamp) -> Fact {
    let machine = row.facts.machine();
    Fact {
        machine: row.id.clone(),
        generation: machine.generation,
        fact,
        occurrence,
        at,
        source: Source::Sweep,
        rule: Some(Rule::GoneWithoutVolume),
        was_sighted: row.was_sighted,
        volume: machine.volume,
        volume_id: row.volume_id.clone(),
    }
}

/// A decision that a change of this row makes.
pub(super) fn entry(row: &Row, why: &str, at: Timestamp) -> Entry {
    Entry {
        machine: row.id.clone(),
        revision: row.revision.saturating_add(1),
        at,
        source: Source::StatusRead,
        rule: Some(Rule::SeenRunning),
        input: r#"{"id":"a","now":0}"#.to_owned(),
        why: why.to_owned(),
    }
}

/// A change with all that one can have: it destroys the row.
pub(super) fn whole_change(row: &Row, now: Timestamp) -> Change {
    let scope = row.facts.machine().scope.to_owned();
    let next = with(row.clone(), |machine| Machine {
        status: Status::Destroyed,
        ..machine
    });
    Change {
        facts: vec![fact(&next, Effect::RecordDestroyed, 0, now)],
        work: vec![
            work(&next, Effect::RevokeCredentials, now),
            work(&next, Effect::DestroyCompute, now),
        ],
        journal: Some(entry(row, "it is gone", now)),
        newly_gone: Some(scope.clone()),
        hold: Some(scope),
        next,
    }
}

/// A quarantine that opens now.
pub(super) fn stamp(id: u64, now: Timestamp) -> QuarantineStamp {
    QuarantineStamp {
        id,
        since: now,
        destroy_at: now.saturating_add(WHILE),
    }
}

/// Facts of a machine that was asked for now.
pub(super) fn facts(
    id: &str,
    now: Timestamp,
    change: impl FnOnce(Machine<'_>) -> Machine<'_>,
) -> Facts {
    let marker = format!("marker-{id}");
    let mut facts = Facts::of(&Machine::new("account-1/eu", Some(&marker), now));
    facts.update(change);
    facts
}
