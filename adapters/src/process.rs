//! How do machines run that are processes of this host?
//!
//! A machine is a process, its volume a folder below the provider's root. The provider id is the
//! process id. The marker is the start of the host and, in clock ticks since then, the start of the
//! process: `boot-id:ticks`. Two processes of one id and marker would need every process id of the
//! host to be used up within one tick (10 ms). The scope is host name, start of the host and
//! namespace of process ids, as the operating system says them: after a reboot it is another one.
//!
//! | `/proc` says | answer |
//! | --- | --- |
//! | running, sleeping, waiting | present, running |
//! | stopped by a signal | present, suspended |
//! | ended, but still in the table; or seen so before | absent, `tombstone` |
//! | no such process | absent, `typed_not_found` |
//! | another start | present, with the other's marker |
//! | may not look, or is hidden | unknown, `forbidden` |
//!
//! No signal is ever sent to a number. A process is opened (`pidfd`), then its start is read, and
//! the signal goes to what was opened: to that process, or to nobody.
//!
//! Below the root are `machines` (an entry for each incarnation, written before its process is
//! made), `volumes`, `trash` and a lock that every program on this root shares. So a program that
//! is started again knows the machines of its predecessor, and several may run side by side.
//!
//! # Limits
//!
//! - Linux 5.3 or later.
//! - Machines run as the user of the program and may do what it may: this is no isolation.
//! - What a machine starts ends with it as long as it keeps its environment (`LIFECYCLE_TOKEN`).
//! - A machine whose program changes its user cannot be signalled by an unprivileged provider
//!   (`forbidden`).
//! - A volume that could not be removed whole (a disk mounted inside) is absent none the less, and
//!   what is left of it is removed with the next listing or opening that can.
//! - After a reboot, or under another host name, the machines of before are of another scope:
//!   neither seen nor touched.

#[cfg(not(target_os = "linux"))]
compile_error!("the feature `process` needs Linux");

mod error;
mod files;
mod host;
mod kernel;
mod observe;
mod pid;
mod registry;
mod start;
mod stop;
mod trash;
mod tree;
mod volume;

use core::time::Duration;
use std::{path::Path, sync::Arc};

use async_trait::async_trait;
use lifecycle_core::Cause;
use tokio::{task::spawn_blocking, time::sleep};

use crate::{
    id::MachineId,
    provider::{Delivered, Listing, Provider, ProviderError, Seen, Target, VolumeReading},
};
use registry::Root;
use stop::Stop;

pub use error::ProcessError;
pub use start::{Output, StartOptions, Started};
pub use volume::VolumeName;

/// Runs machines as processes of this host. Copies share what they know.
///
/// ```
/// use lifecycle_adapters::id::MachineId;
/// use lifecycle_adapters::process::{ProcessProvider, StartOptions};
/// use lifecycle_adapters::provider::{Delivered, Provider as _};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let root = tempfile::tempdir()?;
/// let provider = ProcessProvider::open(root.path())?;
/// let machine = MachineId::new("web-1")?;
/// let started = provider.start(&machine, 1, StartOptions::new("sleep", ["600"])).await?;
/// let target = started.target(machine, 1);
/// assert_eq!(provider.destroy_compute(&target).await?, Delivered::Accepted);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct ProcessProvider {
    root: Arc<Root>,
    stop_limit: Duration,
}

impl ProcessProvider {
    /// Opens the root, making it where there is none. What is found in its trash is removed.
    ///
    /// # Errors
    ///
    /// Returns why the root cannot be used: [`ProcessError::OutOfBounds`] where something else is in
    /// the place of one of its folders.
    pub fn open(root: impl AsRef<Path>) -> Result<Self, ProcessError> {
        let root = Root::open(root.as_ref())?;
        if let Err(error) = trash::empty_all(&root) {
            tracing::warn!(%error, "the trash could not be emptied");
        }
        Ok(Self {
            root: Arc::new(root),
            stop_limit: STOP_LIMIT,
        })
    }

    /// Sets how long a machine may take to stop before it is killed: 10 s unless set.
    #[must_use]
    pub const fn with_stop_limit(mut self, limit: Duration) -> Self {
        self.stop_limit = limit;
        self
    }

    /// Returns where machines are started, as the operating system says it.
    ///
    /// # Errors
    ///
    /// Returns why the operating system does not say it.
    pub fn scope(&self) -> Result<String, ProcessError> {
        error::During::during(host::scope(), "reading where we are")
    }

