//! How is a decision written as JSON?

use serde_json::{Value, json};

use super::conclude::Decision;
use super::facts::Machine;
use super::report::Report;
use super::words::Word;

/// Writes a decision with the report on its next facts.
pub(crate) fn decision(id: &Value, decision: &Decision, report: Report) -> Value {
    let mut written = json!({
        "id": id,
        "sighting": decision.sighting.word(),
        "to": decision.answer.to.word(),
        "effects": decision.answer.effects,
        "rule": decision.answer.rule,
        "machine": machine(&decision.machine),
        "look_again_at": decision.look_again_at,
        "report": {
            "phase": report.phase,
            "desired": report.desired,
            "actual": report.actual,
            "as_of": report.as_of,
            "destroy_at": report.destroy_at,
        },
    });
    if decision.refused {
        written["refused"] = json!("point_of_no_return");
    }
    written
}

/// Writes that a line could not be answered.
pub(crate) fn error(id: &Value, error: &str, number: u64) -> Value {
    json!({ "id": id, "error": error, "line": number })
}

fn machine(machine: &Machine) -> Value {
    json!({
        "status": machine.status.word(),
        "volume": machine.volume.word(),
        "compute": machine.compute.word(),
        "desired": machine.desired.word(),
        "generation": machine.generation,
        "scope": machine.scope,
        "marker": machine.marker,
        "created_at": machine.created_at,
        "status_since": machine.status_since,
        "last_seen": machine.last_seen.map(|seen| json!({
            "power": seen.power.word(),
            "at": seen.at,
        })),
        "observed_at": machine.observed_at,
        "missing": machine.missing.map(|missing| json!({
            "since": missing.since,
            "count": missing.count,
        })),
        "quarantine": machine.quarantine.map(|quarantine| json!({
            "id": quarantine.id,
            "since": quarantine.since,
            "destroy_at": quarantine.destroy_at,
        })),
        "quarantines": machine.quarantines,
        "compute_lost_at": machine.compute_lost_at,
        "busy_until": machine.busy_until,
        "holds": machine.holds,
    })
}
