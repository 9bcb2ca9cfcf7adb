//! Is a machine there?

use lifecycle_core::{Answer, Cause, Proof};

use super::{
    error::{During as _, ProcessError},
    host,
    kernel::{Look, Process, look},
    pid::MachinePid,
    registry::{Entry, Root},
    start, trash,
};
use crate::{
    id::MachineId,
    provider::{Completeness, Listed, Listing, Seen, Target},
};

/// What was seen of a target, with the process itself where it is there.
#[derive(Debug)]
pub(super) struct Sight {
    pub(super) answer: Answer,
    pub(super) marker: Option<String>,
    /// The process, where one has the id.
    pub(super) process: Option<Process>,
}

pub(super) fn observe(root: &Root, target: &Target) -> Seen {
    let Some(pid) = MachinePid::parse(&target.provider_id) else {
        return Seen::unknown(Cause::Malformed);
    };
    let entry = root.find(&target.machine, target.generation);
    let entry = entry.ok().flatten();
    match host::scope().during("reading where we are") {
        Ok(scope) => {
            let expected = expected(target, entry.as_ref());
            let sight = sight(root, pid, expected.as_deref(), entry.as_ref());
            Seen {
                answer: sight.answer,
                scope: Some(scope),
                marker: sight.marker,
            }
        }
        Err(error) => Seen::unknown(error.cause()),
    }
}

/// Returns the marker that the machine must carry: the target's, or the one that was recorded.
pub(super) fn expected(target: &Target, entry: Option<&Entry>) -> Option<String> {
    let recorded = entry.and_then(|entry| entry.process.as_ref());
    let recorded = recorded.filter(|process| process.provider_id == target.provider_id);
    let marker = target.marker.clone();
    marker.or_else(|| recorded.map(|process| process.marker.clone()))
}

/// Looks at a process, and takes it out of the table where it is ours and ended.
pub(super) fn sight(
    root: &Root,
    pid: MachinePid,
    expected: Option<&str>,
    entry: Option<&Entry>,
) -> Sight {
    let recorded = |marker: &str| entry.filter(|entry| entry.is(&pid.raw().to_string(), marker));
    let process = match look(pid) {
        Look::There(process) => process,
        Look::Absent => {
            let entry = expected.and_then(recorded);
            let proof = match entry {
                Some(entry) if entry.ended => Proof::Tombstone,
                Some(_) | None => Proof::TypedNotFound,
            };
            return Sight::without_process(Answer::Absent(proof));
        }
        Look::Unknown(cause) => return Sight::without_process(Answer::Unknown(cause)),
    };
    let Ok(marker) = host::marker(&process.stat) else {
        return Sight::without_process(Answer::Unknown(Cause::Transport));
    };
    let answer = if !process.stat.is_ended() {
        Answer::Present(process.stat.power())
    } else if expected == Some(marker.as_str()) {
        if let Some(entry) = recorded(&marker) {
            bury(root, entry, &process);
        }
        Answer::Absent(Proof::Tombstone)
    } else if expected.is_some() {
        Answer::Absent(Proof::Superseded)
    } else {
        // Whosever it was, nothing of this id runs.
        Answer::Absent(Proof::TypedNotFound)
    };
    Sight {
        answer,
        marker: Some(marker),
        process: Some(process),
    }
}

/// Notes that a machine ended, and only then reaps it. A note that fails leaves a weaker proof.
fn bury(root: &Root, entry: &Entry, process: &Process) {
    let note = root
        .lock()
        .and_then(|lock| root.amend(&lock, entry, |entry| entry.ended = true));
    match note {
        Ok(()) => {
            process.reap();
        }
        Err(error) => tracing::warn!(machine = entry.machine, %error, "an end could not be noted"),
    }
}

pub(super) fn list(root: &Root) -> Result<Listing, ProcessError> {
    let scope = host::scope().during("reading where we are")?;
    if let Err(error) = trash::empty_all(root) {
        tracing::warn!(%error, "the trash could not be emptied");
    }
    let found = root.entries()?;
    let mut listing = Listing {
        scope,
        completeness: Completeness::Complete,
        machines: Vec::new(),
    };
    if let Some(error) = found.unread {
        tracing::warn!(%error, "a machine's entry could not be read");
        listing.completeness = Completeness::Partial;
    }
    for entry in found.entries {
        if entry.scope != listing.scope {
            continue;
        }
        match listed(root, entry) {
            Ok(Some(listed)) => listing.add(listed),
            Ok(None) => {}
            Err(error) => {
                tracing::warn!(%error, "a machine could not be listed");
                listing.completeness = Completeness::Partial;
            }
        }
    }
    Ok(listing)
}

/// Forgets an incarnation that ended.
pub(super) fn forget(
    root: &Root,
    machine: &MachineId,
    generation: u64,
) -> Result<(), ProcessError> {
    let Some(entry) = root.find(machine, generation)? else {
        return Ok(());
    };
    let scope = host::scope().during("reading where we are")?;
    if entry.scope == scope && listed(root, entry.clone())?.is_some_and(|it| !it.is_over()) {
        return Err(ProcessError::NotEnded);
    }
    let lock = root.lock()?;
    match root.find(machine, generation)? {
        Some(current) if current.token == entry.token => root.remove(&lock, &current),
        Some(_) | None => Ok(()),
    }
}

fn listed(root: &Root, mut entry: Entry) -> Result<Option<Listed>, ProcessError> {
    if entry.process.is_none() {
        // Being made right now, or left so by a program that ended: the lock tells.
        let lock = root.lock()?;
        let machine = MachineId::new(entry.machine.as_str());
        let machine = machine.map_err(|_| ProcessError::OutOfBounds(entry.machine.clone()))?;
        match root.find(&machine, entry.generation)? {
            Some(current) => entry = current,
            None => return Ok(None),
        }
        if start::resume(root, &lock, entry.clone())?.is_none() {
            return Ok(None);
        }
        match root.find(&machine, entry.generation)? {
            Some(current) => entry = current,
            None => return Ok(None),
        }
    }
    let Some(recorded) = &entry.process else {
        return Ok(None);
    };
    let Some(pid) = MachinePid::parse(&recorded.provider_id) else {
        return Err(ProcessError::OutOfBounds(recorded.provider_id.clone()));
    };
    let sight = sight(root, pid, Some(&recorded.marker), Some(&entry));
    let is_its_own = sight
        .marker
        .as_ref()
        .is_none_or(|marker| *marker == recorded.marker);
    Ok(match sight.answer {
        Answer::Present(_) if !is_its_own => None,
        Answer::Absent(Proof::Tombstone) | Answer::Present(_) | Answer::Unknown(_) => {
            Some(Listed {
                provider_id: recorded.provider_id.clone(),
                answer: sight.answer,
                marker: Some(recorded.marker.clone()),
            })
        }
        Answer::Absent(_) => None,
    })
}

impl Sight {
    const fn without_process(answer: Answer) -> Self {
        Self {
            answer,
            marker: None,
            process: None,
        }
    }
}

impl Listed {
    const fn is_over(&self) -> bool {
        matches!(self.answer, Answer::Absent(_))
    }
}

impl Listing {
    /// Adds a machine; an id that was used again shows who has it now.
    fn add(&mut self, listed: Listed) {
        if matches!(listed.answer, Answer::Unknown(_)) {
            self.completeness = Completeness::Partial;
        }
        let same = self
            .machines
            .iter_mut()
            .find(|other| other.provider_id == listed.provider_id);
        match same {
            Some(other) if other.is_over() => *other = listed,
            Some(_) => {}
            None => self.machines.push(listed),
        }
    }
}
