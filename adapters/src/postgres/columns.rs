//! How do rows travel to and from the database: as one array for each column?

use sqlx::{
    Arguments as _, FromRow, Row as _,
    error::BoxDynError,
    postgres::{PgArguments, PgRow},
};

use crate::sql::{EntryColumns, FactColumns, MachineColumns, WorkColumns};

/// One column: its name and its SQL type.
pub(super) type Column = (&'static str, &'static str);

/// Rows of one table.
pub(super) trait Table: Sized {
    /// The columns, in the order in which they are bound.
    const COLUMNS: &'static [Column];

    /// Adds one array for each column.
    fn bind(rows: &[&Self], arguments: &mut PgArguments) -> Result<(), BoxDynError>;
}

/// Returns the names of the columns, each behind this prefix.
pub(super) fn names<T: Table>(prefix: &str) -> String {
    let names: Vec<String> = T::COLUMNS
        .iter()
        .map(|(name, _)| format!("{prefix}{name}"))
        .collect();
    names.join(", ")
}

/// Returns how many parameters [`bind`] adds.
pub(super) const fn parameters<T: Table>() -> usize {
    T::COLUMNS.len() + 1
}

/// Returns a source of the rows bound from this parameter on: each with `n`, the change that it
/// belongs to, and `ord`, its place.
pub(super) fn source<T: Table>(first: usize, alias: &str) -> String {
    let arrays: Vec<String> = core::iter::once("bigint")
        .chain(T::COLUMNS.iter().map(|(_, kind)| *kind))
        .enumerate()
        .map(|(index, kind)| format!("${}::{kind}[]", first + index))
        .collect();
    let names = names::<T>("");
    format!(
        "unnest({}) with ordinality as {alias}(n, {names}, ord)",
        arrays.join(", ")
    )
}

/// Adds rows, each with the number of the change that it belongs to.
pub(super) fn bind<T: Table>(
    rows: &[(i64, T)],
    arguments: &mut PgArguments,
) -> Result<(), BoxDynError> {
    arguments.add(rows.iter().map(|(n, _)| *n).collect::<Vec<i64>>())?;
    let rows: Vec<&T> = rows.iter().map(|(_, row)| row).collect();
    T::bind(&rows, arguments)
}

macro_rules! kind {
    (text) => {
        "text"
    };
    (optional_text) => {
        "text"
    };
    (int) => {
        "bigint"
    };
    (optional_int) => {
        "bigint"
    };
    (flag) => {
        "boolean"
    };
}

macro_rules! cell {
    (text, $cell:expr) => {
        $cell.as_str()
    };
    (optional_text, $cell:expr) => {
        $cell.as_deref()
    };
    ($kind:ident, $cell:expr) => {
        $cell
    };
}

macro_rules! table {
    ($table:ident { $($column:ident: $kind:ident,)+ }) => {
        impl Table for $table {
            const COLUMNS: &'static [Column] = &[$((stringify!($column), kind!($kind)),)+];

            fn bind(rows: &[&Self], arguments: &mut PgArguments) -> Result<(), BoxDynError> {
                $(arguments.add(
                    rows.iter().map(|row| cell!($kind, row.$column)).collect::<Vec<_>>(),
                )?;)+
                Ok(())
            }
        }

        impl FromRow<'_, PgRow> for $table {
            fn from_row(row: &PgRow) -> Result<Self, sqlx::Error> {
                Ok(Self { $($column: row.try_get(stringify!($column))?,)+ })
            }
        }
    };
}

table!(MachineColumns {
    id: text,
    status: text,
    volume: text,
    compute: text,
    desired: text,
    generation: int,
    scope: text,
    marker: optional_text,
    created_at: int,
    status_since: int,
    last_seen_power: optional_text,
    last_seen_at: optional_int,
    observed_at: optional_int,
    missing_since: optional_int,
    missing_count: optional_int,
    quarantine_id: optional_int,
    quarantine_since: optional_int,
    destroy_at: optional_int,
    quarantines: int,
    compute_lost_at: optional_int,
    busy_until: optional_int,
    holds: int,
    provider_id: optional_text,
    volume_id: optional_text,
    registered_volume: text,
    volume_missing_since: optional_int,
    volume_missing_count: optional_int,
    policy: optional_text,
    revision: int,
    checked_at: int,
    look_again_at: optional_int,
    was_sighted: flag,
    destroy_accepted_at: optional_int,
    claim_effect: optional_text,
    claim_until: optional_int,
    claim_token: optional_text,
});

table!(FactColumns {
    machine: text,
    generation: int,
    fact: text,
    occurrence: int,
    at: int,
    source: text,
    rule: optional_text,
    was_sighted: flag,
    volume: text,
    volume_id: optional_text,
});

table!(EntryColumns {
    machine: text,
    revision: int,
    at: int,
    source: text,
    rule: optional_text,
    input: text,
    why: text,
});

table!(WorkColumns {
    machine: text,
    generation: int,
    effect: text,
    holds: int,
    provider_id: optional_text,
    marker: optional_text,
    scope: text,
    volume_id: optional_text,
    quarantine_id: optional_int,
    committed_at: int,
    was_sighted: flag,
    state: text,
    is_dirty: flag,
    attempts: int,
    due_at: int,
    note: optional_text,
    accepted_at: optional_int,
});
