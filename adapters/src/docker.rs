//! How do machines run that are containers of Docker or Podman?
//!
//! A machine is a container, its volume a named volume; both carry labels that say whose they are.
//! The provider id is the container's full id, which the engine never gives twice.
//!
//! | the engine says | answer |
//! | --- | --- |
//! | `created`, `exited`; Podman: `configured`, `initialized`, `stopped` | present, off |
//! | `restarting` | present, booting |
//! | `running` | present, running |
//! | `paused` | present, suspended |
//! | `removing`; Podman: `stopping` | present, stopping |
//! | `dead` (its removal began, and it cannot run again) | absent, `tombstone` |
//! | any other word | present, `unrecognized` |
//! | 404 that says "no such container", 410 | absent, `typed_not_found` |
//! | any other 404 | absent, `untyped_not_found` |
//! | 401, 403, 408, 429, 5xx | unknown: `unauthorized`, `forbidden`, `timeout`, `rate_limited`, `server_error` |
//! | no socket, nobody listens, an answer cut short | unknown, `transport` |
//! | an id that is none of the engine's, an answer that is none | unknown, `malformed` |
//!
//! | label | of | holds |
//! | --- | --- | --- |
//! | `lifecycle.machine` | container, volume | the machine's id |
//! | `lifecycle.generation` | container | the incarnation |
//! | `lifecycle.marker` | container | the marker: `id/generation` |
//! | `lifecycle.volume` | container | the name of the machine's volume; blank where it has none |
//!
//! The scope of Docker is `docker:` and the engine's id. Podman gives another id with every answer
//! (4.3 does), so its scope is `podman:`, the host's name and the folder of its storage. An absence is
//! never told with a scope that was asked for earlier.
//!
//! A listing is one answer: the engine knows no pages, and what cannot be read of it makes it partial.
//! It holds every container of the engine, also those without our labels (their marker is blank): a
//! machine taken over from an older system must not be missing from a complete listing.
//!
//! The engine is asked over its socket with a client of our own: that of the crate `bollard` fails on
//! the whole listing at a word that it does not know, cannot tell one 404 from another, drops
//! `retry-after`, and waits without end for the rest of a body.
//!
//! # Limits
//!
//! - Volumes that an image brings and nobody named stay behind when their container is removed.
//! - A socket of this host; no TCP, no TLS, no Windows. Images are not pulled: they must be there.
//! - Volumes have no ids, only names: between our reading and removing of a volume somebody else could
//!   put another of that name in its place.
//! - Who uses the files of a volume without mounting it as such (a bind mount of its folder) is not seen.

#[cfg(not(unix))]
compile_error!("the feature `docker` needs Unix sockets");

mod compute;
mod config;
mod create;
mod engine;
mod failure;
mod identity;
mod list;
mod name;
mod scope;
mod shape;
mod volume;

use std::sync::Arc;

use async_trait::async_trait;

use crate::{
    id::MachineId,
    provider::{Delivered, Listing, Provider, ProviderError, Seen, Target, VolumeReading},
};
use engine::Engine;

pub use config::{DockerConfig, DockerConfigError};
pub use create::{ContainerOptions, Created, VolumeMount};
pub use identity::{GENERATION_LABEL, MACHINE_LABEL, MARKER_LABEL, VOLUME_LABEL, marker_of};
pub use name::VolumeName;

/// Runs machines as containers. Copies share what they know.
///
/// ```no_run
/// use lifecycle_adapters::docker::{ContainerOptions, DockerConfig, DockerProvider, VolumeName};
/// use lifecycle_adapters::{id::MachineId, provider::Provider as _};
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let provider = DockerProvider::connect(DockerConfig::from_environment()?)?;
/// let machine = MachineId::new("web-1")?;
/// let volume = VolumeName::parse("web-1-home").ok_or("no name")?;
/// let options = ContainerOptions::new("debian:12", ["sleep", "infinity"]).with_volume(volume, "/home");
/// let target = provider.create(&machine, 1, &options).await?.target(machine, 1);
/// println!("{:?}", provider.observe(&target).await);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct DockerProvider {
    engine: Arc<Engine>,
}

impl DockerProvider {
    /// Makes a provider. Nothing is asked yet: an engine that does not run is found out by asking.
    ///
    /// # Errors
    ///
    /// Returns why no client could be made.
    pub fn connect(config: DockerConfig) -> Result<Self, DockerConfigError> {
        Ok(Self {
            engine: Arc::new(Engine::new(config)?),
        })
    }

    /// Returns where we are, as the engine says it.
    ///
    /// # Errors
    ///
    /// Returns why the engine does not say it.
    pub async fn scope(&self) -> Result<String, ProviderError> {
        Ok(self.engine.asked_scope().await?)
    }

    /// Makes and starts a container for an incarnation of a machine, once: repeated, it returns what
    /// was made, even where that has ended by now, and whatever the options then. A container that was
    /// made but never started is started.
    ///
    /// The container's name says whose it is, so that the engine itself lets one of many creates win.
    /// A volume that is there already must carry this machine's label.
    ///
    /// # Errors
    ///
    /// Returns why it was not made. After a time-out it may have been: repeat it.
    pub async fn create(
        &self,
        machine: &MachineId,
        generation: u64,
        options: &ContainerOptions,
    ) -> Result<Created, ProviderError> {
        create::create(&self.engine, machine, generation, options).await
    }
}

#[async_trait]
impl Provider for DockerProvider {
    async fn observe(&self, target: &Target) -> Seen {
        compute::observe(&self.engine, target).await
    }

    async fn list(&self) -> Result<Listing, ProviderError> {
        Ok(list::list(&self.engine).await?)
    }

    async fn read_volume(&self, target: &Target) -> VolumeReading {
        volume::read(&self.engine, target).await
    }

    async fn stop_compute(&self, target: &Target) -> Result<Delivered, ProviderError> {
        compute::stop(&self.engine, target).await
    }

    async fn destroy_compute(&self, target: &Target) -> Result<Delivered, ProviderError> {
        compute::destroy(&self.engine, target).await
    }

    async fn destroy_volume(&self, target: &Target) -> Result<Delivered, ProviderError> {
        volume::destroy(&self.engine, target).await
    }
}
