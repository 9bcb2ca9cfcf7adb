//! Is every case that was met or thought of answered as it should be?
//!
//! `seeds.jsonl` holds the cases of the design, `field.jsonl` those met in the field: each line is an
//! input of the wire form with what its answer must contain. `bad.jsonl` holds lines that cannot be
//! read, and `bad.expected.jsonl` the error lines they get, one for one:
//! `cargo run --example decide < tests/cases/bad.jsonl > tests/cases/bad.expected.jsonl`.

use std::collections::BTreeSet;

use lifecycle_adapters::wire::{decide_bytes, decide_line};
use serde_json::{Value, json};

#[test]
fn the_cases_of_the_design_are_answered_as_it_says() {
    check(SEEDS, 26);
}

#[test]
fn the_cases_met_in_the_field_are_answered_as_expected() {
    check(FIELD, 35);
}

#[test]
fn every_case_has_its_own_id_and_a_note() {
    let mut ids = BTreeSet::new();
    for line in SEEDS.lines().chain(FIELD.lines()) {
        let case = parsed(line);
        assert!(
            case["note"].as_str().is_some_and(|note| !note.is_empty()),
            "{line}"
        );
        let id = case["id"].as_str().expect("an id").to_owned();
        assert!(ids.insert(id), "{line}");
    }
}

#[test]
fn a_line_that_cannot_be_read_gets_its_error() {
    let mut lines = 0;
    let mut expected = BAD_EXPECTED.lines();
    for (number, line) in (1_u64..).zip(BAD.split_inclusive('\n')) {
        let expected = parsed(expected.next().expect("as many errors as lines"));
        assert_eq!(expected["line"], number);
        match decide_bytes(line.as_bytes(), number) {
            Some(Err(error)) => assert_eq!(error, expected, "line {number}: {line}"),
            answered => panic!("line {number}: {line} was answered: {answered:?}"),
        }
        lines += 1;
    }
    assert_eq!(expected.next(), None);
    assert!(lines > 100, "{lines}");
}

#[test]
fn an_error_says_where_it_is_and_what_would_be_right() {
    for line in BAD_EXPECTED.lines() {
        let error = parsed(line)["error"].as_str().expect("a text").to_owned();
        assert!(!error.ends_with('.') && error.trim() == error, "{error}");
        let is_placed = [
            "not JSON: ",
            "not an object",
            "now: ",
            "machine",
            "observation",
        ]
        .into_iter()
        .chain(["asked: ", "force: ", "policy: "])
        .any(|start| error.starts_with(start));
        assert!(is_placed, "{error}");
    }
}

/// serde reads a sequence as a struct, and a map as a member of an enum, unless it is told not to.
#[test]
fn only_objects_are_read_as_objects_and_only_texts_as_words() {
    let nulls = |first: Value, length: usize| {
        let mut items = vec![Value::Null; length];
        items[0] = first;
        Value::Array(items)
    };
    let running = json!({"status": "running"});
    for line in [
        json!({"now": 1, "machine": nulls(json!("running"), 17)}),
        json!({"now": 1, "machine": {"status": "running", "last_seen": ["off", 1]}}),
        json!({"now": 1, "machine": {"status": "running", "missing": [1, 1]}}),
        json!({"now": 1, "machine": {"status": "running", "quarantine": [1, 1, 2]}}),
        json!({"now": 1, "machine": running, "observation": nulls(json!("off"), 8)}),
        json!({"now": 1, "machine": running, "policy": nulls(Value::Null, 22)}),
        json!({"now": 1, "machine": running, "force": {"destroyed": null}}),
        json!({"now": 1, "machine": running, "asked": {"delete": null}}),
        json!({"now": 1, "machine": {"status": {"running": null}}}),
    ] {
        let answered = decide_line(&line.to_string(), 1);
        assert!(matches!(answered, Some(Err(_))), "{line} was answered");
    }
}

