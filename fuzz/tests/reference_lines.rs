//! Where exactly do the thresholds lie, and which lines are refused?

use lifecycle_fuzz::reference::line::decide_line;
use serde_json::{Value, json};

const NOW: i64 = 10_000_000;

#[test]
fn a_blank_line_has_no_answer() {
    assert_eq!(decide_line("", 1), None);
    assert_eq!(decide_line(" \t\r", 1), None);
}

#[test]
fn an_error_line_carries_the_id_where_it_can_be_read() {
    let answer = decide_line(r#"{"id":"x","now":1}"#, 7).expect("an answer");
    assert_eq!(answer["id"], "x");
    assert_eq!(answer["line"], 7);
    assert!(answer["error"].is_string());
    let answer = decide_line("{", 8).expect("an answer");
    assert_eq!(answer["id"], Value::Null);
    assert_eq!(answer["line"], 8);
}

#[test]
fn null_is_absent_and_unknown_fields_are_errors_only_inside_objects() {
    let plain = decide(json!({}), json!({}));
    let nulls = json!({ "marker": null, "volume": null, "last_seen": null });
    assert_eq!(decide(nulls, json!({ "asked": null, "note": 1 })), plain);
    is_error(json!({ "note": 1 }), json!({}));
    is_error(
        json!({}),
        json!({ "observation": { "present": "off", "note": 1 } }),
    );
    is_error(json!({}), json!({ "policy": { "note": 1 } }));
}

#[test]
fn numbers_are_whole_and_not_negative() {
    for number in [
        json!(-1),
        json!(1.0),
        json!(1_u64 << 63),
        json!(true),
        json!("1"),
    ] {
        is_error(json!({ "created_at": number }), json!({}));
        is_error(json!({}), json!({ "now": number }));
    }
    let answer = decide(json!({ "holds": i64::MAX }), json!({}));
    assert_eq!(answer["machine"]["holds"], i64::MAX);
}

#[test]
fn revoking_on_lost_compute_is_a_boolean_or_its_word() {
    for (yes, effects) in [
        (json!(true), 4),
        (json!("true"), 4),
        (json!(false), 3),
        (json!("false"), 3),
    ] {
        let answer = decide(
            json!({ "volume": "owned" }),
            json!({
                "observation": { "absent": "tombstone" },
                "policy": { "revoke_on_compute_lost": yes },
            }),
        );
        assert_eq!(answer["effects"].as_array().map(Vec::len), Some(effects));
    }
    is_error(
        json!({}),
        json!({ "policy": { "revoke_on_compute_lost": 1 } }),
    );
}

#[test]
fn unsound_policies_are_errors_and_their_sound_neighbours_are_not() {
    for (unsound, sound) in [
        (json!({ "grace_ms": 2000 }), json!({ "grace_ms": 2001 })),
        (json!({ "grace_ms": 1 }), json!({ "grace_ms": 0 })),
        (
            json!({ "typed_span_ms": 300_001 }),
            json!({ "typed_span_ms": 300_000 }),
        ),
        (
            json!({ "listed_span_ms": 300_001 }),
            json!({ "listed_span_ms": 300_000 }),
        ),
        (
            json!({ "recheck_ms": 300_001 }),
            json!({ "recheck_ms": 300_000 }),
        ),
        (
            json!({ "fresh_for_ms": 299_999 }),
            json!({ "fresh_for_ms": 300_000 }),
        ),
        (json!({ "typed_misses": 0 }), json!({ "typed_misses": 1 })),
        (
            json!({ "listed_misses": 0 }),
            json!({ "min_proof": "partial_list" }),
        ),
        (
            json!({ "retire_compute_lost_after_ms": 0, "retirement_grace_ms": 2000 }),
            json!({ "retire_compute_lost_after_ms": 0, "retirement_grace_ms": 2001 }),
        ),
        (
            json!({ "retire_compute_lost_after_ms": 0, "base": "converge" }),
            json!({ "retire_compute_lost_after_ms": 0, "base": "immediate" }),
        ),
    ] {
        is_error(json!({}), json!({ "policy": unsound }));
        let answer = decide(json!({}), json!({ "policy": sound }));
        assert!(answer.get("error").is_none(), "{sound}: {answer}");
    }
}

#[test]
fn staleness_begins_one_millisecond_beyond_each_fence() {
    for (machine, begun_at, sighting) in [
        (json!({ "status_since": NOW }), NOW - 1, "unknown"),
        (json!({ "status_since": NOW }), NOW, "running"),
        (json!({ "observed_at": NOW }), NOW - 1, "unknown"),
        (json!({ "observed_at": NOW }), NOW, "running"),
        (json!({ "observed_at": NOW + 2000 }), NOW, "unknown"),
        (json!({ "observed_at": NOW + 2001 }), NOW, "running"),
        (json!({ "status_since": NOW + 2001 }), NOW, "running"),
        (json!({}), NOW - 300_001, "unknown"),
        (json!({}), NOW - 300_000, "running"),
        (json!({}), NOW + 2000, "running"),
        (json!({}), NOW + 2001, "unknown"),
    ] {
        let observation = json!({ "present": "running", "begun_at": begun_at });
        let answer = decide(machine.clone(), json!({ "observation": observation }));
        assert_eq!(answer["sighting"], sighting, "{machine} {begun_at}");
    }
}

#[test]
fn markers_tell_ours_from_nobodys_and_anothers() {
    for (own, found, sighting) in [
        (json!(null), json!("b"), "running"),
        (json!(null), json!(""), "running"),
        (json!("a"), json!(null), "running"),
        (json!("a"), json!("a"), "running"),
        (json!("a"), json!(""), "unknown"),
        (json!("a"), json!("b"), "gone"),
    ] {
        let answer = decide(
            json!({ "marker": own }),
            json!({
                "policy": "immediate",
                "observation": { "present": "running", "marker": found },
            }),
        );
        assert_eq!(answer["sighting"], sighting, "{own} {found}");
    }
}

#[test]
fn misses_are_counted_once_an_answer_and_start_anew_after_a_silence() {
    let run = |since: i64, count: i64| json!({ "since": since, "count": count });
    for (observed_at, missing, counted) in [
        (json!(null), run(NOW - 5000, 1), run(NOW, 1)),
        (json!(NOW + 2001), run(NOW - 5000, 1), run(NOW, 1)),
        (json!(NOW - 600_001), run(NOW - 700_000, 1), run(NOW, 1)),
        (
            json!(NOW - 600_000),
            run(NOW - 700_000, 1),
            run(NOW - 700_000, 2),
        ),
        (json!(NOW - 1), json!(null), run(NOW, 1)),
        (json!(NOW - 1), run(NOW + 2001, 1), run(NOW, 1)),
        (json!(NOW), run(NOW - 5000, 1), run(NOW - 5000, 1)),
        (json!(NOW), json!(null), json!(null)),
        (json!(NOW), run(NOW + 2001, 9), json!(null)),
    ] {
        let answer = decide(
            json!({ "observed_at": observed_at, "missing": missing }),
            json!({ "observation": { "absent": "typed_not_found" } }),
        );
        assert_eq!(
            answer["machine"]["missing"], counted,
            "{observed_at} {missing}"
        );
    }
}

#[test]
fn a_restore_clears_restarts_retirement_or_comes_too_late() {
    let open = json!({ "id": 1, "since": 0, "destroy_at": NOW - 1999 });
    let over = json!({ "id": 1, "since": 0, "destroy_at": NOW - 2000 });
    let restore = json!({ "asked": "restore", "observation": { "present": "off" } });

    let row = json!({ "status": "quarantined", "quarantine": open });
    let answer = decide(row, restore.clone());
    assert_eq!(answer["rule"], "restored");
    assert_eq!(answer["machine"]["quarantine"], Value::Null);
    assert!(answer.get("refused").is_none());

    let row = json!({ "status": "quarantined", "quarantine": over });
    let answer = decide(row.clone(), restore.clone());
    assert_eq!(answer["refused"], "point_of_no_return");
    assert_eq!(answer["rule"], "compute_due");

    let answer = decide(json!({ "status": "destroyed" }), restore);
    assert_eq!(answer["refused"], "point_of_no_return");

    let row = json!({
        "status": "paused", "volume": "owned", "compute": "lost", "compute_lost_at": 0,
    });
    let retire = json!({
        "policy": { "retire_compute_lost_after_ms": 60_000 },
        "observation": { "absent": "tombstone" },
        "asked": "restore",
    });
    let answer = decide(row, retire);
    assert_eq!(answer["rule"], "volume_outlives_compute");
    assert_eq!(answer["machine"]["compute_lost_at"], NOW);
    assert_eq!(answer["look_again_at"], NOW + 62_000);
}

#[test]
fn a_destroyed_row_is_watched_until_the_watch_is_over_or_the_end_is_certain() {
    let policy = json!({ "orphan_watch_ms": 1000 });
    for (since, observation, look) in [
        (NOW - 999, json!({ "present": "off" }), json!(NOW + 300_000)),
        (NOW - 1000, json!({ "present": "off" }), json!(null)),
        (NOW - 999, json!({ "absent": "tombstone" }), json!(null)),
        (NOW - 999, json!(null), json!(NOW + 300_000)),
    ] {
        let answer = decide(
            json!({ "status": "destroyed", "status_since": since }),
            json!({ "policy": policy, "observation": observation }),
        );
        assert_eq!(answer["look_again_at"], look, "{since} {observation}");
    }
}

fn is_error(machine: Value, rest: Value) {
    let answer = decide(machine.clone(), rest.clone());
    assert!(answer["error"].is_string(), "{machine} {rest}: {answer}");
}

/// Decides on a running machine with these fields, in a line with these fields.
fn decide(machine: Value, rest: Value) -> Value {
    let mut line = json!({ "now": NOW, "machine": { "status": "running" } });
    overlay(&mut line["machine"], machine);
    overlay(&mut line, rest);
    decide_line(&line.to_string(), 1).expect("a line that is not blank")
}

fn overlay(base: &mut Value, fields: Value) {
    let Value::Object(fields) = fields else {
        panic!("fields are an object");
    };
    for (name, value) in fields {
        base[name] = value;
    }
}
