//! Is a commit all or nothing, and only on the revision that was read?

use lifecycle_core::{Effect, Machine, ScopeWindow, Status};

use super::{
    StoreHarness,
    trial::{Trial, WHILE, answered, entry, fact, id, whole_change, with, won, work},
};
use crate::{
    id::MachineId,
    journal::Entry,
    ledger::Fact,
    outbox::{OutboxRow, Settlement},
    row::{Claim, Row},
    store::{Change, Commit},
};

/// The first to commit on a revision wins, and the revision is one more.
pub async fn a_commit_on_the_revision_that_was_read_wins(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let read = trial.registered("a").await;
    let next = with(read.clone(), |machine| Machine {
        status: Status::Running,
        ..machine
    });
    let Commit::Won(row) = trial.commit(&Change::of(next.clone())).await else {
        panic!("a commit on the revision that was read wins");
    };
    assert_eq!(
        row,
        Row {
            revision: read.revision + 1,
            ..next
        },
        "a commit writes the row that it was given, and counts its revision up by one"
    );
    assert_eq!(
        trial.row(&read.id).await,
        row,
        "a won commit answers with the row as it is stored"
    );
    for wrong in [read.revision, row.revision + 1] {
        let other = Row {
            revision: wrong,
            ..row.clone()
        };
        assert_eq!(
            trial.commit(&Change::of(other)).await,
            Commit::Lost(Some(row.clone())),
            "a commit on any other revision than the stored one is lost, and answers with the row as it is"
        );
    }
}

/// Row, ledger, outbox, journal, newly gone and hold become visible with a won commit.
pub async fn a_won_commit_writes_everything_together(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let row = trial.settled("a").await;
    let change = whole_change(&row, trial.now().await);
    trial.won(&change).await;
    let seen = Seen::of(&trial, &row.id).await;

    assert_eq!(
        seen.row.facts, change.next.facts,
        "a won commit writes its row"
    );
    assert_eq!(seen.ledger, change.facts, "a won commit writes its facts");
    for work in &change.work {
        assert!(
            seen.work.iter().any(|row| row.work.key == work.key),
            "a won commit queues its work"
        );
    }
    assert_eq!(
        seen.journal.last(),
        change.journal.as_ref(),
        "a won commit journals its decision"
    );
    assert_eq!(
        seen.window.newly_gone, 1,
        "a won commit counts its machine as newly gone"
    );
    assert!(
        seen.window.held_since.is_some(),
        "a won commit begins the hold of its scope"
    );
}

/// A lost commit leaves no trace: no row, fact, work, decision, newly gone machine or hold.
pub async fn a_lost_commit_writes_nothing(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let read = trial.settled("a").await;
    let faster = trial.enter(&read.id, Status::Running).await;
    let before = Seen::of(&trial, &read.id).await;

    let lost = whole_change(&read, trial.now().await);
    assert_eq!(
        trial.commit(&lost).await,
        Commit::Lost(Some(faster)),
        "a commit whose revision is no longer stored is lost, and answers with the row as it is"
    );
    before
        .is_unchanged(&trial, "a lost commit writes nothing")
        .await;

    // Claims and settlements count as commits too.
    let row = trial.queue(&read.id, &[Effect::StopCompute]).await;
    let claimed = trial
        .claim_only(Effect::StopCompute, "work that is due can be claimed")
        .await;
    let between = trial.row(&read.id).await;
    trial.settle(&claimed, Settlement::Done).await;
    let before = Seen::of(&trial, &read.id).await;
    for read in [row, between] {
        let lost = whole_change(&read, trial.now().await);
        let commit = trial.commit(&lost).await;
        assert!(
            matches!(commit, Commit::Lost(Some(_))),
            "a commit that read the row before a claim or settlement of it is lost"
        );
    }
    before
        .is_unchanged(&trial, "a commit lost to a relay writes nothing")
        .await;
}

/// A change of a machine that is not there writes nothing at all.
pub async fn a_commit_of_what_is_not_there_writes_nothing(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let row = trial.registered("a").await;
    let stray = whole_change(
        &Row {
            id: id("b"),
            ..row.clone()
        },
        trial.now().await,
    );
    let before = Seen::of(&trial, &row.id).await;
    assert_eq!(
        trial.commit(&stray).await,
        Commit::Lost(None),
        "a commit of a machine that is not there is lost"
    );
    before
        .is_unchanged(&trial, "a commit of what is not there writes nothing")
        .await;
    assert_eq!(
        (trial.ledger(&id("b")).await, trial.all_work(&id("b")).await),
        (Vec::new(), Vec::new()),
        "a commit of what is not there writes neither facts nor work"
    );
    assert_eq!(
        trial.journal(&id("b")).await,
        [],
        "a commit of what is not there journals nothing"
    );
}

