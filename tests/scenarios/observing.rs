//! Do the paths that notice something all come to the same, once?

use core::time::Duration;
use std::sync::Arc;

use async_trait::async_trait;
use lifecycle_adapters::{
    provider::{Delivered, Listing, Provider, ProviderError, Seen, Target, VolumeReading},
    simulated::{Fault, Operation, SimulatedProvider},
};
use lifecycle_core::{Cause, DecisionKind, Effect, Rule, Sighting, Source, Status};
use tokio::sync::Notify;

use crate::bench::Bench;

crate::stories! {
    a_vanished_machine_ends_in_one_call_with_a_second_probe,
    two_observers_record_one_destroy,
    an_observer_that_lost_answers_from_the_fresh_row,
    a_silent_provider_changes_nothing,
    an_answer_from_another_account_changes_nothing,
    a_kept_volume_keeps_its_machine,
    a_paused_machine_is_seen_running_again,
    every_source_leaves_the_same_ledger,
    a_sweep_looks_at_everything_that_is_due,
    a_report_tells_what_is_still_owed,
}

async fn a_vanished_machine_ends_in_one_call_with_a_second_probe(bench: Bench) {
    let id = bench.running("a", None).await;
    assert!(bench.mint(&id).await);
    bench.fleet.change(|world| world.vanish("m-1"));

    let seen = bench
        .reconciler
        .observe(&id, Source::StatusRead)
        .await
        .expect("an answer");
    assert_eq!(
        (seen.sighting, seen.rule),
        (Some(Sighting::Gone), Some(Rule::GoneWithoutVolume))
    );
    assert_eq!(bench.count(&id, Effect::RecordDestroyed).await, 1);
    bench.drain().await;
    assert_eq!(bench.tokens.live(&id), 0);
    assert_eq!(bench.capacity.held(&id), 0);
}

async fn two_observers_record_one_destroy(bench: Bench) {
    let id = bench.running("a", None).await;
    bench.fleet.change(|world| world.vanish("m-1"));

    let observers = (0..8).map(|_| {
        let (reconciler, id) = (bench.reconciler.clone(), id.clone());
        tokio::spawn(async move { reconciler.observe(&id, Source::Access).await })
    });
    for observer in observers.collect::<Vec<_>>() {
        let seen = observer.await.expect("no panic").expect("an answer");
        assert!(seen.kind == DecisionKind::Nothing || seen.rule.is_some());
    }
    bench.live(Duration::from_secs(60)).await;
    assert_eq!(bench.status(&id).await, Status::Destroyed);
    assert_eq!(bench.count(&id, Effect::RecordDestroyed).await, 1);
}

async fn an_observer_that_lost_answers_from_the_fresh_row(bench: Bench) {
    let id = bench.running("a", None).await;
    let gate = Arc::new(Gate {
        fleet: bench.fleet.clone(),
        entered: Notify::new(),
        open: Notify::new(),
    });
    let (reconciler, _) = bench.with_provider(gate.clone());
    let stale = tokio::spawn({
        let id = id.clone();
        async move { reconciler.observe(&id, Source::Stats).await }
    });
    gate.entered.notified().await;
    bench
        .reconciler
        .force(&id, Source::BaseReopen)
        .await
        .expect("forced");
    gate.open.notify_one();
    let seen = stale.await.expect("no panic").expect("an answer");
    assert_eq!(seen.row.facts.machine().status, Status::Destroyed);
    assert_eq!((seen.rule, seen.kind), (None, DecisionKind::Nothing));
    assert_eq!(bench.count(&id, Effect::RecordDestroyed).await, 1);
}

async fn a_silent_provider_changes_nothing(bench: Bench) {
    let id = bench.running("a", None).await;
    let before = bench.store.ledger(&id).await.expect("an answer");
    for cause in Cause::ALL {
        bench
            .fleet
            .fault(|faults| faults.once(Operation::Observe, Fault::Refused(*cause)));
        let seen = bench
            .reconciler
            .observe(&id, Source::Sweep)
            .await
            .expect("an answer");
        assert_eq!(seen.rule, Some(Rule::NoEvidence), "{cause}");
    }
    assert_eq!(bench.store.ledger(&id).await.expect("an answer"), before);
    assert_eq!(bench.status(&id).await, Status::Running);
}

async fn an_answer_from_another_account_changes_nothing(bench: Bench) {
    let id = bench.running("a", None).await;
    let elsewhere = Fault::OtherScope("account-2/eu".to_owned());
    bench.fleet.fault(|faults| {
        faults.always(Operation::Observe, elsewhere.clone());
        faults.always(Operation::List, elsewhere.clone());
    });
    bench.live(Duration::from_secs(3_600)).await;
    assert_eq!(bench.status(&id).await, Status::Running);
    assert_eq!(bench.count(&id, Effect::RecordDestroyed).await, 0);
}

