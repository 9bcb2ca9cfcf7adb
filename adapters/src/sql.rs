//! How do words, counts and instants become columns of a database, and back?
//!
//! What a program of ours never wrote is told apart from what the database refused: the first is
//! [`StoreError::Corrupt`] and names the machine, so that one bad row can be passed over.

mod history;
mod machine;
mod work;

use core::{fmt::Display, str::FromStr};

use lifecycle_core::Timestamp;

use crate::{id::MachineId, store::StoreError};

pub(crate) use history::{EntryColumns, FactColumns};
pub(crate) use machine::MachineColumns;
pub(crate) use work::{KeyColumns, WorkColumns};

/// Reads a word of one of our enums.
pub(crate) fn word<T: FromStr<Err: Display>>(
    machine: &str,
    column: &str,
    text: &str,
) -> Result<T, StoreError> {
    text.parse()
        .map_err(|error| corrupt(machine, format_args!("{column} {text:?}: {error}")))
}

/// Reads a word of one of our enums where there is one.
pub(crate) fn optional_word<T: FromStr<Err: Display>>(
    machine: &str,
    column: &str,
    text: Option<&str>,
) -> Result<Option<T>, StoreError> {
    text.map(|text| word(machine, column, text)).transpose()
}

/// Reads a count; negative ones were never written.
pub(crate) fn count(machine: &str, column: &str, stored: i64) -> Result<u64, StoreError> {
    u64::try_from(stored).map_err(|_| corrupt(machine, format_args!("{column} is {stored}")))
}

/// Reads a count that starts at one.
pub(crate) fn ordinal(machine: &str, column: &str, stored: i64) -> Result<u64, StoreError> {
    match count(machine, column, stored)? {
        0 => Err(corrupt(machine, format_args!("{column} is 0"))),
        count => Ok(count),
    }
}

/// Reads columns that are set together or not at all.
pub(crate) fn both<A, B>(
    machine: &str,
    columns: &str,
    pair: (Option<A>, Option<B>),
) -> Result<Option<(A, B)>, StoreError> {
    match pair {
        (Some(first), Some(second)) => Ok(Some((first, second))),
        (None, None) => Ok(None),
        (Some(_), None) | (None, Some(_)) => Err(corrupt(
            machine,
            format_args!("only one of {columns} is set"),
        )),
    }
}

/// Reads the id of a machine.
pub(crate) fn machine_id(text: &str) -> Result<MachineId, StoreError> {
    MachineId::new(text).map_err(|error| corrupt(text, error))
}

/// Reads an instant where there is one.
pub(crate) fn instant(stored: Option<i64>) -> Option<Timestamp> {
    stored.map(Timestamp::from_millis)
}

/// Writes an instant where there is one.
pub(crate) fn millis(at: Option<Timestamp>) -> Option<i64> {
    at.map(Timestamp::as_millis)
}

/// Writes a count; the databases have no unsigned numbers.
pub(crate) fn stored(column: &str, count: u64) -> Result<i64, StoreError> {
    i64::try_from(count)
        .map_err(|_| StoreError::Unstorable(format!("{column} {count} is too large")))
}

/// Counts one more, as far as a column can.
pub(crate) fn one_more(column: &str, count: u64) -> Result<u64, StoreError> {
    let next = count.saturating_add(1);
    stored(column, next).map(|_| next)
}

/// A stored row says what no version of this program wrote.
pub(crate) fn corrupt(machine: &str, problem: impl Display) -> StoreError {
    StoreError::Corrupt {
        machine: machine.to_owned(),
        problem: problem.to_string(),
    }
}

/// Makes a token that nobody can guess: 128 bits in hexadecimal.
pub(crate) fn fresh_token() -> Result<String, StoreError> {
    random_hex::<16>().map_err(|error| StoreError::Unavailable(error.to_string().into()))
}

/// Makes `N` random bytes, in hexadecimal.
pub(crate) fn random_hex<const N: usize>() -> Result<String, getrandom::Error> {
    let mut bytes = [0_u8; N];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Says what an error of the database means; `passes` knows the database's own codes for what
/// passes by itself (busy, serialization, shutting down, …).
pub(crate) fn classified(error: sqlx::Error, passes: fn(&str) -> bool) -> StoreError {
    use sqlx::Error as E;
    let may_help = matches!(
        &error,
        E::Io(_)
            | E::Tls(_)
            | E::Protocol(_)
            | E::PoolTimedOut
            | E::PoolClosed
            | E::WorkerCrashed
            | E::BeginFailed
    ) || code(&error).is_some_and(|code| passes(&code));
    if may_help {
        StoreError::Unavailable(error.into())
    } else {
        StoreError::Refused(error.into())
    }
}

/// Returns the database's own code of an error.
pub(crate) fn code(error: &sqlx::Error) -> Option<String> {
    error
        .as_database_error()
        .and_then(|error| error.code())
        .map(|code| code.into_owned())
}

#[cfg(test)]
mod tests {
    use lifecycle_core::Status;

    use super::*;

    #[test]
    fn what_was_never_written_names_the_machine_and_the_column() {
        let error = word::<Status>("vm-1", "status", "asleep").unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("the row of vm-1 cannot be read: status \"asleep\": not a status"),
            "{error}"
        );
        assert!(count("vm-1", "holds", -1).is_err());
        assert!(ordinal("vm-1", "generation", 0).is_err());
        assert!(both("vm-1", "a, b", (Some(1), None::<i64>)).is_err());
    }

    #[test]
    fn what_does_not_fit_is_refused_before_it_is_written() {
        assert!(matches!(
            stored("holds", u64::MAX),
            Err(StoreError::Unstorable(_))
        ));
        assert!(one_more("revision", i64::MAX.unsigned_abs()).is_err());
    }

    #[test]
    fn tokens_differ() {
        let (one, other) = (fresh_token().unwrap(), fresh_token().unwrap());
        assert_eq!(one.len(), 32);
        assert_ne!(one, other);
    }
}
