//! Which columns hold one machine?

use lifecycle_core::{LastSeen, Machine, Missing, QuarantineStamp, Timestamp};

use super::{
    both, corrupt, count, instant, machine_id, millis, optional_word, ordinal, stored, word,
};
use crate::{
    facts::Facts,
    row::{Claim, Row},
    store::StoreError,
};

/// One machine, a field for each column; words, counts and instants as a database has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MachineColumns {
    pub(crate) id: String,
    pub(crate) status: String,
    pub(crate) volume: String,
    pub(crate) compute: String,
    pub(crate) desired: String,
    pub(crate) generation: i64,
    pub(crate) scope: String,
    pub(crate) marker: Option<String>,
    pub(crate) created_at: i64,
    pub(crate) status_since: i64,
    pub(crate) last_seen_power: Option<String>,
    pub(crate) last_seen_at: Option<i64>,
    pub(crate) observed_at: Option<i64>,
    pub(crate) missing_since: Option<i64>,
    pub(crate) missing_count: Option<i64>,
    pub(crate) quarantine_id: Option<i64>,
    pub(crate) quarantine_since: Option<i64>,
    pub(crate) destroy_at: Option<i64>,
    pub(crate) quarantines: i64,
    pub(crate) compute_lost_at: Option<i64>,
    pub(crate) busy_until: Option<i64>,
    pub(crate) holds: i64,
    pub(crate) provider_id: Option<String>,
    pub(crate) volume_id: Option<String>,
    pub(crate) registered_volume: String,
    pub(crate) volume_missing_since: Option<i64>,
    pub(crate) volume_missing_count: Option<i64>,
    pub(crate) policy: Option<String>,
    pub(crate) revision: i64,
    pub(crate) checked_at: i64,
    pub(crate) look_again_at: Option<i64>,
    pub(crate) was_sighted: bool,
    pub(crate) destroy_accepted_at: Option<i64>,
    pub(crate) claim_effect: Option<String>,
    pub(crate) claim_until: Option<i64>,
    pub(crate) claim_token: Option<String>,
}

impl MachineColumns {
    /// Writes a row as columns.
    pub(crate) fn of(row: &Row) -> Result<Self, StoreError> {
        let Row {
            id,
            facts,
            provider_id,
            volume_id,
            registered_volume,
            volume_missing,
            policy,
            revision,
            checked_at,
            look_again_at,
            was_sighted,
            destroy_accepted_at,
            claim,
        } = row;
        let Machine {
            status,
            volume,
            compute,
            desired,
            generation,
            scope,
            marker,
            created_at,
            status_since,
            last_seen,
            observed_at,
            missing,
            quarantine,
            quarantines,
            compute_lost_at,
            busy_until,
            holds,
        } = facts.machine();
        if generation == 0 {
            return Err(StoreError::Unstorable(format!(
                "{id}: generations count from 1"
            )));
        }
        let counted =
            |column, run: Option<Missing>| run.map(|run| stored(column, run.count)).transpose();
        Ok(Self {
            id: id.as_str().to_owned(),
            status: status.word().to_owned(),
            volume: volume.word().to_owned(),
            compute: compute.word().to_owned(),
            desired: desired.word().to_owned(),
            generation: stored("generation", generation)?,
            scope: scope.to_owned(),
            marker: marker.map(str::to_owned),
            created_at: created_at.as_millis(),
            status_since: status_since.as_millis(),
            last_seen_power: last_seen.map(|seen| seen.power.word().to_owned()),
            last_seen_at: millis(last_seen.map(|seen| seen.at)),
            observed_at: millis(observed_at),
            missing_since: millis(missing.map(|run| run.since)),
            missing_count: counted("missing_count", missing)?,
            quarantine_id: quarantine
                .map(|stamp| stored("quarantine_id", stamp.id))
                .transpose()?,
            quarantine_since: millis(quarantine.map(|stamp| stamp.since)),
            destroy_at: millis(quarantine.map(|stamp| stamp.destroy_at)),
            quarantines: stored("quarantines", quarantines)?,
            compute_lost_at: millis(compute_lost_at),
            busy_until: millis(busy_until),
            holds: stored("holds", holds)?,
            provider_id: provider_id.clone(),
            volume_id: volume_id.clone(),
            registered_volume: registered_volume.word().to_owned(),
            volume_missing_since: millis(volume_missing.map(|run| run.since)),
            volume_missing_count: counted("volume_missing_count", *volume_missing)?,
            policy: policy.clone(),
            revision: stored("revision", *revision)?,
            checked_at: checked_at.as_millis(),
            look_again_at: millis(*look_again_at),
            was_sighted: *was_sighted,
            destroy_accepted_at: millis(*destroy_accepted_at),
            claim_effect: claim.as_ref().map(|claim| claim.effect.word().to_owned()),
            claim_until: millis(claim.as_ref().map(|claim| claim.until)),
            claim_token: claim.as_ref().map(|claim| claim.token.clone()),
        })
    }

