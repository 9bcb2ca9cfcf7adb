//! Does the store know what the fleet guard needs of a scope?

use core::time::Duration;

use lifecycle_core::{Machine, ScopeWindow, Status};

use super::{
    StoreHarness,
    trial::{Trial, WHILE, answered, new_machine, with},
};
use crate::{
    id::MachineId,
    row::{NewMachine, Row},
    store::Change,
};

const HERE: &str = "here";
const WINDOW: Duration = Duration::from_secs(600);

/// A machine that went, came back and went again is one machine.
pub async fn a_window_counts_each_machine_once(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    assert_eq!(
        window(&trial, HERE).await,
        ScopeWindow::default(),
        "a scope that nobody knows has nothing in it"
    );
    let a = registered(&trial, "a", HERE).await;
    let b = registered(&trial, "b", HERE).await;
    let elsewhere = registered(&trial, "c", "there").await;
    for row in [&a, &b, &a, &elsewhere] {
        gone(&trial, &row.id, Status::Paused).await;
    }
    assert_eq!(
        window(&trial, HERE).await.newly_gone,
        2,
        "a window counts distinct machines of its own scope"
    );
    trial.won(&Change::of(trial.row(&a.id).await)).await;
    assert_eq!(
        window(&trial, HERE).await.newly_gone,
        2,
        "a commit that says of no machine that it is newly gone counts none"
    );
}

/// Only what went within the window counts, by the store's clock.
pub async fn a_window_forgets_what_is_older(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let a = registered(&trial, "a", HERE).await;
    let b = registered(&trial, "b", HERE).await;
    gone(&trial, &a.id, Status::Paused).await;
    trial.advance(WINDOW / 2).await;
    gone(&trial, &b.id, Status::Paused).await;
    assert_eq!(
        window(&trial, HERE).await.newly_gone,
        2,
        "what went within the window counts"
    );
    trial.advance(WINDOW / 2 + WHILE).await;
    assert_eq!(
        window(&trial, HERE).await.newly_gone,
        1,
        "what went before the window does not count"
    );
    gone(&trial, &a.id, Status::Paused).await;
    assert_eq!(
        window(&trial, HERE).await.newly_gone,
        2,
        "a machine counts by the last time that it went"
    );
    trial.advance(WINDOW + WHILE).await;
    assert_eq!(
        window(&trial, HERE).await.newly_gone,
        0,
        "what went before the window does not count"
    );
}

/// The share is taken of the active rows, to which those that went just now still belong.
pub async fn a_window_counts_the_active_and_the_newly_gone(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    for status in Status::ALL {
        let row = registered(&trial, status.word(), HERE).await;
        trial.enter(&row.id, *status).await;
        registered(&trial, &format!("elsewhere {status}"), "there").await;
    }
    assert_eq!(
        window(&trial, HERE).await.active,
        4,
        "the active rows of a scope are those provisioning, running, paused and failed"
    );
    let row = registered(&trial, "gone", HERE).await;
    gone(&trial, &row.id, Status::Destroyed).await;
    let row = registered(&trial, "lost", HERE).await;
    gone(&trial, &row.id, Status::Paused).await;
    assert_eq!(
        window(&trial, HERE).await,
        ScopeWindow {
            newly_gone: 2,
            active: 6,
            held_since: None,
            released_at: None
        },
        "rows that are newly gone belong to the active ones of their scope, each once"
    );
    trial.advance(WINDOW + WHILE).await;
    assert_eq!(
        window(&trial, HERE).await.active,
        5,
        "rows that went before the window and ended are active no more"
    );
}

/// A hold begins once, and only an operator's word ends it.
pub async fn a_hold_keeps_its_beginning_and_ends_by_release(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let a = registered(&trial, "a", HERE).await;
    registered(&trial, "b", "there").await;
    let before = trial.now().await;
    hold(&trial, &a.id).await;
    let Some(held_since) = window(&trial, HERE).await.held_since else {
        panic!("a commit begins the hold of a scope");
    };
    assert!(
        (before..=trial.now().await).contains(&held_since),
        "a hold begins with its commit, by the store's clock"
    );
    assert_eq!(
        window(&trial, "there").await.held_since,
        None,
        "a hold is of one scope"
    );
    trial.advance(WHILE).await;
    hold(&trial, &a.id).await;
    assert_eq!(
        window(&trial, HERE).await.held_since,
        Some(held_since),
        "a hold that runs keeps its beginning"
    );

    gone(&trial, &a.id, Status::Paused).await;
    let before = trial.now().await;
    answered(trial.store.release_scope(HERE).await);
    let released = window(&trial, HERE).await;
    assert_eq!(
        (released.held_since, released.newly_gone),
        (None, 1),
        "an operator's release ends the hold, and forgets nothing that went"
    );
    assert!(
        released
            .released_at
            .is_some_and(|at| (before..).contains(&at)),
        "a window tells when its scope was released"
    );
    trial.advance(WHILE).await;
    hold(&trial, &a.id).await;
    let held = window(&trial, HERE).await;
    assert!(
        held.held_since > Some(held_since),
        "after a release a hold begins anew"
    );
    assert_eq!(
        held.released_at, released.released_at,
        "a new hold does not forget when its scope was released"
    );
}

async fn registered(trial: &Trial<'_>, name: &str, scope: &str) -> Row {
    let scope = scope.to_owned();
    trial
        .registered_as(&NewMachine {
            scope,
            ..new_machine(name)
        })
        .await
}

async fn window(trial: &Trial<'_>, scope: &str) -> ScopeWindow {
    answered(trial.store.scope_window(scope, WINDOW).await)
}

/// Commits that a machine is newly gone, and its status then.
async fn gone(trial: &Trial<'_>, id: &MachineId, status: Status) {
    let next = with(trial.row(id).await, |machine| Machine { status, ..machine });
    let newly_gone = Some(next.facts.machine().scope.to_owned());
    trial
        .won(&Change {
            newly_gone,
            ..Change::of(next)
        })
        .await;
}

async fn hold(trial: &Trial<'_>, id: &MachineId) {
    let row = trial.row(id).await;
    let hold = Some(row.facts.machine().scope.to_owned());
    trial
        .won(&Change {
            hold,
            ..Change::of(row)
        })
        .await;
}
