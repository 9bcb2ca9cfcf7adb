//! What may a service choose about its reconciler?

use core::time::Duration;
use std::collections::BTreeMap;

use lifecycle_core::{FleetGuard, Policy};

/// Whether decisions that only observed something are journalled too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum JournalObservations {
    /// Transitions and refusals only.
    #[default]
    No,
    /// Every decision that changed something.
    Yes,
}

/// The choices of a service about its reconciler.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The policy of rows that name none.
    pub policy: Policy<'static>,
    /// The service's own policies by name, beside the named ones of the core.
    pub policies: BTreeMap<String, Policy<'static>>,
    /// The scope whose rows this reconciler sweeps; none: all. Several scopes in one store need one
    /// reconciler each, with a provider that is logged in there.
    pub scope: Option<String>,
    /// The brake on mass absence.
    pub guard: FleetGuard,
    /// Whether mere observations are journalled.
    pub journal_observations: JournalObservations,
    /// How many rows a sweep takes, decides and commits at once.
    pub sweep_batch: u32,
    /// How long one call may wait to ask a second time; longer spans are left to the next look.
    pub confirm_within: Duration,
    /// How long a request waits for a stop or destroy that is being delivered.
    pub request_timeout: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            policy: Policy::CAUTIOUS,
            policies: BTreeMap::new(),
            scope: None,
            guard: FleetGuard::DEFAULT,
            journal_observations: JournalObservations::No,
            sweep_batch: 1_000,
            confirm_within: Duration::from_secs(2),
            request_timeout: Duration::from_secs(30),
        }
    }
}