    /// Reads a row from columns.
    pub(crate) fn read(&self) -> Result<Row, StoreError> {
        Ok(Row {
            id: machine_id(&self.id)?,
            facts: self.facts()?,
            provider_id: self.provider_id.clone(),
            volume_id: self.volume_id.clone(),
            registered_volume: word(&self.id, "registered_volume", &self.registered_volume)?,
            volume_missing: self.run(
                "volume_missing_since and volume_missing_count",
                self.volume_missing_since,
                self.volume_missing_count,
            )?,
            policy: self.policy.clone(),
            revision: count(&self.id, "revision", self.revision)?,
            checked_at: Timestamp::from_millis(self.checked_at),
            look_again_at: instant(self.look_again_at),
            was_sighted: self.was_sighted,
            destroy_accepted_at: instant(self.destroy_accepted_at),
            claim: self.claim()?,
        })
    }

    fn facts(&self) -> Result<Facts, StoreError> {
        let id = self.id.as_str();
        let last_seen = both(
            id,
            "last_seen_power and last_seen_at",
            (
                optional_word(id, "last_seen_power", self.last_seen_power.as_deref())?,
                instant(self.last_seen_at),
            ),
        )?;
        Ok(Facts::of(&Machine {
            status: word(id, "status", &self.status)?,
            volume: word(id, "volume", &self.volume)?,
            compute: word(id, "compute", &self.compute)?,
            desired: word(id, "desired", &self.desired)?,
            generation: ordinal(id, "generation", self.generation)?,
            scope: &self.scope,
            marker: self.marker.as_deref(),
            created_at: Timestamp::from_millis(self.created_at),
            status_since: Timestamp::from_millis(self.status_since),
            last_seen: last_seen.map(|(power, at)| LastSeen { power, at }),
            observed_at: instant(self.observed_at),
            missing: self.run(
                "missing_since and missing_count",
                self.missing_since,
                self.missing_count,
            )?,
            quarantine: self.quarantine()?,
            quarantines: count(id, "quarantines", self.quarantines)?,
            compute_lost_at: instant(self.compute_lost_at),
            busy_until: instant(self.busy_until),
            holds: count(id, "holds", self.holds)?,
        }))
    }

    fn run(
        &self,
        columns: &str,
        since: Option<i64>,
        counted: Option<i64>,
    ) -> Result<Option<Missing>, StoreError> {
        both(&self.id, columns, (instant(since), counted))?
            .map(|(since, stored)| {
                count(&self.id, columns, stored).map(|count| Missing { since, count })
            })
            .transpose()
    }

    fn quarantine(&self) -> Result<Option<QuarantineStamp>, StoreError> {
        match (self.quarantine_id, self.quarantine_since, self.destroy_at) {
            (None, None, None) => Ok(None),
            (Some(stored), Some(since), Some(destroy_at)) => Ok(Some(QuarantineStamp {
                id: count(&self.id, "quarantine_id", stored)?,
                since: Timestamp::from_millis(since),
                destroy_at: Timestamp::from_millis(destroy_at),
            })),
            (_, _, _) => Err(corrupt(
                &self.id,
                "only some of quarantine_id, quarantine_since and destroy_at are set",
            )),
        }
    }

    fn claim(&self) -> Result<Option<Claim>, StoreError> {
        match (&self.claim_effect, self.claim_until, &self.claim_token) {
            (None, None, None) => Ok(None),
            (Some(effect), Some(until), Some(token)) => Ok(Some(Claim {
                effect: word(&self.id, "claim_effect", effect)?,
                until: Timestamp::from_millis(until),
                token: token.clone(),
            })),
            (_, _, _) => Err(corrupt(
                &self.id,
                "only some of claim_effect, claim_until and claim_token are set",
            )),
        }
    }
}
