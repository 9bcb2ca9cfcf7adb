//! Which machines did we start? One small file for each incarnation, below the root.

use core::{fmt::Write as _, time::Duration};
use std::{
    fs::{self, File, TryLockError},
    io,
    os::fd::{AsFd as _, OwnedFd},
    path::Path,
    thread,
};

use rustix::{
    fs::{AtFlags, FileType, OFlags},
    io::Errno,
};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{
    error::{During as _, ProcessError},
    files,
    volume::VolumeName,
};
use crate::id::MachineId;

/// The root folder, held open.
#[derive(Debug)]
pub(super) struct Root {
    dir: OwnedFd,
}

/// The right to change what is below the root; every program that shares it waits for its turn.
#[derive(Debug)]
pub(super) struct Lock {
    // Unlocked when it is closed.
    _file: File,
}

/// What is kept of one incarnation. It is written before the process is made, and again after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    pub(super) machine: String,
    pub(super) generation: u64,
    /// Carried in the environment of the process and of what it starts in turn.
    pub(super) token: String,
    pub(super) scope: String,
    /// When it was begun, in milliseconds since the host's start.
    pub(super) begun_ms: u64,
    pub(super) volume: Option<VolumeName>,
    pub(super) process: Option<Recorded>,
    /// Whether it was seen to have ended.
    pub(super) ended: bool,
    /// When it was first asked to stop, in milliseconds since the host's start.
    pub(super) stop_asked_ms: Option<u64>,
}

/// The process that an incarnation is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Recorded {
    pub(super) provider_id: String,
    pub(super) marker: String,
}

/// Every entry that could be read.
#[derive(Debug)]
pub(super) struct Entries {
    pub(super) entries: Vec<Entry>,
    /// Why others could not be read.
    pub(super) unread: Option<ProcessError>,
}

impl Root {
    pub(super) fn open(path: &Path) -> Result<Self, ProcessError> {
        fs::create_dir_all(path).during("making the root folder")?;
        let dir = File::open(path).during("opening the root folder")?.into();
        let root = Self { dir };
        for name in [MACHINES, VOLUMES, TRASH] {
            root.make_folder(name)?;
        }
        Ok(root)
    }

    fn make_folder(&self, name: &str) -> Result<OwnedFd, ProcessError> {
        let made = files::make_dir(&self.dir, name);
        made.map(|(dir, _)| dir)
            .or_else(|error| refused(name, error))
    }

    /// Opens one of the folders below the root.
    pub(super) fn folder(&self, name: &str) -> Result<OwnedFd, ProcessError> {
        files::open_dir(&self.dir, name).or_else(|error| refused(name, error))
    }

    /// Opens the folder of one machine, making it where there is none.
    pub(super) fn machine_folder(&self, machine: &str) -> Result<OwnedFd, ProcessError> {
        let key = key(machine);
        let made = files::make_dir(self.folder(MACHINES)?, &key);
        made.map(|(dir, _)| dir)
            .or_else(|error| refused(&key, error))
    }

    /// Waits for the right to change something, but not for ever.
    pub(super) fn lock(&self) -> Result<Lock, ProcessError> {
        let file = files::open_to_write(&self.dir, LOCK, OFlags::empty());
        let file = file.during("opening the lock")?;
        for _ in 0..LOCK_TRIES {
            match file.try_lock() {
                Ok(()) => return Ok(Lock { _file: file }),
                Err(TryLockError::WouldBlock) => thread::sleep(LOCK_PAUSE),
                Err(TryLockError::Error(error)) => return Err(error).during("locking the root"),
            }
        }
        // Whoever has it stands still, and nobody shall wait for that.
        Err(io::Error::from(io::ErrorKind::TimedOut)).during("locking the root")
    }

    pub(super) fn find(
        &self,
        machine: &MachineId,
        generation: u64,
    ) -> Result<Option<Entry>, ProcessError> {
        match self.folder_of(&key(machine.as_str()))? {
            Some(folder) => read_entry(&folder, &file_name(generation)),
            None => Ok(None),
        }
    }

    /// Returns every incarnation of a machine.
    pub(super) fn incarnations(&self, machine: &MachineId) -> Result<Vec<Entry>, ProcessError> {
        let mut found = Entries::none();
        found.add_folder(self, &key(machine.as_str()));
        found.unread.map_or(Ok(found.entries), Err)
    }

    /// Returns every incarnation of every machine.
    pub(super) fn entries(&self) -> Result<Entries, ProcessError> {
        let machines = self.folder(MACHINES)?;
        let keys = files::names(machines).during("listing the machines")?;
        let mut found = Entries::none();
        for key in keys {
            found.add_folder(self, &key);
        }
        Ok(found)
    }

    pub(super) fn save(&self, _: &Lock, entry: &Entry) -> Result<(), ProcessError> {
        let file = file_name(entry.generation);
        let bytes = serde_json::to_vec(entry).map_err(|source| ProcessError::Entry {
            file: file.clone(),
            source,
        })?;
        let folder = self.machine_folder(&entry.machine)?;
        files::write(folder, &file, &bytes).during("writing an entry")
    }

    /// Changes an entry as it is now; one that was forgotten or made anew meanwhile is left alone.
    pub(super) fn amend(
        &self,
        lock: &Lock,
        entry: &Entry,
        change: impl FnOnce(&mut Entry),
    ) -> Result<(), ProcessError> {
        let Some(folder) = self.folder_of(&key(&entry.machine))? else {
            return Ok(());
        };
        match read_entry(&folder, &file_name(entry.generation))? {
            Some(mut current) if current.token == entry.token => {
                change(&mut current);
                self.save(lock, &current)
            }
            Some(_) | None => Ok(()),
        }
    }

