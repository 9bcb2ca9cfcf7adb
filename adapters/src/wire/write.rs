//! How is a decision's input written, so that `decide` gives the same answer again?

use lifecycle_core::{
    Answer, Asked, Choices, Force, Machine, Misses, Observation, Policy, RevokeOnComputeLost,
    SeenMarker, Thresholds, Timestamp,
};
use serde_json::{Value, json};

/// Writes an input as one line.
///
/// Whatever was decided from it is decided again by [`decide_line`](super::decide_line): the policy
/// is written out in full, whatever its name comes to mean later.
#[must_use]
pub fn line(
    id: &str,
    machine: &Machine<'_>,
    observation: Option<&Observation<'_>>,
    asked: Asked,
    now: Timestamp,
    policy: &Policy<'_>,
) -> String {
    json!({
        "id": id,
        "policy": overrides(policy),
        "machine": machine,
        "observation": observation.map(seen),
        "asked": asked.request,
        "force": match asked.force {
            Force::None => Value::Null,
            Force::Destroyed => json!(Force::Destroyed),
        },
        "now": now,
    })
    .to_string()
}

fn seen(observation: &Observation<'_>) -> Value {
    let Observation {
        answer,
        generation,
        scope,
        marker,
        begun_at,
        source,
    } = *observation;
    let mut seen = json!({
        "generation": generation,
        "scope": scope,
        "marker": match marker {
            SeenMarker::NotRead => None,
            SeenMarker::Blank => Some(""),
            SeenMarker::Is(marker) => Some(marker),
        },
        "begun_at": begun_at,
        "source": source,
    });
    match answer {
        Answer::Present(power) => seen["present"] = json!(power),
        Answer::Absent(proof) => seen["absent"] = json!(proof),
        Answer::Unknown(cause) => seen["unknown"] = json!(cause),
    }
    seen
}

fn overrides(policy: &Policy<'_>) -> Value {
    let Choices {
        compute_lost,
        volume_after_quarantine,
        late_arrival,
        orphan,
        revoke_on_compute_lost,
    } = policy.choices();
    let Thresholds {
        min_proof,
        typed,
        listed,
        visibility_window,
        launch_deadline,
        max_age,
        fresh_for,
        clock_error,
        grace,
        retire_compute_lost_after,
        retirement_grace,
        orphan_watch,
        recheck,
        sweep_every,
    } = *policy.thresholds();
    let Misses {
        count: typed_misses,
        span: typed_span,
    } = typed;
    let Misses {
        count: listed_misses,
        span: listed_span,
    } = listed;
    json!({
        "compute_lost": compute_lost,
        "volume_after_quarantine": volume_after_quarantine,
        "late_arrival": late_arrival,
        "orphan": orphan,
        "revoke_on_compute_lost": matches!(revoke_on_compute_lost, RevokeOnComputeLost::Yes),
        "min_proof": min_proof,
        "typed_misses": typed_misses,
        "typed_span_ms": millis(typed_span),
        "listed_misses": listed_misses,
        "listed_span_ms": millis(listed_span),
        "visibility_window_ms": millis(visibility_window),
        "launch_deadline_ms": millis(launch_deadline),
        "max_age_ms": millis(max_age),
        "fresh_for_ms": millis(fresh_for),
        "clock_error_ms": millis(clock_error),
        "grace_ms": millis(grace),
        "retire_compute_lost_after_ms": retire_compute_lost_after.map(millis),
        "retirement_grace_ms": millis(retirement_grace),
        "orphan_watch_ms": millis(orphan_watch),
        "recheck_ms": millis(recheck),
        "sweep_every_ms": millis(sweep_every),
    })
}

/// An instant plus a duration saturates, so from the epoch it is the duration in an instant's range.
const fn millis(duration: core::time::Duration) -> i64 {
    Timestamp::from_millis(0)
        .saturating_add(duration)
        .as_millis()
}
