//! Where is the service, and how is it asked?

use core::{fmt, time::Duration};

use reqwest::{Client, Url, redirect};
use thiserror::Error;

use super::{
    credentials::Ec2Credentials,
    environment::{self, Profile},
};

/// Where the service is, as whom it is asked, and how long to wait for it.
#[derive(Clone)]
pub struct Ec2Config {
    pub(super) region: String,
    pub(super) credentials: Ec2Credentials,
    /// Where the credentials came from and can be read again.
    pub(super) profile: Option<Profile>,
    pub(super) endpoint: Url,
    pub(super) sts_endpoint: Url,
    pub(super) timeout: Duration,
    pub(super) page_size: u32,
    pub(super) poll: Duration,
    pub(super) volume_wait: Duration,
    pub(super) stop_limit: Option<Duration>,
}

/// What is wrong with a configuration.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Ec2ConfigError {
    /// No region is named.
    #[error("no region: set AWS_REGION, or `region` in the profile `{0}`")]
    NoRegion(String),
    /// No credentials were found.
    #[error(
        "no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or both keys in the profile `{0}`"
    )]
    NoCredentials(String),
    /// One half of a key pair is missing.
    #[error("{0} is set without the other half of the key pair")]
    HalfOfAKeyPair(&'static str),
    /// A profile asks for what this adapter does not do.
    #[error("the profile `{profile}` uses `{setting}`, which is not supported")]
    UnsupportedProfile {
        /// The profile.
        profile: String,
        /// What it uses.
        setting: String,
    },
    /// A profile file could not be read.
    #[error("the profile file {path} could not be read")]
    File {
        /// Which one.
        path: String,
        /// In the operating system's words.
        #[source]
        source: std::io::Error,
    },
    /// An endpoint is no plain `http` or `https` address.
    #[error("the endpoint is no plain http or https address")]
    WrongEndpoint,
    /// A region's name has other letters than a name may have.
    #[error("the region's name is not one")]
    WrongRegion,
    /// The HTTP client could not be made.
    #[error("the http client could not be made")]
    Client(#[source] reqwest::Error),
}

impl Ec2Config {
    /// Makes a configuration for a region of EC2.
    ///
    /// # Errors
    ///
    /// Returns [`Ec2ConfigError::WrongRegion`] where the name cannot be one.
    pub fn new(
        region: impl Into<String>,
        credentials: Ec2Credentials,
    ) -> Result<Self, Ec2ConfigError> {
        let region = region.into();
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        if region.is_empty() || region.len() > 64 || !region.bytes().all(plain) {
            return Err(Ec2ConfigError::WrongRegion);
        }
        let suffix = if region.starts_with("cn-") { ".cn" } else { "" };
        let usual = |service: &str| {
            endpoint(&format!(
                "https://{service}.{region}.amazonaws.com{suffix}/"
            ))
        };
        Ok(Self {
            endpoint: usual("ec2")?,
            sts_endpoint: usual("sts")?,
            region,
            credentials,
            profile: None,
            timeout: Duration::from_secs(10),
            page_size: 1_000,
            poll: Duration::from_secs(1),
            volume_wait: Duration::from_secs(15),
            stop_limit: None,
        })
    }

    /// Reads region, credentials and endpoints from where the AWS tools read them.
    ///
    /// Credentials: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`; else the
    /// profile `AWS_PROFILE` (`default`) of `AWS_SHARED_CREDENTIALS_FILE` (`~/.aws/credentials`) or
    /// `AWS_CONFIG_FILE` (`~/.aws/config`), read again when they are refused. Region: `AWS_REGION`,
    /// `AWS_DEFAULT_REGION`, the profile. Endpoint: `AWS_ENDPOINT_URL_EC2` and
    /// `AWS_ENDPOINT_URL_STS`, `AWS_ENDPOINT_URL`, the profile's `endpoint_url`; none of them where
    /// `AWS_IGNORE_CONFIGURED_ENDPOINT_URLS` is `true`.
    ///
    /// # Errors
    ///
    /// Returns what is missing or wrong.
    pub fn from_environment() -> Result<Self, Ec2ConfigError> {
        Self::from_variables(|name| std::env::var(name).ok())
    }

    /// Reads as [`Self::from_environment`] does, from these variables.
    ///
    /// # Errors
    ///
    /// Returns what is missing or wrong.
    pub fn from_variables(
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, Ec2ConfigError> {
        environment::read(&|name| variable(name).filter(|value| !value.is_empty()))
    }

    /// Sets where EC2 and, unless set later, STS are asked.
    ///
    /// # Errors
    ///
    /// Returns [`Ec2ConfigError::WrongEndpoint`] where it is no plain address.
    pub fn with_endpoint(self, address: &str) -> Result<Self, Ec2ConfigError> {
        self.with_ec2_endpoint(address)?.with_sts_endpoint(address)
    }

    /// Sets where EC2 is asked, and only EC2.
    ///
    /// # Errors
    ///
    /// Returns [`Ec2ConfigError::WrongEndpoint`] where it is no plain address.
    pub fn with_ec2_endpoint(mut self, address: &str) -> Result<Self, Ec2ConfigError> {
        self.endpoint = endpoint(address)?;
        Ok(self)
    }

    /// Sets where STS is asked.
    ///
    /// # Errors
    ///
    /// Returns [`Ec2ConfigError::WrongEndpoint`] where it is no plain address.
    pub fn with_sts_endpoint(mut self, address: &str) -> Result<Self, Ec2ConfigError> {
        self.sts_endpoint = endpoint(address)?;
        Ok(self)
    }

    /// Sets how long one request may take, its answer included: 10 s unless set.
    #[must_use]
    pub const fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets how many instances a page of a listing may hold: 1000 unless set, 5 at least.
    #[must_use]
    pub fn with_page_size(mut self, instances: u32) -> Self {
        self.page_size = instances.clamp(5, 1_000);
        self
    }

    /// Sets how often to look while waiting: every second unless set. A reading that failed is first
    /// repeated after a tenth of it.
    #[must_use]
    pub const fn with_poll(mut self, poll: Duration) -> Self {
        self.poll = poll;
        self
    }

    /// Sets how long a call waits for a volume to appear or to be free: 15 s unless set.
    #[must_use]
    pub const fn with_volume_wait(mut self, wait: Duration) -> Self {
        self.volume_wait = wait;
        self
    }

    /// Sets after how long a guest that does not shut down is stopped hard.
    ///
    /// Unless set that is left to the service, which has a limit of its own. A call waits that long,
    /// so it must be shorter than the caller's own limit for a call.
    #[must_use]
    pub const fn with_stop_limit(mut self, limit: Duration) -> Self {
        self.stop_limit = Some(limit);
        self
    }

    /// Reads the profile's credentials again; none where they did not come from one.
    pub(super) fn renewed_credentials(&self) -> Option<Ec2Credentials> {
        match self.profile.as_ref()?.credentials() {
            Ok(credentials) => credentials,
            Err(error) => {
                tracing::warn!(%error, "credentials could not be read again");
                None
            }
        }
    }

    pub(super) fn client(&self) -> Result<Client, Ec2ConfigError> {
        let client = Client::builder()
            .timeout(self.timeout)
            // A signature is for one address.
            .redirect(redirect::Policy::none());
        let is_local = [&self.endpoint, &self.sts_endpoint]
            .into_iter()
            .all(is_loopback);
        let client = if is_local { client.no_proxy() } else { client };
        client.build().map_err(Ec2ConfigError::Client)
    }
}

impl fmt::Debug for Ec2Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ec2Config")
            .field("region", &self.region)
            .field("endpoint", &self.endpoint.as_str())
            .field("sts_endpoint", &self.sts_endpoint.as_str())
            .field("profile", &self.profile)
            .finish_non_exhaustive()
    }
}

fn endpoint(address: &str) -> Result<Url, Ec2ConfigError> {
    let url = Url::parse(address).map_err(|_| Ec2ConfigError::WrongEndpoint)?;
    // Secrets in an address would be shown.
    let is_plain = ["http", "https"].contains(&url.scheme())
        && url.has_host()
        && url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none();
    is_plain.then_some(url).ok_or(Ec2ConfigError::WrongEndpoint)
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_matches(['[', ']']).parse::<core::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}
