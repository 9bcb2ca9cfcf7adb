//! What may stand in one line of input?

use lifecycle_core::{
    Answer, Asked, Cause, Compute, Decision, Desired, Force, LastSeen, Machine, Missing,
    Observation, Policy, Power, Proof, QuarantineStamp, Request, SeenMarker, Source, Status,
    Timestamp, Volume, decide,
};
use serde::{
    Deserialize, Deserializer,
    de::{self, DeserializeOwned},
};
use serde_json::{Map, Value};
use thiserror::Error;

use super::policy::{WrongPolicy, policy};
use crate::facts::Facts;

/// One input of the decision, with texts of its own.
#[derive(Clone, Debug)]
pub struct Input {
    facts: Facts,
    observation: Option<Seen>,
    asked: Asked,
    now: Timestamp,
    policy: Policy<'static>,
}

/// Why a line cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WrongInput {
    /// The line is JSON, but not an object.
    #[error("not an object")]
    NotAnObject,
    /// A field that must be there is not.
    #[error("{0}: missing")]
    Missing(&'static str),
    /// A field does not hold what it should.
    #[error("{part}: {error}")]
    Field {
        /// Which one, with the objects that it lies in.
        part: String,
        /// What is wrong with it.
        #[source]
        error: serde_json::Error,
    },
    /// The observation does not say one thing.
    #[error("observation: exactly one of present, absent, unknown must be set")]
    NotOneAnswer,
    /// No force is written by leaving the field out.
    #[error("force: only destroyed can be forced")]
    NoForce,
    /// A list where the form has none: serde would read it as an object's fields in order.
    #[error("{0}: a list is not expected")]
    List(&'static str),
    /// The policy cannot be used.
    #[error("policy: {0}")]
    Policy(#[from] WrongPolicy),
}

impl Input {
    /// Reads an input from its JSON form.
    ///
    /// # Errors
    ///
    /// Returns [`WrongInput`] with the field that cannot be read, and why.
    pub fn read(value: Value) -> Result<Self, WrongInput> {
        let Value::Object(mut fields) = value else {
            return Err(WrongInput::NotAnObject);
        };
        let now: Timestamp = optional(&mut fields, "now")?.ok_or(WrongInput::Missing("now"))?;
        let machine: MachineForm =
            optional(&mut fields, "machine")?.ok_or(WrongInput::Missing("machine"))?;
        let facts = machine.facts();
        let observation: Option<ObservationForm> = optional(&mut fields, "observation")?;
        let observation = observation.map(|form| form.seen(&facts, now)).transpose()?;
        let force: Option<Force> = optional(&mut fields, "force")?;
        if matches!(force, Some(Force::None)) {
            return Err(WrongInput::NoForce);
        }
        let request: Option<Request> = optional(&mut fields, "asked")?;
        let policy = policy(fields.remove("policy").unwrap_or(Value::Null))?;
        let asked = Asked {
            request,
            force: force.unwrap_or(Force::None),
        };
        Ok(Self {
            facts,
            observation,
            asked,
            now,
            policy,
        })
    }

    /// Decides.
    #[must_use]
    pub fn decide(&self) -> Decision<'_> {
        let machine = self.facts.machine();
        let observation = self.observation.as_ref().map(Seen::observation);
        decide(
            &machine,
            observation.as_ref(),
            self.asked,
            self.now,
            &self.policy,
        )
    }

    /// Decides as if another path had noticed.
    #[must_use]
    pub fn decide_from(&self, source: Source) -> Decision<'_> {
        let machine = self.facts.machine();
        let observation = self.observation.as_ref().map(|seen| Observation {
            source,
            ..seen.observation()
        });
        decide(
            &machine,
            observation.as_ref(),
            self.asked,
            self.now,
            &self.policy,
        )
    }
}

/// An observation with texts of its own.
#[derive(Clone, Debug)]
struct Seen {
    answer: Answer,
    generation: u64,
    scope: String,
    marker: Option<String>,
    begun_at: Timestamp,
    source: Source,
}

