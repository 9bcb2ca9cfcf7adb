//! What does a registration write?

use lifecycle_core::{Compute, Effect, Machine, Status, Volume};

use super::{
    StoreHarness,
    trial::{Trial, answered, fact, id, new_machine, whole_change},
};
use crate::{
    outbox::WorkState,
    row::NewMachine,
    store::{Admission, Change, Commit, Registered},
};

/// A new machine is provisioning, holds capacity (which is queued), and is journalled.
pub async fn a_new_machine_is_provisioning_and_holds_capacity(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let before = trial.now().await;
    let row = trial.registered("a").await;
    let after = trial.now().await;

    let machine = row.facts.machine();
    assert!(
        (before..=after).contains(&machine.created_at),
        "a machine was asked for when it was registered, by the store's clock"
    );
    assert_eq!(
        machine,
        Machine::new("account-1/eu", Some("marker-a"), machine.created_at),
        "a new machine is provisioning, its capacity held, its generation 1"
    );
    assert!(
        row.look_again_at.is_some(),
        "a machine that has not ended is looked at again"
    );
    assert_eq!(row.claim, None, "nothing of a new machine is claimed");
    assert!(!row.was_sighted, "a new machine was never seen");
    assert_eq!(
        trial.row(&row.id).await,
        row,
        "a registration answers with the row as it is stored"
    );

    let hold = trial.work(&row.id, Effect::HoldCompute).await;
    assert_eq!(
        (hold.state, hold.work.key.generation, hold.work.key.holds),
        (WorkState::Pending, 1, 1),
        "a registration queues the hold of its first reservation"
    );
    assert_eq!(
        trial.all_work(&row.id).await.len(),
        1,
        "a registration queues nothing else"
    );
    let journal = trial.journal(&row.id).await;
    let seen: Vec<_> = journal
        .iter()
        .map(|entry| (&entry.machine, entry.revision, entry.rule))
        .collect();
    assert_eq!(
        seen,
        [(&row.id, row.revision, None)],
        "a registration is journalled, and no rule decided it"
    );
    assert_eq!(
        trial.ledger(&row.id).await,
        [],
        "a registration is no fact of the ledger"
    );
}

/// All that a registration was told is in the row.
pub async fn a_registration_keeps_what_it_was_told(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    for (name, volume) in ["a", "b", "c", "d"].into_iter().zip(Volume::ALL) {
        let new = NewMachine {
            id: id(name),
            scope: format!("scope of {name}"),
            marker: (name != "a").then(|| format!("marker of {name}")),
            provider_id: (name != "b").then(|| format!("provider's {name}")),
            volume: *volume,
            volume_id: (name != "a").then(|| format!("volume of {name}")),
            policy: (name != "c").then(|| "converge".to_owned()),
        };
        trial.registered_as(&new).await;
        let row = trial.row(&new.id).await;
        let machine = row.facts.machine();
        let kept = NewMachine {
            id: row.id.clone(),
            scope: machine.scope.to_owned(),
            marker: machine.marker.map(str::to_owned),
            provider_id: row.provider_id.clone(),
            volume: machine.volume,
            volume_id: row.volume_id.clone(),
            policy: row.policy.clone(),
        };
        assert_eq!(kept, new, "a registration keeps what it was told");
        assert_eq!(
            row.registered_volume, *volume,
            "what registration said of the volume is kept beside what is known of it"
        );
    }
}

/// A machine that was registered before is left as it is.
pub async fn registering_again_writes_nothing(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let row = trial.registered("a").await;
    let now = trial.now().await;
    let ended = trial.won(&whole_change(&row, now)).await;
    let (work, journal) = (trial.all_work(&row.id).await, trial.journal(&row.id).await);

    let again = NewMachine {
        scope: "elsewhere".to_owned(),
        volume: Volume::Owned,
        ..new_machine("a")
    };
    assert_eq!(
        answered(trial.store.register(&again).await),
        Registered::Existing(ended.clone()),
        "a machine that was registered before is answered as it is"
    );
    assert_eq!(
        trial.row(&row.id).await,
        ended,
        "registering again changes no row"
    );
    assert_eq!(
        (trial.all_work(&row.id).await, trial.journal(&row.id).await),
        (work, journal),
        "registering again queues and journals nothing"
    );
}

/// An id that the ledger knows begins above every generation there, so that no fact is taken for another's.
pub async fn a_registration_begins_above_every_generation_of_the_ledger(
    harness: &dyn StoreHarness,
) {
    let trial = Trial::begin(harness).await;
    let other = trial.settled("other").await;
    let now = trial.now().await;
    // The ledger outlives rows; no call of the trait takes a row away, so another one's commit
    // brings in what is left of it.
    let left_behind = [7, 2].map(|generation| {
        let mut fact = fact(&other, Effect::RecordDestroyed, 0, now);
        fact.machine = id("a");
        fact.generation = generation;
        fact
    });
    trial
        .won(&Change {
            facts: left_behind.to_vec(),
            ..Change::of(other)
        })
        .await;

    let row = trial.registered("a").await;
    let machine = row.facts.machine();
    assert_eq!(
        (machine.generation, machine.status, machine.compute),
        (8, Status::Provisioning, Compute::Held),
        "a registration takes a generation above any that the ledger has of its id"
    );
    let hold = trial.work(&row.id, Effect::HoldCompute).await;
    assert_eq!(
        hold.work.key.generation, 8,
        "the hold of a registration is of its own generation"
    );
}

/// A machine that nobody registered has no row, facts, work or decisions, and admits nobody.
pub async fn what_nobody_registered_is_not_there(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let row = trial.registered("a").await;
    let b = id("b");
    assert_eq!(
        answered(trial.store.load(&b).await),
        None,
        "a machine that nobody registered has no row"
    );
    let stray = crate::row::Row {
        id: b.clone(),
        ..row
    };
    assert_eq!(
        trial.commit(&Change::of(stray)).await,
        Commit::Lost(None),
        "a commit does not make a row"
    );
    assert_eq!(
        answered(trial.store.admit(&b).await),
        Admission::Unknown,
        "a machine that nobody registered is unknown"
    );
    assert_eq!(
        (trial.ledger(&b).await, trial.journal(&b).await),
        (Vec::new(), Vec::new()),
        "a machine that nobody registered has no facts and no decisions"
    );
    assert_eq!(
        trial.all_work(&b).await,
        [],
        "a machine that nobody registered has no work"
    );
}
