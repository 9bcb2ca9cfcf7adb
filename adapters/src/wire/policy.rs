//! How is a policy read from JSON: by name, or as overrides on a named one?

use core::time::Duration;

use lifecycle_core::{
    Choices, ComputeLost, LateArrival, Misses, Orphan, Policy, Proof, RevokeOnComputeLost,
    Thresholds, Unsound, VolumeAfterQuarantine,
};
use serde::{Deserialize, Deserializer, de};
use serde_json::Value;
use thiserror::Error;

use super::input::{Count, has_list};
use crate::policies::table_of;

/// Why a policy cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WrongPolicy {
    /// No policy has this name.
    #[error("no policy is named {0:?}; one of cautious, immediate, converge")]
    UnknownName(String),
    /// A list where the form has none.
    #[error("a list is not expected")]
    List,
    /// Neither a name nor an object of overrides, or an override that cannot be read.
    #[error("{part}: {error}")]
    Form {
        /// Which part of it.
        part: String,
        /// What is wrong with it.
        #[source]
        error: serde_json::Error,
    },
    /// It can be read, and is unsound.
    #[error(transparent)]
    Unsound(#[from] Unsound),
}

/// Reads a policy: a name, or an object of overrides on its `base`; `cautious` where there is none.
///
/// ```
/// use lifecycle_adapters::wire;
///
/// let policy = wire::policy(serde_json::json!({"base": "immediate", "grace_ms": 60_000})).unwrap();
/// assert_eq!(policy.thresholds().grace.as_secs(), 60);
/// ```
///
/// # Errors
///
/// Returns [`WrongPolicy`] for an unknown name, an unknown or unreadable override, or unsound values.
pub fn policy(value: Value) -> Result<Policy<'static>, WrongPolicy> {
    match value {
        Value::Null => Ok(Policy::CAUTIOUS),
        Value::String(name) => named(name),
        _ if has_list(&value) => Err(WrongPolicy::List),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            let form: PolicyForm =
                serde_path_to_error::deserialize(value).map_err(|error| WrongPolicy::Form {
                    part: error.path().to_string(),
                    error: error.into_inner(),
                })?;
            form.policy()
        }
    }
}

fn named(name: String) -> Result<Policy<'static>, WrongPolicy> {
    Policy::named(&name).ok_or(WrongPolicy::UnknownName(name))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a policy")]
struct PolicyForm {
    base: Option<String>,
    compute_lost: Option<ComputeLost>,
    volume_after_quarantine: Option<VolumeAfterQuarantine>,
    late_arrival: Option<LateArrival>,
    orphan: Option<Orphan>,
    #[serde(default, deserialize_with = "flag")]
    revoke_on_compute_lost: Option<RevokeOnComputeLost>,
    min_proof: Option<Proof>,
    typed_misses: Option<Count>,
    typed_span_ms: Option<Count>,
    listed_misses: Option<Count>,
    listed_span_ms: Option<Count>,
    visibility_window_ms: Option<Count>,
    launch_deadline_ms: Option<Count>,
    max_age_ms: Option<Count>,
    fresh_for_ms: Option<Count>,
    clock_error_ms: Option<Count>,
    grace_ms: Option<Count>,
    retire_compute_lost_after_ms: Option<Count>,
    retirement_grace_ms: Option<Count>,
    orphan_watch_ms: Option<Count>,
    recheck_ms: Option<Count>,
    sweep_every_ms: Option<Count>,
}

impl PolicyForm {
    fn policy(self) -> Result<Policy<'static>, WrongPolicy> {
        let base = match self.base {
            Some(name) => named(name)?,
            None => Policy::CAUTIOUS,
        };
        let chosen = base.choices();
        let choices = Choices {
            compute_lost: self.compute_lost.unwrap_or(chosen.compute_lost),
            volume_after_quarantine: self
                .volume_after_quarantine
                .unwrap_or(chosen.volume_after_quarantine),
            late_arrival: self.late_arrival.unwrap_or(chosen.late_arrival),
            orphan: self.orphan.unwrap_or(chosen.orphan),
            revoke_on_compute_lost: self
                .revoke_on_compute_lost
                .unwrap_or(chosen.revoke_on_compute_lost),
        };
        let set = *base.thresholds();
        let misses = |count: Option<Count>, span, set: Misses| Misses {
            count: count.map_or(set.count, Count::get),
            span: or(span, set.span),
        };
        let thresholds = Thresholds {
            min_proof: self.min_proof.unwrap_or(set.min_proof),
            typed: misses(self.typed_misses, self.typed_span_ms, set.typed),
            listed: misses(self.listed_misses, self.listed_span_ms, set.listed),
            visibility_window: or(self.visibility_window_ms, set.visibility_window),
            launch_deadline: or(self.launch_deadline_ms, set.launch_deadline),
            max_age: or(self.max_age_ms, set.max_age),
            fresh_for: or(self.fresh_for_ms, set.fresh_for),
            clock_error: or(self.clock_error_ms, set.clock_error),
            grace: or(self.grace_ms, set.grace),
            retire_compute_lost_after: self
                .retire_compute_lost_after_ms
                .map(duration)
                .or(set.retire_compute_lost_after),
            retirement_grace: or(self.retirement_grace_ms, set.retirement_grace),
            orphan_watch: or(self.orphan_watch_ms, set.orphan_watch),
            recheck: or(self.recheck_ms, set.recheck),
            sweep_every: or(self.sweep_every_ms, set.sweep_every),
        };
        Ok(Policy::new(table_of(choices), thresholds)?)
    }
}

fn or(millis: Option<Count>, set: Duration) -> Duration {
    millis.map_or(set, duration)
}

const fn duration(millis: Count) -> Duration {
    Duration::from_millis(millis.get())
}

/// Reads a choice between two as JSON's own, or as the word of the table.
fn flag<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<RevokeOnComputeLost>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(None),
        Value::Bool(true) => Ok(Some(RevokeOnComputeLost::Yes)),
        Value::Bool(false) => Ok(Some(RevokeOnComputeLost::No)),
        Value::String(word) => word.parse().map(Some).map_err(de::Error::custom),
        other @ (Value::Number(_) | Value::Array(_) | Value::Object(_)) => Err(de::Error::custom(
            format!("revoke_on_compute_lost must be true or false, not {other}"),
        )),
    }
}