/// Only relays write claims: a commit keeps the stored one, whatever it says.
pub async fn a_commit_keeps_the_claim_that_is_stored(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let row = trial.settled("a").await;
    let made_up = Claim {
        effect: Effect::DestroyCompute,
        until: trial.now().await.saturating_add(WHILE),
        token: "made up".to_owned(),
    };
    let row = trial
        .won(&Change::of(Row {
            claim: Some(made_up),
            ..row
        }))
        .await;
    assert_eq!(row.claim, None, "a commit writes no claim");
    assert_eq!(
        trial.row(&row.id).await.claim,
        None,
        "a commit writes no claim"
    );

    trial.queue(&row.id, &[Effect::StopCompute]).await;
    let claimed = trial
        .claim_only(Effect::StopCompute, "work that is due can be claimed")
        .await;
    let claim = claimed.machine.claim.clone();
    assert!(claim.is_some(), "a stop claims its row");
    let row = trial
        .won(&Change::of(Row {
            claim: None,
            ..claimed.machine.clone()
        }))
        .await;
    assert_eq!(row.claim, claim, "a commit takes no claim off its row");
    let stored = trial.row(&row.id).await;
    assert_eq!(stored.claim, claim, "a commit takes no claim off its row");
    trial.settle(&claimed, Settlement::Done).await;
}

/// In a batch each change wins or loses on its own, and is answered in its place.
pub async fn several_changes_win_or_lose_each_on_its_own(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    assert_eq!(
        answered(trial.store.commit_many(&[]).await),
        [],
        "a batch of nothing is answered with nothing"
    );
    let mut read = Vec::new();
    for name in ["d", "b", "c", "a"] {
        read.push(trial.settled(name).await);
    }
    let faster = trial.enter(&id("b"), Status::Running).await;
    let lost_before = Seen::of(&trial, &faster.id).await;
    let now = trial.now().await;
    let mut changes: Vec<Change> = read.iter().map(|row| change_of(row, now)).collect();
    changes.insert(
        2,
        change_of(
            &Row {
                id: id("nobody"),
                ..faster.clone()
            },
            now,
        ),
    );
    let commits = answered(trial.store.commit_many(&changes).await);

    let outcomes: Vec<_> = commits
        .iter()
        .map(|commit| match commit {
            Commit::Won(row) => ("won", Some(row.id.as_str())),
            Commit::Lost(row) => ("lost", row.as_ref().map(|row| row.id.as_str())),
        })
        .collect();
    assert_eq!(
        outcomes,
        [
            ("won", Some("d")),
            ("lost", Some("b")),
            ("lost", None),
            ("won", Some("c")),
            ("won", Some("a"))
        ],
        "each change of a batch wins or loses on its own, and is answered in its place"
    );
    lost_before
        .is_unchanged(&trial, "a change of a batch that lost writes nothing")
        .await;
    for (change, commit) in changes.iter().zip(commits) {
        if let Commit::Won(_) = commit {
            let row = won(commit);
            let seen = Seen::of(&trial, &row.id).await;
            assert_eq!(
                seen.row, row,
                "a won change of a batch answers with the row as it is stored"
            );
            assert_eq!(
                seen.ledger, change.facts,
                "a won change of a batch writes its facts"
            );
            assert_eq!(
                seen.journal.last(),
                change.journal.as_ref(),
                "a won change of a batch journals its decision"
            );
            let key = &change.work[0].key;
            assert!(
                seen.work.iter().any(|row| row.work.key == *key),
                "a won change of a batch queues its work"
            );
        }
    }
}

fn change_of(row: &Row, now: lifecycle_core::Timestamp) -> Change {
    let next = with(row.clone(), |machine| Machine {
        status: Status::Failed,
        ..machine
    });
    Change {
        facts: vec![fact(&next, Effect::RecordFailed, 0, now)],
        work: vec![work(&next, Effect::RevokeCredentials, now)],
        journal: Some(entry(row, "it never came", now)),
        ..Change::of(next)
    }
}

/// All that can be seen of one machine and its scope.
#[derive(Debug, PartialEq)]
struct Seen {
    row: Row,
    ledger: Vec<Fact>,
    work: Vec<OutboxRow>,
    journal: Vec<Entry>,
    window: ScopeWindow,
}

impl Seen {
    async fn of(trial: &Trial<'_>, id: &MachineId) -> Self {
        let row = trial.row(id).await;
        let scope = row.facts.machine().scope.to_owned();
        Self {
            ledger: trial.ledger(id).await,
            work: trial.all_work(id).await,
            journal: trial.journal(id).await,
            window: answered(trial.store.scope_window(&scope, WHILE).await),
            row,
        }
    }

    async fn is_unchanged(&self, trial: &Trial<'_>, promise: &str) {
        let after = Self::of(trial, &self.row.id).await;
        assert_eq!(after.row, self.row, "{promise}: no row");
        assert_eq!(after.ledger, self.ledger, "{promise}: no fact");
        assert_eq!(after.work, self.work, "{promise}: no work");
        assert_eq!(after.journal, self.journal, "{promise}: no decision");
        assert_eq!(
            after.window, self.window,
            "{promise}: no newly gone machine and no hold"
        );
    }
}