impl Seen {
    fn observation(&self) -> Observation<'_> {
        Observation {
            answer: self.answer,
            generation: self.generation,
            scope: &self.scope,
            marker: match self.marker.as_deref() {
                None => SeenMarker::NotRead,
                Some("") => SeenMarker::Blank,
                Some(marker) => SeenMarker::Is(marker),
            },
            begun_at: self.begun_at,
            source: self.source,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a machine")]
struct MachineForm {
    status: Status,
    volume: Option<Volume>,
    compute: Option<Compute>,
    desired: Option<Desired>,
    generation: Option<Count>,
    scope: Option<String>,
    marker: Option<String>,
    created_at: Option<Timestamp>,
    status_since: Option<Timestamp>,
    last_seen: Option<LastSeen>,
    observed_at: Option<Timestamp>,
    missing: Option<MissingForm>,
    quarantine: Option<QuarantineForm>,
    quarantines: Option<Count>,
    compute_lost_at: Option<Timestamp>,
    busy_until: Option<Timestamp>,
    holds: Option<Count>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a run of misses")]
struct MissingForm {
    since: Timestamp,
    count: Count,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a quarantine")]
struct QuarantineForm {
    id: Count,
    since: Timestamp,
    destroy_at: Timestamp,
}

impl MachineForm {
    fn facts(self) -> Facts {
        let start = Timestamp::from_millis(0);
        Facts::of(&Machine {
            status: self.status,
            volume: self.volume.unwrap_or(Volume::None),
            compute: self.compute.unwrap_or(Compute::Held),
            desired: self.desired.unwrap_or(Desired::On),
            generation: self.generation.map_or(1, Count::get),
            scope: self.scope.as_deref().unwrap_or("default"),
            marker: self.marker.as_deref(),
            created_at: self.created_at.unwrap_or(start),
            status_since: self.status_since.unwrap_or(start),
            last_seen: self.last_seen,
            observed_at: self.observed_at,
            missing: self.missing.map(|missing| Missing {
                since: missing.since,
                count: missing.count.get(),
            }),
            quarantine: self.quarantine.map(|stamp| QuarantineStamp {
                id: stamp.id.get(),
                since: stamp.since,
                destroy_at: stamp.destroy_at,
            }),
            quarantines: self.quarantines.map_or(0, Count::get),
            compute_lost_at: self.compute_lost_at,
            busy_until: self.busy_until,
            holds: self.holds.map_or(1, Count::get),
        })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "an observation")]
struct ObservationForm {
    present: Option<Power>,
    absent: Option<Proof>,
    unknown: Option<Cause>,
    begun_at: Option<Timestamp>,
    generation: Option<Count>,
    scope: Option<String>,
    marker: Option<String>,
    source: Option<Source>,
}

impl ObservationForm {
    fn seen(self, facts: &Facts, now: Timestamp) -> Result<Seen, WrongInput> {
        let machine = facts.machine();
        let answer = match (self.present, self.absent, self.unknown) {
            (Some(power), None, None) => Answer::Present(power),
            (None, Some(proof), None) => Answer::Absent(proof),
            (None, None, Some(cause)) => Answer::Unknown(cause),
            (_, _, _) => return Err(WrongInput::NotOneAnswer),
        };
        Ok(Seen {
            answer,
            generation: self.generation.map_or(machine.generation, Count::get),
            scope: self.scope.unwrap_or_else(|| machine.scope.to_owned()),
            marker: self.marker.or_else(|| machine.marker.map(str::to_owned)),
            begun_at: self.begun_at.unwrap_or(now),
            source: self.source.unwrap_or(Source::Sweep),
        })
    }
}

/// A count of 0 to `i64::MAX`: what every store can keep.
#[derive(Clone, Copy)]
pub(super) struct Count(i64);

impl Count {
    pub(super) const fn get(self) -> u64 {
        self.0.unsigned_abs()
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let count = i64::deserialize(deserializer)?;
        if count < 0 {
            return Err(de::Error::invalid_value(
                de::Unexpected::Signed(count),
                &"0 or more",
            ));
        }
        Ok(Self(count))
    }
}

/// Reads a field of the line; `null` is as good as nothing. The error names the part that is wrong.
fn optional<T: DeserializeOwned>(
    fields: &mut Map<String, Value>,
    field: &'static str,
) -> Result<Option<T>, WrongInput> {
    match fields.remove(field) {
        None | Some(Value::Null) => Ok(None),
        Some(value) if has_list(&value) => Err(WrongInput::List(field)),
        Some(value) => serde_path_to_error::deserialize(value)
            .map(Some)
            .map_err(|error| {
                let part = match error.path().to_string() {
                    whole if whole == "." => field.to_owned(),
                    part => format!("{field}.{part}"),
                };
                WrongInput::Field {
                    part,
                    error: error.into_inner(),
                }
            }),
    }
}

/// Tells whether a list stands anywhere in a value.
pub(super) fn has_list(value: &Value) -> bool {
    match value {
        Value::Array(_) => true,
        Value::Object(fields) => fields.values().any(has_list),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
