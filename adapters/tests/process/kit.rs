//! A root folder of its own, and what a test does to processes from outside.

use core::time::Duration;
use std::{
    fs,
    path::{Path, PathBuf},
    sync::Mutex,
    thread,
    time::Instant,
};

use lifecycle_adapters::{
    id::MachineId,
    process::{ProcessProvider, StartOptions, VolumeName},
    provider::{Provider as _, Target},
};
use rustix::process::{Pid, Signal};

/// A provider on a fresh root; its machines end with it.
pub(crate) struct World {
    pub(crate) provider: ProcessProvider,
    root: tempfile::TempDir,
    started: Mutex<Vec<Target>>,
}

impl World {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().expect("a folder for the test");
        let provider = ProcessProvider::open(root.path()).expect("a fresh root");
        Self {
            provider,
            root,
            started: Mutex::default(),
        }
    }

    pub(crate) fn with_stop_limit(mut self, limit: Duration) -> Self {
        self.provider = self.provider.clone().with_stop_limit(limit);
        self
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.root.path().join(below)
    }

    /// The same root, as the program sees it that is started next.
    pub(crate) fn reopen(&self) -> ProcessProvider {
        ProcessProvider::open(self.root.path()).expect("a root")
    }

    pub(crate) async fn start(&self, name: &str, options: StartOptions) -> Target {
        let started = self.provider.start(&machine(name), 1, options).await;
        let target = started.expect("a machine").target(machine(name), 1);
        self.note(&target);
        target
    }

    pub(crate) fn note(&self, target: &Target) {
        self.started.lock().expect("targets").push(target.clone());
    }

    /// The file that is kept of the machine.
    pub(crate) fn entry(&self, target: &Target) -> PathBuf {
        let folders = fs::read_dir(self.path("machines")).expect("machines");
        let file = format!("{}.json", target.generation);
        let whose = format!("\"machine\":\"{}\"", target.machine);
        folders
            .map(|folder| folder.expect("a folder").path().join(&file))
            .find(|path| fs::read_to_string(path).is_ok_and(|text| text.contains(&whose)))
            .expect("an entry")
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let targets = core::mem::take(&mut *self.started.lock().expect("targets"));
        let provider = self.provider.clone();
        let cleaning = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_time()
                .build()
                .expect("a runtime");
            for target in targets {
                // A test may have spoilt its target on purpose; nothing else is left to do then.
                let _ = runtime.block_on(provider.destroy_compute(&target));
            }
        });
        let _ = cleaning.join();
    }
}

pub(crate) fn machine(name: &str) -> MachineId {
    MachineId::new(name).expect("a machine id")
}

pub(crate) fn volume(name: &str) -> Option<VolumeName> {
    Some(VolumeName::parse(name).expect("a volume's name"))
}

/// A process that waits.
pub(crate) fn sleep() -> StartOptions {
    StartOptions::new("sleep", ["600"])
}

pub(crate) fn sleep_on(name: &str) -> StartOptions {
    let mut options = sleep();
    options.volume = volume(name);
    options
}

/// A shell script with a volume of its own, where it makes the file `ready` when it is.
pub(crate) fn script(name: &str, text: &str) -> StartOptions {
    let mut options = StartOptions::new("sh", ["-c", text]);
    options.volume = volume(name);
    options
}

/// Signals a process that the test started.
pub(crate) fn signal(target: &Target, signal: Signal) {
    rustix::process::kill_process(pid(target), signal).expect("a process of the test");
}

pub(crate) fn pid(target: &Target) -> Pid {
    let raw = target.provider_id.parse().ok().and_then(Pid::from_raw);
    raw.expect("a process id")
}

/// The state letter of a process; none where there is no such process.
pub(crate) fn state(pid: &str) -> Option<char> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    text.rsplit_once(") ")?.1.chars().next()
}

pub(crate) fn runs(pid: &str) -> bool {
    state(pid).is_some_and(|state| !matches!(state, 'Z' | 'X'))
}

pub(crate) fn until(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < Duration::from_secs(10), "never: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

pub(crate) fn until_file(path: &Path) -> String {
    until(&path.display().to_string(), || {
        fs::read_to_string(path).is_ok_and(|text| text.ends_with('\n'))
    });
    fs::read_to_string(path).expect("a file").trim().to_owned()
}
