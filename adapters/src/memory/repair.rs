//! What was left undone, and how is it mended?

use lifecycle_core::{Compute, Effect, Machine, SeenPower, Source, Status, Timestamp};

use super::state::{State, enqueue};
use crate::{
    facts::Facts,
    ledger::Fact,
    row::Row,
    store::{RepairMode, Repaired},
};

impl State {
    pub(super) fn repair(&mut self, mode: RepairMode, now: Timestamp) -> Repaired {
        let mut repaired = Repaired::default();
        let rows: Vec<Row> = self.rows.values().cloned().collect();
        for row in rows {
            let found = self.undone(&row, now);
            repaired.destroy_facts += u64::from(found.destroy_fact);
            repaired.revocations += u64::from(found.revocation);
            repaired.releases += u64::from(found.release);
            repaired.stamps += u64::from(found.stamp);
            repaired.destructions += u64::from(found.destruction);
            match mode {
                RepairMode::DryRun => {}
                RepairMode::Mend => self.mend(row, &found, now),
            }
        }
        repaired
    }

    fn undone(&self, row: &Row, now: Timestamp) -> Undone {
        let machine = row.facts.machine();
        let is_gone = machine
            .last_seen
            .is_some_and(|seen| matches!(seen.power, SeenPower::Gone));
        let is_held = matches!(machine.compute, Compute::Held);
        let is_due = row.look_again_at.is_some_and(|at| at <= now);
        let is_unrevoked = !self.has_work(row, Effect::RevokeCredentials);
        match machine.status {
            Status::Provisioning | Status::Running | Status::Paused => Undone::default(),
            Status::Failed => Undone {
                revocation: is_unrevoked,
                ..Undone::default()
            },
            Status::Quarantined => Undone {
                revocation: is_unrevoked,
                // One that is due already is mended: it gets its stamp when it is looked at.
                stamp: machine.quarantine.is_none() && !is_due,
                ..Undone::default()
            },
            Status::Destroying => Undone {
                revocation: is_unrevoked,
                destruction: !is_gone && !self.has_work(row, Effect::DestroyCompute),
                ..Undone::default()
            },
            Status::Destroyed => Undone {
                revocation: is_unrevoked,
                destroy_fact: !self.has_destroyed_fact(row),
                release: is_held,
                destruction: !is_gone && !self.has_work(row, Effect::DestroyCompute),
                ..Undone::default()
            },
        }
    }

    fn mend(&mut self, mut row: Row, found: &Undone, now: Timestamp) {
        let Undone {
            destroy_fact,
            revocation,
            release,
            stamp,
            destruction,
        } = *found;
        if destroy_fact {
            self.record(&destroyed(&row, now));
        }
        for (is_undone, effect) in [
            (revocation, Effect::RevokeCredentials),
            (release, Effect::ReleaseCompute),
            (destruction, Effect::DestroyCompute),
        ] {
            if is_undone {
                self.queue(&enqueue(&row, effect, now), now);
            }
        }
        if release {
            row.facts = Facts::of(&Machine {
                compute: Compute::Released,
                ..row.facts.machine()
            });
        }
        if stamp {
            row.look_again_at = Some(now);
        }
        if release || stamp {
            row.revision = row.revision.saturating_add(1);
            self.rows.insert(row.id.clone(), row);
        }
    }

    /// Tells whether the outbox knows of this effect for the row's incarnation, whatever became of it.
    fn has_work(&self, row: &Row, effect: Effect) -> bool {
        let works = self.outbox.get(&row.id).into_iter().flatten();
        let generation = row.facts.machine().generation;
        works
            .map(|work| work.key())
            .any(|key| key.effect == effect && key.generation == generation)
    }

    fn has_destroyed_fact(&self, row: &Row) -> bool {
        let facts = self.ledger.get(&row.id).into_iter().flatten();
        let generation = row.facts.machine().generation;
        facts
            .filter(|fact| fact.generation == generation)
            .any(|fact| matches!(fact.fact, Effect::RecordDestroyed))
    }
}

/// What is missing of one row.
#[derive(Debug, Default)]
struct Undone {
    destroy_fact: bool,
    revocation: bool,
    release: bool,
    stamp: bool,
    destruction: bool,
}

fn destroyed(row: &Row, now: Timestamp) -> Fact {
    let machine = row.facts.machine();
    Fact {
        machine: row.id.clone(),
        generation: machine.generation,
        fact: Effect::RecordDestroyed,
        occurrence: 0,
        at: now,
        source: Source::Sweep,
        rule: None,
        was_sighted: row.was_sighted,
        volume: machine.volume,
        volume_id: row.volume_id.clone(),
    }
}
