//! What keeps a provider from being asked for too long, too often or too soon?
//!
//! [`Guarded`] stands before any provider:
//!
//! - every call has an end: a reading that takes longer is unknown by `timeout`, a stop or destroy an
//!   error of that cause, and what became of it is not known;
//! - calls are spread in time. A call waits for its turn, and where that would take too long it is not
//!   made at all: `rate_limited`, with the time to wait as `retry_after`;
//! - who was told to ask again later asks nothing of the provider before that, whatever the call;
//! - readings are repeated where the service was busy, failed, silent or not reached. A stop or destroy
//!   is never repeated: whether it was carried out is for the relay to find out.

use core::{fmt, num::NonZeroU32, time::Duration};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use backon::{BackoffBuilder as _, ExponentialBuilder};
use governor::{
    Quota, RateLimiter, clock,
    middleware::NoOpMiddleware,
    state::{InMemoryState, NotKeyed},
};
use lifecycle_core::{Answer, Cause};

use crate::{
    clock::Clock,
    provider::{Delivered, Listing, Provider, ProviderError, Seen, Target, VolumeReading},
};

/// How much is asked of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// How long one call may take: 30 s unless set. For a stop it must be longer than the provider's own
    /// limit for a polite one.
    pub timeout: Duration,
    /// How many calls a second: 10 unless set.
    pub per_second: NonZeroU32,
    /// How many calls at once after a pause: 20 unless set.
    pub burst: NonZeroU32,
    /// How long a call waits for its turn: 10 s unless set.
    pub longest_wait: Duration,
    /// How often a reading is repeated: twice unless set. Each time it may take its whole time-out.
    pub repetitions: usize,
    /// The pause before the first repetition: 200 ms unless set; each next one is twice as long, with
    /// jitter.
    pub first_pause: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(30),
            per_second: NonZeroU32::MIN.saturating_add(9),
            burst: NonZeroU32::MIN.saturating_add(19),
            longest_wait: Duration::from_secs(10),
            repetitions: 2,
            first_pause: Duration::from_millis(200),
        }
    }
}

/// A provider that is asked within limits.
///
/// ```
/// use std::sync::Arc;
/// use lifecycle_adapters::{clock::SystemClock, guarded::{Guarded, Limits}, provider::Provider};
///
/// # fn wrap<P: Provider>(provider: P) -> Guarded<P> {
/// let mut limits = Limits::default();
/// limits.repetitions = 1;
/// Guarded::new(provider, limits, Arc::new(SystemClock::new()))
/// # }
/// ```
pub struct Guarded<P> {
    provider: P,
    limits: Limits,
    clock: Arc<dyn Clock>,
    turns: RateLimiter<NotKeyed, InMemoryState, Monotonic, NoOpMiddleware<Duration>>,
    /// Before that time, by the clock's monotonic time, the provider wants not to be asked.
    closed_until: Mutex<Duration>,
}

impl<P> Guarded<P> {
    /// Puts limits before a provider. The clock tells whose turn it is; calls are timed by the runtime.
    #[must_use]
    pub fn new(provider: P, limits: Limits, clock: Arc<dyn Clock>) -> Self {
        let quota = Quota::per_second(limits.per_second).allow_burst(limits.burst);
        let monotonic = Monotonic(clock.clone());
        Self {
            provider,
            limits,
            turns: RateLimiter::direct_with_clock(quota, monotonic),
            clock,
            closed_until: Mutex::default(),
        }
    }

    /// Returns the provider itself.
    #[must_use]
    pub const fn inner(&self) -> &P {
        &self.provider
    }

    /// Waits for the turn of a call; an error tells how long it would still be.
    async fn turn(&self) -> Result<(), ProviderError> {
        let mut left = self.limits.longest_wait;
        loop {
            let closed = self.closed_for();
            let wait = if closed.is_zero() {
                match self.turns.check() {
                    Ok(()) => return Ok(()),
                    Err(not_yet) => not_yet.wait_time_from(self.clock.monotonic()),
                }
            } else {
                closed
            };
            if wait > left {
                return Err(ProviderError::Refused {
                    cause: Cause::RateLimited,
                    message: "not asked: its turn would be too late".to_owned(),
                    retry_after: Some(wait),
                });
            }
            // A clock that stands still must not be asked for ever.
            let wait = wait.max(Duration::from_millis(1));
            left = left.saturating_sub(wait);
            self.clock.sleep(wait).await;
        }
    }

    fn closed_for(&self) -> Duration {
        let until = self.closed_until.lock();
        let until = *until.unwrap_or_else(PoisonError::into_inner);
        until.saturating_sub(self.clock.monotonic())
    }

