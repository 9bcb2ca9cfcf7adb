//! What if the provider were a fleet in memory, with faults on demand or by a seed?
//!
//! For tests of services, and of this crate: what is true ([`World`]) and what is answered are kept
//! apart, so that a test can compare them at its end.

mod faults;
mod world;

use core::time::Duration;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use lifecycle_core::{Answer, Cause, Power, Proof};

pub use faults::{Fault, Faults, Operation};
pub use world::{Machine, Volume, World};

use crate::{
    clock::Clock,
    id::MachineId,
    provider::{
        Completeness, Delivered, Listed, Listing, Provider, ProviderError, Seen, Target,
        VolumeReading,
    },
};

/// A fleet in memory that answers as a provider would, and as one does on a bad day.
#[derive(Clone, Debug)]
pub struct SimulatedProvider {
    clock: Arc<dyn Clock>,
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    world: World,
    faults: Faults,
    calls: Vec<Call>,
}

/// One thing that was asked of the fleet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// What was asked.
    pub operation: Operation,
    /// Of which machine.
    pub provider_id: String,
    /// For which incarnation.
    pub generation: u64,
    /// Whether it was carried out, whatever was answered.
    pub was_done: bool,
}

impl SimulatedProvider {
    /// Makes an empty fleet that says it is this scope.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>, scope: &str) -> Self {
        let state = State {
            world: World::new(scope),
            faults: Faults::default(),
            calls: Vec::new(),
        };
        Self {
            clock,
            state: Arc::new(Mutex::new(state)),
        }
    }

    /// Starts a machine; returns what registration wants to know of it.
    #[must_use]
    pub fn create(
        &self,
        id: &MachineId,
        generation: u64,
        volume: Option<&str>,
    ) -> (String, String) {
        let now = self.clock.now();
        self.state().world.create(id, generation, volume, now)
    }

    /// Changes what is true.
    pub fn change<T>(&self, change: impl FnOnce(&mut World) -> T) -> T {
        change(&mut self.state().world)
    }

    /// Changes what goes wrong.
    pub fn fault<T>(&self, change: impl FnOnce(&mut Faults) -> T) -> T {
        change(&mut self.state().faults)
    }

    /// Returns everything that was asked of the fleet, readings aside.
    #[must_use]
    pub fn calls(&self) -> Vec<Call> {
        self.state().calls.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn fault_of(&self, operation: Operation) -> Option<Fault> {
        let fault = self.state().faults.draw(operation);
        if let Some(Fault::Slow(duration)) = fault {
            self.clock.sleep(duration).await;
            return None;
        }
        fault
    }

    async fn carry_out(
        &self,
        operation: Operation,
        target: &Target,
        act: impl FnOnce(&mut World, &Target) -> Delivered + Send,
    ) -> Result<Delivered, ProviderError> {
        let fault = self.fault_of(operation).await;
        let mut state = self.state();
        state.world.settle(self.clock.now());
        let mut call = Call {
            operation,
            provider_id: target.provider_id.clone(),
            generation: target.generation,
            was_done: false,
        };
        if let Some(Fault::Refused(cause)) = fault {
            state.calls.push(call);
            return Err(ProviderError::refused(cause, "simulated"));
        }
        let delivered = act(&mut state.world, target);
        call.was_done = matches!(delivered, Delivered::Accepted);
        state.calls.push(call);
        match fault {
            Some(Fault::AnswerLost) => Err(ProviderError::refused(
                Cause::Timeout,
                "simulated: the answer was lost",
            )),
            Some(
                Fault::Refused(_)
                | Fault::Slow(_)
                | Fault::Partial
                | Fault::Invisible
                | Fault::OtherScope(_),
            )
            | None => Ok(delivered),
        }
    }
}

