//! Which policy does a name mean, and where does the table of a set of choices live?

use std::sync::OnceLock;

use lifecycle_core::{Choices, Table};

/// Returns the table of these choices; built at its first use, kept for good.
///
/// There are 32 sets of choices, so at most 1 MiB is ever kept.
#[must_use]
pub fn table_of(choices: Choices) -> &'static Table {
    static TABLES: [OnceLock<Table>; Choices::COUNT] = [const { OnceLock::new() }; Choices::COUNT];
    TABLES[choices.index()].get_or_init(|| Table::new(choices))
}
