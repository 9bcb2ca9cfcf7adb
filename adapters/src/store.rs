//! What must a store be able to do, and what does it promise?

use core::{fmt, time::Duration};

use async_trait::async_trait;
use lifecycle_core::{Effects, ScopeWindow, Timestamp, Volume};
use thiserror::Error;

use crate::{
    facts::Facts,
    id::MachineId,
    journal::Entry,
    ledger::Fact,
    outbox::{Claimed, Enqueue, OutboxRow, Settlement, WorkKey},
    row::{NewMachine, Row},
};

/// A row with the time at which it was read, by the store's clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// The row.
    pub row: Row,
    /// The store's time.
    pub now: Timestamp,
}

/// One commit: all of it happens, or nothing.
///
/// `next.revision` is the revision that was read; the store compares it and writes one more. The
/// store keeps the stored claim, whatever `next.claim` says: only relays write claims.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The row to write.
    pub next: Row,
    /// The facts to append; one that is there already (same machine, generation, fact and
    /// occurrence) is left as it is.
    pub facts: Vec<Fact>,
    /// The work to queue.
    pub work: Vec<Enqueue>,
    /// The decision to keep.
    pub journal: Option<Entry>,
    /// The scope in which one more active machine is newly gone, for the fleet guard.
    pub newly_gone: Option<String>,
    /// The scope whose hold begins.
    pub hold: Option<String>,
}

impl Change {
    /// A change of the row alone.
    #[must_use]
    pub const fn of(next: Row) -> Self {
        Self {
            next,
            facts: Vec::new(),
            work: Vec::new(),
            journal: None,
            newly_gone: None,
            hold: None,
        }
    }
}

/// What became of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Commit {
    /// It is written; the row as it is now.
    Won(Row),
    /// Somebody was faster, nothing was written; the row as it is now, none where it is not there.
    Lost(Option<Row>),
}

/// What became of a registration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Registered {
    /// It is new.
    Created(Row),
    /// It was registered before; nothing was written.
    Existing(Row),
}

/// Whether credentials may be minted for a machine, and for which incarnation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It is provisioning, running or paused.
    Live {
        /// The incarnation.
        generation: u64,
    },
    /// It failed, is being deleted, or ended.
    Refused,
    /// Nobody registered it.
    Unknown,
}

/// A volume that outlived its machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptVolume {
    /// The machine.
    pub machine: MachineId,
    /// The incarnation that ended.
    pub generation: u64,
    /// What was known of the volume.
    pub volume: Volume,
    /// The provider's id of it.
    pub volume_id: Option<String>,
    /// When the machine ended.
    pub at: Timestamp,
}

/// Keeps machines, ledger, outbox and journal. Object safe; every call is one transaction.
///
/// The promises, each checked by the conformance suite:
/// - a commit writes row, ledger, outbox and journal together, and only where the revision is the
///   one that was read;
/// - a lost commit writes nothing;
/// - a fact of the ledger is written once and never changed;
/// - work is enqueued as [`Store::commit`] says, claimed by one relay at a time, and settled only by
///   the holder of its token.
#[async_trait]
pub trait Store: Send + Sync + fmt::Debug {
    /// Returns the store's time.
    async fn now(&self) -> Result<Timestamp, StoreError>;

    /// Registers a machine: provisioning, capacity held (a `hold_compute` is queued), journalled.
    ///
    /// Its generation is 1, or one above any that the ledger has of this id.
    async fn register(&self, new: &NewMachine) -> Result<Registered, StoreError>;

    /// Reads a row with the store's time.
    async fn load(&self, id: &MachineId) -> Result<Option<Loaded>, StoreError>;

    /// Writes a change, or nothing.
    ///
    /// Work is queued by its key: new, it is pending, due now; pending, it is renewed (what it says,
    /// due now, no attempts, no note); claimed, it is renewed and marked dirty; dead, cancelled or
    /// dropped, it is pending anew; done, it is pending anew unless it is a hold or release, which are
    /// done once for each reservation.
    async fn commit(&self, change: &Change) -> Result<Commit, StoreError>;

    /// Writes several changes of different machines, each winning or losing on its own; answers in order.
    async fn commit_many(&self, changes: &[Change]) -> Result<Vec<Commit>, StoreError>;

    /// Returns rows that are due to be looked at (`look_again_at` passed), the longest unchecked first,
    /// and marks them checked now, so that a failing row never starves others. Does not count as a
    /// commit. Rows that were checked more than a minute in the future are due too: a clock that ran
    /// ahead must not put a machine out of sight. Only rows of `scope`, where one is given.
    async fn take_due(&self, scope: Option<&str>, limit: u32) -> Result<Vec<Loaded>, StoreError>;

    /// Claims work that is due, for at most `lease`: pending and due, or claimed with its lease over.
    ///
    /// Work that has to wait does not count against the limit; it waits as [`waits_for_destroy_compute`](crate::outbox::waits_for_destroy_compute) says. For
    /// effects that claim their row ([`claims_row`](crate::outbox::claims_row)) the row's claim is
    /// written with it, which counts as a commit; such work is passed over while another claim of that
    /// row holds. Each claim gets a token of its own.
    async fn claim(&self, limit: u32, lease: Duration) -> Result<Vec<Claimed>, StoreError>;

    /// Settles claimed work and takes the claim off its row (which counts as a commit where there was
    /// one). False, and nothing written, where the token is no longer the work's.
    ///
    /// Done and dirty work becomes pending anew, due now; so does any other settlement of dirty work.
    async fn settle(
        &self,
        key: &WorkKey,
        token: &str,
        settlement: &Settlement,
    ) -> Result<bool, StoreError>;

