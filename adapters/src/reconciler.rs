//! Who asks the core, and commits what it answers?
//!
//! ```text
//! observe, delete, restore, force ──> question ──> judge ──> fleet guard ──> volume ──> conclude
//! sweep (many at once) ──────────────────┘                                                 │
//!                                              Won / Lost <── Store::commit <── change <───┘
//! ```
//!
//! Only this module calls `judge` and `conclude`.

mod change;
mod delivered;
mod incarnation;
pub(crate) mod question;
mod request;
mod round;
mod settings;
mod sweep;
mod volume;

use core::time::Duration;
use std::sync::Arc;

use lifecycle_core::{
    Answer, Asked, DecisionKind, Effects, Ground, Policy, Refusal, Report, Rule, Sighting, Source,
    Timestamp, Volume,
};
use thiserror::Error;
use tokio::sync::Mutex;

pub use incarnation::NewIncarnation;
pub use settings::{JournalObservations, Settings};
pub use sweep::Swept;

use crate::{
    alert::{Alert, Alerts, LogAlerts},
    clock::{Clock, SystemClock},
    id::MachineId,
    provider::{Provider, Target},
    row::{NewMachine, Row},
    store::{Loaded, Registered, Store, StoreError},
};
use question::{Evidence, Question};

/// Asks the core about machines and commits its answers.
///
/// ```
/// # #[cfg(all(feature = "sqlite", feature = "process"))] {
/// use std::sync::Arc;
/// use lifecycle_adapters::{provider::Provider, reconciler::Reconciler, store::Store};
///
/// fn embed(store: Arc<dyn Store>, provider: Arc<dyn Provider>) -> Reconciler {
///     Reconciler::new(store, provider)
/// }
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Reconciler {
    store: Arc<dyn Store>,
    provider: Arc<dyn Provider>,
    clock: Arc<dyn Clock>,
    alerts: Arc<dyn Alerts>,
    settings: Arc<Settings>,
    /// Held from the reading of a scope's window to the commit that adds to it: observers side by side
    /// must not all pass the fleet guard on the same count.
    guarding: Arc<Mutex<()>>,
}

/// What became of a question or a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The row as it is now.
    pub row: Row,
    /// How much was changed; nothing where somebody else was faster.
    pub kind: DecisionKind,
    /// What the provider answered; none where it was not asked.
    pub answer: Option<Answer>,
    /// What that was worth; none where somebody else was faster.
    pub sighting: Option<Sighting>,
    /// Which step of the judgement said so; none where somebody else was faster.
    pub ground: Option<Ground>,
    /// Which rule answered; none where somebody else was faster.
    pub rule: Option<Rule>,
    /// What was committed to be done.
    pub effects: Effects,
    /// Why the request was not done.
    pub refused: Option<Refusal>,
    /// Why, in one sentence.
    pub why: String,
}

