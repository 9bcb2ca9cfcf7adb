//! What does the operating system say of one process?

use std::{fs, io, os::fd::OwnedFd};

use lifecycle_core::{Cause, Power};
use rustix::{
    io::Errno,
    process::{PidfdFlags, Signal, WaitId, WaitIdOptions},
};

use super::pid::MachinePid;

/// What one look at a process id brought.
#[derive(Debug)]
pub(super) enum Look {
    /// A process has this id, perhaps one that ended and is not reaped yet.
    There(Process),
    /// No process has this id.
    Absent,
    /// It could not be seen.
    Unknown(Cause),
}

/// A process, held so that a signal reaches it or nobody.
#[derive(Debug)]
pub(super) struct Process {
    // Opened before `stat` was read. Who then shows the start time of a process known before is that
    // process, and it had the id when this was opened.
    held: OwnedFd,
    pub(super) stat: Stat,
}

/// The fields of `/proc/PID/stat` that are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stat {
    state: char,
    threads: u64,
    pub(super) group: i32,
    /// In clock ticks since the host's start.
    pub(super) started: u64,
}

/// Looks at a process.
pub(super) fn look(pid: MachinePid) -> Look {
    let held = match rustix::process::pidfd_open(pid.pid(), PidfdFlags::empty()) {
        Ok(held) => held,
        Err(Errno::SRCH) => return Look::Absent,
        // The number names a thread of another process.
        Err(Errno::INVAL | Errno::NOENT) if is_mere_thread(pid) => return Look::Absent,
        Err(error) => return Look::Unknown(cause(error)),
    };
    match fs::read(format!("/proc/{}/stat", pid.raw())) {
        Ok(text) => Stat::parse(&String::from_utf8_lossy(&text))
            .map_or(Look::Unknown(Cause::Malformed), |stat| {
                Look::There(Process { held, stat })
            }),
        // Reaped since it was opened, or /proc hides other users' processes: that is no absence.
        Err(error) if is_missing(&error) => match rustix::process::test_kill_process(pid.pid()) {
            Err(Errno::SRCH) => Look::Absent,
            Ok(()) => Look::Unknown(Cause::Forbidden),
            Err(error) => Look::Unknown(cause(error)),
        },
        Err(error) => Look::Unknown(cause_of(&error)),
    }
}

/// Says what kind of refusal an error number is. None of them says that something is gone.
pub(super) const fn cause(error: Errno) -> Cause {
    match error {
        Errno::PERM | Errno::ACCESS => Cause::Forbidden,
        Errno::NOSYS | Errno::OPNOTSUPP => Cause::Unsupported,
        _ => Cause::Transport,
    }
}

/// As [`cause`], for errors of the standard library.
pub(super) fn cause_of(error: &io::Error) -> Cause {
    Errno::from_io_error(error).map_or(Cause::Transport, cause)
}

/// Tells whether the error says that a process, or its entry, is not there (any more).
pub(super) fn is_missing(error: &io::Error) -> bool {
    matches!(
        Errno::from_io_error(error),
        Some(Errno::NOENT | Errno::SRCH)
    )
}

fn is_mere_thread(pid: MachinePid) -> bool {
    let Ok(text) = fs::read_to_string(format!("/proc/{}/status", pid.raw())) else {
        return false;
    };
    text.lines()
        .find_map(|line| line.strip_prefix("Tgid:"))
        .and_then(|id| id.trim().parse::<i32>().ok())
        .is_some_and(|id| id != pid.raw())
}

impl Process {
    /// Sends the signal to this process and no other; one that has ended meanwhile is no error.
    pub(super) fn signal(&self, signal: Signal) -> Result<(), Errno> {
        match rustix::process::pidfd_send_signal(&self.held, signal) {
            Ok(()) | Err(Errno::SRCH) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Takes the ended process out of the table, where it is a child of this program.
    pub(super) fn reap(&self) -> bool {
        use std::os::fd::AsFd as _;

        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
        let reaped = rustix::process::waitid(WaitId::PidFd(self.held.as_fd()), options);
        matches!(reaped, Ok(Some(_)))
    }
}

impl Stat {
    fn parse(text: &str) -> Option<Self> {
        // The name comes second, in brackets, and may hold brackets and blanks itself.
        let (_, rest) = text.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        let state = fields.first()?;
        Some(Self {
            state: state.chars().next().filter(|_| state.len() == 1)?,
            group: fields.get(2)?.parse().ok()?,
            threads: fields.get(17)?.parse().ok()?,
            started: fields.get(19)?.parse().ok()?,
        })
    }

    /// Tells whether the process ended: only its entry is left.
    ///
    /// A first thread that ended before the others looks the same, but for their number.
    pub(super) const fn is_ended(&self) -> bool {
        matches!(self.state, 'Z' | 'X' | 'x') && self.threads <= 1
    }

    /// Returns the power of a process that has not ended.
    pub(super) const fn power(&self) -> Power {
        match self.state {
            'T' => Power::Suspended,
            // Waiting, however deeply; held by a debugger for a moment; the first thread ended.
            'R' | 'S' | 'D' | 'I' | 'K' | 'P' | 'W' | 't' | 'Z' | 'X' | 'x' => Power::Running,
            _ => Power::Unrecognized,
        }
    }
}

#[cfg(test)]
mod tests {
    use lifecycle_core::{Cause, Power};
    use rustix::io::Errno;

    use super::{Stat, cause};

    #[test]
    fn a_refusal_is_never_an_absence() {
        assert_eq!(cause(Errno::PERM), Cause::Forbidden);
        assert_eq!(cause(Errno::ACCESS), Cause::Forbidden);
        assert_eq!(cause(Errno::NOSYS), Cause::Unsupported);
        for error in [Errno::MFILE, Errno::NOMEM, Errno::IO, Errno::NOENT] {
            assert_eq!(cause(error), Cause::Transport, "{error}");
        }
    }

    #[test]
    fn every_state_has_its_power() {
        for (state, power) in [
            ('R', Power::Running),
            ('S', Power::Running),
            ('D', Power::Running),
            ('I', Power::Running),
            ('t', Power::Running),
            ('T', Power::Suspended),
            ('?', Power::Unrecognized),
        ] {
            let stat = stat(state, 1);
            assert!(!stat.is_ended(), "{state}");
            assert_eq!(stat.power(), power, "{state}");
        }
        for state in ['Z', 'X', 'x'] {
            assert!(stat(state, 1).is_ended(), "{state}");
        }
    }

    #[test]
    fn a_process_whose_first_thread_ended_still_runs() {
        let stat = stat('Z', 2);
        assert!(!stat.is_ended());
        assert_eq!(stat.power(), Power::Running);
    }

    #[test]
    fn the_name_of_a_process_forges_nothing() {
        let forged = stat_line(") Z 1 1 1 0 0 0 (", 'S', 1);
        assert_eq!(Stat::parse(&forged), Some(stat('S', 1)));
        for broken in ["", "7", "7 (sh", "7 (sh) S", "7 (sh) SS 1 1 1"] {
            assert_eq!(Stat::parse(broken), None, "{broken:?}");
        }
    }

    fn stat(state: char, threads: u64) -> Stat {
        Stat::parse(&stat_line("sleep", state, threads)).expect("a whole line")
    }

    fn stat_line(name: &str, state: char, threads: u64) -> String {
        format!(
            "7 ({name}) {state} 1 7 7 0 -1 4194304 100 0 0 0 0 0 0 0 20 0 {threads} 0 365110 3133440 362"
        )
    }
}
