//! How is one piece of work delivered?

use core::{future::Future, time::Duration};

use lifecycle_core::{Answer, Cause, Effect, Proof};

use super::{
    Relay,
    guard::{self, Verdict},
};
use crate::{
    outbox::{Claimed, Settlement},
    provider::{Delivered, ProviderError, Target, VolumeReading},
    reconciler::{
        Read, ReconcileError,
        question::{Evidence, confirms_destroy},
    },
    store::Loaded,
};

/// A call that did not come to its end.
pub(super) enum Failure {
    /// The lease leaves no time for a call.
    LeaseOver,
    /// The provider refused or was not reached.
    Provider(ProviderError),
    /// The row could not be read or written.
    Row(ReconcileError),
}

impl Relay {
    /// Delivers one piece of work, `read_at` being when it was claimed by the host's monotonic clock.
    pub(super) async fn deliver(&self, work: &Claimed, read_at: Duration) -> Settlement {
        match self.try_deliver(work, read_at).await {
            Ok(settlement) => settlement,
            Err(Failure::LeaseOver) => Settlement::Released,
            Err(Failure::Provider(ProviderError::Refused {
                cause,
                message,
                retry_after,
            })) => {
                let is_retryable = ProviderError::refused(cause, "").is_retryable();
                let failed = match cause {
                    // What the adapter cannot do stays owed and visible.
                    Cause::Unsupported => self.without_adapter(work.row.work.key.effect),
                    Cause::Unauthorized
                    | Cause::Forbidden
                    | Cause::RateLimited
                    | Cause::ServerError
                    | Cause::Timeout
                    | Cause::Transport
                    | Cause::Malformed => {
                        self.failed(work, format!("{cause}: {message}"), is_retryable)
                    }
                };
                at_least(failed, retry_after.unwrap_or_default())
            }
            Err(Failure::Provider(error)) => {
                self.failed(work, error.to_string(), error.is_retryable())
            }
            Err(Failure::Row(error)) => self.later(work, error.to_string()),
        }
    }

    async fn try_deliver(&self, work: &Claimed, read_at: Duration) -> Result<Settlement, Failure> {
        let clock = self.reconciler.clock();
        // Guards look at the row as it is right before the call.
        let read = self
            .reconciler
            .loaded(&work.row.work.key.machine)
            .await
            .map_err(Failure::Row)?;
        let policy = self.reconciler.policy_of(&read.loaded.row);
        match guard::check(
            &work.row.work,
            &read.loaded.row,
            &policy,
            read.now(&**clock),
            clock.now(),
        ) {
            Verdict::Cancel(why) => return Ok(Settlement::Cancelled(why.to_owned())),
            Verdict::Wait(why) => return Ok(self.later(work, why.to_owned())),
            Verdict::Go => {}
        }
        match work.row.work.key.effect {
            Effect::StopCompute => self.stop(work, &read, read_at).await,
            Effect::DestroyCompute => self.destroy_compute(work, &read, read_at).await,
            Effect::DestroyVolume => self.destroy_volume(work, &read, read_at).await,
            Effect::RevokeCredentials => self.revoke(work, &read, read_at).await,
            Effect::HoldCompute | Effect::ReleaseCompute => self.account(work, read_at).await,
            Effect::RecordRunning
            | Effect::RecordPaused
            | Effect::RecordQuarantined
            | Effect::RecordDestroying
            | Effect::RecordDestroyed
            | Effect::RecordFailed
            | Effect::RecordComputeLost
            | Effect::RecordOrphan => Ok(Settlement::Cancelled(
                "a fact of the ledger is not delivered".to_owned(),
            )),
        }
    }

    async fn stop(
        &self,
        work: &Claimed,
        read: &Read,
        read_at: Duration,
    ) -> Result<Settlement, Failure> {
        let Some(target) = self.target(work, &read.loaded) else {
            return Ok(self.later(work, "the provider has not named it yet".to_owned()));
        };
        self.within_lease(
            work,
            read_at,
            self.reconciler.provider().stop_compute(&target),
        )
        .await?;
        let evidence = self.look(work, read, &target, read_at).await?;
        self.tell_row(work, evidence).await?;
        Ok(Settlement::Done)
    }

