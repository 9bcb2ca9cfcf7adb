//! Does a provider keep the promises of [`Provider`]?
//!
//! Each case makes machines of its own, asks only through the trait, and panics with the promise that
//! was broken. Give a [`ProviderHarness`] to [`run`], or each of [`CASES`] to a test of its own:
//!
//! ```
//! # #[cfg(feature = "testing")] {
//! use std::sync::{Arc, atomic::{AtomicU64, Ordering}};
//! use async_trait::async_trait;
//! use lifecycle_adapters::{
//!     clock::ManualClock, conformance::provider::{self, Equipment, ProviderHarness}, id::MachineId,
//!     provider::{Provider, Target}, simulated::SimulatedProvider,
//! };
//! use lifecycle_core::Timestamp;
//!
//! struct Simulated(SimulatedProvider, AtomicU64);
//!
//! #[async_trait]
//! impl ProviderHarness for Simulated {
//!     fn provider(&self) -> Arc<dyn Provider> {
//!         Arc::new(self.0.clone())
//!     }
//!
//!     async fn make(&self, equipment: Equipment) -> Target {
//!         let number = self.1.fetch_add(1, Ordering::Relaxed);
//!         let machine = MachineId::new(format!("m{number}")).unwrap();
//!         let volume = matches!(equipment, Equipment::Volume).then(|| format!("volume-{number}"));
//!         let (provider_id, marker) = self.0.create(&machine, 1, volume.as_deref());
//!         let scope = "here".to_owned();
//!         Target { machine, generation: 1, provider_id, marker: Some(marker), scope, volume_id: volume }
//!     }
//!
//!     async fn vanish(&self, target: &Target) {
//!         self.0.change(|world| world.vanish(&target.provider_id));
//!     }
//!
//!     fn malformed_ids(&self) -> Vec<String> {
//!         Vec::new() // Every text is an id here.
//!     }
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
//! let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_000_000)));
//! let harness = Simulated(SimulatedProvider::new(clock, "here"), AtomicU64::new(0));
//! for (case, reason) in provider::run(&harness).await {
//!     println!("not examined: {case}: {reason}");
//! }
//! # });
//! # }
//! ```
//!
//! What a harness cannot bring about is returned with the reason, never passed over: the test of a
//! provider states the list that it expects. Only the case that runs may change the provider's
//! machines meanwhile. What HTTP brings along is examined by [`http`].

pub mod destroying;
pub mod failing;
pub mod http;
pub mod identity;
pub mod listing;
pub mod observing;
pub mod racing;
pub mod stopping;
mod trial;
pub mod volumes;

use core::{fmt, pin::Pin, time::Duration};
use std::sync::Arc;

use async_trait::async_trait;
use lifecycle_core::Proof;

use crate::provider::{Provider, Target};

/// Makes machines, and does to them what happens behind the provider's back.
///
/// All machines that it made are its own to clean up.
#[async_trait]
pub trait ProviderHarness: Send + Sync {
    /// Returns the provider that is examined.
    fn provider(&self) -> Arc<dyn Provider>;

    /// Makes a machine of a fresh name that runs, and returns it as a row would keep it.
    async fn make(&self, equipment: Equipment) -> Target;

    /// Makes the provider know the machine no more, as if it had never been; its volume stays.
    async fn vanish(&self, target: &Target);

    /// Ends the guest from outside, as its user would; what the provider keeps of it stays.
    ///
    /// # Errors
    ///
    /// Returns why that cannot be.
    async fn stop_from_outside(&self, _target: &Target) -> Result<(), Cannot> {
        Err(Cannot("the harness stops nothing from outside"))
    }

    /// Ends the machine for good so that the provider lists it as ended.
    ///
    /// # Errors
    ///
    /// Returns why that cannot be.
    async fn bury(&self, _target: &Target) -> Result<(), Cannot> {
        Err(Cannot("the harness makes no tombstones"))
    }

    /// Brings it about that the machine's id is another's, and returns what that one's row would be.
    ///
    /// # Errors
    ///
    /// Returns why that cannot be.
    async fn supersede(&self, _target: &mut Target) -> Result<Target, Cannot> {
        Err(Cannot("the harness gives no id to another machine"))
    }

    /// Makes a machine that runs and carries no marker; the target is what a row without one would be.
    ///
    /// # Errors
    ///
    /// Returns why that cannot be.
    async fn make_unmarked(&self) -> Result<Target, Cannot> {
        Err(Cannot("the harness makes no machine without a marker"))
    }

    /// Makes another machine use the volume too.
    ///
    /// # Errors
    ///
    /// Returns why that cannot be.
    async fn share_volume(&self, _target: &Target) -> Result<(), Cannot> {
        Err(Cannot("the harness shares no volumes"))
    }

