//! Where are we, and when, as the operating system says it?

use core::time::Duration;
use std::{fs, io};

use super::kernel::Stat;

/// Returns where processes are looked for: host, start of the host, and namespace of process ids.
///
/// It is read each time: what the operating system says, not what it said once.
pub(super) fn scope() -> io::Result<String> {
    let host = line("/proc/sys/kernel/hostname")?;
    let space = fs::read_link("/proc/self/ns/pid")?;
    let digits: String = space
        .to_string_lossy()
        .chars()
        .filter(char::is_ascii_digit)
        .collect();
    Ok(format!("{host}/{}/{digits}", boot()?))
}

/// Returns the host of a scope.
pub(super) fn host_of(scope: &str) -> Option<&str> {
    scope.split_once('/').map(|(host, _)| host)
}

/// Returns what tells a process from every other that has or had its id.
pub(super) fn marker(stat: &Stat) -> io::Result<String> {
    Ok(format!("{}:{}", boot()?, stat.started))
}

/// Returns a text that nobody else has.
pub(super) fn fresh_token() -> io::Result<String> {
    line("/proc/sys/kernel/random/uuid")
}

/// Returns the time since the host's start. Programs that come and go share it.
pub(super) fn uptime() -> io::Result<Duration> {
    let text = line("/proc/uptime")?;
    let parsed = text.split(' ').next().and_then(|seconds| {
        let seconds: f64 = seconds.parse().ok()?;
        Duration::try_from_secs_f64(seconds).ok()
    });
    parsed.ok_or_else(|| io::Error::other("/proc/uptime could not be understood"))
}

fn boot() -> io::Result<String> {
    line("/proc/sys/kernel/random/boot_id")
}

fn line(path: &str) -> io::Result<String> {
    Ok(fs::read_to_string(path)?.trim_end().to_owned())
}
