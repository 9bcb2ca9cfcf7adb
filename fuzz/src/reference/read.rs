//! How are the policy, the machine and the observation of a line read?

use serde_json::Value;

use super::facts::{LastSeen, Machine, Missing, Observation, Quarantine, Said};
use super::fields::Fields;
use super::policy::Policy;
use super::words::{Compute, Desired, RevokeOnComputeLost, Source, Volume};

/// Reads a policy: a name, or overrides on a named base.
pub(crate) fn policy(value: Option<&Value>) -> Result<Policy, String> {
    let Some(value) = value else {
        return Ok(Policy::cautious());
    };
    if let Some(name) = value.as_str() {
        return Policy::named(name).ok_or_else(|| format!("policy: unknown name {name:?}"));
    }
    let fields = Fields::closed("policy", value, &POLICY_FIELDS)?;
    let base = fields.text("base")?.unwrap_or("cautious");
    let mut policy =
        Policy::named(base).ok_or_else(|| format!("policy.base: unknown name {base:?}"))?;

    if let Some(word) = fields.word("compute_lost")? {
        policy.choices.compute_lost = word;
    }
    if let Some(word) = fields.word("volume_after_quarantine")? {
        policy.choices.volume_after_quarantine = word;
    }
    if let Some(word) = fields.word("late_arrival")? {
        policy.choices.late_arrival = word;
    }
    if let Some(word) = fields.word("orphan")? {
        policy.choices.orphan = word;
    }
    if let Some(word) = yes_or_no(fields, "revoke_on_compute_lost")? {
        policy.choices.revoke_on_compute_lost = word;
    }
    if let Some(word) = fields.word("min_proof")? {
        policy.min_proof = word;
    }
    for (field, threshold) in [
        ("typed_misses", &mut policy.typed_misses),
        ("typed_span_ms", &mut policy.typed_span_ms),
        ("listed_misses", &mut policy.listed_misses),
        ("listed_span_ms", &mut policy.listed_span_ms),
        ("visibility_window_ms", &mut policy.visibility_window_ms),
        ("launch_deadline_ms", &mut policy.launch_deadline_ms),
        ("max_age_ms", &mut policy.max_age_ms),
        ("fresh_for_ms", &mut policy.fresh_for_ms),
        ("clock_error_ms", &mut policy.clock_error_ms),
        ("grace_ms", &mut policy.grace_ms),
        ("retirement_grace_ms", &mut policy.retirement_grace_ms),
        ("orphan_watch_ms", &mut policy.orphan_watch_ms),
        ("recheck_ms", &mut policy.recheck_ms),
        ("sweep_every_ms", &mut policy.sweep_every_ms),
    ] {
        if let Some(number) = fields.number(field)? {
            *threshold = number;
        }
    }
    if let Some(number) = fields.number("retire_compute_lost_after_ms")? {
        policy.retire_compute_lost_after_ms = Some(number);
    }
    Ok(policy)
}

/// A choice between two, as a JSON boolean or as its word.
fn yes_or_no(fields: Fields<'_>, field: &str) -> Result<Option<RevokeOnComputeLost>, String> {
    match fields.value(field).and_then(Value::as_bool) {
        Some(true) => Ok(Some(RevokeOnComputeLost::True)),
        Some(false) => Ok(Some(RevokeOnComputeLost::False)),
        None => fields.word(field),
    }
}