    /// Destroys compute, and is done when the provider no longer has it.
    async fn destroy_compute(
        &self,
        work: &Claimed,
        read: &Read,
        read_at: Duration,
    ) -> Result<Settlement, Failure> {
        let key = &work.row.work.key;
        let now = read.now(&**self.reconciler.clock());
        let policy = self.reconciler.policy_of(&read.loaded.row);
        // A create may still be in flight until its deadline; what it makes must not run on unseen.
        let may_arrive = now
            < work
                .row
                .work
                .committed_at
                .saturating_add(policy.thresholds().launch_deadline);
        let Some(target) = self.target(work, &read.loaded) else {
            return Ok(match may_arrive {
                true => self.later(work, "the provider has not named it yet".to_owned()),
                false => Settlement::Cancelled("the provider never named it".to_owned()),
            });
        };
        let delivered = self
            .within_lease(
                work,
                read_at,
                self.reconciler.provider().destroy_compute(&target),
            )
            .await?;
        // An absence asked for after this confirms the destroy: not one that was under way before it.
        let now = read.now(&**self.reconciler.clock());
        // A relay that died after the destroy was accepted has left that on the row.
        let row = &read.loaded.row;
        let is_current = row.facts.machine().generation == key.generation;
        let accepted_before = work
            .row
            .accepted_at
            .or(row.destroy_accepted_at.filter(|_| is_current));
        let accepted_at = match (delivered, accepted_before) {
            (_, Some(at)) => Some(at),
            (Delivered::Accepted, None) => {
                self.reconciler
                    .accept_destroy(&key.machine, key.generation, now)
                    .await
                    .map_err(Failure::Row)?;
                Some(now)
            }
            (Delivered::NotFound(_), None) => None,
        };
        let evidence = self.look(work, read, &target, read_at).await?;
        let is_in_scope = evidence.seen.scope.as_deref() == Some(target.scope.as_str());
        let is_absent = match evidence.seen.answer {
            Answer::Absent(proof) if accepted_at.is_some() => {
                confirms_destroy(proof, evidence.begun_at, accepted_at)
            }
            Answer::Absent(proof) => proof.strength() >= Proof::TypedNotFound.strength(),
            // Another machine lives under that id; ours is not there.
            Answer::Present(_) => matches!(delivered, Delivered::NotFound(Proof::Superseded)),
            Answer::Unknown(_) => false,
        };
        let was_sighted = work.row.work.was_sighted
            || accepted_at.is_some()
            || (read.loaded.row.was_sighted
                && read.loaded.row.facts.machine().generation == key.generation);
        self.tell_row(work, evidence).await?;
        Ok(
            match (is_absent && is_in_scope, was_sighted || !may_arrive) {
                (true, true) => Settlement::Done,
                (true, false) => {
                    self.later(work, "never seen: its create may be in flight".to_owned())
                }
                (false, _) => Settlement::Retry {
                    after: self.settings.confirm_after.max(match delivered {
                        Delivered::Accepted => Duration::ZERO,
                        Delivered::NotFound(_) => self.settings.backoff(work.row.attempts),
                    }),
                    note: "not yet seen gone".to_owned(),
                    accepted_at,
                },
            },
        )
    }

