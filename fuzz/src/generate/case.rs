//! What does one random, valid case look like?
//!
//! Fields are left out, null or set by chance; rolls lean towards cases that get past the first
//! steps of judging, since most of the meaning lies behind them.

use serde_json::{Map, Value, json};

use super::dice::Dice;
use super::instants::Instants;
use super::thresholds;
use crate::reference::policy::Policy;
use crate::reference::words::{
    Cause, Compute, Desired, Power, Proof, Source, Status, Volume, Word,
};

/// Rolls a case.
pub(crate) fn case(dice: &mut Dice, seed: u64) -> Value {
    let (name, policy) = thresholds::policy(dice);
    let mut instants = Instants::new(dice, &policy);
    let mut line = Map::new();

    line.insert("id".to_owned(), json!(format!("seed-{seed}")));
    line.insert("now".to_owned(), json!(instants.now()));
    if let Some(name) = name {
        line.insert("policy".to_owned(), name);
    }
    // The observation comes first, so that stored instants are rolled beside its own.
    if dice.percent(92) {
        let value = observation(dice, &mut instants);
        line.insert("observation".to_owned(), value);
    } else if dice.percent(30) {
        line.insert("observation".to_owned(), Value::Null);
    }
    let value = machine(dice, &mut instants, &policy);
    line.insert("machine".to_owned(), value);
    maybe(dice, &mut line, 30, "asked", |dice| {
        json!(dice.pick(&["delete", "delete", "restore", "restore", "restore"]))
    });
    maybe(dice, &mut line, 6, "force", |_| json!("destroyed"));
    maybe(dice, &mut line, 3, "note", |_| json!({ "ignored": [-1] }));
    Value::Object(line)
}

pub(crate) fn observation(dice: &mut Dice, instants: &mut Instants) -> Value {
    let mut map = Map::new();
    let (said, word) = match dice.below(100) {
        0..43 => ("present", dice.pick(Power::ALL).word()),
        43..94 => ("absent", dice.pick(Proof::ALL).word()),
        _ => ("unknown", dice.pick(Cause::ALL).word()),
    };
    map.insert(said.to_owned(), json!(word));
    maybe(dice, &mut map, 50, "begun_at", |dice| {
        let near = instants.now().saturating_sub(dice.pick(&[0, 1, 2, 1000]));
        if dice.percent(40) {
            instants.keep(near.max(0));
            return json!(near.max(0));
        }
        json!(instants.past(dice))
    });
    maybe(dice, &mut map, 10, "generation", |dice| {
        json!(dice.pick(&[1, 1, 1, 2, 0]))
    });
    maybe(dice, &mut map, 10, "scope", |dice| {
        json!(dice.pick(&["default", "default", "acct-1/eu", ""]))
    });
    maybe(dice, &mut map, 30, "marker", marker);
    maybe(dice, &mut map, 40, "source", |dice| {
        json!(dice.pick(Source::ALL).word())
    });
    Value::Object(map)
}

fn machine(dice: &mut Dice, instants: &mut Instants, policy: &Policy) -> Value {
    let mut map = Map::new();
    // Few rows would be near their retirement by chance, and much depends on it.
    let retiring = policy.retire_compute_lost_after_ms.is_some() && dice.percent(40);
    let status = if retiring {
        Status::Paused
    } else {
        dice.pick(Status::ALL)
    };
    map.insert("status".to_owned(), json!(status.word()));
    maybe(dice, &mut map, 75, "volume", |dice| {
        json!(dice.pick(Volume::ALL).word())
    });
    maybe(dice, &mut map, 70, "compute", |dice| {
        json!(dice.pick(Compute::ALL).word())
    });
    if retiring {
        map.insert("compute".to_owned(), json!(Compute::Lost.word()));
    }
    maybe(dice, &mut map, 40, "desired", |dice| {
        json!(dice.pick(Desired::ALL).word())
    });
    maybe(dice, &mut map, 5, "generation", |dice| {
        json!(dice.pick(&[1, 2, 0, i64::MAX]))
    });
    maybe(dice, &mut map, 5, "scope", |dice| {
        json!(dice.pick(&["default", "acct-1/eu", ""]))
    });
    maybe(dice, &mut map, 40, "marker", marker);
    maybe(dice, &mut map, 40, "created_at", |dice| {
        json!(instants.past(dice))
    });
    maybe(dice, &mut map, 50, "status_since", |dice| {
        json!(instants.past(dice))
    });
    maybe(dice, &mut map, 65, "last_seen", |dice| {
        let powers = ["booting", "running", "stopping", "off", "suspended", "gone"];
        json!({ "power": dice.pick(&powers), "at": instants.past(dice) })
    });
    maybe(dice, &mut map, 60, "observed_at", |dice| {
        json!(instants.past(dice))
    });
    maybe(dice, &mut map, 50, "missing", |dice| {
        let nearly = policy.typed_misses - 1;
        let counts = [1, 1, 2, 3, 0, nearly, policy.listed_misses - 1, i64::MAX];
        json!({ "since": instants.past(dice), "count": dice.pick(&counts) })
    });
    let stamped = match status {
        Status::Quarantined => 75,
        Status::Destroying | Status::Destroyed => 50,
        Status::Provisioning | Status::Running | Status::Paused | Status::Failed => 10,
    };
    maybe(dice, &mut map, stamped, "quarantine", |dice| {
        json!({
            "id": dice.pick(&[1, 2, 7]),
            "since": instants.past(dice),
            "destroy_at": instants.any(dice),
        })
    });
    maybe(dice, &mut map, 30, "quarantines", count);
    maybe(dice, &mut map, 50, "compute_lost_at", |dice| {
        json!(instants.past(dice))
    });
    maybe(dice, &mut map, 25, "busy_until", |dice| {
        json!(instants.any(dice))
    });
    maybe(dice, &mut map, 30, "holds", count);
    Value::Object(map)
}

fn marker(dice: &mut Dice) -> Value {
    json!(dice.pick(&["a", "a", "b", ""]))
}

fn count(dice: &mut Dice) -> Value {
    json!(dice.pick(&[0, 1, 2, 3, 41, i64::MAX]))
}

/// Sets a field in so many of a hundred cases, and makes it null in a few of the others.
fn maybe(
    dice: &mut Dice,
    map: &mut Map<String, Value>,
    share: usize,
    field: &str,
    value: impl FnOnce(&mut Dice) -> Value,
) {
    if dice.percent(share) {
        map.insert(field.to_owned(), value(dice));
    } else if dice.percent(5) {
        map.insert(field.to_owned(), Value::Null);
    }
}