/// Reads a machine.
pub(crate) fn machine(value: &Value) -> Result<Machine, String> {
    let fields = Fields::closed("machine", value, &MACHINE_FIELDS)?;
    Ok(Machine {
        status: fields.required_word("status")?,
        volume: fields.word("volume")?.unwrap_or(Volume::None),
        compute: fields.word("compute")?.unwrap_or(Compute::Held),
        desired: fields.word("desired")?.unwrap_or(Desired::On),
        generation: fields.number("generation")?.unwrap_or(1),
        scope: fields.text("scope")?.unwrap_or("default").to_owned(),
        marker: fields.text("marker")?.map(str::to_owned),
        created_at: fields.number("created_at")?.unwrap_or(0),
        status_since: fields.number("status_since")?.unwrap_or(0),
        last_seen: fields.value("last_seen").map(last_seen).transpose()?,
        observed_at: fields.number("observed_at")?,
        missing: fields.value("missing").map(missing).transpose()?,
        quarantine: fields.value("quarantine").map(quarantine).transpose()?,
        quarantines: fields.number("quarantines")?.unwrap_or(0),
        compute_lost_at: fields.number("compute_lost_at")?,
        busy_until: fields.number("busy_until")?,
        holds: fields.number("holds")?.unwrap_or(1),
    })
}

fn last_seen(value: &Value) -> Result<LastSeen, String> {
    let fields = Fields::closed("machine.last_seen", value, &["power", "at"])?;
    Ok(LastSeen {
        power: fields.required_word("power")?,
        at: fields.required_number("at")?,
    })
}

fn missing(value: &Value) -> Result<Missing, String> {
    let fields = Fields::closed("machine.missing", value, &["since", "count"])?;
    Ok(Missing {
        since: fields.required_number("since")?,
        count: fields.required_number("count")?,
    })
}

fn quarantine(value: &Value) -> Result<Quarantine, String> {
    let known = ["id", "since", "destroy_at"];
    let fields = Fields::closed("machine.quarantine", value, &known)?;
    Ok(Quarantine {
        id: fields.required_number("id")?,
        since: fields.required_number("since")?,
        destroy_at: fields.required_number("destroy_at")?,
    })
}

/// Reads an observation, whose absent fields are those of the machine.
pub(crate) fn observation(
    value: &Value,
    machine: &Machine,
    now: i64,
) -> Result<Observation, String> {
    let fields = Fields::closed("observation", value, &OBSERVATION_FIELDS)?;
    let present = fields.word("present")?.map(Said::Present);
    let absent = fields.word("absent")?.map(Said::Absent);
    let unknown = fields.word("unknown")?.map(Said::Unknown);
    let said: Vec<Said> = [present, absent, unknown].into_iter().flatten().collect();
    let &[said] = said.as_slice() else {
        return Err("observation: not exactly one of present, absent, unknown".to_owned());
    };
    let own_marker = machine.marker.as_deref();
    Ok(Observation {
        said,
        begun_at: fields.number("begun_at")?.unwrap_or(now),
        generation: fields.number("generation")?.unwrap_or(machine.generation),
        scope: fields.text("scope")?.unwrap_or(&machine.scope).to_owned(),
        marker: fields.text("marker")?.or(own_marker).map(str::to_owned),
        source: fields.word("source")?.unwrap_or(Source::Sweep),
    })
}

const POLICY_FIELDS: [&str; 22] = [
    "base",
    "compute_lost",
    "volume_after_quarantine",
    "late_arrival",
    "orphan",
    "revoke_on_compute_lost",
    "min_proof",
    "typed_misses",
    "typed_span_ms",
    "listed_misses",
    "listed_span_ms",
    "visibility_window_ms",
    "launch_deadline_ms",
    "max_age_ms",
    "fresh_for_ms",
    "clock_error_ms",
    "grace_ms",
    "retire_compute_lost_after_ms",
    "retirement_grace_ms",
    "orphan_watch_ms",
    "recheck_ms",
    "sweep_every_ms",
];

const MACHINE_FIELDS: [&str; 17] = [
    "status",
    "volume",
    "compute",
    "desired",
    "generation",
    "scope",
    "marker",
    "created_at",
    "status_since",
    "last_seen",
    "observed_at",
    "missing",
    "quarantine",
    "quarantines",
    "compute_lost_at",
    "busy_until",
    "holds",
];

const OBSERVATION_FIELDS: [&str; 8] = [
    "present",
    "absent",
    "unknown",
    "begun_at",
    "generation",
    "scope",
    "marker",
    "source",
];
