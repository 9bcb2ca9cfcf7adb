//! Which work is owed, and how far is it?

use core::{fmt, str::FromStr, time::Duration};

use lifecycle_core::{Effect, Timestamp};
use thiserror::Error;

use crate::{id::MachineId, provider::Target, row::Row};

/// Which piece of work: of each there is at most one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WorkKey {
    /// The machine.
    pub machine: MachineId,
    /// The incarnation.
    pub generation: u64,
    /// The effect; one that is delivered through the outbox.
    pub effect: Effect,
    /// Which reservation, for a hold or release; else 0.
    pub holds: u64,
}

/// What a commit wants delivered, with what the delivery and its guard need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enqueue {
    /// Which piece of work.
    pub key: WorkKey,
    /// The provider's id at the time of the commit.
    pub provider_id: Option<String>,
    /// The marker at the time of the commit.
    pub marker: Option<String>,
    /// Where the provider keeps it.
    pub scope: String,
    /// The provider's id of the volume.
    pub volume_id: Option<String>,
    /// The quarantine under which it was committed.
    pub quarantine_id: Option<u64>,
    /// When it was committed, by the store's clock. The store stamps it with its own time once it
    /// holds the row: a credential that was admitted before the commit must not be issued after it.
    pub committed_at: Timestamp,
    /// Whether the machine had been seen at the provider.
    pub was_sighted: bool,
}

impl Enqueue {
    /// Returns the machine that the work is about; none where the provider never named it.
    #[must_use]
    pub fn target(&self) -> Option<Target> {
        self.provider_id.as_ref().map(|provider_id| Target {
            machine: self.key.machine.clone(),
            generation: self.key.generation,
            provider_id: provider_id.clone(),
            marker: self.marker.clone(),
            scope: self.scope.clone(),
            volume_id: self.volume_id.clone(),
        })
    }
}

/// How far a piece of work is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WorkState {
    /// To be delivered.
    Pending,
    /// A relay has it.
    Claimed,
    /// It was delivered.
    Done,
    /// It was not delivered, since it had become pointless or wrong.
    Cancelled,
    /// It was given up after many tries; enqueueing or an operator revives it.
    Dead,
    /// An operator gave it up.
    Dropped,
}

impl WorkState {
    /// Every state.
    pub const ALL: &'static [Self] = &[
        Self::Pending,
        Self::Claimed,
        Self::Done,
        Self::Cancelled,
        Self::Dead,
        Self::Dropped,
    ];

    /// Returns the stable text form.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Claimed => "claimed",
            Self::Done => "done",
            Self::Cancelled => "cancelled",
            Self::Dead => "dead",
            Self::Dropped => "dropped",
        }
    }

    /// Tells whether the work is still owed.
    #[must_use]
    pub const fn is_owed(self) -> bool {
        match self {
            Self::Pending | Self::Claimed | Self::Dead => true,
            Self::Done | Self::Cancelled | Self::Dropped => false,
        }
    }
}

impl fmt::Display for WorkState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// A text that is not a state of work.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("not a state of work: {0:?}")]
pub struct UnknownState(String);

impl FromStr for WorkState {
    type Err = UnknownState;

    fn from_str(text: &str) -> Result<Self, UnknownState> {
        Self::ALL
            .iter()
            .find(|state| state.word() == text)
            .copied()
            .ok_or_else(|| UnknownState(text.to_owned()))
    }
}

/// A piece of work as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboxRow {
    /// What is to be delivered.
    pub work: Enqueue,
    /// How far it is.
    pub state: WorkState,
    /// It was enqueued again while it was claimed: acknowledging it makes it pending again.
    pub is_dirty: bool,
    /// How many deliveries failed since it was last enqueued.
    pub attempts: u32,
    /// When to try next.
    pub due_at: Timestamp,
    /// What went wrong last, or why it was cancelled or dropped.
    pub note: Option<String>,
    /// When the provider accepted it, where that is not yet the end of it.
    pub accepted_at: Option<Timestamp>,
}

/// A piece of work that a relay has claimed, with the row as it was after the claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claimed {
    /// The work.
    pub row: OutboxRow,
    /// The machine, fresh.
    pub machine: Row,
    /// The token of the claim.
    pub token: String,
    /// Until when it is claimed, by the store's clock.
    pub until: Timestamp,
    /// The store's time at the claim.
    pub now: Timestamp,
}

/// What became of claimed work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settlement {
    /// It was delivered.
    Done,
    /// It had become pointless or wrong.
    Cancelled(String),
    /// It failed; to be tried again after this time.
    Retry {
        /// After what time.
        after: Duration,
        /// What went wrong.
        note: String,
        /// When the provider accepted it, where it did.
        accepted_at: Option<Timestamp>,
    },
    /// It failed for good, as far as a relay can tell.
    Dead(String),
    /// The relay stops; another may take it at once. Counts as no attempt.
    Released,
}

/// The effects whose claim is a commit on the machine's row, so that requests wait for it.
#[must_use]
pub const fn claims_row(effect: Effect) -> bool {
    match effect {
        Effect::StopCompute | Effect::DestroyCompute | Effect::DestroyVolume => true,
        Effect::HoldCompute
        | Effect::ReleaseCompute
        | Effect::RevokeCredentials
        | Effect::RecordRunning
        | Effect::RecordPaused
        | Effect::RecordQuarantined
        | Effect::RecordDestroying
        | Effect::RecordDestroyed
        | Effect::RecordFailed
        | Effect::RecordComputeLost
        | Effect::RecordOrphan => false,
    }
}

/// The effects that wait until no `destroy_compute` is owed: a release of the same incarnation, a
/// volume of any, since incarnations follow each other on one volume.
#[must_use]
pub const fn waits_for_destroy_compute(effect: Effect) -> bool {
    matches!(effect, Effect::DestroyVolume | Effect::ReleaseCompute)
}
