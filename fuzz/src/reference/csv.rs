//! How is every cell of one table written as comma-separated values?

use super::table::{Choices, answer, cells};
use super::words::Word;

/// The names of the columns.
pub const HEADER: &str = "status,sighting,volume,quarantine,compute,force,to,effects,rule";

/// One line a cell, without the header, the last column fastest.
pub fn lines(choices: Choices) -> impl Iterator<Item = String> {
    cells().map(move |cell| {
        let answer = answer(cell, choices);
        format!(
            "{},{},{},{}",
            cell.words().join(","),
            answer.to.word(),
            answer.effects.join("+"),
            answer.rule
        )
    })
}
