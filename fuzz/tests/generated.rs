//! Do the generated inputs reach every corner that a comparison should see?

use std::collections::BTreeMap;

use lifecycle_fuzz::generate;
use lifecycle_fuzz::reference::line::decide_line;
use serde_json::Value;

const LINES: u64 = 12_000;

#[test]
fn a_seed_always_gives_the_same_line() {
    for seed in 0..100 {
        assert_eq!(generate::line(seed), generate::line(seed));
        assert_ne!(generate::line(seed), generate::line(seed + 1));
    }
}

#[test]
fn about_three_lines_in_a_hundred_are_invalid() {
    let invalid = (0..LINES).filter(|seed| answered(*seed).is_none()).count();
    assert!((240..480).contains(&invalid), "{invalid} of {LINES}");
}

#[test]
fn every_rule_sighting_status_and_refusal_is_reached() {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for answer in (0..LINES).filter_map(answered) {
        for field in ["rule", "sighting", "to", "refused"] {
            if let Some(word) = answer[field].as_str() {
                *seen.entry(format!("{field} {word}")).or_default() += 1;
            }
        }
    }
    assert_eq!(seen.len(), 20 + 7 + 7 + 1, "{seen:#?}");
    assert!(seen.values().all(|times| *times >= 12), "{seen:#?}");
}

fn answered(seed: u64) -> Option<Value> {
    decide_line(&generate::line(seed), 1).filter(|answer| answer.get("error").is_none())
}