impl Reconciler {
    /// Makes a reconciler with the default settings, the operating system's clock, and alerts in the log.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, provider: Arc<dyn Provider>) -> Self {
        Self {
            store,
            provider,
            clock: Arc::new(SystemClock::new()),
            alerts: Arc::new(LogAlerts),
            settings: Arc::new(Settings::default()),
            guarding: Arc::default(),
        }
    }

    /// Uses this clock as the host's.
    #[must_use]
    pub fn with_clock(self, clock: Arc<dyn Clock>) -> Self {
        Self { clock, ..self }
    }

    /// Raises alerts here.
    #[must_use]
    pub fn with_alerts(self, alerts: Arc<dyn Alerts>) -> Self {
        Self { alerts, ..self }
    }

    /// Uses these settings.
    #[must_use]
    pub fn with_settings(self, settings: Settings) -> Self {
        Self {
            settings: Arc::new(settings),
            ..self
        }
    }

    /// Registers a machine, before or after its provider is asked for it.
    ///
    /// # Errors
    ///
    /// Returns [`ReconcileError::Wrong`] for what no machine can have, and the store's errors.
    pub async fn register(&self, new: &NewMachine) -> Result<Registered, ReconcileError> {
        if new.scope.is_empty() {
            return Err(ReconcileError::Wrong("a machine's scope must not be blank"));
        }
        if new.marker.as_deref() == Some("") {
            return Err(ReconcileError::Wrong(
                "a blank marker says nothing; leave it out",
            ));
        }
        if !matches!(new.volume, Volume::None) && new.volume_id.is_none() {
            return Err(ReconcileError::Wrong(
                "a volume that is not named cannot be told from one that is gone",
            ));
        }
        Ok(self.store.register(new).await?)
    }

    /// Asks the provider about one machine and commits what follows.
    ///
    /// Where the policy wants an absence confirmed, and soon, the second question is asked in the
    /// same call. Where somebody else was faster the fresh row is answered, with no effects.
    ///
    /// # Errors
    ///
    /// Returns [`ReconcileError::NotFound`] and the store's errors. That the provider did not answer is
    /// an observation, not an error.
    pub async fn observe(&self, id: &MachineId, source: Source) -> Result<Outcome, ReconcileError> {
        let loaded = self.loaded(id).await?;
        let evidence = self.ask(&loaded).await?;
        let question = Question {
            loaded,
            evidence,
            asked: Asked::NOTHING,
            source,
        };
        let outcome = self.round_of_one(question).await?;
        match self.confirmation_wait(&outcome) {
            None => Ok(outcome),
            Some(wait) => {
                self.clock.sleep(wait).await;
                let loaded = self.loaded(id).await?;
                let evidence = self.ask(&loaded).await?;
                self.round_of_one(Question {
                    loaded,
                    evidence,
                    asked: Asked::NOTHING,
                    source,
                })
                .await
            }
        }
    }

    /// Shows one machine from what is stored, with the work that is still owed for it.
    ///
    /// # Errors
    ///
    /// Returns [`ReconcileError::NotFound`] and the store's errors.
    pub async fn report(&self, id: &MachineId) -> Result<Report, ReconcileError> {
        let loaded = self.loaded(id).await?;
        let work = self.store.work(id).await?;
        let owed = work
            .iter()
            .filter(|row| row.state.is_owed())
            .map(|row| row.work.key.effect)
            .collect();
        let policy = self.policy_of(&loaded.loaded.row);
        Ok(Report::of(
            &loaded.loaded.row.facts.machine(),
            loaded.now(&*self.clock),
            &policy,
            owed,
        ))
    }

    /// Ends the fleet guard's hold of a scope: an operator's word that its absences are true.
    ///
    /// # Errors
    ///
    /// Returns the store's errors.
    pub async fn release_scope(&self, scope: &str) -> Result<(), ReconcileError> {
        Ok(self.store.release_scope(scope).await?)
    }

    pub(crate) fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    pub(crate) fn provider(&self) -> &Arc<dyn Provider> {
        &self.provider
    }

    pub(crate) fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    pub(crate) fn alerts(&self) -> &Arc<dyn Alerts> {
        &self.alerts
    }

    /// Returns the policy of a row. An unknown name is decided with care, and a person is told: a
    /// delete must never hang on a name.
    pub(crate) fn policy_of(&self, row: &Row) -> Policy<'static> {
        match &row.policy {
            None => self.settings.policy,
            Some(name) => self
                .settings
                .policies
                .get(name)
                .copied()
                .or_else(|| Policy::named(name))
                .unwrap_or_else(|| {
                    self.alerts.raise(Alert::UnknownPolicy {
                        id: row.id.clone(),
                        name: name.clone(),
                    });
                    Policy::CAUTIOUS
                }),
        }
    }

    pub(crate) async fn loaded(&self, id: &MachineId) -> Result<Read, ReconcileError> {
        let loaded = self
            .store
            .load(id)
            .await?
            .ok_or_else(|| ReconcileError::NotFound(id.clone()))?;
        Ok(Read {
            read_at: self.clock.monotonic(),
            loaded,
        })
    }

    /// Asks the provider about the machine of a row; nothing where it has no name there yet, or where
    /// its destroy is owed: a machine that is still to be destroyed is no orphan.
    async fn ask(&self, read: &Read) -> Result<Option<Evidence>, ReconcileError> {
        let row = &read.loaded.row;
        let Some(target) = row.target() else {
            return Ok(None);
        };
        if question::is_awaiting_destroy(row, &*self.store).await? {
            return Ok(None);
        }
        Ok(Some(self.evidence(read, &target).await))
    }

    pub(crate) async fn evidence(&self, read: &Read, target: &Target) -> Evidence {
        let begun_at = read.now(&*self.clock);
        Evidence {
            seen: self.provider.observe(target).await,
            begun_at,
        }
    }
}

/// A row with what it takes to tell the store's time from now on.
#[derive(Clone, Debug)]
pub(crate) struct Read {
    pub(crate) loaded: Loaded,
    read_at: Duration,
}

impl Read {
    pub(crate) fn of(loaded: Loaded, clock: &dyn Clock) -> Self {
        Self {
            read_at: clock.monotonic(),
            loaded,
        }
    }

    /// Returns the store's time: as it was read, plus what has passed here since.
    pub(crate) fn now(&self, clock: &dyn Clock) -> Timestamp {
        self.loaded
            .now
            .saturating_add(clock.monotonic().saturating_sub(self.read_at))
    }
}

/// Why a question or request was not carried through.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReconcileError {
    /// Nobody registered it.
    #[error("no machine {0} is registered")]
    NotFound(MachineId),
    /// What was asked for cannot be meant.
    #[error("{0}")]
    Wrong(&'static str),
    /// The row changed again and again, or a stop or destroy of it is being delivered: ask again.
    #[error("machine {0} is being changed by others; nothing was done")]
    Conflict(MachineId),
    /// It cannot begin anew.
    #[error(transparent)]
    NotRecoverable(#[from] lifecycle_core::NotRecoverable),
    /// The store did not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ReconcileError {
    /// Tells whether asking again may help.
    #[must_use]
    pub const fn is_retryable(&self) -> bool {
        match self {
            Self::NotFound(_) | Self::Wrong(_) | Self::NotRecoverable(_) => false,
            Self::Conflict(_) => true,
            Self::Store(error) => error.is_retryable(),
        }
    }
}
