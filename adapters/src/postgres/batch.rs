//! How do changes become arrays, one for each column?

use lifecycle_core::{Effect, Timestamp};
use sqlx::{Arguments as _, postgres::PgArguments};

use super::{
    columns::{Column, Table, bind},
    failure::Failure,
};
use crate::{
    outbox::Enqueue,
    sql::{EntryColumns, FactColumns, MachineColumns, WorkColumns, one_more},
    store::{Change, StoreError},
};

/// Changes as columns.
pub(super) struct Batch<'a> {
    pub(super) changes: &'a [Change],
    machines: Vec<(i64, MachineColumns)>,
    facts: Vec<(i64, FactColumns)>,
    work: Vec<(i64, WorkColumns)>,
    entries: Vec<(i64, EntryColumns)>,
    gone: Vec<(i64, ScopeOf)>,
    held: Vec<(i64, ScopeOf)>,
}

impl<'a> Batch<'a> {
    pub(super) fn of(changes: &'a [Change]) -> Result<Self, StoreError> {
        let mut batch = Self {
            changes,
            machines: Vec::with_capacity(changes.len()),
            facts: Vec::new(),
            work: Vec::new(),
            entries: Vec::new(),
            gone: Vec::new(),
            held: Vec::new(),
        };
        for (n, change) in (0..).zip(changes) {
            let Change {
                next,
                facts,
                work,
                journal,
                newly_gone,
                hold,
            } = change;
            one_more("revision", next.revision)?;
            batch.machines.push((n, MachineColumns::of(next)?));
            for fact in facts {
                batch.facts.push((n, FactColumns::of(fact)?));
            }
            for work in latest(work) {
                batch
                    .work
                    .push((n, WorkColumns::pending(work, Timestamp::from_millis(0))?));
            }
            if let Some(entry) = journal {
                batch.entries.push((n, EntryColumns::of(entry)?));
            }
            batch
                .gone
                .extend(newly_gone.iter().map(|scope| (n, ScopeOf(scope.clone()))));
            batch
                .held
                .extend(hold.iter().map(|scope| (n, ScopeOf(scope.clone()))));
        }
        // Rows are locked in the order of their ids, so that batches do not wait for each other.
        batch
            .machines
            .sort_by(|(_, one), (_, other)| one.id.cmp(&other.id));
        Ok(batch)
    }

    pub(super) fn arguments(
        &self,
        mark: &str,
        channel: Option<&str>,
    ) -> Result<PgArguments, Failure> {
        let mut arguments = PgArguments::default();
        arguments.add(mark)?;
        arguments.add(channel.filter(|_| !self.work.is_empty()))?;
        bind(&self.machines, &mut arguments)?;
        bind(&self.facts, &mut arguments)?;
        bind(&self.work, &mut arguments)?;
        bind(&self.entries, &mut arguments)?;
        bind(&self.gone, &mut arguments)?;
        bind(&self.held, &mut arguments)?;
        Ok(arguments)
    }

    pub(super) fn revokes(&self) -> bool {
        let revokes = |work: &Enqueue| matches!(work.key.effect, Effect::RevokeCredentials);
        self.changes
            .iter()
            .any(|change| change.work.iter().any(revokes))
    }
}

/// The latest of each piece of work: a statement cannot queue one twice.
fn latest(work: &[Enqueue]) -> impl Iterator<Item = &Enqueue> {
    work.iter().enumerate().filter_map(|(at, one)| {
        let later = work.get(at + 1..).unwrap_or_default();
        later
            .iter()
            .all(|other| other.key != one.key)
            .then_some(one)
    })
}

/// The scope that a change is about.
pub(super) struct ScopeOf(String);

impl Table for ScopeOf {
    const COLUMNS: &'static [Column] = &[("scope", "text")];

    fn bind(rows: &[&Self], arguments: &mut PgArguments) -> Result<(), sqlx::error::BoxDynError> {
        arguments.add(rows.iter().map(|row| row.0.as_str()).collect::<Vec<_>>())
    }
}
