//! What is kept, and how do rows, ledger, journal and scopes change?

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};

use lifecycle_core::{Delivery, Effect, Machine, ScopeWindow, Source, Status, Timestamp, Volume};

use super::outbox::Work;
use crate::{
    facts::Facts,
    id::MachineId,
    journal::Entry,
    ledger::Fact,
    outbox::{Enqueue, WorkKey, WorkState},
    row::{NewMachine, Row},
    store::{Admission, Adopted, Change, Commit, KeptVolume, Loaded, Registered},
};

/// The tables.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) rows: BTreeMap<MachineId, Row>,
    pub(super) ledger: BTreeMap<MachineId, Vec<Fact>>,
    pub(super) outbox: BTreeMap<MachineId, Vec<Work>>,
    pub(super) journal: BTreeMap<MachineId, Vec<Entry>>,
    scopes: BTreeMap<String, Scope>,
    /// How many claims there were; each has its own token.
    pub(super) claims: u64,
}

/// What the fleet guard needs of one scope.
#[derive(Debug, Default)]
struct Scope {
    newly_gone: Vec<(MachineId, Timestamp)>,
    held_since: Option<Timestamp>,
    released_at: Option<Timestamp>,
}

impl State {
    pub(super) fn register(&mut self, new: &NewMachine, now: Timestamp) -> Registered {
        if let Some(row) = self.rows.get(&new.id) {
            return Registered::Existing(row.clone());
        }
        let machine = Machine {
            generation: self.last_generation(&new.id).saturating_add(1),
            volume: new.volume,
            ..Machine::new(&new.scope, new.marker.as_deref(), now)
        };
        let row = first_row(new, Facts::of(&machine), now);
        self.queue(&enqueue(&row, Effect::HoldCompute, now), now);
        self.journal.entry(new.id.clone()).or_default().push(Entry {
            machine: new.id.clone(),
            revision: row.revision,
            at: now,
            source: Source::User,
            rule: None,
            input: String::new(),
            why: "registered".to_owned(),
        });
        self.rows.insert(new.id.clone(), row.clone());
        Registered::Created(row)
    }

    pub(super) fn commit(&mut self, change: &Change, now: Timestamp) -> Commit {
        let Change {
            next,
            facts,
            work,
            journal,
            newly_gone,
            hold,
        } = change;
        let Some(row) = self.rows.get_mut(&next.id) else {
            return Commit::Lost(None);
        };
        if row.revision != next.revision {
            return Commit::Lost(Some(row.clone()));
        }
        *row = Row {
            revision: next.revision.saturating_add(1),
            claim: row.claim.take(),
            ..next.clone()
        };
        let won = row.clone();
        for fact in facts {
            self.record(fact);
        }
        for work in work {
            self.queue(work, now);
        }
        if let Some(entry) = journal {
            let entries = self.journal.entry(entry.machine.clone()).or_default();
            entries.push(entry.clone());
        }
        if let Some(scope) = newly_gone {
            let scope = self.scopes.entry(scope.clone()).or_default();
            scope.newly_gone.push((next.id.clone(), now));
        }
        if let Some(scope) = hold {
            let scope = self.scopes.entry(scope.clone()).or_default();
            scope.held_since.get_or_insert(now);
        }
        Commit::Won(won)
    }

    /// Appends a fact that is not there yet.
    pub(super) fn record(&mut self, fact: &Fact) {
        let facts = self.ledger.entry(fact.machine.clone()).or_default();
        let key = |fact: &Fact| (fact.generation, fact.fact, fact.occurrence);
        if facts.iter().all(|known| key(known) != key(fact)) {
            facts.push(fact.clone());
        }
    }

    pub(super) fn take_due(
        &mut self,
        scope: Option<&str>,
        limit: u32,
        now: Timestamp,
    ) -> Vec<Loaded> {
        let is_due = |row: &&mut Row| {
            row.look_again_at
                .is_some_and(|at| at <= now || row.checked_at > now.saturating_add(AHEAD))
                && scope.is_none_or(|scope| row.facts.machine().scope == scope)
        };
        let mut due: Vec<&mut Row> = self.rows.values_mut().filter(is_due).collect();
        due.sort_by_key(|row| row.checked_at);
        due.into_iter()
            .take(as_usize(limit))
            .map(|row| {
                row.checked_at = now;
                let row = row.clone();
                Loaded { row, now }
            })
            .collect()
    }

