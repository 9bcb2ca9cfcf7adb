//! What is left, when some of it was revoked and some was not?

use core::ops::ControlFlow;

use super::{Failure, Reach};

/// Counts what was revoked, and says when to stop.
#[derive(Debug)]
pub(crate) struct Tally {
    left: usize,
    total: usize,
    in_a_row: u32,
    passing: Option<Failure>,
    lasting: Option<Failure>,
}

impl Tally {
    pub(crate) const fn of(total: usize) -> Self {
        Self {
            left: total,
            total,
            in_a_row: 0,
            passing: None,
            lasting: None,
        }
    }

    /// Returns whether the next one is to be asked about.
    pub(crate) fn count(&mut self, result: Result<(), Failure>) -> ControlFlow<()> {
        let Err(failure) = result else {
            self.left = self.left.saturating_sub(1);
            self.in_a_row = 0;
            return ControlFlow::Continue(());
        };
        let is_over = match failure.reach {
            // It was answered, so the server serves.
            Reach::One => {
                self.in_a_row = 0;
                false
            }
            Reach::Server => {
                self.in_a_row += 1;
                self.in_a_row >= MOST_IN_A_ROW
            }
            Reach::All => true,
        };
        let kept = if failure.is_retryable {
            &mut self.passing
        } else {
            &mut self.lasting
        };
        kept.get_or_insert(failure);
        if is_over {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    /// Returns why some may still work; retryable where that may help any of them.
    pub(crate) fn finish(self, what: &str) -> Result<(), Failure> {
        let Some(failure) = self.passing.or(self.lasting) else {
            return Ok(());
        };
        let message = format!(
            "{} of {} {what} may still work: {}",
            self.left, self.total, failure.message
        );
        Err(Failure { message, ..failure })
    }
}

/// So many credentials are tried against a server that seems not to serve.
const MOST_IN_A_ROW: u32 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_help_without_a_person_decides_whether_to_try_again() {
        let mut tally = Tally::of(3);
        assert!(
            tally
                .count(Err(Failure::lasting("no", Reach::One)))
                .is_continue()
        );
        assert!(
            tally
                .count(Err(Failure::passing("busy", Reach::One)))
                .is_continue()
        );
        assert!(tally.count(Ok(())).is_continue());
        let failure = tally.finish("tokens").expect_err("two are left");
        assert_eq!(failure.message, "2 of 3 tokens may still work: busy");
        assert!(failure.is_retryable);
    }

    #[test]
    fn a_server_that_seems_down_is_not_asked_about_everything() {
        let mut tally = Tally::of(9);
        let down = || Err(Failure::passing("down", Reach::Server));
        assert!(tally.count(down()).is_continue());
        assert!(tally.count(down()).is_continue());
        assert!(tally.count(Ok(())).is_continue());
        assert!(tally.count(down()).is_continue());
        assert!(tally.count(down()).is_continue());
        assert!(tally.count(down()).is_break());
    }
}
