//! Which instant does a text of RFC 3339 name?

use lifecycle_core::Timestamp;

/// Reads an instant, to the millisecond below it.
pub(super) fn read_instant(text: &str) -> Option<Timestamp> {
    let (date, rest) = text.split_once(['T', 't'])?;
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let zone = rest.find(['Z', 'z', '+', '-'])?;
    let (time, zone) = rest.split_at_checked(zone)?;
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let [hour, minute, second] = numbers(time, ':', [2, 2, 2])?;
    let is_one = (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60
        && fraction.bytes().all(|digit| digit.is_ascii_digit());
    if !is_one {
        return None;
    }
    let millis: i64 = format!("{fraction:0<3}").get(..3)?.parse().ok()?;
    let seconds = days(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second;
    let seconds = seconds - offset(zone)?;
    Some(Timestamp::from_millis(seconds * 1_000 + millis))
}

/// Returns by how many seconds a zone is ahead.
fn offset(zone: &str) -> Option<i64> {
    let sign = match zone.get(..1)? {
        "Z" | "z" => return (zone.len() == 1).then_some(0),
        "+" => 1,
        _ => -1,
    };
    let [hours, minutes] = numbers(zone.get(1..)?, ':', [2, 2])?;
    (hours < 24 && minutes < 60).then_some(sign * (hours * 3_600 + minutes * 60))
}

/// Returns the days since 1970-01-01, counted in years that begin in March.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    365 * year + year / 4 - year / 100 + year / 400 + day_of_year - 719_468
}

fn numbers<const N: usize>(text: &str, between: char, lengths: [usize; N]) -> Option<[i64; N]> {
    let mut parts = text.split(between);
    let mut found = [0; N];
    for (number, length) in found.iter_mut().zip(lengths) {
        let part = parts.next()?;
        let is_number = part.len() == length && part.bytes().all(|digit| digit.is_ascii_digit());
        *number = is_number.then(|| part.parse().ok())??;
    }
    parts.next().is_none().then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_read_to_the_millisecond() {
        for (text, millis) in [
            ("1970-01-01T00:00:00Z", 0),
            ("1969-12-31T23:59:59.9Z", -100),
            ("2026-12-01T03:44:38.691707182Z", 1_796_096_678_691),
            ("2026-12-01T03:44:38.6Z", 1_796_096_678_600),
            ("2026-12-01T05:14:38+01:30", 1_796_096_678_000),
            ("2026-11-30T23:44:38-04:00", 1_796_096_678_000),
            ("2000-02-29T00:00:00Z", 951_782_400_000),
            ("2000-03-01T00:00:00Z", 951_868_800_000),
        ] {
            let read = read_instant(text).map(Timestamp::as_millis);
            assert_eq!(read, Some(millis), "{text}");
        }
    }

    #[test]
    fn what_is_no_instant_is_not_read_as_one() {
        for text in [
            "",
            "2026-12-01",
            "2026-12-01T03:44:38",
            "2026-13-01T03:44:38Z",
            "2026-12-01T24:44:38Z",
            "2026-12-01T03:44:38.x1Z",
            "2026-12-01T03:44:38+1:00",
            "+026-12-01T03:44:38Z",
            "2026-12-01T03:44:38é",
        ] {
            assert_eq!(read_instant(text), None, "{text}");
        }
    }
}