    fn close_for(&self, duration: Duration) {
        let until = self.clock.monotonic().saturating_add(duration);
        let closed = self.closed_until.lock();
        let mut closed = closed.unwrap_or_else(PoisonError::into_inner);
        *closed = until.max(*closed);
    }

    /// Asks once: in turn, and not longer than it may take.
    async fn once<T>(
        &self,
        asked: impl Future<Output = Result<T, ProviderError>> + Send,
    ) -> Result<T, ProviderError> {
        self.turn().await?;
        self.timed(asked).await
    }

    async fn timed<T>(
        &self,
        asked: impl Future<Output = Result<T, ProviderError>> + Send,
    ) -> Result<T, ProviderError> {
        let answer = tokio::time::timeout(self.limits.timeout, asked).await;
        let answer = answer.unwrap_or_else(|_| {
            let message = format!("no answer within {:?}", self.limits.timeout);
            Err(ProviderError::refused(Cause::Timeout, message))
        });
        if let Err(ProviderError::Refused {
            cause: _,
            message: _,
            retry_after: Some(wait),
        }) = &answer
        {
            self.close_for(*wait);
        }
        answer
    }

    /// Reads, and again where that may help.
    async fn read<T, F>(&self, ask: impl Fn() -> F + Send + Sync) -> Result<T, ProviderError>
    where
        F: Future<Output = Result<T, ProviderError>> + Send,
    {
        let pauses = ExponentialBuilder::default()
            .with_min_delay(self.limits.first_pause)
            .with_max_times(self.limits.repetitions)
            .with_jitter()
            .build();
        for pause in pauses {
            // Whose turn is too late does not come back for another one.
            self.turn().await?;
            match self.timed(ask()).await {
                Err(error)
                    if is_passing(&error) && self.closed_for() <= self.limits.longest_wait =>
                {
                    tracing::debug!(%error, "asking again");
                    self.clock.sleep(pause).await;
                }
                answer => return answer,
            }
        }
        self.once(ask()).await
    }
}

#[async_trait]
impl<P: Provider> Provider for Guarded<P> {
    async fn observe(&self, target: &Target) -> Seen {
        let ask = || async {
            let seen = self.provider.observe(target).await;
            match seen.answer {
                Answer::Unknown(cause) => Err(ProviderError::refused(cause, "unknown")),
                Answer::Present(_) | Answer::Absent(_) => Ok(seen),
            }
        };
        match self.read(ask).await {
            Ok(seen) => seen,
            Err(error) => Seen::unknown(cause(&error)),
        }
    }

    async fn list(&self) -> Result<Listing, ProviderError> {
        self.read(|| self.provider.list()).await
    }

    async fn read_volume(&self, target: &Target) -> VolumeReading {
        let ask = || async {
            match self.provider.read_volume(target).await {
                VolumeReading::Unknown(cause) => Err(ProviderError::refused(cause, "unknown")),
                reading @ (VolumeReading::Exclusive
                | VolumeReading::Shared
                | VolumeReading::Absent(_)) => Ok(reading),
            }
        };
        match self.read(ask).await {
            Ok(reading) => reading,
            Err(error) => VolumeReading::Unknown(cause(&error)),
        }
    }

    async fn stop_compute(&self, target: &Target) -> Result<Delivered, ProviderError> {
        self.once(self.provider.stop_compute(target)).await
    }

    async fn destroy_compute(&self, target: &Target) -> Result<Delivered, ProviderError> {
        self.once(self.provider.destroy_compute(target)).await
    }

    async fn destroy_volume(&self, target: &Target) -> Result<Delivered, ProviderError> {
        self.once(self.provider.destroy_volume(target)).await
    }
}

impl<P: fmt::Debug> fmt::Debug for Guarded<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guarded")
            .field("provider", &self.provider)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// Our clock as the rate limiter reads it.
#[derive(Clone, Debug)]
struct Monotonic(Arc<dyn Clock>);

impl clock::Clock for Monotonic {
    type Instant = Duration;

    fn now(&self) -> Duration {
        self.0.monotonic()
    }
}

/// Tells whether the same question may be answered a moment later.
const fn is_passing(error: &ProviderError) -> bool {
    matches!(
        cause(error),
        Cause::RateLimited | Cause::ServerError | Cause::Timeout | Cause::Transport
    )
}

const fn cause(error: &ProviderError) -> Cause {
    match error {
        ProviderError::Refused {
            cause,
            message: _,
            retry_after: _,
        } => *cause,
        ProviderError::Unproven
        | ProviderError::VolumeAtRisk(_)
        | ProviderError::OutOfBounds(_) => Cause::Unsupported,
    }
}
