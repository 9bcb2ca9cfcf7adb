//! Which columns hold one fact of the ledger, and one entry of the journal?

use lifecycle_core::{Delivery, Effect, Timestamp};

use super::{corrupt, count, machine_id, optional_word, ordinal, stored, word};
use crate::{journal::Entry, ledger::Fact, store::StoreError};

/// One fact of the ledger, a field for each column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FactColumns {
    pub(crate) machine: String,
    pub(crate) generation: i64,
    pub(crate) fact: String,
    pub(crate) occurrence: i64,
    pub(crate) at: i64,
    pub(crate) source: String,
    pub(crate) rule: Option<String>,
    pub(crate) was_sighted: bool,
    pub(crate) volume: String,
    pub(crate) volume_id: Option<String>,
}

impl FactColumns {
    /// Writes a fact as columns.
    pub(crate) fn of(fact: &Fact) -> Result<Self, StoreError> {
        let Fact {
            machine,
            generation,
            fact,
            occurrence,
            at,
            source,
            rule,
            was_sighted,
            volume,
            volume_id,
        } = fact;
        match fact.delivery() {
            Delivery::WithCommit => {}
            Delivery::Outbox => {
                return Err(StoreError::Unstorable(format!(
                    "{fact} is work, not a fact of the ledger"
                )));
            }
        }
        Ok(Self {
            machine: machine.as_str().to_owned(),
            generation: stored("generation", *generation)?,
            fact: fact.word().to_owned(),
            occurrence: stored("occurrence", *occurrence)?,
            at: at.as_millis(),
            source: source.word().to_owned(),
            rule: rule.map(|rule| rule.word().to_owned()),
            was_sighted: *was_sighted,
            volume: volume.word().to_owned(),
            volume_id: volume_id.clone(),
        })
    }

    /// Reads a fact from columns.
    pub(crate) fn read(&self) -> Result<Fact, StoreError> {
        let id = self.machine.as_str();
        let fact: Effect = word(id, "fact", &self.fact)?;
        match fact.delivery() {
            Delivery::WithCommit => {}
            Delivery::Outbox => {
                return Err(corrupt(id, format_args!("{fact} is recorded as a fact")));
            }
        }
        Ok(Fact {
            machine: machine_id(id)?,
            generation: ordinal(id, "generation of the fact", self.generation)?,
            fact,
            occurrence: count(id, "occurrence", self.occurrence)?,
            at: Timestamp::from_millis(self.at),
            source: word(id, "source of the fact", &self.source)?,
            rule: optional_word(id, "rule of the fact", self.rule.as_deref())?,
            was_sighted: self.was_sighted,
            volume: word(id, "volume of the fact", &self.volume)?,
            volume_id: self.volume_id.clone(),
        })
    }
}

/// One entry of the journal, a field for each column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EntryColumns {
    pub(crate) machine: String,
    pub(crate) revision: i64,
    pub(crate) at: i64,
    pub(crate) source: String,
    pub(crate) rule: Option<String>,
    pub(crate) input: String,
    pub(crate) why: String,
}

impl EntryColumns {
    /// Writes an entry as columns.
    pub(crate) fn of(entry: &Entry) -> Result<Self, StoreError> {
        let Entry {
            machine,
            revision,
            at,
            source,
            rule,
            input,
            why,
        } = entry;
        Ok(Self {
            machine: machine.as_str().to_owned(),
            revision: stored("revision", *revision)?,
            at: at.as_millis(),
            source: source.word().to_owned(),
            rule: rule.map(|rule| rule.word().to_owned()),
            input: input.clone(),
            why: why.clone(),
        })
    }

    /// Reads an entry from columns.
    pub(crate) fn read(&self) -> Result<Entry, StoreError> {
        let id = self.machine.as_str();
        Ok(Entry {
            machine: machine_id(id)?,
            revision: count(id, "revision of the entry", self.revision)?,
            at: Timestamp::from_millis(self.at),
            source: word(id, "source of the entry", &self.source)?,
            rule: optional_word(id, "rule of the entry", self.rule.as_deref())?,
            input: self.input.clone(),
            why: self.why.clone(),
        })
    }
}
