//! What does a service store of one machine, for the next decision to look at?

use core::fmt;

use crate::{
    facts::{Compute, Desired, Status, Volume},
    time::Timestamp,
    words::words,
};

words! {
    /// The power a machine was last seen in; gone included, since that is a sighting too.
    pub enum SeenPower ("seen power") {
        /// It was starting.
        Booting = "booting",
        /// It ran.
        Running = "running",
        /// It was stopping.
        Stopping = "stopping",
        /// It was off.
        Off = "off",
        /// It was frozen.
        Suspended = "suspended",
        /// It was believed gone.
        Gone = "gone",
    }
}

/// The last believed sighting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(deny_unknown_fields, expecting = "a sighting")
)]
pub struct LastSeen {
    /// What was seen.
    pub power: SeenPower,
    /// When the question was sent.
    pub at: Timestamp,
}

/// A run of answers that did not have the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Missing {
    /// When the first of them was asked for.
    pub since: Timestamp,
    /// How many there were.
    pub count: u64,
}

/// A quarantine that was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct QuarantineStamp {
    /// Which quarantine of this machine it is, from 1.
    pub id: u64,
    /// When it was opened.
    pub since: Timestamp,
    /// When its grace is over.
    pub destroy_at: Timestamp,
}

/// The durable facts of one machine: all that a decision may look at.
///
/// It borrows its texts, so that the core needs no allocator; a service owns them in its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Machine<'a> {
    /// What the row stores.
    pub status: Status,
    /// What is known of the volume.
    pub volume: Volume,
    /// Whether capacity is reserved.
    pub compute: Compute,
    /// What the owner wants the power to be.
    pub desired: Desired,
    /// Which incarnation of the machine this is, from 1.
    pub generation: u64,
    /// Where the provider keeps it: account, region, host.
    pub scope: &'a str,
    /// What the provider's machine carries to say that it is this one; none where there is none.
    pub marker: Option<&'a str>,
    /// When this incarnation was asked for.
    pub created_at: Timestamp,
    /// When the status was entered.
    pub status_since: Timestamp,
    /// The last believed sighting.
    pub last_seen: Option<LastSeen>,
    /// When the latest accepted question was sent.
    pub observed_at: Option<Timestamp>,
    /// The run of misses, where there is one.
    pub missing: Option<Missing>,
    /// The quarantine, where one was opened.
    pub quarantine: Option<QuarantineStamp>,
    /// How many quarantines there were.
    pub quarantines: u64,
    /// When compute was found lost; set exactly while it is lost.
    pub compute_lost_at: Option<Timestamp>,
    /// Until when an operation of the host holds the row.
    pub busy_until: Option<Timestamp>,
    /// How many times capacity was reserved.
    pub holds: u64,
}

impl<'a> Machine<'a> {
    /// Makes the facts of a machine that was asked for now: provisioning, without a volume, capacity held.
    #[must_use]
    pub const fn new(scope: &'a str, marker: Option<&'a str>, now: Timestamp) -> Self {
        Self {
            status: Status::Provisioning,
            volume: Volume::None,
            compute: Compute::Held,
            desired: Desired::On,
            generation: 1,
            scope,
            marker,
            created_at: now,
            status_since: now,
            last_seen: None,
            observed_at: None,
            missing: None,
            quarantine: None,
            quarantines: 0,
            compute_lost_at: None,
            busy_until: None,
            holds: 1,
        }
    }

    /// Begins the machine anew on its kept volume, after its compute was lost.
    ///
    /// The generation that it replaces owes `destroy_compute`: it may be alive after all.
    ///
    /// # Errors
    ///
    /// Returns [`NotRecoverable`] unless the row is paused, its compute lost and no quarantine stored.
    pub fn recovered(
        &self,
        marker: Option<&'a str>,
        now: Timestamp,
    ) -> Result<Self, NotRecoverable> {
        match (self.status, self.compute, self.quarantine) {
            (Status::Paused, Compute::Lost, None) => Ok(self.next_generation(marker, now)),
            (Status::Paused, Compute::Lost, Some(_)) => Err(NotRecoverable::Quarantined),
            (Status::Paused, Compute::Held | Compute::Released, _) => {
                Err(NotRecoverable::ComputeNotLost)
            }
            (status, _, _) => Err(NotRecoverable::NotPaused(status)),
        }
    }

    /// Begins the machine anew, whatever its status: the replacement of a base.
    ///
    /// The generation that it replaces owes `destroy_compute`.
    #[must_use]
    pub const fn next_generation(&self, marker: Option<&'a str>, now: Timestamp) -> Self {
        Self {
            status: Status::Provisioning,
            volume: self.volume,
            compute: Compute::Held,
            desired: self.desired,
            generation: one_more(self.generation),
            scope: self.scope,
            marker,
            created_at: now,
            status_since: now,
            last_seen: None,
            observed_at: None,
            missing: None,
            quarantine: None,
            quarantines: self.quarantines,
            compute_lost_at: None,
            busy_until: None,
            holds: one_more(self.holds),
        }
    }
}

/// Counts one more; the end is `i64::MAX`, since every store can keep that.
pub(crate) const fn one_more(count: u64) -> u64 {
    if count < i64::MAX.unsigned_abs() {
        count + 1
    } else {
        i64::MAX.unsigned_abs()
    }
}

/// Why a machine cannot begin anew on its volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NotRecoverable {
    /// Only a paused machine can.
    NotPaused(Status),
    /// Its compute is still accounted for.
    ComputeNotLost,
    /// It is to be deleted; it must be restored first.
    Quarantined,
}

impl fmt::Display for NotRecoverable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotPaused(status) => write!(
                f,
                "only a paused machine can be recovered, this one is {status}"
            ),
            Self::ComputeNotLost => {
                f.write_str("only a machine whose compute is lost can be recovered")
            }
            Self::Quarantined => {
                f.write_str("a machine that is to be deleted must be restored first")
            }
        }
    }
}

impl core::error::Error for NotRecoverable {}
