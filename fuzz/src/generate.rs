//! Which inputs are worth comparing two implementations on?
//!
//! A line is a pure function of its seed, so that a difference is reproduced by one number. Most
//! lines are valid; about three in a hundred are spoiled in one place.

mod case;
mod dice;
mod history;
mod instants;
mod mutate;
mod spoil;
mod thresholds;

use self::dice::Dice;

pub use self::history::History;

/// Makes the line of a seed.
#[must_use]
pub fn line(seed: u64) -> String {
    let mut dice = Dice::new(seed);
    let case = case::case(&mut dice, seed);
    if dice.percent(3) {
        return spoil::spoil(&mut dice, case);
    }
    case.to_string()
}

/// Makes bytes near given ones, those of a seed.
#[must_use]
pub fn mutated(seed: u64, bytes: &[u8]) -> Vec<u8> {
    mutate::mutate(&mut Dice::new(seed), bytes.to_vec())
}
