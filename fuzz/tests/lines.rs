//! Does every random line get the same answer from the implementation and from the reference?
//!
//! `LIFECYCLE_FUZZ_LINES` says how many lines; 20,000 where it is not set. A difference names the
//! line itself, so that it can be run again.

use std::env;

use lifecycle_fuzz::{compare::difference, generate};

#[test]
fn random_lines_are_answered_as_the_reference_answers_them() {
    for seed in 0..lines() {
        if let Some(difference) = difference(&generate::line(seed)) {
            panic!("seed {seed}\n{difference}");
        }
    }
}

#[test]
fn cases_are_answered_as_the_reference_answers_them() {
    for line in include_str!("../../tests/cases/seeds.jsonl")
        .lines()
        .chain(include_str!("../../tests/cases/field.jsonl").lines())
        .chain(include_str!("../../tests/cases/bad.jsonl").lines())
    {
        if let Some(difference) = difference(line) {
            panic!("{difference}");
        }
    }
}

fn lines() -> u64 {
    env::var("LIFECYCLE_FUZZ_LINES").map_or(20_000, |count| {
        count.parse().expect("LIFECYCLE_FUZZ_LINES is a number")
    })
}
