//! Is each deliberately broken store caught, and by which promise?

use core::time::Duration;
use std::sync::Arc;

use async_trait::async_trait;
use lifecycle_adapters::{conformance::store::StoreHarness, store::Store};

use crate::{
    Memory,
    broken_stores::{BrokenStore, Flaw},
    suite,
};

#[tokio::test]
async fn a_store_that_loses_updates_is_caught() {
    check(
        Flaw::LostUpdate,
        &[
            "a_commit_on_the_revision_that_was_read_wins",
            "a_lost_commit_writes_nothing",
            "of_many_commits_on_one_revision_one_wins",
            "no_update_of_many_is_lost",
        ],
    )
    .await;
}

#[tokio::test]
async fn a_ledger_outside_of_the_transaction_is_caught() {
    check(
        Flaw::LedgerOutsideTheTransaction,
        &[
            "a_lost_commit_writes_nothing",
            "a_commit_of_what_is_not_there_writes_nothing",
            "several_changes_win_or_lose_each_on_its_own",
        ],
    )
    .await;
}

#[tokio::test]
async fn effects_of_a_lost_race_are_caught() {
    check(
        Flaw::EffectsOfALostRace,
        &[
            "a_lost_commit_writes_nothing",
            "several_changes_win_or_lose_each_on_its_own",
        ],
    )
    .await;
}

#[tokio::test]
async fn a_journal_of_lost_commits_is_caught() {
    check(
        Flaw::JournalOfLostCommits,
        &[
            "a_lost_commit_writes_nothing",
            "of_many_commits_on_one_revision_one_wins",
        ],
    )
    .await;
}

#[tokio::test]
async fn a_guard_that_counts_lost_commits_is_caught() {
    check(Flaw::LostCommitsCount, &["a_lost_commit_writes_nothing"]).await;
}

#[tokio::test]
async fn a_reservation_that_is_held_again_is_caught() {
    check(
        Flaw::DoneHoldDoneAgain,
        &["a_reservation_is_held_and_released_once"],
    )
    .await;
}

#[tokio::test]
async fn work_that_is_queued_twice_is_caught() {
    check(
        Flaw::OutboxDuplicate,
        &[
            "queueing_pending_work_renews_it",
            "queueing_claimed_work_renews_it_and_marks_it_dirty",
        ],
    )
    .await;
}

#[tokio::test]
async fn a_dirty_mark_that_gets_lost_is_caught() {
    check(
        Flaw::DirtyLost,
        &[
            "queueing_claimed_work_renews_it_and_marks_it_dirty",
            "dirty_work_is_pending_anew_whatever_became_of_it",
        ],
    )
    .await;
}

#[tokio::test]
async fn a_lease_that_is_ignored_is_caught() {
    check(
        Flaw::LeaseIgnored,
        &[
            "work_is_claimed_by_one_relay_at_a_time",
            "of_many_relays_one_claims_each_work",
        ],
    )
    .await;
}

#[tokio::test]
async fn a_lease_that_never_ends_is_caught() {
    check(
        Flaw::LeaseWithoutEnd,
        &["a_lease_ends_by_time_and_then_another_may_claim"],
    )
    .await;
}

#[tokio::test]
async fn a_token_that_is_not_checked_is_caught() {
    check(
        Flaw::TokenNotChecked,
        &[
            "only_the_holder_of_the_token_settles",
            "a_lease_ends_by_time_and_then_another_may_claim",
        ],
    )
    .await;
}

#[tokio::test]
async fn a_sweep_that_always_begins_at_the_same_rows_is_caught() {
    check(
        Flaw::SweepWithoutRotation,
        &["taken_rows_rotate_so_that_none_starves"],
    )
    .await;
}

#[tokio::test]
async fn a_dry_run_that_mends_is_caught() {
    check(Flaw::DryRunMends, &["a_dry_run_counts_and_changes_nothing"]).await;
}

/// Runs the suite against a flaw; these cases at least must fail.
async fn check(flaw: Flaw, expected: &[&str]) {
    let caught = suite::broken_promises(Broken(Memory::new(), flaw)).await;
    for name in expected {
        assert!(
            caught.contains_key(name),
            "{name} does not catch {flaw:?}; caught by {:?}",
            caught.keys()
        );
    }
}

struct Broken(Memory, Flaw);

#[async_trait]
impl StoreHarness for Broken {
    async fn fresh(&self) -> Arc<dyn Store> {
        Arc::new(BrokenStore::new(self.0.fresh().await, self.1))
    }

    async fn advance(&self, by: Duration) {
        self.0.advance(by).await;
    }
}