    /// Returns the provider as it would be where nobody listens.
    ///
    /// # Errors
    ///
    /// Returns why that cannot be.
    async fn refused(&self) -> Result<Arc<dyn Provider>, Cannot> {
        Err(Cannot("the harness breaks no connection"))
    }

    /// Returns the provider as it would be where somebody listens and never answers. It must give up
    /// within [`Self::patience`].
    ///
    /// # Errors
    ///
    /// Returns why that cannot be.
    async fn silent(&self) -> Result<Arc<dyn Provider>, Cannot> {
        Err(Cannot("the harness silences nobody"))
    }

    /// Returns texts that can be no machine's id. Add what is special to the provider.
    fn malformed_ids(&self) -> Vec<String> {
        SENTINELS.iter().map(|id| (*id).to_owned()).collect()
    }

    /// Returns how well the provider proves that a machine or volume it does not know is not there.
    fn proof(&self) -> Proof {
        Proof::TypedNotFound
    }

    /// Returns how long what was accepted may take to show.
    fn patience(&self) -> Duration {
        Duration::from_secs(20)
    }
}

/// What a machine is made with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Equipment {
    /// Compute alone.
    Bare,
    /// Compute and a volume of its own.
    Volume,
}

/// Why something cannot be examined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cannot(pub &'static str);

/// One promise, and what it takes to see it kept.
#[derive(Clone, Copy)]
pub struct Case {
    /// The promise, as a sentence.
    pub name: &'static str,
    /// Panics, naming the promise, where it is broken.
    pub run: for<'h> fn(&'h dyn ProviderHarness) -> CaseRun<'h>,
}

/// A case that runs; it ends with why the harness could not bring about what it examines.
pub type CaseRun<'h> = Pin<Box<dyn Future<Output = Result<(), Cannot>> + Send + 'h>>;

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Case").field(&self.name).finish()
    }
}

impl fmt::Display for Cannot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0)
    }
}

/// Runs every case, one after the other; returns those that could not be examined.
///
/// # Panics
///
/// Panics at the first promise that is broken.
pub async fn run(harness: &dyn ProviderHarness) -> Vec<(&'static str, Cannot)> {
    let mut not_examined = Vec::new();
    for case in CASES {
        if let Err(cannot) = (case.run)(harness).await {
            not_examined.push((case.name, cannot));
        }
    }
    not_examined
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
    observing:
        a_machine_that_runs_is_present,
        an_answer_names_the_scope,
        a_marker_that_is_seen_is_the_machines_own,
        a_machine_that_vanished_is_absent_by_proof,
        a_machine_stopped_from_outside_is_not_running,
        a_machine_that_is_listed_as_ended_is_a_tombstone,
        reading_changes_nothing;
    listing:
        a_complete_listing_has_exactly_what_is_there,
        a_listing_names_the_scope_and_the_markers,
        a_stopped_machine_stays_listed,
        an_ended_machine_is_a_tombstone_or_not_listed;
    volumes:
        a_volume_of_its_own_is_exclusive,
        a_machine_without_a_volume_has_none_to_destroy,
        a_shared_volume_is_read_as_shared,
        a_destroyed_volume_is_absent_by_proof,
        the_destroy_of_a_volume_may_be_repeated,
        the_volume_of_another_machine_stays;
    stopping:
        a_stop_stops,
        a_stop_may_be_repeated,
        a_stop_of_what_is_gone_is_not_found,
        a_stop_keeps_the_volume;
    destroying:
        a_destroy_ends_the_machine_and_no_other,
        a_destroy_keeps_the_volume,
        a_destroy_may_be_repeated,
        a_destroy_of_what_is_gone_is_not_found,
        a_stopped_machine_can_be_destroyed;
    identity:
        an_id_that_another_has_is_not_this_machine,
        a_stop_never_touches_another_machine,
        a_destroy_never_touches_another_machine,
        a_machine_without_a_marker_is_never_touched,
        a_malformed_id_is_unknown_and_touches_nothing;
    failing:
        a_refused_connection_is_unknown_and_not_absent,
        a_provider_that_never_answers_is_unknown_and_not_absent;
    racing:
        many_destroys_at_once_end_it_once,
        a_destroy_while_a_stop_runs_ends_it,
        readings_during_a_destroy_never_lie;
};

/// What stands in a database where an id is missing, and what would reach further than an id.
pub const SENTINELS: &[&str] = &[
    "",
    " ",
    "0",
    "-1",
    "null",
    "NULL",
    "none",
    "None",
    "undefined",
    "nil",
    "N/A",
    "*",
    "all",
    ".",
    "..",
    "/",
    "../x",
    "a/b",
    "a?b",
    "a#b",
    "%",
    "%00",
    "%2e%2e",
    "\0",
    "\n",
    "a\nb",
    "--help",
    "${ID}",
    "00000000-0000-0000-0000-000000000000",
];
