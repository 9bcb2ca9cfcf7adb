//! Does a store keep the promises of [`Store`]?
//!
//! Each case makes a store of its own, asks only through the trait, and panics with the promise that
//! was broken. Give [`StoreHarness`] to [`run`], or each of [`CASES`] to a test of its own:
//!
//! ```
//! # #[cfg(feature = "testing")] {
//! use core::time::Duration;
//! use std::sync::Arc;
//! use async_trait::async_trait;
//! use lifecycle_adapters::{
//!     clock::ManualClock, conformance::store::{self, StoreHarness}, memory::MemoryStore, store::Store,
//! };
//! use lifecycle_core::Timestamp;
//!
//! struct Memory(Arc<ManualClock>);
//!
//! #[async_trait]
//! impl StoreHarness for Memory {
//!     async fn fresh(&self) -> Arc<dyn Store> {
//!         Arc::new(MemoryStore::new(self.0.clone()))
//!     }
//!
//!     async fn advance(&self, by: Duration) {
//!         self.0.advance(by);
//!     }
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let clock = ManualClock::at(Timestamp::from_millis(1_000_000));
//! store::run(&Memory(Arc::new(clock))).await;
//! # });
//! # }
//! ```
//!
//! The time of a store may stand still between the calls of [`StoreHarness::advance`] or run on; what
//! is measured allows for a minute of it.

pub mod admission;
pub mod adoption;
pub mod claims;
pub mod commits;
pub mod concurrency;
pub mod dead_letters;
pub mod facts;
pub mod journal;
pub mod ledger;
pub mod outbox;
pub mod registration;
pub mod repair;
pub mod scopes;
pub mod settlement;
pub mod sweep;
mod trial;
pub mod volumes;
pub mod waiting;

use core::{fmt, pin::Pin, time::Duration};
use std::sync::Arc;

use async_trait::async_trait;

use crate::store::Store;

/// Makes the stores that are examined, and moves their time.
///
/// A store over a database whose clock cannot be set adds an offset of its own to it, kept where all
/// of its connections see it, and moves that.
#[async_trait]
pub trait StoreHarness: Send + Sync {
    /// Makes a store that has nothing in it. It must take at least 32 calls at once.
    async fn fresh(&self) -> Arc<dyn Store>;

    /// Lets time pass for the store that was made last.
    async fn advance(&self, by: Duration);
}

/// One promise, and what it takes to see it kept.
#[derive(Clone, Copy)]
pub struct Case {
    /// The promise, as a sentence.
    pub name: &'static str,
    /// Panics, naming the promise, where it is broken.
    pub run: for<'h> fn(&'h dyn StoreHarness) -> CaseRun<'h>,
}

/// A case that runs.
pub type CaseRun<'h> = Pin<Box<dyn Future<Output = ()> + Send + 'h>>;

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Case").field(&self.name).finish()
    }
}

/// Runs every case, one after the other.
///
/// # Panics
///
/// Panics at the first promise that is broken.
pub async fn run(harness: &dyn StoreHarness) {
    for case in CASES {
        (case.run)(harness).await;
    }
}

/// Lists cases by their functions.
macro_rules! cases {
    ($($module:ident: $($name:ident),+;)+) => {
        &[$($(Case {
            name: stringify!($name),
            run: |harness| Box::pin($module::$name(harness)),
        },)+)+]
    };
}

