//! Who delivers what was committed to be done?
//!
//! ```text
//! Store::claim ──> guard (fresh row) ──> provider / revoker / capacity ──> row ──> Store::settle
//!                    │ no longer meant                    │ failed
//!                    └──> cancelled                       └──> later, with backoff; in the end a dead letter
//! ```
//!
//! Several relays may work side by side. What a relay delivered and could not say so is delivered
//! again: every delivery may be repeated.

mod accounts;
mod delivery;
mod guard;
mod settings;

use std::sync::Arc;

use lifecycle_core::Effect;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

pub use settings::RelaySettings;

use crate::{
    alert::Alert,
    capacity::Capacity,
    outbox::{Claimed, Settlement},
    reconciler::{ReconcileError, Reconciler},
    revoker::Revoker,
};

/// Delivers the outbox.
#[derive(Clone, Debug)]
pub struct Relay {
    reconciler: Reconciler,
    revoker: Option<Arc<dyn Revoker>>,
    capacity: Option<Arc<dyn Capacity>>,
    settings: RelaySettings,
}

/// What one round of deliveries did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Relayed {
    /// Work that was claimed.
    pub claimed: usize,
    /// Work that was delivered.
    pub done: usize,
    /// Work that was no longer meant.
    pub cancelled: usize,
    /// Work that is to be tried again.
    pub retried: usize,
    /// Work that was given up.
    pub dead: usize,
}

impl Relay {
    /// Makes a relay without a revoker or capacity: their work then stays owed and visible.
    #[must_use]
    pub fn new(reconciler: Reconciler) -> Self {
        Self {
            reconciler,
            revoker: None,
            capacity: None,
            settings: RelaySettings::default(),
        }
    }

    /// Revokes credentials here.
    #[must_use]
    pub fn with_revoker(self, revoker: Arc<dyn Revoker>) -> Self {
        Self {
            revoker: Some(revoker),
            ..self
        }
    }

    /// Accounts for capacity here.
    #[must_use]
    pub fn with_capacity(self, capacity: Arc<dyn Capacity>) -> Self {
        Self {
            capacity: Some(capacity),
            ..self
        }
    }

    /// Uses these settings.
    #[must_use]
    pub fn with_settings(self, settings: RelaySettings) -> Self {
        Self { settings, ..self }
    }

    /// Delivers one batch of what is due.
    ///
    /// # Errors
    ///
    /// Returns the store's errors of claiming; a delivery that failed is settled, not returned.
    pub async fn deliver_due(&self) -> Result<Relayed, ReconcileError> {
        let claimed = self
            .reconciler
            .store()
            .claim(self.settings.batch, self.settings.lease)
            .await?;
        let read_at = self.reconciler.clock().monotonic();
        let mut relayed = Relayed {
            claimed: claimed.len(),
            ..Relayed::default()
        };
        let mut deliveries = JoinSet::new();
        for work in claimed {
            let relay = self.clone();
            deliveries.spawn(async move { relay.deliver_and_settle(work, read_at).await });
        }
        // A delivery that panicked stays claimed; its lease ends, and it is delivered again.
        while let Some(delivery) = deliveries.join_next().await {
            match delivery {
                Ok(Some(Settlement::Done)) => relayed.done += 1,
                Ok(Some(Settlement::Cancelled(_))) => relayed.cancelled += 1,
                Ok(Some(Settlement::Dead(_))) => relayed.dead += 1,
                Ok(Some(Settlement::Retry { .. } | Settlement::Released) | None) => {
                    relayed.retried += 1
                }
                Err(error) => {
                    tracing::error!(%error, "a delivery panicked");
                    relayed.retried += 1;
                }
            }
        }
        Ok(relayed)
    }

    /// Delivers until cancelled, then finishes what it has claimed.
    ///
    /// A store that does not answer is asked again later.
    pub async fn run(&self, stop: CancellationToken) {
        while !stop.is_cancelled() {
            let has_more = match self.deliver_due().await {
                Ok(relayed) => relayed.claimed > 0,
                Err(error) => {
                    tracing::warn!(%error, "the outbox could not be read");
                    false
                }
            };
            if !has_more {
                tokio::select! {
                    () = stop.cancelled() => {}
                    () = self.reconciler.clock().sleep(self.settings.poll) => {}
                }
            }
        }
    }

    /// Delivers one piece of work and settles it; none where its settlement could not be written.
    async fn deliver_and_settle(
        &self,
        work: Claimed,
        read_at: core::time::Duration,
    ) -> Option<Settlement> {
        let key = work.row.work.key.clone();
        let settlement = self.deliver(&work, read_at).await;
        match self
            .reconciler
            .store()
            .settle(&key, &work.token, &settlement)
            .await
        {
            Ok(true) => {
                if let Settlement::Dead(error) = &settlement {
                    self.reconciler.alerts().raise(Alert::DeadLetter {
                        id: key.machine,
                        effect: key.effect,
                        error: error.clone(),
                    });
                }
                Some(settlement)
            }
            Ok(false) => {
                tracing::warn!(machine = %key.machine, effect = %key.effect, "the lease was over before the delivery");
                None
            }
            Err(error) => {
                tracing::warn!(machine = %key.machine, effect = %key.effect, %error, "a delivery could not be settled");
                None
            }
        }
    }

    /// Returns how a failed delivery goes on.
    fn failed(&self, work: &Claimed, note: String, is_retryable: bool) -> Settlement {
        let attempts = work.row.attempts;
        if !is_retryable || attempts.saturating_add(1) >= self.settings.max_attempts {
            return Settlement::Dead(note);
        }
        self.later(work, note)
    }

    /// Returns that a delivery is tried again, however often it was before.
    fn later(&self, work: &Claimed, note: String) -> Settlement {
        Settlement::Retry {
            after: self.settings.backoff(work.row.attempts),
            note,
            accepted_at: work.row.accepted_at,
        }
    }

    /// An adapter that is not there leaves its work owed and visible.
    fn without_adapter(&self, effect: Effect) -> Settlement {
        Settlement::Retry {
            after: self.settings.max_backoff,
            note: format!("no adapter for {effect}"),
            accepted_at: None,
        }
    }
}
