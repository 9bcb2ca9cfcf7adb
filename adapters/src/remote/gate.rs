//! Until when does a server want to be left alone?

use core::time::Duration;
use std::{
    sync::{Mutex, PoisonError},
    time::Instant,
};

/// Closed by a server's `Retry-After`, for everything that would be asked of it.
#[derive(Debug, Default)]
pub(super) struct Gate(Mutex<Option<Instant>>);

impl Gate {
    /// Returns for how long it is still closed.
    pub(super) fn closed_for(&self) -> Option<Duration> {
        let until = (*self.0.lock().unwrap_or_else(PoisonError::into_inner))?;
        let left = until.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }

    pub(super) fn close(&self, wait: Duration) {
        let until = Instant::now().checked_add(wait.min(LONGEST));
        let mut closed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *closed = (*closed).max(until);
    }
}

/// No server keeps access alive for longer than this by asking to be left alone.
const LONGEST: Duration = Duration::from_secs(15 * 60);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_wait_counts_and_has_a_limit() {
        let gate = Gate::default();
        assert_eq!(gate.closed_for(), None);
        gate.close(Duration::ZERO);
        assert_eq!(gate.closed_for(), None);
        gate.close(Duration::MAX);
        gate.close(Duration::from_secs(1));
        let left = gate.closed_for().expect("closed");
        assert!(
            left > Duration::from_secs(800) && left <= LONGEST,
            "{left:?}"
        );
    }
}
