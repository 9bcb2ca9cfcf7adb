//! What is shown of a machine?

use core::fmt;

use crate::{
    effect::Effects,
    facts::{Compute, Desired, Status},
    machine::{LastSeen, Machine, SeenPower},
    policy::Policy,
    time::{Spoken, Timestamp},
    words::words,
};

words! {
    /// What a person is told the machine is doing; for display only.
    pub enum Phase ("phase") {
        /// On its way.
        Provisioning = "provisioning",
        /// In use.
        Running = "running",
        /// At rest.
        Paused = "paused",
        /// At rest, its compute lost and its volume kept.
        ComputeLost = "compute_lost",
        /// To be deleted, still restorable.
        Quarantined = "quarantined",
        /// Being destroyed.
        Destroying = "destroying",
        /// Ended.
        Destroyed = "destroyed",
        /// Never arrived.
        Failed = "failed",
    }
}

words! {
    /// The power a machine is known to be in now.
    pub enum ActualPower ("actual power") {
        /// It is starting.
        Booting = "booting",
        /// It runs.
        Running = "running",
        /// It is stopping.
        Stopping = "stopping",
        /// It is off.
        Off = "off",
        /// It is frozen.
        Suspended = "suspended",
        /// It is gone.
        Gone = "gone",
        /// Nothing recent is known.
        Unknown = "unknown",
    }
}

/// What is shown of a machine: no blank, and never the desired power as the actual one.
///
/// ```
/// use lifecycle_core::{ActualPower, Effects, Machine, Phase, Policy, Report, Timestamp};
///
/// let now = Timestamp::from_millis(10_000_000);
/// let machine = Machine::new("account-1/eu", None, now);
/// let report = Report::of(&machine, now, &Policy::CAUTIOUS, Effects::NONE);
/// assert_eq!((report.phase, report.actual), (Phase::Provisioning, ActualPower::Unknown));
/// assert_eq!(report.detail.to_string(), "provisioning; never seen");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Report {
    /// What it is doing.
    pub phase: Phase,
    /// What its power should be; off for whatever is being deleted.
    pub desired: Desired,
    /// What its power is known to be.
    pub actual: ActualPower,
    /// When it was last seen; none only where it never was.
    pub as_of: Option<Timestamp>,
    /// The same in one sentence, with what the fields cannot say.
    pub detail: Detail,
    /// When its grace is over, where a quarantine was opened.
    pub destroy_at: Option<Timestamp>,
}

impl Report {
    /// Makes the report from stored facts, so that it can be read at any time.
    ///
    /// `owed` is the work queued for the machine and not yet delivered.
    #[must_use]
    pub fn of(machine: &Machine<'_>, now: Timestamp, policy: &Policy<'_>, owed: Effects) -> Self {
        let phase = phase(machine);
        let desired = match machine.status {
            Status::Quarantined | Status::Destroying | Status::Destroyed => Desired::Off,
            Status::Provisioning | Status::Running | Status::Paused | Status::Failed => {
                machine.desired
            }
        };
        let actual = match machine.last_seen {
            Some(LastSeen { power, at }) if policy.is_fresh(at, now) => actual(power),
            Some(_) | None => ActualPower::Unknown,
        };
        let destroy_at = machine.quarantine.map(|stamp| stamp.destroy_at);
        Self {
            phase,
            desired,
            actual,
            as_of: machine.last_seen.map(|seen| seen.at),
            detail: Detail {
                phase,
                actual,
                last_seen: machine.last_seen,
                destroy_at,
                now,
                owed,
            },
            destroy_at,
        }
    }
}

const fn phase(machine: &Machine<'_>) -> Phase {
    match (machine.status, machine.compute) {
        (Status::Provisioning, _) => Phase::Provisioning,
        (Status::Running, _) => Phase::Running,
        (Status::Paused, Compute::Lost) => Phase::ComputeLost,
        (Status::Paused, Compute::Held | Compute::Released) => Phase::Paused,
        (Status::Quarantined, _) => Phase::Quarantined,
        (Status::Destroying, _) => Phase::Destroying,
        (Status::Destroyed, _) => Phase::Destroyed,
        (Status::Failed, _) => Phase::Failed,
    }
}

const fn actual(power: SeenPower) -> ActualPower {
    match power {
        SeenPower::Booting => ActualPower::Booting,
        SeenPower::Running => ActualPower::Running,
        SeenPower::Stopping => ActualPower::Stopping,
        SeenPower::Off => ActualPower::Off,
        SeenPower::Suspended => ActualPower::Suspended,
        SeenPower::Gone => ActualPower::Gone,
    }
}

/// Displays a report's sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Detail {
    phase: Phase,
    actual: ActualPower,
    last_seen: Option<LastSeen>,
    destroy_at: Option<Timestamp>,
    now: Timestamp,
    owed: Effects,
}

impl fmt::Display for Detail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            phase,
            actual,
            last_seen,
            destroy_at,
            now,
            owed,
        } = *self;
        match (phase, destroy_at) {
            (Phase::Quarantined, Some(at)) if at > now => write!(
                f,
                "to be destroyed in {}, at {at}; can be restored until then",
                Spoken(at.millis_since(now))
            )?,
            (Phase::Quarantined, Some(at)) => {
                write!(f, "to be destroyed; its grace ends about now, at {at}")?
            }
            (Phase::Quarantined, None) => {
                f.write_str("to be destroyed; its grace begins when it is next looked at")?
            }
            (Phase::ComputeLost, _) => {
                f.write_str("its compute is gone, its volume is kept; can be recovered")?
            }
            (Phase::Destroying, _) => f.write_str("being destroyed; cannot be restored")?,
            (Phase::Failed, _) => f.write_str("failed: it never arrived")?,
            (Phase::Provisioning | Phase::Running | Phase::Paused | Phase::Destroyed, _) => {
                write!(f, "{phase}")?
            }
        }
        match (last_seen, actual) {
            (None, _) => f.write_str("; never seen")?,
            (Some(LastSeen { power, at }), ActualPower::Unknown) => {
                write!(f, "; power unknown, last seen {power} at {at}")?
            }
            (
                Some(LastSeen { power, at }),
                ActualPower::Booting
                | ActualPower::Running
                | ActualPower::Stopping
                | ActualPower::Off
                | ActualPower::Suspended
                | ActualPower::Gone,
            ) => write!(f, "; seen {power} at {at}")?,
        }
        if !owed.is_empty() {
            f.write_str("; cleanup pending:")?;
            for (position, effect) in owed.iter().enumerate() {
                f.write_str(if position == 0 { " " } else { ", " })?;
                write!(f, "{effect}")?;
            }
        }
        Ok(())
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Detail {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