    pub(super) fn admit(&self, id: &MachineId) -> Admission {
        let Some(row) = self.rows.get(id) else {
            return Admission::Unknown;
        };
        let machine = row.facts.machine();
        match machine.status {
            Status::Provisioning | Status::Running | Status::Paused => Admission::Live {
                generation: machine.generation,
            },
            Status::Quarantined | Status::Destroying | Status::Destroyed | Status::Failed => {
                Admission::Refused
            }
        }
    }

    pub(super) fn scope_window(
        &self,
        scope: &str,
        window: Duration,
        now: Timestamp,
    ) -> ScopeWindow {
        let nothing = Scope::default();
        let known = self.scopes.get(scope).unwrap_or(&nothing);
        let newly_gone: BTreeSet<&MachineId> = known
            .newly_gone
            .iter()
            .filter(|(_, at)| *at > now.saturating_sub(window))
            .map(|(machine, _)| machine)
            .collect();
        let active: BTreeSet<&MachineId> = self
            .rows
            .values()
            .filter(|row| {
                let machine = row.facts.machine();
                machine.scope == scope && machine.status.is_active()
            })
            .map(|row| &row.id)
            .collect();
        ScopeWindow {
            newly_gone: count(newly_gone.iter()),
            active: count(active.union(&newly_gone)),
            held_since: known.held_since,
            released_at: known.released_at,
        }
    }

    pub(super) fn release_scope(&mut self, scope: &str, now: Timestamp) {
        let scope = self.scopes.entry(scope.to_owned()).or_default();
        scope.held_since = None;
        scope.released_at = Some(now);
    }

    pub(super) fn kept_volumes(&self) -> Vec<KeptVolume> {
        let left_behind = |fact: &&Fact| {
            matches!(fact.fact, Effect::RecordDestroyed) && !matches!(fact.volume, Volume::None)
        };
        self.ledger
            .values()
            .flatten()
            .filter(left_behind)
            .filter(|fact| !self.lives_on(fact))
            .map(|fact| KeptVolume {
                machine: fact.machine.clone(),
                generation: fact.generation,
                volume: fact.volume,
                volume_id: fact.volume_id.clone(),
                at: fact.at,
            })
            .collect()
    }

    /// Tells whether a later incarnation took the volume over: it is in use, or ended with that one.
    fn lives_on(&self, fact: &Fact) -> bool {
        self.rows.get(&fact.machine).is_some_and(|row| {
            row.facts.machine().generation > fact.generation && row.volume_id == fact.volume_id
        })
    }

    pub(super) fn adopt(&mut self, adopted: &Adopted, now: Timestamp) -> Registered {
        let Adopted {
            new,
            facts,
            recorded,
            delivered,
        } = adopted;
        if let Some(row) = self.rows.get(&new.id) {
            return Registered::Existing(row.clone());
        }
        let was_sighted = facts.machine().last_seen.is_some()
            || recorded
                .iter()
                .any(|fact| fact.was_sighted && fact.generation == facts.machine().generation);
        let row = Row {
            was_sighted,
            ..first_row(new, facts.clone(), now)
        };
        for fact in recorded {
            self.record(fact);
        }
        for effect in delivered.delivered(Delivery::Outbox).iter() {
            let done = Work::new(&enqueue(&row, effect, now), WorkState::Done, now);
            self.outbox.entry(new.id.clone()).or_default().push(done);
        }
        self.rows.insert(new.id.clone(), row.clone());
        Registered::Created(row)
    }

    /// Returns the highest generation that the ledger has of a machine; 0 where it has none.
    fn last_generation(&self, id: &MachineId) -> u64 {
        let facts = self.ledger.get(id).into_iter().flatten();
        facts.map(|fact| fact.generation).max().unwrap_or(0)
    }
}

/// Work for a row's present incarnation.
pub(super) fn enqueue(row: &Row, effect: Effect, now: Timestamp) -> Enqueue {
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

/// A row as it begins: to be looked at now.
fn first_row(new: &NewMachine, facts: Facts, now: Timestamp) -> Row {
    Row {
        id: new.id.clone(),
        facts,
        provider_id: new.provider_id.clone(),
        volume_id: new.volume_id.clone(),
        registered_volume: new.volume,
        volume_missing: None,
        policy: new.policy.clone(),
        revision: 1,
        checked_at: now,
        look_again_at: Some(now),
        was_sighted: false,
        destroy_accepted_at: None,
        claim: None,
    }
}

pub(super) fn as_usize(limit: u32) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}

fn count<T>(items: impl Iterator<Item = T>) -> u64 {
    items.fold(0, |count, _| count + 1)
}

/// A row that was looked at further in the future than this was so by a clock that ran ahead.
const AHEAD: Duration = Duration::from_secs(60);