async fn a_kept_volume_keeps_its_machine(bench: Bench) {
    let id = bench.running("a", Some("v-1")).await;
    bench.fleet.change(|world| world.vanish("m-1"));
    let seen = bench
        .reconciler
        .observe(&id, Source::Access)
        .await
        .expect("an answer");
    assert_eq!(seen.rule, Some(Rule::VolumeOutlivesCompute));
    bench.live(Duration::from_secs(600)).await;
    assert_eq!(bench.status(&id).await, Status::Paused);
    assert_eq!(bench.count(&id, Effect::RecordComputeLost).await, 1);
    assert_eq!(bench.count(&id, Effect::RecordDestroyed).await, 0);
    assert!(bench.fleet.change(|world| world.volume("v-1").is_some()));
}

async fn a_paused_machine_is_seen_running_again(bench: Bench) {
    use lifecycle_core::Power;

    let id = bench.running("a", None).await;
    for (power, status) in [
        (Power::Suspended, Status::Paused),
        (Power::Running, Status::Running),
    ] {
        bench.clock.advance(Duration::from_secs(1));
        bench.fleet.change(|world| world.set_power("m-1", power));
        let seen = bench
            .reconciler
            .observe(&id, Source::StatusRead)
            .await
            .expect("an answer");
        assert_eq!(seen.row.facts.machine().status, status);
    }
    assert_eq!(bench.count(&id, Effect::RecordRunning).await, 2);
}

async fn every_source_leaves_the_same_ledger(bench: Bench) {
    let mut ledgers = Vec::new();
    for source in Source::ALL {
        let id = bench.running(source.word(), None).await;
        let provider_id = bench.row(&id).await.provider_id.expect("named");
        bench.fleet.change(|world| world.vanish(&provider_id));
        bench
            .reconciler
            .observe(&id, *source)
            .await
            .expect("an answer");
        let ledger = bench.store.ledger(&id).await.expect("an answer");
        assert_eq!(ledger.last().map(|fact| fact.source), Some(*source));
        ledgers.push(
            ledger
                .into_iter()
                .map(|fact| (fact.fact, fact.rule, fact.volume))
                .collect::<Vec<_>>(),
        );
        bench.clock.advance(Duration::from_secs(3_600));
    }
    assert!(
        ledgers.windows(2).all(|pair| pair[0] == pair[1]),
        "{ledgers:?}"
    );
}

async fn a_sweep_looks_at_everything_that_is_due(bench: Bench) {
    let mut ids = Vec::new();
    for number in 0..30 {
        ids.push(bench.running(&format!("m{number}"), None).await);
    }
    bench.fleet.change(|world| {
        world.vanish("m-3");
        world.set_power("m-4", lifecycle_core::Power::Off);
    });
    bench.live(Duration::from_secs(900)).await;
    assert_eq!(bench.status(&ids[2]).await, Status::Destroyed);
    assert_eq!(bench.status(&ids[3]).await, Status::Paused);
    for (number, id) in ids
        .iter()
        .enumerate()
        .filter(|(number, _)| !(2..4).contains(number))
    {
        assert_eq!(bench.status(id).await, Status::Running, "m{number}");
    }
}

async fn a_report_tells_what_is_still_owed(bench: Bench) {
    let id = bench.running("a", Some("v-1")).await;
    bench
        .reconciler
        .delete(&id, Source::User)
        .await
        .expect("deleted");
    let report = bench.reconciler.report(&id).await.expect("a report");
    let detail = report.detail.to_string();
    assert!(
        detail.contains("cleanup pending: stop_compute, revoke_credentials"),
        "{detail}"
    );
    bench.drain().await;
    let detail = bench
        .reconciler
        .report(&id)
        .await
        .expect("a report")
        .detail
        .to_string();
    assert!(!detail.contains("pending"), "{detail}");
}

/// A fleet that answers only once it is let.
#[derive(Debug)]
struct Gate {
    fleet: SimulatedProvider,
    entered: Notify,
    open: Notify,
}

#[async_trait]
impl Provider for Gate {
    async fn observe(&self, target: &Target) -> Seen {
        let seen = self.fleet.observe(target).await;
        self.entered.notify_one();
        self.open.notified().await;
        seen
    }

    async fn list(&self) -> Result<Listing, ProviderError> {
        self.fleet.list().await
    }

    async fn read_volume(&self, target: &Target) -> VolumeReading {
        self.fleet.read_volume(target).await
    }

    async fn stop_compute(&self, target: &Target) -> Result<Delivered, ProviderError> {
        self.fleet.stop_compute(target).await
    }

    async fn destroy_compute(&self, target: &Target) -> Result<Delivered, ProviderError> {
        self.fleet.destroy_compute(target).await
    }

    async fn destroy_volume(&self, target: &Target) -> Result<Delivered, ProviderError> {
        self.fleet.destroy_volume(target).await
    }
}