#[test]
fn blank_lines_are_counted_and_not_answered() {
    for blank in ["", " ", "\t\r\n", "\n"] {
        assert_eq!(decide_line(blank, 3), None);
        assert_eq!(decide_bytes(blank.as_bytes(), 3), None);
    }
    let Some(Err(error)) = decide_bytes(b"\xff\n", 4) else {
        panic!("bytes that are no text are an error");
    };
    assert_eq!((&error["line"], &error["id"]), (&json!(4), &Value::Null));
    assert!(
        error["error"]
            .as_str()
            .is_some_and(|text| text.starts_with("not UTF-8"))
    );
}

#[test]
fn absent_null_and_default_are_the_same_and_unknown_top_level_fields_are_ignored() {
    let short = json!({"id": 1, "now": 10, "machine": {"status": "running"}});
    let long = json!({
        "id": 1, "policy": "cautious", "observation": null, "asked": null, "force": null, "now": 10,
        "note": {"any": ["thing"]}, "expect": 1,
        "machine": {
            "status": "running", "volume": "none", "compute": "held", "desired": "on",
            "generation": 1, "scope": "default", "marker": null, "created_at": 0, "status_since": 0,
            "last_seen": null, "observed_at": null, "missing": null, "quarantine": null,
            "quarantines": 0, "compute_lost_at": null, "busy_until": null, "holds": 1,
        },
    });
    assert_eq!(answer(&short), answer(&long));

    let short = json!({"now": 10, "machine": {"status": "running", "generation": 3, "scope": "b",
        "marker": "m"}, "observation": {"present": "off"}});
    let long = json!({"now": 10, "machine": {"status": "running", "generation": 3, "scope": "b",
        "marker": "m"}, "observation": {"present": "off", "absent": null, "unknown": null,
        "begun_at": 10, "generation": 3, "scope": "b", "marker": "m", "source": "sweep"}});
    assert_eq!(answer(&short), answer(&long));
}

#[test]
fn an_answer_holds_every_fact_and_says_refused_only_where_a_restore_was() {
    let plain = answer(&json!({"now": 10, "machine": {"status": "running"}}));
    assert_eq!(
        keys(&plain),
        [
            "effects",
            "id",
            "look_again_at",
            "machine",
            "report",
            "rule",
            "sighting",
            "to",
            "why"
        ]
    );
    assert_eq!(keys(&plain["machine"]).len(), 17);
    assert_eq!(
        keys(&plain["report"]),
        [
            "actual",
            "as_of",
            "desired",
            "destroy_at",
            "detail",
            "phase"
        ]
    );
    let late = json!({"now": 10, "machine": {"status": "destroying"}, "asked": "restore"});
    assert_eq!(answer(&late)["refused"], "point_of_no_return");
}

fn check(lines: &str, count: usize) {
    let mut checked = 0;
    for (number, line) in (1_u64..).zip(lines.lines()) {
        let case = parsed(line);
        let id = case["id"].as_str().expect("an id").to_owned();
        match decide_line(line, number) {
            Some(Ok(answer)) => contains(&answer, &case["expect"], &id),
            refused => panic!("{id}: {refused:?}"),
        }
        checked += 1;
    }
    assert_eq!(checked, count);
}

/// Objects may have more fields than expected, everything else is equal.
fn contains(answer: &Value, expected: &Value, at: &str) {
    match expected {
        Value::Object(fields) => {
            assert!(!fields.is_empty(), "{at} expects nothing");
            for (field, expected) in fields {
                let at = format!("{at}: {field}");
                let found = answer
                    .get(field)
                    .unwrap_or_else(|| panic!("{at} is not there"));
                contains(found, expected, &at);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            assert_eq!(answer, expected, "{at}");
        }
    }
}

fn answer(line: &Value) -> Value {
    match decide_line(&line.to_string(), 1) {
        Some(Ok(answer)) => answer,
        refused => panic!("{line}: {refused:?}"),
    }
}

fn keys(value: &Value) -> Vec<&str> {
    let fields = value.as_object().expect("an object");
    fields.keys().map(String::as_str).collect()
}

fn parsed(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
}

const SEEDS: &str = include_str!("seeds.jsonl");
const FIELD: &str = include_str!("field.jsonl");
const BAD: &str = include_str!("bad.jsonl");
const BAD_EXPECTED: &str = include_str!("bad.expected.jsonl");
