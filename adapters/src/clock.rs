//! What time is it?

use core::{fmt, time::Duration};
use std::{
    sync::{Mutex, PoisonError},
    time::{Instant, SystemTime, UNIX_EPOCH},
};

use async_trait::async_trait;
use lifecycle_core::Timestamp;

/// A host's clock, and a way to wait by it.
#[async_trait]
pub trait Clock: Send + Sync + fmt::Debug {
    /// Returns the time of day; it may jump.
    fn now(&self) -> Timestamp;

    /// Returns the time since some fixed start; it never goes back.
    fn monotonic(&self) -> Duration;

    /// Waits.
    async fn sleep(&self, duration: Duration);
}

/// The operating system's clock.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock {
    start: Instant,
}

impl SystemClock {
    /// Makes a clock.
    #[must_use]
    pub fn new() -> Self {
        Self {
            start: Instant::now(),
        }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        // A clock before the epoch reads as the epoch: stored instants then lie in its future, are
        // void, and nothing is destroyed by it.
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Timestamp::from_millis(0).saturating_add(since)
    }

    fn monotonic(&self) -> Duration {
        self.start.elapsed()
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// A clock that stands still until it is moved; waiting moves it.
///
/// ```
/// use core::time::Duration;
/// use lifecycle_adapters::clock::{Clock as _, ManualClock};
/// use lifecycle_core::Timestamp;
///
/// let clock = ManualClock::at(Timestamp::from_millis(1_000));
/// clock.advance(Duration::from_secs(1));
/// assert_eq!(clock.now(), Timestamp::from_millis(2_000));
/// ```
#[derive(Debug)]
pub struct ManualClock {
    time: Mutex<(Timestamp, Duration)>,
}

impl ManualClock {
    /// Makes a clock that shows this time.
    #[must_use]
    pub fn at(now: Timestamp) -> Self {
        Self {
            time: Mutex::new((now, Duration::ZERO)),
        }
    }

    /// Lets time pass.
    pub fn advance(&self, duration: Duration) {
        let mut time = self.time.lock().unwrap_or_else(PoisonError::into_inner);
        time.0 = time.0.saturating_add(duration);
        time.1 = time.1.saturating_add(duration);
    }

    /// Sets the time of day, as an operator or a bad time server would; no time passes.
    pub fn jump_to(&self, now: Timestamp) {
        self.time.lock().unwrap_or_else(PoisonError::into_inner).0 = now;
    }
}

#[async_trait]
impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        self.time.lock().unwrap_or_else(PoisonError::into_inner).0
    }

    fn monotonic(&self) -> Duration {
        self.time.lock().unwrap_or_else(PoisonError::into_inner).1
    }

    async fn sleep(&self, duration: Duration) {
        self.advance(duration);
        tokio::task::yield_now().await;
    }
}
