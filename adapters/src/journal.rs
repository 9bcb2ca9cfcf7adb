//! Which decisions were made, from what?

use lifecycle_core::{Rule, Source, Timestamp};

use crate::id::MachineId;

/// One decision with its inputs, in the JSON form of [`wire`](crate::wire).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The machine.
    pub machine: MachineId,
    /// The row's revision after it.
    pub revision: u64,
    /// When, by the store's clock.
    pub at: Timestamp,
    /// Which path noticed or asked.
    pub source: Source,
    /// Which rule answered; none for what no rule decides (registration, recovery, busy).
    pub rule: Option<Rule>,
    /// What it was decided from, as one line that `decide` answers; empty where no rule decided.
    pub input: String,
    /// Why, in one sentence.
    pub why: String,
}
