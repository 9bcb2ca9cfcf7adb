//! What did not work, may it be tried again, and may it have worked after all?

use core::time::Duration;

use backon::{BackoffBuilder as _, ExponentialBackoff, ExponentialBuilder};

use crate::{
    sql::{classified, code, fresh_token},
    store::StoreError,
};

/// A call of the database that failed.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) error: StoreError,
    /// The connection broke: the statement may have been committed.
    is_unsure: bool,
}

impl Failure {
    /// A failure before anything was asked.
    pub(super) fn unasked(error: sqlx::Error) -> Self {
        Self {
            error: classified(error, passes),
            is_unsure: false,
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self {
            error,
            is_unsure: false,
        }
    }
}

impl From<sqlx::Error> for Failure {
    fn from(error: sqlx::Error) -> Self {
        Self {
            is_unsure: breaks_off(&error),
            error: classified(error, passes),
        }
    }
}

impl From<sqlx::error::BoxDynError> for Failure {
    fn from(error: sqlx::error::BoxDynError) -> Self {
        StoreError::Unstorable(error.to_string()).into()
    }
}

/// The tries of one call. Each is the same call: its mark says who wrote what is found.
#[derive(Debug)]
pub(super) struct Tries {
    pauses: ExponentialBackoff,
    mark: String,
    is_unsure: bool,
}

impl Tries {
    pub(super) fn new() -> Result<Self, StoreError> {
        Ok(Self {
            pauses: ExponentialBuilder::new()
                .with_jitter()
                .with_min_delay(FIRST_PAUSE)
                .with_max_delay(LAST_PAUSE)
                .with_max_times(PAUSES)
                .build(),
            mark: fresh_token()?,
            is_unsure: false,
        })
    }

    /// Returns what this call writes beside its change, to know it again.
    pub(super) fn mark(&self) -> &str {
        &self.mark
    }

    /// Tells whether an earlier try may have been committed.
    pub(super) const fn is_unsure(&self) -> bool {
        self.is_unsure
    }

    /// Waits until the call may be tried again, or gives up.
    pub(super) async fn wait_after(&mut self, failure: Failure) -> Result<(), StoreError> {
        self.is_unsure |= failure.is_unsure;
        let pause = self.pauses.next().filter(|_| failure.error.is_retryable());
        let Some(pause) = pause else {
            return Err(self.given_up(failure.error));
        };
        tracing::debug!(error = %failure.error, ?pause, "the database is asked again");
        tokio::time::sleep(pause).await;
        Ok(())
    }

    /// Waits likewise, unless an earlier try may have been committed and cannot be known again.
    pub(super) async fn wait_if_certain(&mut self, failure: Failure) -> Result<(), StoreError> {
        if failure.is_unsure {
            return Err(StoreError::OutcomeUnknown(failure.error.into()));
        }
        self.wait_after(failure).await
    }

    fn given_up(&self, error: StoreError) -> StoreError {
        if self.is_unsure {
            StoreError::OutcomeUnknown(error.into())
        } else {
            error
        }
    }
}

/// Says what an error of the database means where nothing is tried again.
pub(super) fn failed(error: sqlx::Error) -> StoreError {
    Failure::from(error).into_error()
}

impl Failure {
    /// Returns the error of a call that is not tried again.
    pub(super) fn into_error(self) -> StoreError {
        self.error
    }
}

/// The codes of what passes by itself: connection lost, serialization and deadlock, resources, locks,
/// shutdown and cancelling, a standby that is being promoted.
fn passes(code: &str) -> bool {
    ["08", "40", "53", "57"]
        .iter()
        .any(|class| code.starts_with(class))
        || matches!(code, "55P03" | "25006")
}

/// Tells whether it is open what became of the statement. What the server itself refused is certain,
/// but for its last words before it closes the connection.
fn breaks_off(error: &sqlx::Error) -> bool {
    use sqlx::Error as E;
    let is_last_word = |code: &str| code.starts_with("08") || code.starts_with("57P");
    matches!(
        error,
        E::Io(_) | E::Tls(_) | E::Protocol(_) | E::WorkerCrashed
    ) || code(error).is_some_and(|code| is_last_word(&code))
}

const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LAST_PAUSE: Duration = Duration::from_secs(1);
/// About five seconds: as long as a server takes to start again.
const PAUSES: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conflicts_and_restarts_pass_by_themselves() {
        for code in [
            "40001", "40P01", "57P01", "57P03", "55P03", "08006", "53300",
        ] {
            assert!(passes(code), "{code}");
        }
        for code in ["23505", "42501", "42P01", "23514"] {
            assert!(!passes(code), "{code}");
        }
    }
}
