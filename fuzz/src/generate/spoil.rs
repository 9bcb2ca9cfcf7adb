//! In which ways may a line be wrong?

use serde_json::{Value, json};

use super::dice::Dice;

/// Spoils a valid case in one place, and writes it.
pub(crate) fn spoil(dice: &mut Dice, case: Value) -> String {
    match dice.below(10) {
        0 => broken(dice, &case),
        1..5 => wrong_number(dice, case),
        5..7 => wrong_shape(dice, case),
        7 => wrong_word(dice, case),
        8 => unsound(dice, case),
        _ => wrong_observation(dice, case),
    }
}

/// What is no JSON object, or no line at all.
fn broken(dice: &mut Dice, case: &Value) -> String {
    let mut text = case.to_string();
    // Every case is written in ASCII, so any cut is between characters.
    text.truncate(dice.below(text.len()));
    match dice.below(8) {
        0 => String::new(),
        1 => "  \t".to_owned(),
        2 => "[]".to_owned(),
        3 => "null".to_owned(),
        4 => format!("{case}}}"),
        _ => text,
    }
}

fn wrong_number(dice: &mut Dice, mut case: Value) -> String {
    let number = match dice.below(9) {
        0 => json!(-1),
        1 => json!(1.5),
        2 => json!(1.0),
        3 => json!(9_223_372_036_854_775_808_u64),
        4 => json!(1e30),
        5 => json!(true),
        6 => json!("1"),
        7 => json!([1]),
        _ => json!({ "at": 1 }),
    };
    let (object, field) = dice.pick(&[
        ("", "now"),
        ("machine", "generation"),
        ("machine", "created_at"),
        ("machine", "status_since"),
        ("machine", "observed_at"),
        ("machine", "quarantines"),
        ("machine", "compute_lost_at"),
        ("machine", "busy_until"),
        ("machine", "holds"),
        ("observation", "begun_at"),
        ("observation", "generation"),
        ("policy", "grace_ms"),
        ("policy", "typed_misses"),
        ("policy", "retire_compute_lost_after_ms"),
    ]);
    place(&mut case, object, field, number);
    case.to_string()
}

fn wrong_shape(dice: &mut Dice, mut case: Value) -> String {
    let (object, field, value) = match dice.below(21) {
        0 => ("machine", "colour", json!("red")),
        1 => ("observation", "proof", json!("tombstone")),
        2 => ("policy", "grace", json!(1)),
        3 => ("machine", "last_seen", json!({ "power": "off" })),
        4 => ("machine", "last_seen", json!({ "at": 1 })),
        5 => ("machine", "missing", json!({ "since": 1 })),
        6 => (
            "machine",
            "missing",
            json!({ "since": 1, "count": 1, "by": 1 }),
        ),
        7 => ("machine", "quarantine", json!({ "id": 1, "since": 1 })),
        8 => ("machine", "quarantine", json!(1)),
        9 => ("machine", "status", Value::Null),
        10 => ("machine", "scope", json!(1)),
        11 => ("", "machine", json!([])),
        12 => ("", "machine", Value::Null),
        // What a reader that goes by position would take for an object, or for a word.
        13 => ("machine", "last_seen", json!(["off", 1])),
        14 => ("machine", "missing", json!([1, 1])),
        15 => ("machine", "quarantine", json!([1, 1, 2])),
        16 => ("", "machine", positional(json!("running"), 17)),
        17 => ("", "observation", positional(json!("off"), 8)),
        18 => ("", "policy", positional(Value::Null, 22)),
        19 => ("", "force", json!({ "destroyed": null })),
        _ => ("", "now", Value::Null),
    };
    place(&mut case, object, field, value);
    case.to_string()
}

fn positional(first: Value, length: usize) -> Value {
    let mut items = vec![Value::Null; length];
    items[0] = first;
    Value::Array(items)
}

fn wrong_word(dice: &mut Dice, mut case: Value) -> String {
    let (object, field, value) = match dice.below(12) {
        0 => ("machine", "status", json!("asleep")),
        1 => ("machine", "status", json!("Running")),
        2 => ("machine", "volume", json!("")),
        3 => ("machine", "compute", json!("freed")),
        4 => ("machine", "desired", json!(true)),
        5 => ("observation", "source", json!("cron")),
        6 => ("", "asked", json!("recover")),
        7 => ("", "force", json!("failed")),
        8 => ("", "policy", json!("careless")),
        9 => ("policy", "base", json!("careless")),
        10 => ("policy", "min_proof", json!("hearsay")),
        _ => ("policy", "orphan", json!("adopt")),
    };
    place(&mut case, object, field, value);
    case.to_string()
}

fn unsound(dice: &mut Dice, mut case: Value) -> String {
    case["policy"] = match dice.below(9) {
        0 => json!({ "grace_ms": 2000 }),
        1 => json!({ "typed_span_ms": 300_001 }),
        2 => json!({ "listed_span_ms": 300_001 }),
        3 => json!({ "recheck_ms": 300_001 }),
        4 => json!({ "fresh_for_ms": 299_999 }),
        5 => json!({ "typed_misses": 0 }),
        6 => json!({ "listed_misses": 0 }),
        7 => json!({ "base": "converge", "retire_compute_lost_after_ms": 0 }),
        _ => json!({ "retire_compute_lost_after_ms": 1, "retirement_grace_ms": 2000 }),
    };
    case.to_string()
}

fn wrong_observation(dice: &mut Dice, mut case: Value) -> String {
    case["observation"] = match dice.below(6) {
        0 => json!({}),
        1 => json!({ "present": "off", "absent": "tombstone" }),
        2 => json!({ "present": "running", "unknown": "timeout" }),
        3 => json!({ "absent": "rumour" }),
        4 => json!({ "present": true }),
        _ => json!("gone"),
    };
    case.to_string()
}

/// Sets a field of the line, or of an object in it, which is made where there is none.
fn place(case: &mut Value, object: &str, field: &str, value: Value) {
    if object.is_empty() {
        case[field] = value;
        return;
    }
    if !case[object].is_object() {
        case[object] = json!({});
    }
    case[object][field] = value;
}
