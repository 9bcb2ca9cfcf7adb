//! What is true in the simulated fleet?

use core::time::Duration;
use std::collections::BTreeMap;

use lifecycle_core::{Answer, Power, Proof, Timestamp};

use crate::{
    id::MachineId,
    provider::{Delivered, Target},
};

/// Everything that exists in the fleet.
#[derive(Clone, Debug)]
pub struct World {
    scope: String,
    machines: BTreeMap<String, Machine>,
    volumes: BTreeMap<String, Volume>,
    created: u64,
    pub(super) destroy_takes: Duration,
    pub(super) visible_after: Duration,
}

/// One machine of the fleet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// The fleet's id of it.
    pub provider_id: String,
    /// Whose it is.
    pub marker: String,
    /// Its power.
    pub power: Power,
    /// Whether it is listed as ended.
    pub is_tombstone: bool,
    /// From when on it is visible.
    pub visible_at: Timestamp,
    /// When it goes, where it is being destroyed.
    pub goes_at: Option<Timestamp>,
}

/// One volume of the fleet.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Volume {
    /// How many others use it.
    pub others: u32,
}

impl World {
    pub(super) fn new(scope: &str) -> Self {
        Self {
            scope: scope.to_owned(),
            machines: BTreeMap::new(),
            volumes: BTreeMap::new(),
            created: 0,
            destroy_takes: Duration::ZERO,
            visible_after: Duration::ZERO,
        }
    }

    /// Returns where the fleet says it is.
    #[must_use]
    pub fn scope(&self) -> &str {
        &self.scope
    }

    /// Returns a machine.
    #[must_use]
    pub fn machine(&self, provider_id: &str) -> Option<&Machine> {
        self.machines.get(provider_id)
    }

    /// Returns every machine.
    pub fn machines(&self) -> impl Iterator<Item = &Machine> {
        self.machines.values()
    }

    /// Returns the machines that are really there, tombstones aside.
    pub fn alive(&self) -> impl Iterator<Item = &Machine> {
        self.machines
            .values()
            .filter(|machine| !machine.is_tombstone)
    }

    /// Returns a volume.
    #[must_use]
    pub fn volume(&self, id: &str) -> Option<&Volume> {
        self.volumes.get(id)
    }

    /// Changes the power of a machine.
    pub fn set_power(&mut self, provider_id: &str, power: Power) {
        if let Some(machine) = self.machines.get_mut(provider_id) {
            machine.power = power;
        }
    }

    /// Removes a machine as if it had never been; its volume stays.
    pub fn vanish(&mut self, provider_id: &str) {
        self.machines.remove(provider_id);
    }

    /// Ends a machine and keeps it listed as ended.
    pub fn bury(&mut self, provider_id: &str) {
        if let Some(machine) = self.machines.get_mut(provider_id) {
            machine.is_tombstone = true;
        }
    }

    /// Gives a machine's id to another one.
    pub fn reuse(&mut self, provider_id: &str, marker: &str) {
        if let Some(machine) = self.machines.get_mut(provider_id) {
            machine.marker = marker.to_owned();
            machine.power = Power::Running;
            machine.is_tombstone = false;
        }
    }

    /// Puts a machine back that had vanished: an absence that was a lie.
    pub fn put_back(&mut self, machine: Machine) {
        self.machines.insert(machine.provider_id.clone(), machine);
    }

    /// Lets others use a volume too.
    pub fn share_volume(&mut self, id: &str) {
        self.volumes.entry(id.to_owned()).or_default().others += 1;
    }

    pub(super) fn create(
        &mut self,
        id: &MachineId,
        generation: u64,
        volume: Option<&str>,
        now: Timestamp,
    ) -> (String, String) {
        self.created = self.created.saturating_add(1);
        let provider_id = format!("m-{}", self.created);
        let marker = format!("{id}/{generation}");
        if let Some(volume) = volume {
            self.volumes.entry(volume.to_owned()).or_default();
        }
        self.put_back(Machine {
            provider_id: provider_id.clone(),
            marker: marker.clone(),
            power: Power::Running,
            is_tombstone: false,
            visible_at: now.saturating_add(self.visible_after),
            goes_at: None,
        });
        (provider_id, marker)
    }

    /// Lets what was to go by now go.
    pub(super) fn settle(&mut self, now: Timestamp) {
        self.machines
            .retain(|_, machine| machine.goes_at.is_none_or(|at| at > now));
    }

    pub(super) fn act(&mut self, target: &Target, act: impl FnOnce(&mut Machine)) -> Delivered {
        match self.machines.get_mut(&target.provider_id) {
            Some(machine)
                if target
                    .marker
                    .as_ref()
                    .is_some_and(|own| *own != machine.marker) =>
            {
                Delivered::NotFound(Proof::Superseded)
            }
            Some(machine) if !machine.is_tombstone => {
                act(machine);
                Delivered::Accepted
            }
            Some(_) => Delivered::NotFound(Proof::Tombstone),
            None => Delivered::NotFound(Proof::TypedNotFound),
        }
    }

    pub(super) fn destroy(&mut self, target: &Target, now: Timestamp) -> Delivered {
        let goes_at = now.saturating_add(self.destroy_takes);
        let delivered = self.act(target, |machine| {
            machine.power = Power::Stopping;
            machine.goes_at = Some(machine.goes_at.unwrap_or(goes_at));
        });
        self.settle(now);
        delivered
    }

    pub(super) fn remove_volume(&mut self, id: &str) -> bool {
        self.volumes.remove(id).is_some()
    }
}

impl Machine {
    pub(super) fn is_visible(&self, now: Timestamp) -> bool {
        now >= self.visible_at
    }

    pub(super) fn answer(&self) -> Answer {
        if self.is_tombstone {
            Answer::Absent(Proof::Tombstone)
        } else {
            Answer::Present(self.power)
        }
    }
}
