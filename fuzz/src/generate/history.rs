//! What may come next for a machine that was just decided about?
//!
//! The next facts of one decision are the facts of the next one. Time moves on, now and then the
//! host does what it alone can do: destroys the volume, or holds the row.

use serde_json::{Map, Value, json};

use super::{case, dice::Dice, instants::Instants};
use crate::reference::{
    line::sound_policy,
    policy::Policy,
    words::{Volume, Word as _},
};

/// The inputs of one machine's life, one after the other.
#[derive(Debug)]
pub struct History {
    dice: Dice,
    name: Option<Value>,
    policy: Policy,
    now: i64,
    seed: u64,
}

impl History {
    /// Begins the history of a seed, with its first input.
    ///
    /// # Panics
    ///
    /// Panics where the case that was made for it cannot be read, which is a fault of this crate.
    #[must_use]
    pub fn begin(seed: u64) -> (Self, Value) {
        let mut dice = Dice::new(seed);
        let mut first = case::case(&mut dice, seed);
        // From the end of time no history goes on.
        if first["now"].as_i64() == Some(i64::MAX) {
            first["now"] = json!(10_000_000);
        }
        let name = first.get("policy").cloned();
        let history = Self {
            dice,
            policy: sound_policy(name.as_ref()).expect("a generated policy is sound"),
            name,
            now: first["now"].as_i64().expect("a generated case has a time"),
            seed,
        };
        (history, first)
    }

    /// Makes the next input of the facts that the last answer left behind.
    #[must_use]
    pub fn next(&mut self, machine: &Value) -> Value {
        let stored = numbers(machine);
        let dice = &mut self.dice;
        let mut instants = Instants::later(dice, &self.policy, self.now, stored);
        self.now = instants.now();
        let mut line = Map::new();
        line.insert("id".to_owned(), json!(format!("history-{}", self.seed)));
        line.insert("now".to_owned(), json!(self.now));
        if let Some(name) = &self.name {
            line.insert("policy".to_owned(), name.clone());
        }
        if dice.percent(92) {
            let value = case::observation(dice, &mut instants);
            line.insert("observation".to_owned(), value);
        }
        let mut machine = machine.clone();
        if machine["status"] == "destroyed" && dice.percent(25) {
            begin_anew(&mut machine, self.now);
        }
        if dice.percent(5) {
            machine["volume"] = json!(dice.pick(Volume::ALL).word());
        }
        if dice.percent(5) {
            machine["busy_until"] = json!(instants.any(dice));
        }
        line.insert("machine".to_owned(), machine);
        if dice.percent(12) {
            line.insert("asked".to_owned(), json!(dice.pick(&["delete", "restore"])));
        }
        if dice.percent(1) {
            line.insert("force".to_owned(), json!("destroyed"));
        }
        Value::Object(line)
    }
}

/// Makes the next generation of a machine that ended, as the replacement of a base is.
fn begin_anew(machine: &mut Value, now: i64) {
    for field in ["generation", "holds"] {
        machine[field] = json!(
            machine[field]
                .as_i64()
                .map_or(1, |count| count.saturating_add(1))
        );
    }
    for field in [
        "last_seen",
        "observed_at",
        "missing",
        "quarantine",
        "compute_lost_at",
    ] {
        machine[field] = Value::Null;
    }
    machine["status"] = json!("provisioning");
    machine["compute"] = json!("held");
    machine["busy_until"] = Value::Null;
    machine["created_at"] = json!(now);
    machine["status_since"] = json!(now);
}

/// Every number in a value; among those of a machine are its instants.
fn numbers(value: &Value) -> Vec<i64> {
    match value {
        Value::Number(number) => number.as_i64().into_iter().collect(),
        Value::Object(fields) => fields.values().flat_map(numbers).collect(),
        Value::Array(items) => items.iter().flat_map(numbers).collect(),
        Value::Null | Value::Bool(_) | Value::String(_) => Vec::new(),
    }
}
