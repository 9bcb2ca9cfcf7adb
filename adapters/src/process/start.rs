//! How is a machine made, and made once?

use core::time::Duration;
use std::{
    env,
    ffi::OsString,
    fs::File,
    io,
    os::{
        fd::{AsRawFd as _, OwnedFd},
        unix::process::CommandExt as _,
    },
    process::{Command, Stdio},
    thread,
};

use rustix::fs::{AtFlags, OFlags};

use super::{
    error::{During as _, ProcessError},
    files, host,
    kernel::{Look, look},
    pid::MachinePid,
    registry::{Entry, Lock, Recorded, Root, VOLUMES, log_name, refused, run_name},
    tree,
    volume::VolumeName,
};
use crate::id::MachineId;

/// What to start, and with what.
///
/// ```
/// use lifecycle_adapters::process::{StartOptions, VolumeName};
///
/// let mut options = StartOptions::new("sleep", ["600"]);
/// options.volume = VolumeName::parse("home-1");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StartOptions {
    /// The program, looked up in `PATH` where it has no slash.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Its volume, made where there is none of that name: the folder that the program starts in.
    pub volume: Option<VolumeName>,
    /// Where its output goes.
    pub output: Output,
}

/// Where a machine's output goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Output {
    /// Nowhere.
    #[default]
    Discard,
    /// To the end of a file beside the machine's entry, below the root.
    Log,
}

/// A machine that was started, as a row of a store keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Started {
    /// The process id.
    pub provider_id: String,
    /// What tells the process from others that have or had its id.
    pub marker: String,
    /// Where it runs.
    pub scope: String,
    /// The name of its volume.
    pub volume_id: Option<String>,
}

impl StartOptions {
    /// Makes options for a program without a volume and with its output discarded.
    pub fn new<T: Into<OsString>>(
        program: impl Into<OsString>,
        arguments: impl IntoIterator<Item = T>,
    ) -> Self {
        Self {
            program: program.into(),
            arguments: arguments.into_iter().map(Into::into).collect(),
            volume: None,
            output: Output::Discard,
        }
    }
}

/// Starts an incarnation, or returns what was started.
pub(super) fn start(
    root: &Root,
    machine: &MachineId,
    generation: u64,
    options: &StartOptions,
) -> Result<Started, ProcessError> {
    let lock = root.lock()?;
    if let Some(entry) = root.find(machine, generation)?
        && let Some(started) = resume(root, &lock, entry)?
    {
        return Ok(started);
    }
    let mut entry = Entry {
        machine: machine.as_str().to_owned(),
        generation,
        token: host::fresh_token().during("naming a process")?,
        scope: host::scope().during("reading where we are")?,
        begun_ms: uptime_ms()?,
        volume: options.volume.clone(),
        process: None,
        ended: false,
        stop_asked_ms: None,
    };
    root.save(&lock, &entry)?;
    match make(root, &entry, options) {
        Ok(recorded) => {
            entry.process = Some(recorded.clone());
            // Where this fails, the process is found by its token when the call is repeated.
            root.save(&lock, &entry)?;
            Ok(started(&entry, recorded))
        }
        Err(error) => {
            root.remove(&lock, &entry)?;
            Err(error)
        }
    }
}

/// Finds the process of an entry that was written before its process was.
///
/// Its program may have ended in between. The token says which process it is, if there is one.
pub(super) fn resume(
    root: &Root,
    lock: &Lock,
    mut entry: Entry,
) -> Result<Option<Started>, ProcessError> {
    if let Some(recorded) = entry.process.clone() {
        return Ok(Some(started(&entry, recorded)));
    }
    if entry.scope != host::scope().during("reading where we are")? {
        return Ok(None);
    }
    // A process that was forked but does not run its program yet carries no token.
    let age = uptime_ms()?.saturating_sub(entry.begun_ms);
    thread::sleep(FORKING.saturating_sub(Duration::from_millis(age)));
    let bearers = tree::bearers(&entry.token);
    let eldest = bearers
        .iter()
        .filter(|(pid, process)| process.stat.group == **pid)
        .min_by_key(|(_, process)| process.stat.started);
    let Some((pid, process)) = eldest else {
        return Ok(None);
    };
    let recorded = Recorded {
        provider_id: pid.to_string(),
        marker: host::marker(&process.stat).during("reading where we are")?,
    };
    entry.process = Some(recorded.clone());
    root.save(lock, &entry)?;
    Ok(Some(started(&entry, recorded)))
}

