//! How are cells with the same answer merged, so that a person can read the table?

use std::collections::BTreeMap;

use lifecycle_core::{Cell, Compute, Force, Quarantine, Sighting, Status, Volume};

/// A block of cells with the same answer: every combination of the values it covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// For each column a set of bits, one for each value.
    covers: [u8; COLUMNS],
    /// What is answered there.
    pub(crate) answer: String,
}

impl Block {
    /// Returns the places of the cells it covers.
    pub(crate) fn places(&self) -> Vec<usize> {
        (0..Cell::COUNT)
            .filter(|place| {
                let values = values(Cell::nth(*place));
                (0..COLUMNS).all(|column| self.covers[column] & 1 << values[column] != 0)
            })
            .collect()
    }

    fn first(&self) -> [u32; COLUMNS] {
        self.covers.map(u8::trailing_zeros)
    }

    /// Says which values of a column it covers.
    fn words(&self, column: usize) -> String {
        let all = words(column);
        let covered: Vec<_> = (0..all.len())
            .filter(|value| self.covers[column] & 1 << value != 0)
            .map(|value| all[value])
            .collect();
        if covered.len() == all.len() {
            "*".to_owned()
        } else {
            covered.join("|")
        }
    }
}

/// Merges cells into blocks, one column after the other, from the last to the first.
pub(crate) fn blocks(cells: impl Iterator<Item = (Cell, String)>) -> Vec<Block> {
    let mut blocks: Vec<_> = cells
        .map(|(cell, answer)| Block {
            covers: values(cell).map(|value| 1 << value),
            answer,
        })
        .collect();
    for column in (0..COLUMNS).rev() {
        let mut merged: BTreeMap<([u8; COLUMNS], String), u8> = BTreeMap::new();
        for Block { mut covers, answer } in blocks {
            let value = core::mem::take(&mut covers[column]);
            *merged.entry((covers, answer)).or_default() |= value;
        }
        blocks = merged
            .into_iter()
            .map(|((mut covers, answer), values)| {
                covers[column] = values;
                Block { covers, answer }
            })
            .collect();
    }
    blocks.sort_by_key(Block::first);
    blocks
}

/// Writes one block a line, its columns under each other.
pub(crate) fn rendered(blocks: &[Block]) -> String {
    let names = NAMES.map(str::to_owned);
    let rows: Vec<_> = core::iter::once((names, "answer"))
        .chain(blocks.iter().map(|block| {
            let words = core::array::from_fn(|column| block.words(column));
            (words, block.answer.as_str())
        }))
        .collect();
    let widths: [usize; COLUMNS] = core::array::from_fn(|column| {
        rows.iter()
            .map(|(words, _)| words[column].len())
            .max()
            .unwrap_or(0)
    });
    let mut text = String::new();
    for (words, answer) in rows {
        for (word, width) in words.iter().zip(widths) {
            text.push_str(&format!("{word:width$}  "));
        }
        text.push_str(answer);
        text.push('\n');
    }
    text
}

fn values(cell: Cell) -> [usize; COLUMNS] {
    let Cell {
        status,
        sighting,
        volume,
        quarantine,
        compute,
        force,
    } = cell;
    [
        status as usize,
        sighting as usize,
        volume as usize,
        quarantine as usize,
        compute as usize,
        force as usize,
    ]
}

const fn words(column: usize) -> &'static [&'static str] {
    match column {
        0 => Status::WORDS,
        1 => Sighting::WORDS,
        2 => Volume::WORDS,
        3 => Quarantine::WORDS,
        4 => Compute::WORDS,
        _ => Force::WORDS,
    }
}

const COLUMNS: usize = 6;

const NAMES: [&str; COLUMNS] = [
    "status",
    "sighting",
    "volume",
    "quarantine",
    "compute",
    "force",
];
