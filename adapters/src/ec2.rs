//! How do machines run that are instances of EC2, or of what speaks its query API?
//!
//! A machine is an instance, its volume an EBS volume. Both carry the tag `lifecycle:marker` with the
//! machine's id and generation. The scope is `account/region` as the service says them
//! (`sts:GetCallerIdentity`, `ec2:DescribeAvailabilityZones`), kept for a minute.
//!
//! | the service says | answer |
//! | --- | --- |
//! | `pending` | present, booting |
//! | `running` | present, running |
//! | `stopping`, `shutting-down` | present, stopping |
//! | `stopped` | present, off |
//! | `terminated` | absent, `tombstone` |
//! | another state | present, unrecognized |
//! | `InvalidInstanceID.NotFound` (HTTP 400) | absent, `typed_not_found` |
//! | nothing of the instance that was asked for | absent, `untyped_not_found` |
//! | `InvalidInstanceID.Malformed`, no XML of the action, half of it | unknown, `malformed` |
//! | `RequestLimitExceeded`, `Throttling`, 429 | unknown, `rate_limited` |
//! | `AuthFailure`, expired or unknown credentials, 401 | unknown, `unauthorized` |
//! | `UnauthorizedOperation`, 403 | unknown, `forbidden` |
//! | any other 5xx, whatever its text | unknown, `server_error` |
//!
//! Readings are tried three times where the service was busy, failed or was not reached. What
//! changes something is sent once: the relay repeats it.
//!
//! It needs the permissions `ec2:DescribeInstances`, `DescribeVolumes`, `DescribeAvailabilityZones`,
//! `StopInstances`, `ModifyInstanceAttribute`, `TerminateInstances`, `DetachVolume`, `DeleteVolume`,
//! and for [`Ec2Provider::create`] also `RunInstances` and `CreateTags`.
//!
//! # Limits
//!
//! - Before an instance is terminated every volume of it is kept, its boot disk too. What no row
//!   knows as its volume stays behind `available`, with the tag, until someone deletes it.
//! - A listing reads every instance of the account's region, tagged or not: a tag that was taken
//!   away must not look like an end.
//! - A page as long as was asked for that names no next one makes a listing partial: a lost token
//!   looks the same.
//! - Credentials are given, or come from the environment or a profile's keys; roles, single sign-on
//!   and instance metadata are not asked.
//! - `https` needs the feature `tls-rustls`, or TLS switched on in `reqwest`.

mod compute;
mod config;
mod create;
mod credentials;
mod environment;
mod failure;
mod identity;
mod list;
mod marker;
mod profile;
mod query;
mod session;
mod shape;
mod volume;

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;

use crate::{
    id::MachineId,
    provider::{Delivered, Listing, Provider, ProviderError, Seen, Target, VolumeReading},
};
use session::Session;

pub use config::{Ec2Config, Ec2ConfigError};
pub use create::{Created, DataVolume, InstanceOptions};
pub use credentials::Ec2Credentials;
pub use marker::{MARKER_TAG, marker_of};

/// Runs machines as instances of EC2. Copies share what they know.
///
/// ```no_run
/// # use lifecycle_adapters::{ec2::{Ec2Config, Ec2Provider, InstanceOptions}, id::MachineId};
/// # use lifecycle_adapters::provider::Provider as _;
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let provider = Ec2Provider::connect(Ec2Config::from_environment()?)?;
/// let machine = MachineId::new("web-1")?;
/// let options = InstanceOptions::new("ami-0123456789abcdef0", "t3.micro");
/// let target = provider.create(&machine, 1, &options).await?.target(machine, 1);
/// println!("{:?}", provider.observe(&target).await);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Ec2Provider {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    config: Ec2Config,
    client: reqwest::Client,
    session: Mutex<Arc<Session>>,
}

impl Ec2Provider {
    /// Makes a provider. Nothing is asked yet.
    ///
    /// # Errors
    ///
    /// Returns what is wrong with the configuration.
    pub fn connect(config: Ec2Config) -> Result<Self, Ec2ConfigError> {
        let client = config.client()?;
        let session = Session::of(config.credentials.clone());
        Ok(Self {
            shared: Arc::new(Shared {
                config,
                client,
                session: Mutex::new(Arc::new(session)),
            }),
        })
    }

    /// Returns the account and region that we are logged in to, as the service says them.
    ///
    /// # Errors
    ///
    /// Returns why the service does not say it.
    pub async fn scope(&self) -> Result<String, ProviderError> {
        Ok(self.scope_of(&self.session()).await?)
    }

    /// Makes an instance for an incarnation of a machine, once: repeated, it returns what was made,
    /// even where that has ended by now (then without a data volume: that one is an error).
    ///
    /// Options that differ from those of the first call are refused by the service, or ignored. An
    /// instance that was made, and whose data volume is not seen in time, is an error too; repeat it.
    ///
    /// # Errors
    ///
    /// Returns why it was not made. After a time-out it may have been: repeat it.
    pub async fn create(
        &self,
        machine: &MachineId,
        generation: u64,
        options: &InstanceOptions,
    ) -> Result<Created, ProviderError> {
        self.create_instance(machine, generation, options).await
    }

    /// Returns what one question and all its parts are asked with, so that its scope and its answer
    /// are of the same credentials.
    fn session(&self) -> Arc<Session> {
        Arc::clone(&self.lock())
    }

    /// Reads the profile's credentials again where these were refused; the next question uses them.
    fn renew(&self, refused: &Session) {
        let mut current = self.lock();
        if !core::ptr::eq(&raw const **current, refused) {
            return;
        }
        match self.shared.config.renewed_credentials() {
            Some(renewed) if renewed != refused.credentials => {
                tracing::info!("credentials were read again");
                *current = Arc::new(Session::of(renewed));
            }
            Some(_) | None => {}
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Arc<Session>> {
        let session = &self.shared.session;
        session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Provider for Ec2Provider {
    async fn observe(&self, target: &Target) -> Seen {
        self.observe_instance(target).await
    }

    async fn list(&self) -> Result<Listing, ProviderError> {
        self.list_instances().await
    }

    async fn read_volume(&self, target: &Target) -> VolumeReading {
        self.read_ebs(target).await
    }

    async fn stop_compute(&self, target: &Target) -> Result<Delivered, ProviderError> {
        self.stop_instance(target).await
    }

    async fn destroy_compute(&self, target: &Target) -> Result<Delivered, ProviderError> {
        self.terminate_instance(target).await
    }

    async fn destroy_volume(&self, target: &Target) -> Result<Delivered, ProviderError> {
        self.delete_ebs(target).await
    }
}
