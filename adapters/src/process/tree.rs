//! What else did the process of a machine start, and how does it end with it?
//!
//! Every machine carries a token of its own in its environment, and what it starts inherits it.
//! Who has the token is of the machine, whatever its parent, group or session.

use std::{collections::BTreeMap, fs};

use rustix::{io::Errno, process::Signal};

use super::{
    kernel::{Look, Process, look},
    pid::MachinePid,
};

/// The name under which a machine's environment carries its token.
pub(super) const TOKEN: &str = "LIFECYCLE_TOKEN";

/// Returns the processes that carry this token, by id.
pub(super) fn bearers(token: &str) -> BTreeMap<i32, Process> {
    let Ok(listing) = fs::read_dir("/proc") else {
        return BTreeMap::new();
    };
    listing
        .filter_map(|entry| MachinePid::parse(entry.ok()?.file_name().to_str()?))
        .filter(|pid| carries(*pid, token))
        .filter_map(|pid| match look(pid) {
            // Read once more now that it is held: so it is this one that carries the token.
            Look::There(process) if carries(pid, token) => Some((pid.raw(), process)),
            Look::There(_) | Look::Absent | Look::Unknown(_) => None,
        })
        .collect()
}

/// Kills every process that carries the token, and tells whether there was any.
///
/// They are frozen first, until no new one turns up: what stands still starts nothing.
pub(super) fn kill(token: &str) -> Result<bool, Errno> {
    let mut frozen = BTreeMap::new();
    let mut refused = None;
    for _ in 0..ROUNDS {
        let mut fresh = bearers(token);
        fresh.retain(|pid, process| !process.stat.is_ended() && !frozen.contains_key(pid));
        if fresh.is_empty() {
            break;
        }
        for process in fresh.values() {
            refused = process.signal(Signal::STOP).err().or(refused);
        }
        frozen.append(&mut fresh);
    }
    for process in frozen.values() {
        refused = process.signal(Signal::KILL).err().or(refused);
    }
    refused.map_or(Ok(!frozen.is_empty()), Err)
}

fn carries(pid: MachinePid, token: &str) -> bool {
    let Ok(environment) = fs::read(format!("/proc/{}/environ", pid.raw())) else {
        return false;
    };
    let wanted = format!("{TOKEN}={token}");
    environment
        .split(|byte| *byte == 0)
        .any(|variable| variable == wanted.as_bytes())
}

const ROUNDS: usize = 64;
