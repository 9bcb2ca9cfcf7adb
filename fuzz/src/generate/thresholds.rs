//! Which policies are worth trying?

use serde_json::{Map, Value, json};

use super::dice::Dice;
use crate::reference::line::sound_policy;
use crate::reference::policy::Policy;
use crate::reference::words::{
    ComputeLost, LateArrival, Orphan, Proof, RevokeOnComputeLost, VolumeAfterQuarantine, Word,
};

/// Rolls a sound policy: its wire form, if it is not the default, and what it means.
pub(crate) fn policy(dice: &mut Dice) -> (Option<Value>, Policy) {
    let value = match dice.below(100) {
        0..15 => None,
        15..50 => Some(json!(dice.pick(&NAMES))),
        _ => Some(overrides(dice)),
    };
    match sound_policy(value.as_ref()) {
        Ok(policy) => (value, policy),
        Err(_) => policy(dice),
    }
}

fn overrides(dice: &mut Dice) -> Value {
    let mut map = Map::new();
    if dice.percent(70) {
        map.insert("base".to_owned(), json!(dice.pick(&NAMES)));
    }
    choose::<ComputeLost>(dice, &mut map, "compute_lost");
    choose::<VolumeAfterQuarantine>(dice, &mut map, "volume_after_quarantine");
    choose::<LateArrival>(dice, &mut map, "late_arrival");
    choose::<Orphan>(dice, &mut map, "orphan");
    if dice.percent(20) {
        let yes = dice.percent(60);
        map.insert("revoke_on_compute_lost".to_owned(), json!(yes));
    } else {
        choose::<RevokeOnComputeLost>(dice, &mut map, "revoke_on_compute_lost");
    }
    if dice.percent(20) {
        let word = dice.pick(Proof::ALL).word();
        map.insert("min_proof".to_owned(), json!(word));
    }
    for (field, values) in NUMBERS {
        // These two switch whole paths on, so they are set more often than the others.
        let share = if field == RETIREMENT || field == "grace_ms" {
            35
        } else {
            18
        };
        if dice.percent(share) {
            map.insert(field.to_owned(), json!(dice.pick(values)));
        }
    }
    Value::Object(map)
}

fn choose<W: Word>(dice: &mut Dice, map: &mut Map<String, Value>, field: &str) {
    if dice.percent(30) {
        map.insert(field.to_owned(), json!(dice.pick(W::ALL).word()));
    }
}

const NAMES: [&str; 3] = ["cautious", "immediate", "converge"];

const RETIREMENT: &str = "retire_compute_lost_after_ms";

const NUMBERS: [(&str, &[i64]); 15] = [
    ("typed_misses", &[1, 2, 3]),
    ("typed_span_ms", &[0, 1, 1000, 60_000]),
    ("listed_misses", &[1, 2, 3, 4]),
    ("listed_span_ms", &[0, 1, 60_000, 300_000]),
    ("visibility_window_ms", &[0, 1, 60_000, 3_600_000]),
    ("launch_deadline_ms", &[0, 1, 60_000, 1_800_000]),
    ("max_age_ms", &[60_000, 300_000, 900_000, i64::MAX]),
    ("fresh_for_ms", &[300_000, 600_000, 3_600_000]),
    ("clock_error_ms", &[0, 1, 2000, 60_000]),
    ("grace_ms", &[0, 0, 0, 1, 2001, 60_001, 300_000, i64::MAX]),
    (RETIREMENT, &[0, 1, 60_000, 3_600_000, i64::MAX]),
    ("retirement_grace_ms", &[0, 1, 2001, 86_400_000]),
    ("orphan_watch_ms", &[0, 1, 60_000, 86_400_000]),
    ("recheck_ms", &[0, 1, 1000, 30_000, 300_000]),
    ("sweep_every_ms", &[0, 30_000, 300_000, 600_000]),
];