/// Every promise, in the order of what builds on what.
pub const CASES: &[Case] = cases! {
    registration:
        a_new_machine_is_provisioning_and_holds_capacity,
        a_registration_keeps_what_it_was_told,
        registering_again_writes_nothing,
        a_registration_begins_above_every_generation_of_the_ledger,
        what_nobody_registered_is_not_there;
    commits:
        a_commit_on_the_revision_that_was_read_wins,
        a_won_commit_writes_everything_together,
        a_lost_commit_writes_nothing,
        a_commit_of_what_is_not_there_writes_nothing,
        a_commit_keeps_the_claim_that_is_stored,
        several_changes_win_or_lose_each_on_its_own;
    facts:
        every_column_of_a_row_is_kept,
        machines_are_told_apart_by_every_character,
        every_column_of_a_fact_is_kept,
        every_column_of_work_is_kept,
        every_column_of_a_decision_is_kept;
    ledger:
        a_fact_is_written_once_and_never_changed,
        facts_of_different_keys_are_all_kept,
        the_ledger_keeps_the_order_of_writing;
    journal:
        the_journal_keeps_the_order_of_writing;
    outbox:
        queued_work_is_pending_and_due_now,
        queueing_pending_work_renews_it,
        queueing_claimed_work_renews_it_and_marks_it_dirty,
        queueing_work_that_was_given_up_makes_it_pending_anew,
        queueing_done_work_makes_it_pending_anew,
        a_reservation_is_held_and_released_once,
        work_of_another_incarnation_is_other_work,
        work_is_stamped_with_the_time_of_its_commit,
        the_next_work_is_due_when_it_is_pending_or_its_lease_ends;
    claims:
        work_is_claimed_by_one_relay_at_a_time,
        a_claim_tells_the_work_the_row_and_the_time,
        the_limit_bounds_a_claim,
        work_that_is_not_due_is_not_claimed,
        a_lease_ends_by_time_and_then_another_may_claim,
        a_late_settlement_counts_until_another_has_claimed,
        a_stop_or_destroy_claims_its_row_as_a_commit,
        work_is_passed_over_while_another_claim_of_its_row_holds;
    waiting:
        a_release_waits_for_an_owed_destroy_of_compute,
        the_destroy_of_a_volume_waits_for_an_owed_destroy_of_compute,
        a_dead_destroy_of_compute_is_waited_for,
        a_volume_waits_for_every_incarnation,
        nothing_else_waits,
        work_that_waits_does_not_stand_in_the_way;
    settlement:
        only_the_holder_of_the_token_settles,
        a_settlement_takes_the_claim_off_its_row_as_a_commit,
        a_settlement_leaves_the_claim_of_another,
        delivered_work_is_done,
        failed_work_is_tried_again_later,
        released_work_is_due_at_once_and_counts_no_attempt,
        dirty_work_is_pending_anew_whatever_became_of_it;
    dead_letters:
        dead_letters_are_listed_the_oldest_first,
        a_dead_letter_can_be_retried,
        a_dead_letter_can_be_dropped,
        only_dead_letters_are_retried_or_dropped;
    sweep:
        rows_are_taken_the_longest_unchecked_first,
        taken_rows_rotate_so_that_none_starves,
        rows_that_are_not_due_are_not_taken,
        only_rows_of_the_given_scope_are_taken,
        taking_a_row_is_no_commit;
    scopes:
        a_window_counts_each_machine_once,
        a_window_forgets_what_is_older,
        a_window_counts_the_active_and_the_newly_gone,
        a_hold_keeps_its_beginning_and_ends_by_release;
    volumes:
        volumes_that_outlived_their_machines_are_listed,
        a_volume_that_a_later_incarnation_uses_is_not_kept;
    admission:
        credentials_are_admitted_for_live_machines_only;
    adoption:
        an_adopted_machine_is_as_the_older_system_says,
        what_the_older_system_recorded_and_delivered_is_taken_over,
        adopting_again_changes_nothing,
        a_machine_that_is_there_is_left_as_it_is;
    repair:
        a_store_that_is_whole_needs_no_repair,
        a_dry_run_counts_and_changes_nothing,
        a_repair_mends_everything_once,
        a_quarantined_row_without_a_stamp_is_made_due;
    concurrency:
        of_many_commits_on_one_revision_one_wins,
        no_update_of_many_is_lost,
        of_many_registrations_one_creates,
        of_many_relays_one_claims_each_work,
        of_many_relays_one_claims_each_row;
};
