//! What does the service do while it lives?

use core::time::Duration;
use std::sync::Arc;

use lifecycle_adapters::{
    id::MachineId,
    reconciler::{NewIncarnation, ReconcileError, Reconciler, Settings},
    relay::{Relay, RelaySettings},
    row::NewMachine,
};
use lifecycle_core::{
    Compute, FleetGuard, Misses, Policy, Source, Status, Table, Thresholds, Volume,
};
use tokio_util::sync::CancellationToken;

use crate::{
    database::{Database, Opened},
    world::{Dice, SCOPE, World, marker},
};

/// How many machines a user has to do with between two kills; two are left behind with each.
pub(crate) const WINDOW: u64 = 20;

/// Lives until it is killed: two loops, and a user who does one thing after another.
pub(crate) async fn live(database: &Database, seed: u64) {
    let opened = database.open().await;
    let (reconciler, relay) = service(&opened);
    let stop = CancellationToken::new();
    tokio::spawn({
        let (relay, stop) = (relay.clone(), stop.clone());
        async move { relay.run(stop).await }
    });
    tokio::spawn({
        let reconciler = reconciler.clone();
        async move {
            loop {
                // What fails now is looked at again.
                let _ = reconciler.sweep(100).await;
                tokio::time::sleep(Duration::from_millis(15)).await;
            }
        }
    });
    let mut dice = Dice::new(seed);
    loop {
        let number = seed * 2 + dice.below(WINDOW);
        if let Err(error) = act(&opened, &reconciler, number, dice.below(12)).await {
            let is_refusal = matches!(
                error,
                ReconcileError::NotRecoverable(_) | ReconcileError::Conflict(_)
            );
            assert!(is_refusal || error.is_retryable(), "{error}");
        }
    }
}

pub(crate) fn service(opened: &Opened) -> (Reconciler, Relay) {
    let guard = FleetGuard {
        count: u64::MAX,
        ..FleetGuard::DEFAULT
    };
    let policy = Policy::new(Table::DEFAULT, HURRIED).expect("a sound policy");
    let settings = Settings {
        policy,
        guard,
        request_timeout: Duration::from_secs(1),
        ..Settings::default()
    };
    let reconciler = Reconciler::new(opened.store.clone(), Arc::new(opened.world.clone()))
        .with_settings(settings);
    let relay = Relay::new(reconciler.clone())
        .with_revoker(opened.revoker.clone())
        .with_capacity(opened.capacity.clone())
        .with_settings(RelaySettings {
            lease: Duration::from_millis(300),
            call_timeout: Duration::from_millis(100),
            margin: Duration::from_millis(50),
            min_backoff: Duration::from_millis(10),
            max_backoff: Duration::from_millis(50),
            confirm_after: Duration::from_millis(10),
            poll: Duration::from_millis(5),
            ..RelaySettings::default()
        });
    (reconciler, relay)
}

/// Does one thing to one machine.
async fn act(
    opened: &Opened,
    reconciler: &Reconciler,
    number: u64,
    what: u64,
) -> Result<(), ReconcileError> {
    let id = machine_id(number);
    let Some(loaded) = opened.store.load(&id).await? else {
        reconciler.register(&new_machine(&id)).await?;
        return create(reconciler, &opened.world, &id, 1).await;
    };
    let machine = loaded.row.facts.machine();
    match what {
        _ if machine.status == Status::Provisioning && loaded.row.provider_id.is_none() => {
            create(reconciler, &opened.world, &id, machine.generation).await
        }
        0 | 1 => reconciler.delete(&id, Source::User).await.map(|_| ()),
        2 | 3 => reconciler.restore(&id, Source::User).await.map(|_| ()),
        4 if number.is_multiple_of(4) => {
            reconciler.force(&id, Source::BaseReopen).await.map(|_| ())
        }
        5 | 6 => {
            if let Some(name) = &loaded.row.provider_id {
                opened.world.vanish(name);
            }
            reconciler.observe(&id, Source::Access).await.map(|_| ())
        }
        7 | 8 if machine.status == Status::Paused && machine.compute == Compute::Lost => {
            let new = NewIncarnation {
                provider_id: None,
                marker: Some(marker(&id, machine.generation + 1)),
            };
            let row = reconciler.recover(&id, &new, Source::User).await?;
            create(
                reconciler,
                &opened.world,
                &id,
                row.facts.machine().generation,
            )
            .await
        }
        _ => {
            opened.mint(&id).await;
            reconciler
                .observe(&id, Source::StatusRead)
                .await
                .map(|_| ())
        }
    }
}

async fn create(
    reconciler: &Reconciler,
    world: &World,
    id: &MachineId,
    generation: u64,
) -> Result<(), ReconcileError> {
    let volume = volume_of(id);
    let (name, marker) = world.create(id, generation, volume.as_deref());
    reconciler
        .assign(id, generation, &name, Some(&marker))
        .await
        .map(|_| ())
}

pub(crate) fn machine_id(number: u64) -> MachineId {
    MachineId::new(format!("m{number}")).expect("a plain name")
}

/// Every second machine has a volume.
pub(crate) fn volume_of(id: &MachineId) -> Option<String> {
    let has_one = id
        .as_str()
        .bytes()
        .last()
        .is_some_and(|digit| digit.is_multiple_of(2));
    has_one.then(|| format!("v-{id}"))
}

fn new_machine(id: &MachineId) -> NewMachine {
    let volume_id = volume_of(id);
    NewMachine {
        id: id.clone(),
        scope: SCOPE.to_owned(),
        marker: Some(marker(id, 1)),
        provider_id: None,
        volume: if volume_id.is_some() {
            Volume::Owned
        } else {
            Volume::None
        },
        volume_id,
        policy: None,
    }
}

/// One host, one clock, and no time to lose.
const HURRIED: Thresholds = Thresholds {
    typed: Misses {
        count: 1,
        span: Duration::ZERO,
    },
    listed: Misses {
        count: 2,
        span: Duration::from_millis(50),
    },
    visibility_window: Duration::ZERO,
    launch_deadline: Duration::from_millis(1_000),
    clock_error: Duration::from_millis(5),
    grace: Duration::from_millis(150),
    recheck: Duration::from_millis(20),
    sweep_every: Duration::from_millis(40),
    orphan_watch: Duration::from_millis(500),
    ..Thresholds::CAUTIOUS
};
