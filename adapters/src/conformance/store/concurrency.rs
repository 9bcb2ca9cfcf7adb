//! Does exactly one of many win?

use std::{collections::BTreeSet, sync::Arc};

use lifecycle_core::{Effect, Machine};
use tokio::task::JoinSet;

use super::{
    StoreHarness,
    trial::{LEASE, Trial, answered, new_machine, whole_change, with},
};
use crate::{
    outbox::{Claimed, WorkState},
    store::{Change, Commit, Registered, Store},
};

const MANY: u64 = 16;

/// Of all who read a row at once, one commits, and its consequences are written once.
pub async fn of_many_commits_on_one_revision_one_wins(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let row = trial.settled("a").await;
    let journal = trial.journal(&row.id).await.len();
    let change = Arc::new(whole_change(&row, trial.now().await));
    let commits = at_once(&trial, |store| {
        let change = change.clone();
        async move { answered(store.commit(&change).await) }
    })
    .await;
    let won = commits
        .iter()
        .filter(|commit| matches!(commit, Commit::Won(_)))
        .count();
    assert_eq!(won, 1, "of many commits on one revision one wins");
    let stored = trial.row(&row.id).await;
    assert_eq!(
        stored.revision,
        row.revision + 1,
        "lost commits do not count"
    );
    assert_eq!(
        trial.ledger(&row.id).await,
        change.facts,
        "of many commits on one revision one writes its facts"
    );
    assert_eq!(
        trial.journal(&row.id).await.len(),
        journal + 1,
        "of many commits on one revision one is journalled"
    );
    for work in &change.work {
        assert_eq!(
            trial.state(&row.id, work.key.effect).await,
            WorkState::Pending,
            "of many commits on one revision one queues its work"
        );
    }
}

/// Many who read, change and commit until they win all have their change in the row.
pub async fn no_update_of_many_is_lost(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let row = trial.registered("a").await;
    let id = row.id.clone();
    at_once(&trial, |store| {
        let id = id.clone();
        async move {
            for _ in 0..10_000 {
                let Some(loaded) = answered(store.load(&id).await) else {
                    panic!("a row that was written can be read");
                };
                let next = with(loaded.row, |machine| Machine {
                    quarantines: machine.quarantines + 1,
                    ..machine
                });
                tokio::task::yield_now().await;
                if let Commit::Won(_) = answered(store.commit(&Change::of(next)).await) {
                    return;
                }
            }
            panic!("who commits again and again on the fresh row wins in the end");
        }
    })
    .await;
    let stored = trial.row(&row.id).await;
    assert_eq!(
        stored.facts.machine().quarantines,
        MANY,
        "no update of many is lost"
    );
    assert_eq!(
        stored.revision,
        row.revision + MANY,
        "every won commit counts"
    );
}

/// A machine that many register at once is created once.
pub async fn of_many_registrations_one_creates(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let registered = at_once(&trial, |store| async move {
        answered(store.register(&new_machine("a")).await)
    })
    .await;
    let mut created = 0;
    for one in &registered {
        let (Registered::Created(row) | Registered::Existing(row)) = one;
        assert_eq!(
            *row,
            trial.row(&row.id).await,
            "every registration answers with the row"
        );
        created += u64::from(matches!(one, Registered::Created(_)));
    }
    assert_eq!(created, 1, "of many registrations one creates");
    let id = super::trial::id("a");
    assert_eq!(
        (
            trial.all_work(&id).await.len(),
            trial.journal(&id).await.len()
        ),
        (1, 1),
        "of many registrations one is queued and journalled"
    );
}

/// Relays side by side share the work without doubling it.
pub async fn of_many_relays_one_claims_each_work(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    for machine in 0..MANY {
        let row = trial.registered(&format!("machine {machine}")).await;
        trial
            .queue(&row.id, &[Effect::StopCompute, Effect::RevokeCredentials])
            .await;
    }
    let claimed = claimed_at_once(&trial).await;
    let keys: BTreeSet<String> = claimed
        .iter()
        .map(|one| format!("{:?}", one.row.work.key))
        .collect();
    let tokens: BTreeSet<&str> = claimed.iter().map(|one| one.token.as_str()).collect();
    let expected = usize::try_from(MANY * 3).unwrap_or(usize::MAX);
    assert_eq!(
        (claimed.len(), keys.len(), tokens.len()),
        (expected, expected, expected),
        "of many relays one claims each work, and all of it is claimed"
    );
}

/// Relays side by side do not stop and destroy one row at the same time.
pub async fn of_many_relays_one_claims_each_row(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let names: Vec<String> = (0..MANY).map(|place| format!("machine {place}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for row in trial.all_settled(&names).await {
        trial
            .queue(&row.id, &[Effect::StopCompute, Effect::DestroyCompute])
            .await;
    }
    let claimed = claimed_at_once(&trial).await;
    let machines: BTreeSet<_> = claimed
        .iter()
        .map(|one| &one.row.work.key.machine)
        .collect();
    let expected = usize::try_from(MANY).unwrap_or(usize::MAX);
    assert_eq!(
        (claimed.len(), machines.len()),
        (expected, expected),
        "of many relays one claims a row at a time"
    );
}

/// Claims with many relays until nothing is left.
async fn claimed_at_once(trial: &Trial<'_>) -> Vec<Claimed> {
    let claimed = at_once(trial, |store| async move {
        let mut all = Vec::new();
        // As often as it takes for all of it, and one time more; a store that gives out what is
        // claimed already would never come to an end.
        for _ in 0..=MANY {
            let claimed = answered(store.claim(3, LEASE).await);
            if claimed.is_empty() {
                break;
            }
            all.extend(claimed);
            tokio::task::yield_now().await;
        }
        all
    })
    .await;
    let mut claimed: Vec<_> = claimed.into_iter().flatten().collect();
    // What one relay left while another was at it.
    claimed.extend(trial.claim(1_000).await);
    claimed
}

/// Runs a call many times at once.
async fn at_once<T, F>(trial: &Trial<'_>, call: impl Fn(Arc<dyn Store>) -> F) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let mut tasks: JoinSet<T> = (0..MANY).map(|_| call(trial.store.clone())).collect();
    let mut answers = Vec::new();
    while let Some(answer) = tasks.join_next().await {
        match answer {
            Ok(answer) => answers.push(answer),
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(error) => panic!("{error}"),
            },
        }
    }
    answers
}