    /// Starts an incarnation of a machine, once: repeated, it returns what was started, even where
    /// that has ended by now, and whatever the options then.
    ///
    /// It runs in a process group of its own, in its volume or an empty folder, with nothing of the
    /// environment but `PATH` and a token. The token is written down before the process is made: a
    /// program that was killed in between finds the process by it when it starts the same again.
    ///
    /// # Errors
    ///
    /// Returns why it was not started. Where only the note of a process that was made failed (a full
    /// disk), repeating the call finds that process.
    pub async fn start(
        &self,
        machine: &MachineId,
        generation: u64,
        options: StartOptions,
    ) -> Result<Started, ProcessError> {
        let machine = machine.clone();
        self.blocking(move |root| start::start(root, &machine, generation, &options))
            .await
            .unwrap_or(Err(ProcessError::Unfinished))
    }

    /// Forgets an incarnation that ended: it is listed no more, its log is removed, and its volume is
    /// no longer its own. Volumes stay. Until then an ended machine stays listed as a tombstone.
    ///
    /// # Errors
    ///
    /// Returns [`ProcessError::NotEnded`] while it runs, and why it could not be looked at.
    pub async fn forget(&self, machine: &MachineId, generation: u64) -> Result<(), ProcessError> {
        let machine = machine.clone();
        self.blocking(move |root| observe::forget(root, &machine, generation))
            .await
            .unwrap_or(Err(ProcessError::Unfinished))
    }

    /// Waits for a machine that was asked to end, and tells whether it has.
    async fn wait(&self, target: &Target, limit: Duration) -> Result<bool, ProviderError> {
        let mut left = limit;
        let mut pause = FIRST_PAUSE;
        loop {
            if self.try_blocking(target, stop::is_over).await?.is_some() {
                return Ok(true);
            }
            if left.is_zero() {
                return Ok(false);
            }
            let next = pause.min(left);
            // Whoever drops the call ends it here: nothing is signalled behind the caller's back.
            sleep(next).await;
            left = left.saturating_sub(next);
            pause = pause.saturating_mul(2).min(LONGEST_PAUSE);
        }
    }

    async fn kill(&self, target: &Target) -> Result<Delivered, ProviderError> {
        if let Some(proof) = self.try_blocking(target, stop::kill).await? {
            return Ok(Delivered::NotFound(proof));
        }
        // Where the operating system takes longer, it is under way.
        self.wait(target, KILL_LIMIT).await?;
        Ok(Delivered::Accepted)
    }

    async fn try_blocking<T: Send + 'static>(
        &self,
        target: &Target,
        work: impl FnOnce(&Root, &Target) -> Result<T, ProviderError> + Send + 'static,
    ) -> Result<T, ProviderError> {
        let target = target.clone();
        self.blocking(move |root| work(root, &target))
            .await
            .unwrap_or_else(|| Err(ProcessError::Unfinished.into()))
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Root) -> T + Send + 'static,
    ) -> Option<T> {
        let root = Arc::clone(&self.root);
        spawn_blocking(move || work(&root)).await.ok()
    }
}

#[async_trait]
impl Provider for ProcessProvider {
    async fn observe(&self, target: &Target) -> Seen {
        let target = target.clone();
        self.blocking(move |root| observe::observe(root, &target))
            .await
            .unwrap_or_else(|| Seen::unknown(Cause::Transport))
    }

    async fn list(&self) -> Result<Listing, ProviderError> {
        let listing = self.blocking(observe::list).await;
        Ok(listing.unwrap_or(Err(ProcessError::Unfinished))?)
    }

    async fn read_volume(&self, target: &Target) -> VolumeReading {
        let target = target.clone();
        self.blocking(move |root| volume::read(root, &target))
            .await
            .unwrap_or(VolumeReading::Unknown(Cause::Transport))
    }

    async fn stop_compute(&self, target: &Target) -> Result<Delivered, ProviderError> {
        let limit = self.stop_limit;
        let asked = self.try_blocking(target, move |root, target| stop::ask(root, target, limit));
        let left = match asked.await? {
            Stop::Over(proof) => return Ok(Delivered::NotFound(proof)),
            Stop::Asked(left) => left,
        };
        if !self.wait(target, left).await? {
            self.kill(target).await?;
        }
        Ok(Delivered::Accepted)
    }

    async fn destroy_compute(&self, target: &Target) -> Result<Delivered, ProviderError> {
        // A volume is a folder of its own: none goes down with a process.
        self.kill(target).await
    }

    async fn destroy_volume(&self, target: &Target) -> Result<Delivered, ProviderError> {
        self.try_blocking(target, volume::destroy).await
    }
}

impl Started {
    /// Returns the machine as its provider knows it.
    #[must_use]
    pub fn target(&self, machine: MachineId, generation: u64) -> Target {
        Target {
            machine,
            generation,
            provider_id: self.provider_id.clone(),
            marker: Some(self.marker.clone()),
            scope: self.scope.clone(),
            volume_id: self.volume_id.clone(),
        }
    }
}

const STOP_LIMIT: Duration = Duration::from_secs(10);
/// How long a killed process may take to be gone before the answer is given without it.
const KILL_LIMIT: Duration = Duration::from_secs(2);
const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_millis(100);
