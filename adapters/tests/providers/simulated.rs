//! Does the simulated fleet keep the promises that the real ones keep?

use core::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};
use std::sync::Arc;

use async_trait::async_trait;
use lifecycle_adapters::{
    clock::ManualClock,
    conformance::provider::{Cannot, Equipment, ProviderHarness},
    id::MachineId,
    provider::{Provider, Target},
    simulated::{Fault, Operation, SimulatedProvider},
};
use lifecycle_core::{Cause, Power, Timestamp};

use crate::suite;

#[tokio::test]
async fn the_simulated_provider_keeps_every_promise() {
    suite::check(
        Simulated::new(),
        &[
            // The fleet verifies a marker only where the row has one.
            "a_machine_without_a_marker_is_never_touched",
            // Every text is an id here.
            "a_malformed_id_is_unknown_and_touches_nothing",
        ],
    )
    .await;
}

/// A fleet in memory, on a clock that stands still.
pub(crate) struct Simulated {
    fleet: SimulatedProvider,
    count: AtomicU64,
}

impl Simulated {
    pub(crate) fn new() -> Self {
        let clock = ManualClock::at(Timestamp::from_millis(1_700_000_000_000));
        Self {
            fleet: SimulatedProvider::new(Arc::new(clock), "account-1/eu"),
            count: AtomicU64::new(0),
        }
    }

    pub(crate) fn fleet(&self) -> SimulatedProvider {
        self.fleet.clone()
    }

    /// A fleet of which nothing can be asked, by this cause.
    fn failing(cause: Cause) -> Arc<dyn Provider> {
        let failing = Self::new().fleet;
        failing.fault(|faults| {
            for operation in [
                Operation::Observe,
                Operation::List,
                Operation::ReadVolume,
                Operation::StopCompute,
                Operation::DestroyCompute,
                Operation::DestroyVolume,
            ] {
                faults.always(operation, Fault::Refused(cause));
            }
        });
        Arc::new(failing)
    }
}

#[async_trait]
impl ProviderHarness for Simulated {
    fn provider(&self) -> Arc<dyn Provider> {
        Arc::new(self.fleet.clone())
    }

    async fn make(&self, equipment: Equipment) -> Target {
        let number = self.count.fetch_add(1, Ordering::SeqCst);
        let machine = MachineId::new(format!("machine {number}")).expect("an id");
        let volume_id = matches!(equipment, Equipment::Volume).then(|| format!("volume-{number}"));
        let (provider_id, marker) = self.fleet.create(&machine, 1, volume_id.as_deref());
        Target {
            machine,
            generation: 1,
            provider_id,
            marker: Some(marker),
            scope: "account-1/eu".to_owned(),
            volume_id,
        }
    }

    async fn vanish(&self, target: &Target) {
        self.fleet.change(|world| world.vanish(&target.provider_id));
    }

    async fn stop_from_outside(&self, target: &Target) -> Result<(), Cannot> {
        self.fleet
            .change(|world| world.set_power(&target.provider_id, Power::Off));
        Ok(())
    }

    async fn bury(&self, target: &Target) -> Result<(), Cannot> {
        self.fleet.change(|world| world.bury(&target.provider_id));
        Ok(())
    }

    async fn supersede(&self, target: &mut Target) -> Result<Target, Cannot> {
        let marker = "another/1";
        self.fleet
            .change(|world| world.reuse(&target.provider_id, marker));
        Ok(Target {
            machine: MachineId::new("another").expect("an id"),
            marker: Some(marker.to_owned()),
            volume_id: None,
            ..target.clone()
        })
    }

    async fn share_volume(&self, target: &Target) -> Result<(), Cannot> {
        let volume = target.volume_id.as_deref().expect("a volume");
        self.fleet.change(|world| world.share_volume(volume));
        Ok(())
    }

    async fn refused(&self) -> Result<Arc<dyn Provider>, Cannot> {
        Ok(Self::failing(Cause::Transport))
    }

    async fn silent(&self) -> Result<Arc<dyn Provider>, Cannot> {
        Ok(Self::failing(Cause::Timeout))
    }

    fn malformed_ids(&self) -> Vec<String> {
        Vec::new()
    }

    fn patience(&self) -> Duration {
        Duration::from_secs(2)
    }
}
