//! Which facts may one decision look at?

use super::words::{
    Cause, Compute, Desired, Force, Power, Proof, Request, SeenPower, Source, Status, Volume,
};

/// The stored facts of one machine. Instants are milliseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// What the row says the machine is.
    pub status: Status,
    /// The volume, as far as it is known.
    pub volume: Volume,
    /// Whether capacity is reserved.
    pub compute: Compute,
    /// What the owner wants.
    pub desired: Desired,
    /// The incarnation.
    pub generation: i64,
    /// The scope in which the provider knows the machine.
    pub scope: String,
    /// The mark that tells this machine from a later one with the same provider id.
    pub marker: Option<String>,
    /// When this incarnation was created.
    pub created_at: i64,
    /// When the status was entered.
    pub status_since: i64,
    /// What was last seen.
    pub last_seen: Option<LastSeen>,
    /// When the last accepted observation was begun.
    pub observed_at: Option<i64>,
    /// The misses counted so far.
    pub missing: Option<Missing>,
    /// The quarantine that was opened.
    pub quarantine: Option<Quarantine>,
    /// How many quarantines were opened so far.
    pub quarantines: i64,
    /// When the compute was found lost.
    pub compute_lost_at: Option<i64>,
    /// Until when an operation of ours holds the row.
    pub busy_until: Option<i64>,
    /// How often capacity was reserved.
    pub holds: i64,
}

/// A power and when it was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastSeen {
    /// What was seen.
    pub power: SeenPower,
    /// When the observation was begun.
    pub at: i64,
}

/// Misses that are not yet believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing {
    /// When the first of them was begun.
    pub since: i64,
    /// How many there are.
    pub count: i64,
}

/// The stored stamps of a quarantine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quarantine {
    /// Its number, from 1.
    pub id: i64,
    /// When it was opened.
    pub since: i64,
    /// When it is over.
    pub destroy_at: i64,
}

/// What the provider said, and when and where it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// What was said.
    pub said: Said,
    /// When the question was begun.
    pub begun_at: i64,
    /// The incarnation it was asked about.
    pub generation: i64,
    /// The scope it was asked in.
    pub scope: String,
    /// The mark that was found; none where the adapter did not look, empty where there was none.
    pub marker: Option<String>,
    /// Which path asked.
    pub source: Source,
}

/// The three kinds of answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// It is there.
    Present(Power),
    /// It is not there.
    Absent(Proof),
    /// It could not be asked.
    Unknown(Cause),
}

/// What comes with the decision from our own side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// A delete or a restore.
    pub request: Option<Request>,
    /// An override of the table.
    pub force: Force,
}
