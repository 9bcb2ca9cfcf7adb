//! After one run in peace: do the database and the world agree, and was everything done once?

use core::{fmt, time::Duration};
use std::{collections::BTreeMap, time::Instant};

use lifecycle_adapters::row::Row;
use lifecycle_core::{Compute, Effect, Status, Volume};

use crate::{
    database::{Database, Opened},
    service::{WINDOW, machine_id, service, volume_of},
};

/// What there was to compare.
pub(crate) struct Seen {
    machines: usize,
    destroyed: usize,
    facts: usize,
    kept: usize,
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            machines,
            destroyed,
            facts,
            kept,
        } = self;
        write!(
            f,
            "{machines} machines, {destroyed} destroyed, {facts} destroy facts, {kept} volumes kept"
        )
    }
}

pub(crate) async fn after_recovery(database: &Database, kills: u64) -> Seen {
    let opened = database.open().await;
    let machines = kills * 2 + WINDOW;
    settle(&opened, machines).await;
    let rows = rows(&opened, machines).await;
    let mut seen = Seen {
        machines: rows.len(),
        destroyed: 0,
        facts: 0,
        kept: 0,
    };
    let mut alive = opened.world.machines();
    let mut held = 0;
    for row in &rows {
        let machine = row.facts.machine();
        let (id, status) = (&row.id, machine.status);
        held += u64::from(machine.compute == Compute::Held);
        let facts = opened.store.ledger(id).await.expect("an answer");
        let mut ends = BTreeMap::new();
        for fact in facts
            .iter()
            .filter(|fact| fact.fact == Effect::RecordDestroyed)
        {
            *ends.entry(fact.generation).or_insert(0) += 1;
        }
        assert!(
            ends.values().all(|count| *count == 1),
            "{id} has destroy facts {ends:?}"
        );
        seen.facts += ends.len();
        let is_destroyed = status == Status::Destroyed;
        assert_eq!(
            ends.contains_key(&machine.generation),
            is_destroyed,
            "{id} is {status}: {ends:?}"
        );
        if is_destroyed {
            seen.destroyed += 1;
            assert_eq!(
                opened.live_tokens(id).await,
                0,
                "{id} is destroyed and has live tokens"
            );
        }
        let own = row.provider_id.as_deref().unwrap_or("none");
        for name in &alive {
            let is_of_it = name.split('.').next() == Some(id.as_str());
            assert!(
                !is_of_it || (name == own && !is_destroyed),
                "{name} runs on, and {id} is {status}"
            );
        }
        alive.retain(|name| name != own);
        if let Some(volume) = volume_of(id) {
            let is_there = opened.world.has_volume(&volume);
            // A machine that never arrived never had one made.
            let was_made = row.was_sighted || machine.generation > 1;
            assert!(
                !was_made || is_there == (machine.volume != Volume::None),
                "{id} is {status}, its volume {}",
                machine.volume
            );
            seen.kept += usize::from(is_there && is_destroyed);
        }
        let work = opened.store.work(id).await.expect("an answer");
        let owed: Vec<_> = work.iter().filter(|work| work.state.is_owed()).collect();
        assert!(
            owed.is_empty(),
            "{id} is {status}, and this is owed: {owed:?}"
        );
    }
    assert!(alive.is_empty(), "nobody owns {alive:?}");
    assert_eq!(
        opened.reserved().await,
        held,
        "capacity is held for as many machines as say so"
    );
    assert!(seen.destroyed > 0, "the story has an end for some");
    seen
}

/// Runs both loops in peace until nothing is owed and nothing is on its way.
async fn settle(opened: &Opened, machines: u64) {
    let (reconciler, relay) = service(opened);
    let patience = Instant::now() + Duration::from_secs(60);
    let mut quiet = 0;
    while quiet < 3 {
        reconciler.sweep(1_000).await.expect("nobody disturbs it");
        while relay
            .deliver_due()
            .await
            .expect("nobody disturbs it")
            .claimed
            > 0
        {}
        tokio::time::sleep(Duration::from_millis(50)).await;
        let mut busy = Vec::new();
        for row in rows(opened, machines).await {
            let status = row.facts.machine().status;
            let work = opened.store.work(&row.id).await.expect("an answer");
            let is_owed = work.iter().any(|work| work.state.is_owed());
            if is_owed
                || matches!(
                    status,
                    Status::Provisioning | Status::Quarantined | Status::Destroying
                )
            {
                busy.push((row.id.clone(), status, work));
            }
        }
        quiet = if busy.is_empty() { quiet + 1 } else { 0 };
        assert!(Instant::now() < patience, "still on its way: {busy:#?}");
    }
}

async fn rows(opened: &Opened, machines: u64) -> Vec<Row> {
    let mut rows = Vec::new();
    for number in 0..machines {
        let loaded = opened
            .store
            .load(&machine_id(number))
            .await
            .expect("an answer");
        rows.extend(loaded.map(|loaded| loaded.row));
    }
    rows
}
