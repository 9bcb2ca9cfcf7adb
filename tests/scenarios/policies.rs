//! Does every row follow its own policy, and one with an unknown name still get deleted?

use core::time::Duration;

use lifecycle_adapters::{alert::Alert, id::MachineId, row::NewMachine};
use lifecycle_core::{Effect, Policy, Rule, Source, Status, Table, Thresholds};

use crate::bench::{Bench, new_machine};

crate::stories! {
    a_row_follows_the_policy_that_it_names,
    an_unknown_policy_is_cautious_and_raises_an_alert,
    lost_compute_is_retired_where_the_policy_says_so,
}

async fn named(bench: &Bench, name: &str, volume: Option<&str>, policy: &str) -> MachineId {
    let id = MachineId::new(name).expect("a name");
    let (provider_id, marker) = bench.fleet.create(&id, 1, volume);
    let new = NewMachine {
        policy: Some(policy.to_owned()),
        ..new_machine(&id, Some((&provider_id, &marker)), volume)
    };
    bench.reconciler.register(&new).await.expect("registered");
    bench.clock.advance(Duration::from_secs(120));
    bench
        .reconciler
        .observe(&id, Source::Sweep)
        .await
        .expect("an answer");
    id
}

async fn a_row_follows_the_policy_that_it_names(bench: Bench) {
    let keep = named(&bench, "keep", Some("v-1"), "cautious").await;
    let converge = named(&bench, "converge", Some("v-2"), "converge").await;
    bench.fleet.change(|world| {
        world.vanish("m-1");
        world.vanish("m-2");
    });
    let kept = bench
        .reconciler
        .observe(&keep, Source::Sweep)
        .await
        .expect("an answer");
    let ended = bench
        .reconciler
        .observe(&converge, Source::Sweep)
        .await
        .expect("an answer");
    assert_eq!(kept.rule, Some(Rule::VolumeOutlivesCompute));
    assert_eq!(ended.rule, Some(Rule::GoneDespiteVolume));
    assert!(
        bench.fleet.change(|world| world.volume("v-2").is_some()),
        "the volume stays"
    );
}

async fn an_unknown_policy_is_cautious_and_raises_an_alert(bench: Bench) {
    let id = named(&bench, "a", None, "no-such-policy").await;
    bench
        .reconciler
        .delete(&id, Source::User)
        .await
        .expect("a delete hangs on no name");
    bench.live(Duration::from_secs(900)).await;
    assert_eq!(bench.status(&id).await, Status::Destroyed);
    assert!(
        bench
            .alerts
            .all()
            .iter()
            .any(|alert| matches!(alert, Alert::UnknownPolicy { .. }))
    );
}

async fn lost_compute_is_retired_where_the_policy_says_so(bench: Bench) {
    let thresholds = Thresholds {
        retire_compute_lost_after: Some(Duration::from_secs(3_600)),
        retirement_grace: Duration::from_secs(600),
        ..Thresholds::CAUTIOUS
    };
    let retiring = Policy::new(Table::DEFAULT, thresholds).expect("a sound policy");
    let bench = bench.settled(|settings| {
        settings.policies.insert("retiring".to_owned(), retiring);
    });
    let id = named(&bench, "a", Some("v-1"), "retiring").await;
    bench.fleet.change(|world| world.vanish("m-1"));
    bench.live(Duration::from_secs(1_800)).await;
    assert_eq!(bench.status(&id).await, Status::Paused);
    bench.live(Duration::from_secs(2_700)).await;
    assert_eq!(
        bench.status(&id).await,
        Status::Quarantined,
        "its own grace begins"
    );
    bench.live(Duration::from_secs(1_200)).await;
    assert_eq!(bench.status(&id).await, Status::Destroyed);
    assert_eq!(bench.count(&id, Effect::RecordDestroyed).await, 1);
    assert!(bench.fleet.change(|world| world.volume("v-1").is_none()));
}
