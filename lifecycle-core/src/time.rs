//! What is an instant here, and how is it compared without overflow?

use core::{fmt, time::Duration};

/// An instant: whole milliseconds since the Unix epoch, UTC.
///
/// The core never reads a clock; every instant is handed in. Arithmetic saturates.
///
/// ```
/// use core::time::Duration;
/// use lifecycle_core::Timestamp;
///
/// let start = Timestamp::from_millis(10_000_000);
/// let later = start.saturating_add(Duration::from_secs(1));
/// assert_eq!(later.millis_since(start), 1_000);
/// assert_eq!(later.to_string(), "1970-01-01T02:46:41Z");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The latest instant there is.
    pub const MAX: Self = Self(i64::MAX);

    /// Makes an instant of milliseconds since the Unix epoch.
    #[must_use]
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Returns the milliseconds since the Unix epoch.
    #[must_use]
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// Returns this instant moved later; the last instant where that would overflow.
    #[must_use]
    pub const fn saturating_add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(millis(duration)))
    }

    /// Returns this instant moved earlier; the first instant where that would overflow.
    #[must_use]
    pub const fn saturating_sub(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(millis(duration)))
    }

    /// Returns the milliseconds from `earlier` to this instant, negative where it is the later one.
    #[must_use]
    pub const fn millis_since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Tells whether less than `window` has passed from `start` to this instant.
    #[must_use]
    pub(crate) const fn is_within(self, window: Duration, start: Self) -> bool {
        self.millis_since(start) < millis(window)
    }

    /// Tells whether more than `window` has passed from `start` to this instant.
    #[must_use]
    pub(crate) const fn is_beyond(self, window: Duration, start: Self) -> bool {
        self.millis_since(start) > millis(window)
    }

    #[must_use]
    pub(crate) const fn min(self, other: Self) -> Self {
        if self.0 <= other.0 { self } else { other }
    }

    #[must_use]
    pub(crate) const fn max(self, other: Self) -> Self {
        if self.0 >= other.0 { self } else { other }
    }
}

/// Returns whole milliseconds; what does not fit is as long as an instant can tell.
#[expect(
    clippy::cast_possible_truncation,
    reason = "compared with the limit first"
)]
pub(crate) const fn millis(duration: Duration) -> i64 {
    let millis = duration.as_millis();
    if millis > i64::MAX as u128 {
        i64::MAX
    } else {
        millis as i64
    }
}

impl fmt::Display for Timestamp {
    /// Writes RFC 3339 in UTC, with milliseconds only where there are any.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let days = self.0.div_euclid(MILLIS_PER_DAY);
        let of_day = self.0.rem_euclid(MILLIS_PER_DAY);
        let (year, month, day) = civil(days);
        let (seconds, millis) = (of_day.wrapping_div(1_000), of_day.wrapping_rem(1_000));
        let (hour, minute, second) = (
            seconds.wrapping_div(3_600),
            seconds.wrapping_div(60).wrapping_rem(60),
            seconds.wrapping_rem(60),
        );
        write!(
            f,
            "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}"
        )?;
        if millis > 0 {
            write!(f, ".{millis:03}")?;
        }
        f.write_str("Z")
    }
}

/// Splits days since the epoch into the proleptic Gregorian year, month and day.
///
/// The calendar is counted in eras of 400 years that begin on 1 March, so that the leap day is the
/// last of its year (<https://howardhinnant.github.io/date_algorithms.html>, `civil_from_days`).
const fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days.saturating_add(719_468);
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = year_of_era + era * 400 + (month <= 2) as i64;
    (year, month, day)
}

/// Writes a number of milliseconds the way a person says it: `"4 min 59 s"`, `"250 ms"`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spoken(pub(crate) i64);

impl fmt::Display for Spoken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.0.max(0);
        let seconds = millis.wrapping_div(1_000);
        let (days, hours, minutes) = (
            seconds.wrapping_div(86_400),
            seconds.wrapping_div(3_600).wrapping_rem(24),
            seconds.wrapping_div(60).wrapping_rem(60),
        );
        match (days, hours, minutes, seconds) {
            (0, 0, 0, 0) => write!(f, "{millis} ms"),
            (0, 0, 0, _) => write!(f, "{seconds} s"),
            (0, 0, _, _) => write!(f, "{minutes} min {} s", seconds.wrapping_rem(60)),
            (0, _, _, _) => write!(f, "{hours} h {minutes} min"),
            _ => write!(f, "{days} d {hours} h"),
        }
    }
}

const MILLIS_PER_DAY: i64 = 86_400_000;

#[cfg(test)]
mod tests {
    extern crate std;

    use std::string::ToString;

    use super::*;

    #[test]
    fn instants_read_as_rfc_3339() {
        for (millis, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400_000, "2000-02-29T00:00:00Z"),
            (1_709_251_199_999, "2024-02-29T23:59:59.999Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(Timestamp::from_millis(millis).to_string(), text);
        }
    }

    #[test]
    fn the_ends_of_time_neither_overflow_nor_panic() {
        for end in [i64::MIN, i64::MAX] {
            let end = Timestamp::from_millis(end);
            assert!(!end.to_string().is_empty());
            let _ = end
                .saturating_add(Duration::MAX)
                .millis_since(end.saturating_sub(Duration::MAX));
        }
        assert_eq!(
            Timestamp::from_millis(1).saturating_add(Duration::MAX),
            Timestamp::MAX
        );
    }
}
