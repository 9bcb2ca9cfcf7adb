//! What does a store keep of one machine?

use lifecycle_core::{Effect, Missing, Timestamp, Volume};

use crate::{facts::Facts, id::MachineId, provider::Target};

/// One machine as stored: the facts that a decision looks at, and what it takes to carry it out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The service's own name.
    pub id: MachineId,
    /// The facts.
    pub facts: Facts,
    /// The provider's id; none until the create was answered.
    pub provider_id: Option<String>,
    /// The provider's id of the volume.
    pub volume_id: Option<String>,
    /// What registration said of the volume; a reading may only protect more.
    pub registered_volume: Volume,
    /// The run of readings that did not have the volume.
    pub volume_missing: Option<Missing>,
    /// The name of the policy; none: the reconciler's own.
    pub policy: Option<String>,
    /// Counts commits; the compare-and-set counter.
    pub revision: u64,
    /// When the machine was last looked at; the sweep takes the longest ago first.
    pub checked_at: Timestamp,
    /// When to look again; none: never.
    pub look_again_at: Option<Timestamp>,
    /// Whether this incarnation was ever seen at the provider.
    pub was_sighted: bool,
    /// When the provider accepted a destroy of this incarnation's compute.
    pub destroy_accepted_at: Option<Timestamp>,
    /// The stop or destroy that a relay is delivering.
    pub claim: Option<Claim>,
}

/// A stop or destroy being delivered: force, restore, recover and busy wait for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// What is being delivered.
    pub effect: Effect,
    /// Until when, by the store's clock; past that it is over, whatever became of it.
    pub until: Timestamp,
    /// The claim's token: who may settle it.
    pub token: String,
}

impl Row {
    /// Returns the machine as its provider knows it; none before the provider named it.
    #[must_use]
    pub fn target(&self) -> Option<Target> {
        let machine = self.facts.machine();
        self.provider_id.as_ref().map(|provider_id| Target {
            machine: self.id.clone(),
            generation: machine.generation,
            provider_id: provider_id.clone(),
            marker: machine.marker.map(str::to_owned),
            scope: machine.scope.to_owned(),
            volume_id: self.volume_id.clone(),
        })
    }

    /// Returns the machine for what is asked about its volume, which may be there although the provider
    /// never named the machine; none where no volume is known.
    #[must_use]
    pub fn volume_target(&self) -> Option<Target> {
        let machine = self.facts.machine();
        self.volume_id.is_some().then(|| Target {
            machine: self.id.clone(),
            generation: machine.generation,
            provider_id: self.provider_id.clone().unwrap_or_default(),
            marker: machine.marker.map(str::to_owned),
            scope: machine.scope.to_owned(),
            volume_id: self.volume_id.clone(),
        })
    }

    /// Returns the claim that still holds at this time.
    #[must_use]
    pub fn claim_at(&self, now: Timestamp) -> Option<&Claim> {
        self.claim.as_ref().filter(|claim| claim.until > now)
    }
}

/// A machine to register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewMachine {
    /// The service's own name.
    pub id: MachineId,
    /// Where the provider keeps it.
    pub scope: String,
    /// What the provider's machine carries to say that it is this one. Where it is known before the
    /// create, a create whose answer is lost is found by it; without one, nobody can find it.
    pub marker: Option<String>,
    /// The provider's id, where it is known already.
    pub provider_id: Option<String>,
    /// What there is of a volume; `owned` is said here or never.
    pub volume: Volume,
    /// The provider's id of the volume.
    pub volume_id: Option<String>,
    /// The name of the policy; none: the reconciler's own.
    pub policy: Option<String>,
}
