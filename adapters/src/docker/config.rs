//! Where is the engine, and how long is it waited for?

use core::time::Duration;
use std::{
    env,
    path::{Path, PathBuf},
};

use thiserror::Error;

/// Where the engine listens, and how long to wait for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DockerConfig {
    pub(super) socket: PathBuf,
    pub(super) timeout: Duration,
    pub(super) stop_limit: Duration,
}

/// Why an engine cannot be asked.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DockerConfigError {
    /// The engine is not on a socket of this host.
    #[error("DOCKER_HOST is no unix socket: {0:?}")]
    NotASocket(String),
    /// No client could be made.
    #[error("no client could be made")]
    Client(#[source] reqwest::Error),
}

impl DockerConfig {
    /// Makes a configuration for the engine behind a socket.
    #[must_use]
    pub fn new(socket: impl AsRef<Path>) -> Self {
        Self {
            socket: socket.as_ref().to_owned(),
            timeout: Duration::from_secs(30),
            stop_limit: Duration::from_secs(10),
        }
    }

    /// Makes a configuration of `DOCKER_HOST`; without it of `/var/run/docker.sock`.
    ///
    /// # Errors
    ///
    /// Returns [`DockerConfigError::NotASocket`] where it names anything but a socket.
    pub fn from_environment() -> Result<Self, DockerConfigError> {
        match env::var("DOCKER_HOST") {
            Ok(host) if !host.is_empty() => Self::of_host(&host),
            Ok(_) | Err(_) => Ok(Self::new("/var/run/docker.sock")),
        }
    }

    fn of_host(host: &str) -> Result<Self, DockerConfigError> {
        match host.strip_prefix("unix://") {
            Some(path) if path.starts_with('/') => Ok(Self::new(path)),
            Some(_) | None => Err(DockerConfigError::NotASocket(host.to_owned())),
        }
    }

    /// Sets how long one question may take: 30 s unless set.
    #[must_use]
    pub const fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets how long a machine may take to stop before the engine kills it: 10 s unless set. The
    /// engine counts whole seconds.
    #[must_use]
    pub const fn with_stop_limit(mut self, limit: Duration) -> Self {
        self.stop_limit = limit;
        self
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::DockerConfig;

    #[test]
    fn only_sockets_of_this_host_are_engines() {
        let podman = DockerConfig::of_host("unix:///run/podman/podman.sock");
        let podman = podman.expect("a socket");
        assert_eq!(podman.socket, Path::new("/run/podman/podman.sock"));
        for host in [
            "tcp://10.0.0.1:2375",
            "unix://",
            "unix://x",
            "ssh://a",
            "/run/x",
        ] {
            assert!(DockerConfig::of_host(host).is_err(), "{host}");
        }
    }
}