#[async_trait]
impl Provider for SimulatedProvider {
    async fn observe(&self, target: &Target) -> Seen {
        let fault = self.fault_of(Operation::Observe).await;
        let mut state = self.state();
        let now = self.clock.now();
        state.world.settle(now);
        let scope = match &fault {
            Some(Fault::OtherScope(other)) => other.clone(),
            Some(_) | None => state.world.scope().to_owned(),
        };
        let absent = |proof| Seen {
            answer: Answer::Absent(proof),
            scope: Some(scope.clone()),
            marker: None,
        };
        match fault {
            Some(Fault::Refused(cause)) => return Seen::unknown(cause),
            Some(Fault::AnswerLost) => return Seen::unknown(Cause::Timeout),
            Some(Fault::Invisible | Fault::OtherScope(_)) => return absent(Proof::TypedNotFound),
            Some(Fault::Slow(_) | Fault::Partial) | None => {}
        }
        match state.world.machine(&target.provider_id) {
            Some(machine) if machine.is_visible(now) => Seen {
                answer: machine.answer(),
                scope: Some(scope),
                marker: Some(machine.marker.clone()),
            },
            Some(_) | None => absent(Proof::TypedNotFound),
        }
    }

    async fn list(&self) -> Result<Listing, ProviderError> {
        let fault = self.fault_of(Operation::List).await;
        let mut state = self.state();
        let now = self.clock.now();
        state.world.settle(now);
        let listed = |machine: &Machine| Listed {
            provider_id: machine.provider_id.clone(),
            answer: machine.answer(),
            marker: Some(machine.marker.clone()),
        };
        let mut machines: Vec<Listed> = state
            .world
            .machines()
            .filter(|machine| machine.is_visible(now))
            .map(listed)
            .collect();
        let mut scope = state.world.scope().to_owned();
        let mut completeness = Completeness::Complete;
        match fault {
            Some(Fault::Refused(cause)) => return Err(ProviderError::refused(cause, "simulated")),
            Some(Fault::AnswerLost) => {
                return Err(ProviderError::refused(Cause::Timeout, "simulated"));
            }
            Some(Fault::Partial) => {
                machines.truncate(machines.len() / 2);
                completeness = Completeness::Partial;
            }
            Some(Fault::Invisible) => machines.clear(),
            Some(Fault::OtherScope(other)) => {
                machines.clear();
                scope = other;
            }
            Some(Fault::Slow(_)) | None => {}
        }
        Ok(Listing {
            scope,
            completeness,
            machines,
        })
    }

    async fn read_volume(&self, target: &Target) -> VolumeReading {
        match self.fault_of(Operation::ReadVolume).await {
            Some(Fault::Refused(cause)) => return VolumeReading::Unknown(cause),
            Some(Fault::AnswerLost) => return VolumeReading::Unknown(Cause::Timeout),
            Some(Fault::Invisible) => return VolumeReading::Absent(Proof::TypedNotFound),
            Some(Fault::Slow(_) | Fault::Partial | Fault::OtherScope(_)) | None => {}
        }
        match target
            .volume_id
            .as_deref()
            .and_then(|id| self.state().world.volume(id).cloned())
        {
            Some(volume) if volume.others > 0 => VolumeReading::Shared,
            Some(_) => VolumeReading::Exclusive,
            None => VolumeReading::Absent(Proof::TypedNotFound),
        }
    }

    async fn stop_compute(&self, target: &Target) -> Result<Delivered, ProviderError> {
        self.carry_out(Operation::StopCompute, target, |world, target| {
            world.act(target, |machine| machine.power = Power::Off)
        })
        .await
    }

    async fn destroy_compute(&self, target: &Target) -> Result<Delivered, ProviderError> {
        let now = self.clock.now();
        self.carry_out(Operation::DestroyCompute, target, |world, target| {
            world.destroy(target, now)
        })
        .await
    }

    async fn destroy_volume(&self, target: &Target) -> Result<Delivered, ProviderError> {
        self.carry_out(
            Operation::DestroyVolume,
            target,
            |world, target| match target
                .volume_id
                .as_deref()
                .map(|id| world.remove_volume(id))
            {
                Some(true) => Delivered::Accepted,
                Some(false) | None => Delivered::NotFound(Proof::TypedNotFound),
            },
        )
        .await
    }
}

impl SimulatedProvider {
    /// Makes what is destroyed from now on take this long to go, shown as stopping meanwhile.
    pub fn destroy_takes(&self, duration: Duration) {
        self.state().world.destroy_takes = duration;
    }

    /// Makes what is created from now on invisible for this long.
    pub fn visible_after(&self, duration: Duration) {
        self.state().world.visible_after = duration;
    }
}
