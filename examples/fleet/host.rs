//! What does this host do that no test can order: give a pid to another process?

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use lifecycle_adapters::{
    id::MachineId,
    process::{ProcessError, ProcessProvider, StartOptions, Started},
    provider::{Delivered, Listing, Provider, ProviderError, Seen, Target, VolumeReading},
};

/// The processes of this host, with pids that can be made to belong to another process.
#[derive(Debug)]
pub(crate) struct Host {
    processes: ProcessProvider,
    /// Which process has come to live under which pid.
    reused: Mutex<BTreeMap<String, String>>,
    started: Mutex<Vec<Target>>,
}

impl Host {
    pub(crate) fn new(processes: ProcessProvider) -> Self {
        Self {
            processes,
            reused: Mutex::default(),
            started: Mutex::default(),
        }
    }

    pub(crate) fn scope(&self) -> Result<String, ProcessError> {
        self.processes.scope()
    }

    pub(crate) async fn start(
        &self,
        id: &MachineId,
        generation: u64,
        options: StartOptions,
    ) -> Result<Started, ProcessError> {
        let started = self.processes.start(id, generation, options).await?;
        locked(&self.started).push(started.target(id.clone(), generation));
        Ok(started)
    }

    /// Lets a pid belong to the process of another one, as the operating system does in time.
    pub(crate) fn reuse(&self, pid: &str, other: &str) {
        locked(&self.reused).insert(pid.to_owned(), other.to_owned());
    }

    /// Ends every process that was started here.
    pub(crate) async fn end_all(&self) {
        let started = core::mem::take(&mut *locked(&self.started));
        for target in started {
            if let Err(error) = self.processes.destroy_compute(&target).await {
                eprintln!("fleet: {} could not be ended: {error}", target.machine);
            }
        }
    }

    /// Says under which process a machine is looked for.
    fn today(&self, target: &Target) -> Target {
        let provider_id = locked(&self.reused).get(&target.provider_id).cloned();
        Target {
            provider_id: provider_id.unwrap_or_else(|| target.provider_id.clone()),
            ..target.clone()
        }
    }
}

#[async_trait]
impl Provider for Host {
    async fn observe(&self, target: &Target) -> Seen {
        self.processes.observe(&self.today(target)).await
    }

    async fn list(&self) -> Result<Listing, ProviderError> {
        let mut listing = self.processes.list().await?;
        let reused = locked(&self.reused);
        for (pid, other) in reused.iter() {
            listing.machines.retain(|one| one.provider_id != *pid);
            let found = listing
                .machines
                .iter()
                .find(|one| one.provider_id == *other)
                .cloned();
            if let Some(mut found) = found {
                found.provider_id.clone_from(pid);
                listing.machines.push(found);
            }
        }
        Ok(listing)
    }

    async fn read_volume(&self, target: &Target) -> VolumeReading {
        self.processes.read_volume(target).await
    }

    async fn stop_compute(&self, target: &Target) -> Result<Delivered, ProviderError> {
        self.processes.stop_compute(&self.today(target)).await
    }

    async fn destroy_compute(&self, target: &Target) -> Result<Delivered, ProviderError> {
        self.processes.destroy_compute(&self.today(target)).await
    }

    async fn destroy_volume(&self, target: &Target) -> Result<Delivered, ProviderError> {
        self.processes.destroy_volume(target).await
    }
}

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
