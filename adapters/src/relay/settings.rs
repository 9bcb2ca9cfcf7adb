//! How fast, how long and how often does a relay try?

use core::time::Duration;

use backon::{BackoffBuilder as _, ExponentialBuilder};

/// The choices of a service about its relay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RelaySettings {
    /// How many pieces of work are claimed at once.
    pub batch: u32,
    /// How long work is claimed for.
    pub lease: Duration,
    /// How long one call may take; always less than what remains of the lease.
    pub call_timeout: Duration,
    /// How much of the lease must remain for the settlement.
    pub margin: Duration,
    /// How long to wait before the first repetition.
    pub min_backoff: Duration,
    /// How long to wait at most.
    pub max_backoff: Duration,
    /// After how many failures in a row work becomes a dead letter.
    pub max_attempts: u32,
    /// How soon to look whether an accepted destroy has happened.
    pub confirm_after: Duration,
    /// How long to wait where nothing was due.
    pub poll: Duration,
}

impl Default for RelaySettings {
    fn default() -> Self {
        Self {
            batch: 32,
            lease: Duration::from_secs(60),
            call_timeout: Duration::from_secs(30),
            margin: Duration::from_secs(5),
            min_backoff: Duration::from_secs(1),
            max_backoff: Duration::from_secs(5 * 60),
            max_attempts: 20,
            confirm_after: Duration::from_secs(2),
            poll: Duration::from_secs(1),
        }
    }
}

impl RelaySettings {
    /// Returns how long to wait after so many failures: doubling, with jitter, up to the maximum.
    pub(super) fn backoff(&self, attempts: u32) -> Duration {
        let steps = usize::try_from(attempts.min(32)).unwrap_or(32);
        ExponentialBuilder::default()
            .with_min_delay(self.min_backoff)
            .with_max_delay(self.max_backoff)
            .with_max_times(steps.saturating_add(1))
            .with_jitter()
            .build()
            .nth(steps)
            .unwrap_or(self.max_backoff)
    }
}
