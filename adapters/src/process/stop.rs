//! How does a machine end, and never another process in its place?

use core::time::Duration;

use lifecycle_core::{Answer, Proof};
use rustix::{io::Errno, process::Signal};

use super::{
    error::During as _,
    host,
    kernel::cause,
    observe::{expected, sight},
    pid::MachinePid,
    registry::{Entry, Root},
    start::uptime_ms,
    tree,
};
use crate::provider::{ProviderError, Target};

/// Where a stop stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// Nothing of it runs, by this proof.
    Over(Proof),
    /// It was asked politely, and has this long.
    Asked(Duration),
}

/// Asks the machine to stop, once.
///
/// When it was asked is kept, so that whoever repeats an interrupted call waits for the rest of the
/// limit only, and the hard end is not put off for ever.
pub(super) fn ask(root: &Root, target: &Target, limit: Duration) -> Result<Stop, ProviderError> {
    let entry = find(root, target)?;
    let process = match identify(root, target, entry.as_ref())? {
        Identity::Over(proof) => {
            sweep(entry.as_ref())?;
            return Ok(Stop::Over(proof));
        }
        Identity::Proven(process) => process,
    };
    let now = uptime_ms()?;
    let limit_ms = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
    let asked = entry.as_ref().and_then(|entry| entry.stop_asked_ms);
    // An old request was not this one: that one was given up, the machine was wanted again.
    let fresh = limit_ms.saturating_add(FORGOTTEN_MS);
    let asked = asked.filter(|asked| now.saturating_sub(*asked) <= fresh);
    if let Some(asked) = asked {
        let waited = Duration::from_millis(now.saturating_sub(asked));
        return Ok(Stop::Asked(limit.saturating_sub(waited)));
    }
    process.signal(Signal::TERM).map_err(refused)?;
    // What was stopped by a signal could not act on another.
    process.signal(Signal::CONT).map_err(refused)?;
    if let Some(entry) = &entry {
        let lock = root.lock()?;
        root.amend(&lock, entry, |entry| entry.stop_asked_ms = Some(now))?;
    }
    Ok(Stop::Asked(limit))
}

/// Tells whether the machine ended, and by which proof.
pub(super) fn is_over(root: &Root, target: &Target) -> Result<Option<Proof>, ProviderError> {
    let entry = find(root, target)?;
    match identify(root, target, entry.as_ref())? {
        Identity::Over(proof) => {
            sweep(entry.as_ref())?;
            Ok(Some(proof))
        }
        Identity::Proven(_) => Ok(None),
    }
}

/// Kills the machine and what it started; returns the proof where it had ended before.
pub(super) fn kill(root: &Root, target: &Target) -> Result<Option<Proof>, ProviderError> {
    let entry = find(root, target)?;
    let process = match identify(root, target, entry.as_ref())? {
        Identity::Over(proof) => {
            sweep(entry.as_ref())?;
            return Ok(Some(proof));
        }
        Identity::Proven(process) => process,
    };
    // Standing still it starts nothing that would escape.
    process.signal(Signal::STOP).map_err(refused)?;
    let swept = sweep(entry.as_ref());
    process.signal(Signal::KILL).map_err(refused)?;
    swept.map(|()| None)
}

enum Identity {
    /// It is this process, and runs.
    Proven(super::kernel::Process),
    /// It ended, or the id is another's.
    Over(Proof),
}

/// Returns the entry of the very process that the target means, and of no other of that name: what
/// is recorded for a machine whose row means another process is not touched.
fn find(root: &Root, target: &Target) -> Result<Option<Entry>, ProviderError> {
    let entry = root.find(&target.machine, target.generation)?;
    let Some(expected) = expected(target, entry.as_ref()) else {
        return Ok(None);
    };
    Ok(entry.filter(|entry| entry.is(&target.provider_id, &expected)))
}

fn identify(
    root: &Root,
    target: &Target,
    entry: Option<&Entry>,
) -> Result<Identity, ProviderError> {
    let Some(pid) = MachinePid::parse(&target.provider_id) else {
        let wrong = format!("the process {:?}", target.provider_id);
        return Err(ProviderError::OutOfBounds(wrong));
    };
    let scope = host::scope().during("reading where we are")?;
    if scope != target.scope {
        let elsewhere = format!("scope {}, this is {scope}", target.scope);
        return Err(ProviderError::OutOfBounds(elsewhere));
    }
    let Some(expected) = expected(target, entry) else {
        return Err(ProviderError::Unproven);
    };
    let sight = sight(root, pid, Some(&expected), entry);
    match (sight.answer, sight.process) {
        (Answer::Absent(proof), _) => Ok(Identity::Over(proof)),
        (Answer::Unknown(cause), _) => Err(ProviderError::refused(
            cause,
            "the process could not be looked at",
        )),
        (Answer::Present(_), Some(process)) if sight.marker.as_ref() == Some(&expected) => {
            Ok(Identity::Proven(process))
        }
        (Answer::Present(_), _) => Ok(Identity::Over(Proof::Superseded)),
    }
}

/// Ends what a machine left behind.
fn sweep(entry: Option<&Entry>) -> Result<(), ProviderError> {
    if let Some(entry) = entry {
        tree::kill(&entry.token).map_err(refused)?;
    }
    Ok(())
}

fn refused(error: Errno) -> ProviderError {
    ProviderError::refused(cause(error), format!("a signal was refused: {error}"))
}

const FORGOTTEN_MS: u64 = 60_000;