    pub(super) fn remove(&self, _: &Lock, entry: &Entry) -> Result<(), ProcessError> {
        let key = key(&entry.machine);
        let Some(folder) = self.folder_of(&key)? else {
            return Ok(());
        };
        let generation = entry.generation;
        let what = "removing an entry";
        files::remove(&folder, &log_name(generation), AtFlags::empty()).during(what)?;
        // What a machine left in it stays, and with it the folder.
        let _ = files::remove(&folder, &run_name(generation), AtFlags::REMOVEDIR);
        files::remove(&folder, &file_name(generation), AtFlags::empty()).during(what)?;
        let _ = files::remove(self.folder(MACHINES)?, &key, AtFlags::REMOVEDIR);
        Ok(())
    }

    fn folder_of(&self, key: &str) -> Result<Option<OwnedFd>, ProcessError> {
        match files::open_dir(self.folder(MACHINES)?, key) {
            Ok(folder) => Ok(Some(folder)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => refused(key, error),
        }
    }
}

impl Entries {
    const fn none() -> Self {
        Self {
            entries: Vec::new(),
            unread: None,
        }
    }

    fn add_folder(&mut self, root: &Root, key: &str) {
        let folder = match root.folder_of(key) {
            Ok(Some(folder)) => folder,
            Ok(None) => return,
            Err(error) => return self.unread = Some(error),
        };
        let names = match files::names(folder.as_fd()).during("listing a machine") {
            Ok(names) => names,
            Err(error) => return self.unread = Some(error),
        };
        for name in names.iter().filter(|name| name.ends_with(ENTRY)) {
            match read_entry(&folder, name) {
                Ok(entry) => self.entries.extend(entry),
                Err(error) => self.unread = Some(error),
            }
        }
    }
}

impl Entry {
    /// Tells whether this incarnation is the process of that id and marker.
    pub(super) fn is(&self, provider_id: &str, marker: &str) -> bool {
        self.process
            .as_ref()
            .is_some_and(|process| process.provider_id == provider_id && process.marker == marker)
    }
}

/// Says that a folder could not be opened: out of bounds where something else is in its place.
pub(super) fn refused<T>(name: &str, error: Errno) -> Result<T, ProcessError> {
    if matches!(error, Errno::NOTDIR | Errno::LOOP) {
        return Err(ProcessError::OutOfBounds(format!("{name} is no folder")));
    }
    Err(error).during("opening a folder below the root")
}

/// Returns the name of the file that a machine's output may go to.
pub(super) fn log_name(generation: u64) -> String {
    format!("{generation}.log")
}

/// Returns the name of the folder that a machine without a volume runs in.
pub(super) fn run_name(generation: u64) -> String {
    format!("{generation}.run")
}

fn file_name(generation: u64) -> String {
    format!("{generation}{ENTRY}")
}

fn read_entry(folder: &OwnedFd, name: &str) -> Result<Option<Entry>, ProcessError> {
    // A folder or pipe in its place is none of ours, but it may hide one.
    match files::kind(folder, name).during("reading an entry")? {
        Some(FileType::RegularFile) => {}
        None => return Ok(None),
        Some(_) => return Err(ProcessError::OutOfBounds(format!("{name} is no file"))),
    }
    let bytes = files::read(folder, name).during("reading an entry")?;
    bytes
        .map(|bytes| serde_json::from_slice(&bytes))
        .transpose()
        .map_err(|source| ProcessError::Entry {
            file: name.to_owned(),
            source,
        })
}

/// Returns the name of a machine's folder: plain whatever the id, and no two alike.
fn key(machine: &str) -> String {
    let readable = machine
        .chars()
        .filter(|letter| letter.is_ascii_alphanumeric() || *letter == '-')
        .take(40);
    let mut key: String = readable.collect();
    key.push('.');
    for byte in Sha256::digest(machine.as_bytes()) {
        // Writing to a string cannot fail.
        let _ = write!(key, "{byte:02x}");
    }
    // A name that begins with a dot is hidden, and one that begins with a dash reads as a flag.
    format!("m-{key}")
}

const MACHINES: &str = "machines";
pub(super) const VOLUMES: &str = "volumes";
pub(super) const TRASH: &str = "trash";
const LOCK: &str = "lock";
const LOCK_PAUSE: Duration = Duration::from_millis(2);
const LOCK_TRIES: u32 = 5_000;
const ENTRY: &str = ".json";

#[cfg(test)]
mod tests {
    use super::key;

    #[test]
    fn a_machine_of_any_name_has_a_plain_folder_of_its_own() {
        let long = "ü".repeat(200);
        let ids = [
            "web-1",
            "web/1",
            "web1",
            "..",
            ".",
            "/etc/passwd",
            "../../x",
            "Web-1",
            "web-1 ",
            &long,
        ];
        let keys: Vec<String> = ids.iter().copied().map(key).collect();
        for key in &keys {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-".contains(&byte);
            assert!(key.bytes().all(plain), "{key}");
            assert!(key.len() <= 120 && !key.contains(".."), "{key}");
        }
        for (n, key) in keys.iter().enumerate() {
            assert!(!keys[..n].contains(key), "{key}");
        }
    }
}
