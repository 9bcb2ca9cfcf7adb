//! Where is the secret store, and as whom is it asked?

use core::time::Duration;

use reqwest::{
    Url,
    header::{HeaderValue, LOCATION},
};
use thiserror::Error;

use crate::{
    endpoint::Endpoint,
    remote::{Failure, Reach, Reply},
    secret::Secret,
};

/// Where the store is, and as whom it is asked.
#[derive(Clone, Debug)]
pub struct VaultConfig {
    pub(super) endpoint: Endpoint,
    peers: Vec<Endpoint>,
    pub(super) token: HeaderValue,
    pub(super) namespace: Option<HeaderValue>,
    pub(super) timeout: Duration,
    pub(super) clock_error: Duration,
}

/// What is wrong with a configuration.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum VaultConfigError {
    /// A token is blank, or has characters that a token has not.
    #[error("the token is blank, or has characters that a token has not")]
    WrongToken,
    /// A namespace is blank, or has characters that a namespace has not.
    #[error("the namespace is blank, or has characters that a namespace has not")]
    WrongNamespace,
    /// An address has a query.
    #[error("the endpoint has a query")]
    HasQuery,
    /// The HTTP client could not be made.
    #[error("the http client could not be made")]
    Client(#[from] reqwest::Error),
}

impl VaultConfig {
    /// Makes a configuration, with the address as it is before `/v1`.
    ///
    /// # Errors
    ///
    /// Returns what is wrong with the address or the token.
    pub fn new(endpoint: Endpoint, token: Secret) -> Result<Self, VaultConfigError> {
        Ok(Self {
            endpoint: without_query(endpoint)?,
            peers: Vec::new(),
            token: self::token(&token)?,
            namespace: None,
            timeout: Duration::from_secs(10),
            clock_error: Duration::from_secs(5),
        })
    }

    /// Names another node of the same cluster: a standby that names it is followed there, once.
    ///
    /// A standby that names an address that is not configured is not followed.
    ///
    /// # Errors
    ///
    /// Returns [`VaultConfigError::HasQuery`] where it has one.
    pub fn with_peer(mut self, endpoint: Endpoint) -> Result<Self, VaultConfigError> {
        self.peers.push(without_query(endpoint)?);
        Ok(self)
    }

    /// Asks within a namespace.
    ///
    /// # Errors
    ///
    /// Returns [`VaultConfigError::WrongNamespace`] where it cannot be one.
    pub fn with_namespace(mut self, namespace: &str) -> Result<Self, VaultConfigError> {
        let wrong = || VaultConfigError::WrongNamespace;
        let namespace = Some(namespace).filter(|namespace| !namespace.trim().is_empty());
        let namespace = HeaderValue::from_str(namespace.ok_or_else(wrong)?);
        self.namespace = Some(namespace.map_err(|_| wrong())?);
        Ok(self)
    }

    /// Sets how long one request may take, its answer included: 10 s unless set.
    #[must_use]
    pub const fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets how far the store's clock may be from ours: 5 s unless set. Leases that may be older
    /// than the instant by so much are revoked.
    #[must_use]
    pub const fn with_clock_error(mut self, clock_error: Duration) -> Self {
        self.clock_error = clock_error;
        self
    }

    pub(super) fn endpoints(&self) -> Vec<&Endpoint> {
        self.peers
            .iter()
            .chain(core::iter::once(&self.endpoint))
            .collect()
    }

    pub(super) fn address(&self, endpoint: &Endpoint, path: &[&str]) -> Result<Url, Failure> {
        let mut url = endpoint.url().clone();
        url.path_segments_mut()
            .map_err(|()| Failure::lasting("the store has no address", Reach::All))?
            .pop_if_empty()
            .push("v1")
            .extend(path);
        Ok(url)
    }

    /// Returns the configured node that a standby says is the active one, for the same question.
    pub(super) fn peer_named_by(&self, reply: &Reply, asked: &Url) -> Option<&Endpoint> {
        if ![307, 308].contains(&reply.status) {
            return None;
        }
        let named = reply.headers.get(LOCATION)?.to_str().ok()?;
        let named = asked.join(named).ok()?;
        self.endpoints()
            .into_iter()
            .find(|peer| peer.url().origin() == named.origin() && asked.origin() != named.origin())
    }
}

pub(super) fn token(token: &Secret) -> Result<HeaderValue, VaultConfigError> {
    let token = Some(token.expose()).filter(|token| !token.is_empty() && !token.contains(' '));
    let token = HeaderValue::from_str(token.unwrap_or("\n"));
    let mut token = token.map_err(|_| VaultConfigError::WrongToken)?;
    token.set_sensitive(true);
    Ok(token)
}

fn without_query(endpoint: Endpoint) -> Result<Endpoint, VaultConfigError> {
    if endpoint.url().query().is_some() {
        return Err(VaultConfigError::HasQuery);
    }
    Ok(endpoint)
}
