//! What do the seed cases come to?

use lifecycle_adapters::wire;
use serde_json::{Map, Value};

use crate::draw;

/// Writes the cases for a terminal.
pub(super) fn text(given: &[(&str, &str)]) -> String {
    draw::text(HEADER, rows(given))
}

/// Writes the cases as a Markdown table.
pub(super) fn markdown(given: &[(&str, &str)]) -> String {
    draw::markdown(HEADER, rows(given))
}

fn rows(given: &[(&str, &str)]) -> impl Iterator<Item = [String; COLUMNS]> {
    (1..).zip(SEEDS.lines()).filter_map(|(number, line)| {
        let case: Value = serde_json::from_str(line).unwrap_or_default();
        let answered = if case.is_object() {
            wire::decide_line(&with_choices(case.clone(), given).to_string(), number)
        } else {
            wire::decide_line(line, number)
        };
        answered.map(|answered| match answered {
            Ok(answer) => [
                word(&answer["id"]),
                noticed(&case),
                word(&answer["sighting"]),
                word(&answer["rule"]),
                format!(
                    "{} → {}",
                    word(&case["machine"]["status"]),
                    word(&answer["to"])
                ),
                list(&answer["effects"]),
            ],
            Err(error) => [
                word(&error["id"]),
                noticed(&case),
                String::new(),
                String::new(),
                String::new(),
                word(&error["error"]),
            ],
        })
    })
}

/// Replaces choices in the policy of a case.
fn with_choices(mut case: Value, given: &[(&str, &str)]) -> Value {
    if given.is_empty() {
        return case;
    }
    let mut policy = match case["policy"].take() {
        Value::Object(overrides) => overrides,
        // A name, or what the reader will refuse.
        base @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)) => Map::from_iter([(String::from("base"), base)]),
    };
    for (choice, word) in given {
        policy.insert((*choice).to_owned(), Value::from(*word));
    }
    case["policy"] = Value::Object(policy);
    case
}

/// Says what was seen and asked.
fn noticed(case: &Value) -> String {
    let observation = &case["observation"];
    let seen = ["present", "absent", "unknown"]
        .into_iter()
        .find(|answer| observation[answer].is_string())
        .map(|answer| format!("{answer}: {}", word(&observation[answer])));
    let asked = case["asked"]
        .as_str()
        .map(|asked| format!("asked: {asked}"));
    let forced = case["force"]
        .as_str()
        .map(|force| format!("force: {force}"));
    [seen, asked, forced]
        .into_iter()
        .flatten()
        .reduce(|all, one| format!("{all}; {one}"))
        .unwrap_or_else(|| String::from("nothing"))
}

fn list(effects: &Value) -> String {
    let words: Vec<_> = effects.as_array().into_iter().flatten().map(word).collect();
    words.join(", ")
}

fn word(value: &Value) -> String {
    value.as_str().unwrap_or("–").to_owned()
}

const COLUMNS: usize = 6;

const HEADER: [&str; COLUMNS] = [
    "case",
    "observation",
    "sighting",
    "rule",
    "status",
    "effects",
];

const SEEDS: &str = include_str!("../../tests/cases/seeds.jsonl");