/// Returns the time since the host's start in milliseconds.
pub(super) fn uptime_ms() -> Result<u64, ProcessError> {
    let uptime = host::uptime().during("reading the time")?;
    Ok(u64::try_from(uptime.as_millis()).unwrap_or(u64::MAX))
}

fn started(entry: &Entry, recorded: Recorded) -> Started {
    Started {
        provider_id: recorded.provider_id,
        marker: recorded.marker,
        scope: entry.scope.clone(),
        volume_id: entry.volume.clone().map(String::from),
    }
}

fn make(root: &Root, entry: &Entry, options: &StartOptions) -> Result<Recorded, ProcessError> {
    let folder = root.machine_folder(&entry.machine)?;
    let run = run_name(entry.generation);
    let (home, name, made) = match &options.volume {
        Some(volume) => home(root.folder(VOLUMES)?, volume.as_str())?,
        None => home(folder.try_clone().during("opening a folder")?, &run)?,
    };
    let spawned = spawn(&folder, &home.1, entry, options);
    if spawned.is_err() && made {
        // Nothing was ever in it.
        let _ = files::remove(&home.0, &name, AtFlags::REMOVEDIR);
    }
    spawned
}

type Home = ((OwnedFd, OwnedFd), String, bool);

/// Returns the folder that the machine starts in and the one above it, and whether it was made.
fn home(above: OwnedFd, name: &str) -> Result<Home, ProcessError> {
    let (home, made) = files::make_dir(&above, name).or_else(|error| refused(name, error))?;
    Ok(((above, home), name.to_owned(), made))
}

fn spawn(
    folder: &OwnedFd,
    home: &OwnedFd,
    entry: &Entry,
    options: &StartOptions,
) -> Result<Recorded, ProcessError> {
    let mut command = Command::new(&options.program);
    command
        .args(&options.arguments)
        .env_clear()
        .env(tree::TOKEN, &entry.token)
        // What was opened, whatever has its name by now.
        .current_dir(format!("/proc/self/fd/{}", home.as_raw_fd()))
        .process_group(0)
        .stdin(Stdio::null());
    if let Some(path) = env::var_os("PATH") {
        command.env("PATH", path);
    }
    match options.output {
        Output::Discard => command.stdout(Stdio::null()).stderr(Stdio::null()),
        Output::Log => {
            let log = log(folder, entry.generation).during("opening a log")?;
            let again = log.try_clone().during("opening a log")?;
            command.stdout(log).stderr(again)
        }
    };
    let mut child = command.spawn().during("starting a process")?;
    let recorded = record(&child.id().to_string());
    if recorded.is_err() {
        // Nobody would know of it. Its id is not free before it is waited for.
        let _ = child.kill().and_then(|()| child.wait());
    }
    // Otherwise it is reaped where it is observed.
    recorded
}

fn record(pid: &str) -> Result<Recorded, ProcessError> {
    match MachinePid::parse(pid).map(look) {
        Some(Look::There(process)) => Ok(Recorded {
            provider_id: pid.to_owned(),
            marker: host::marker(&process.stat).during("reading where we are")?,
        }),
        // Where a program has its children reaped behind its back, a short one may be gone already.
        Some(Look::Absent | Look::Unknown(_)) | None => {
            Err(io::Error::other("the new process cannot be seen")).during("starting a process")
        }
    }
}

fn log(folder: &OwnedFd, generation: u64) -> Result<File, rustix::io::Errno> {
    files::open_to_write(folder, &log_name(generation), OFlags::APPEND)
}

const FORKING: Duration = Duration::from_secs(1);
