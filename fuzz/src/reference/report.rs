//! What is shown of a machine?
//!
//! The two sentences of a report, `detail` and `why`, are free text and left out here.

use super::facts::Machine;
use super::judge::is_void;
use super::policy::Policy;
use super::wide::wide;
use super::words::{Compute, Desired, Status, Word};

/// What is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// The status, with lost compute told apart.
    pub phase: &'static str,
    /// What the power shall be.
    pub desired: &'static str,
    /// What the power is, as far as that is known.
    pub actual: &'static str,
    /// When it was last seen.
    pub as_of: Option<i64>,
    /// When the quarantine is over.
    pub destroy_at: Option<i64>,
}

/// Reports on a machine.
#[must_use]
pub fn report(machine: &Machine, now: i64, policy: &Policy) -> Report {
    Report {
        phase: phase(machine),
        desired: desired(machine),
        actual: actual(machine, now, policy),
        as_of: machine.last_seen.map(|seen| seen.at),
        destroy_at: machine.quarantine.map(|quarantine| quarantine.destroy_at),
    }
}

fn phase(machine: &Machine) -> &'static str {
    if machine.status == Status::Paused && machine.compute == Compute::Lost {
        return "compute_lost";
    }
    machine.status.word()
}

fn desired(machine: &Machine) -> &'static str {
    let going = machine.status == Status::Quarantined
        || machine.status == Status::Destroying
        || machine.status == Status::Destroyed;
    if going {
        return Desired::Off.word();
    }
    machine.desired.word()
}

fn actual(machine: &Machine, now: i64, policy: &Policy) -> &'static str {
    let Some(seen) = machine.last_seen else {
        return "unknown";
    };
    let old = wide(now) - wide(seen.at) > wide(policy.fresh_for_ms);
    if old || is_void(seen.at, now, policy) {
        return "unknown";
    }
    seen.power.word()
}