    /// Returns the work of one machine, whatever its state.
    async fn work(&self, id: &MachineId) -> Result<Vec<OutboxRow>, StoreError>;

    /// Returns dead letters, the oldest first.
    async fn dead_letters(&self, limit: u32) -> Result<Vec<OutboxRow>, StoreError>;

    /// Makes a dead letter pending anew. False where it is not dead.
    async fn retry_dead(&self, key: &WorkKey) -> Result<bool, StoreError>;

    /// Gives a dead letter up, for this reason. False where it is not dead.
    async fn drop_dead(&self, key: &WorkKey, reason: &str) -> Result<bool, StoreError>;

    /// Returns when the next pending or claimed work is due; none where there is none.
    async fn next_work_at(&self) -> Result<Option<Timestamp>, StoreError>;

    /// Returns the facts of one machine, in the order written.
    async fn ledger(&self, id: &MachineId) -> Result<Vec<Fact>, StoreError>;

    /// Returns the decisions of one machine, in the order written.
    async fn journal(&self, id: &MachineId) -> Result<Vec<Entry>, StoreError>;

    /// Returns the volumes that outlived their machines, but for those that a later incarnation of
    /// the same machine has taken over.
    async fn kept_volumes(&self) -> Result<Vec<KeptVolume>, StoreError>;

    /// Returns what the fleet guard needs of one scope: rows newly gone since `window` ago (distinct
    /// machines), and active rows, those included.
    async fn scope_window(&self, scope: &str, window: Duration) -> Result<ScopeWindow, StoreError>;

    /// Ends the hold of a scope, as an operator's word that its absences are true.
    async fn release_scope(&self, scope: &str) -> Result<(), StoreError>;

    /// Tells whether credentials may be minted now. Holds only as long as the transaction: a store
    /// offers it on the caller's own transaction too, where it locks the row until that ends.
    async fn admit(&self, id: &MachineId) -> Result<Admission, StoreError>;

    /// Brings in machines of an older system, with what it had recorded and delivered already. A
    /// machine that is there is left as it is, so that a broken-off run can simply be repeated.
    async fn adopt(&self, batch: &[Adopted]) -> Result<Vec<Registered>, StoreError>;

    /// Finds what an older system, a restored backup or a hand in the database left undone, and mends
    /// it once; what is found is told in numbers. See [`Repaired`] for what that is.
    async fn repair(&self, mode: RepairMode) -> Result<Repaired, StoreError>;
}

/// A machine of an older system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adopted {
    /// What registration would have said; scope and marker are taken from `facts`.
    pub new: NewMachine,
    /// Its facts, the old status words mapped by the caller.
    pub facts: Facts,
    /// What the old system had recorded.
    pub recorded: Vec<Fact>,
    /// What the old system had delivered of this incarnation: kept as done.
    pub delivered: Effects,
}

/// Whether a repair only looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepairMode {
    /// It counts and changes nothing.
    DryRun,
    /// It mends.
    Mend,
}

/// What a repair found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Repaired {
    /// Destroyed rows without a destroyed fact: it is appended.
    pub destroy_facts: u64,
    /// Quarantined, destroying, destroyed and failed rows without any revocation of their
    /// incarnation in the outbox, whatever its state: it is queued.
    pub revocations: u64,
    /// Destroyed rows whose compute is still held: it is released, and the release queued.
    pub releases: u64,
    /// Quarantined rows without a stamp that are not due already: they are made due, and get a full
    /// grace when looked at.
    pub stamps: u64,
    /// Destroying and destroyed rows not last seen gone without any `destroy_compute` of their incarnation in the
    /// outbox, whatever its state: it is queued.
    pub destructions: u64,
}

/// Why a store did not answer. A lost race is no error.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The database could not be asked, or gave up: trying again may help.
    #[error("the database did not answer")]
    Unavailable(#[source] Box<dyn core::error::Error + Send + Sync>),
    /// The database refused: trying again does not help.
    #[error("the database refused")]
    Refused(#[source] Box<dyn core::error::Error + Send + Sync>),
    /// The commit's outcome is not known and could not be read back.
    #[error("the commit's outcome is not known")]
    OutcomeUnknown(#[source] Box<dyn core::error::Error + Send + Sync>),
    /// The database belongs to another program.
    #[error("not a lifecycle database: {0}")]
    ForeignDatabase(String),
    /// The schema was written by a newer version.
    #[error("the schema has version {found}, this program knows up to {known}")]
    NewerSchema {
        /// What is there.
        found: i64,
        /// What is known.
        known: i64,
    },
    /// A stored row says what no version of this program wrote.
    #[error("the row of {machine} cannot be read: {problem}")]
    Corrupt {
        /// The machine.
        machine: String,
        /// What is wrong.
        problem: String,
    },
    /// What was to be written cannot be stored.
    #[error("cannot be stored: {0}")]
    Unstorable(String),
}

impl StoreError {
    /// Tells whether trying again may help.
    #[must_use]
    pub const fn is_retryable(&self) -> bool {
        match self {
            Self::Unavailable(_) | Self::OutcomeUnknown(_) => true,
            Self::Refused(_)
            | Self::ForeignDatabase(_)
            | Self::NewerSchema { .. }
            | Self::Corrupt { .. }
            | Self::Unstorable(_) => false,
        }
    }
}