    async fn destroy_volume(
        &self,
        work: &Claimed,
        read: &Read,
        read_at: Duration,
    ) -> Result<Settlement, Failure> {
        let key = &work.row.work.key;
        let Some(target) = read.loaded.row.volume_target() else {
            return Ok(self.later(work, "the volume has no name".to_owned()));
        };
        let begun_at = read.now(&**self.reconciler.clock());
        let reading = self
            .within_lease(work, read_at, async {
                Ok(self.reconciler.provider().read_volume(&target).await)
            })
            .await?;
        match reading {
            VolumeReading::Exclusive => {}
            VolumeReading::Shared => {
                self.reconciler
                    .volume_read(&key.machine, key.generation, reading, begun_at)
                    .await
                    .map_err(Failure::Row)?;
                return Ok(Settlement::Cancelled("others use the volume".to_owned()));
            }
            VolumeReading::Unknown(cause) => {
                return Ok(self.failed(
                    work,
                    format!("the volume could not be read: {cause}"),
                    true,
                ));
            }
            // Perhaps our own destroy, its answer lost; that is believed as any absence is.
            VolumeReading::Absent(_) => {
                self.reconciler
                    .volume_read(&key.machine, key.generation, reading, begun_at)
                    .await
                    .map_err(Failure::Row)?;
                return Ok(Settlement::Retry {
                    after: self.settings.confirm_after,
                    note: "the volume is absent; not yet believed".to_owned(),
                    accepted_at: None,
                });
            }
        }
        let delivered = self
            .within_lease(
                work,
                read_at,
                self.reconciler.provider().destroy_volume(&target),
            )
            .await?;
        match delivered {
            Delivered::Accepted => {
                self.reconciler
                    .volume_destroyed(&key.machine, key.generation)
                    .await
                    .map_err(Failure::Row)?;
                // The row can end now; one that was never named waits for the next listing.
                if !target.provider_id.is_empty() {
                    let evidence = self.look(work, read, &target, read_at).await?;
                    self.tell_row(work, evidence).await?;
                }
                Ok(Settlement::Done)
            }
            Delivered::NotFound(proof) => {
                Ok(self.later(work, format!("the volume was not found ({proof})")))
            }
        }
    }

    /// Returns the machine to call about: as committed, or as the provider has named it since.
    fn target(&self, work: &Claimed, loaded: &Loaded) -> Option<Target> {
        let same = loaded.row.facts.machine().generation == work.row.work.key.generation;
        work.row
            .work
            .target()
            .or_else(|| if same { loaded.row.target() } else { None })
    }

    async fn look(
        &self,
        work: &Claimed,
        read: &Read,
        target: &Target,
        read_at: Duration,
    ) -> Result<Evidence, Failure> {
        self.within_lease(work, read_at, async {
            Ok(self.reconciler.evidence(read, target).await)
        })
        .await
    }

    async fn tell_row(&self, work: &Claimed, evidence: Evidence) -> Result<(), Failure> {
        let key = &work.row.work.key;
        self.reconciler
            .observe_delivered(&key.machine, key.generation, evidence)
            .await
            .map_err(Failure::Row)
    }

    /// Calls a provider within what remains of the lease.
    async fn within_lease<T>(
        &self,
        work: &Claimed,
        read_at: Duration,
        call: impl Future<Output = Result<T, ProviderError>> + Send,
    ) -> Result<T, Failure> {
        match self.called(work, read_at, call).await? {
            Some(answer) => answer.map_err(Failure::Provider),
            None => Err(Failure::Provider(ProviderError::refused(
                Cause::Timeout,
                "no answer in time",
            ))),
        }
    }

    /// Makes a call that is over before the lease is; past that, no call is made.
    pub(super) async fn called<T>(
        &self,
        work: &Claimed,
        read_at: Duration,
        call: impl Future<Output = T> + Send,
    ) -> Result<Option<T>, Failure> {
        let spent = self.reconciler.clock().monotonic().saturating_sub(read_at);
        let lease = Duration::from_millis(work.until.millis_since(work.now).max(0).unsigned_abs());
        let left = lease
            .saturating_sub(spent)
            .saturating_sub(self.settings.margin);
        if left.is_zero() {
            return Err(Failure::LeaseOver);
        }
        Ok(
            tokio::time::timeout(left.min(self.settings.call_timeout), call)
                .await
                .ok(),
        )
    }
}

/// A provider that says when to come back is not asked sooner.
fn at_least(settlement: Settlement, wait: Duration) -> Settlement {
    match settlement {
        Settlement::Retry {
            after,
            note,
            accepted_at,
        } => Settlement::Retry {
            after: after.max(wait),
            note,
            accepted_at,
        },
        Settlement::Done
        | Settlement::Cancelled(_)
        | Settlement::Dead(_)
        | Settlement::Released => settlement,
    }
}
