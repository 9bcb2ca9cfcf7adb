//! How are questions decided and committed, one or many at once?

use core::time::Duration;
use std::collections::BTreeMap;

use lifecycle_core::{
    DecisionKind, Effects, Ground, GuardVerdict, Judgement, Machine, Policy, ScopeWindow, Sighting,
    Status, Timestamp, Volume, conclude, judge,
};
use tokio::sync::OwnedMutexGuard;

use super::{
    Outcome, ReconcileError, Reconciler, change,
    question::Question,
    volume::{self, KnownVolume},
};
use crate::{
    alert::Alert,
    row::Row,
    store::{Change, Commit},
};

/// What this round adds to each scope, and the lock under which it may.
#[derive(Default)]
struct Windows {
    counted: BTreeMap<String, ScopeWindow>,
    held: Option<OwnedMutexGuard<()>>,
}

/// A question with its answer, before it is committed.
struct Answered {
    outcome: Outcome,
    change: Option<Change>,
}

impl Reconciler {
    /// Decides and commits one question.
    pub(super) async fn round_of_one(&self, question: Question) -> Result<Outcome, ReconcileError> {
        let id = question.loaded.loaded.row.id.clone();
        self.round(vec![question])
            .await?
            .pop()
            .ok_or(ReconcileError::NotFound(id))
    }

    /// Decides and commits questions about different machines, each winning or losing on its own.
    pub(super) async fn round(
        &self,
        questions: Vec<Question>,
    ) -> Result<Vec<Outcome>, ReconcileError> {
        let mut windows = Windows::default();
        let mut answers = Vec::with_capacity(questions.len());
        for question in questions {
            answers.push(self.answer(question, &mut windows).await?);
        }
        let changes: Vec<Change> = answers
            .iter()
            .filter_map(|answered| answered.change.clone())
            .collect();
        let mut commits = match &changes[..] {
            [] => Vec::new(),
            [change] => vec![self.store.commit(change).await?],
            _ => match self.store.commit_many(&changes).await {
                Ok(commits) => commits,
                Err(error) if error.is_retryable() => return Err(error.into()),
                Err(_) => self.commit_singly(&changes).await?,
            },
        }
        .into_iter();
        Ok(answers
            .into_iter()
            .map(|answered| {
                match answered
                    .change
                    .and_then(|change| Some((commits.next()?, change)))
                {
                    None => answered.outcome,
                    Some((Commit::Won(row), change)) => {
                        if let Some(scope) = change.hold {
                            self.alerts.raise(Alert::FleetHeld { scope });
                        }
                        Outcome {
                            row,
                            ..answered.outcome
                        }
                    }
                    Some((Commit::Lost(row), _)) => lost(answered.outcome, row),
                }
            })
            .collect())
    }

    /// Commits one after the other, where one of them keeps the others from being written.
    async fn commit_singly(&self, changes: &[Change]) -> Result<Vec<Commit>, ReconcileError> {
        let mut commits = Vec::with_capacity(changes.len());
        for change in changes {
            commits.push(match self.store.commit(change).await {
                Ok(commit) => commit,
                Err(error) if error.is_retryable() => return Err(error.into()),
                Err(error) => {
                    tracing::error!(machine = %change.next.id, %error, "a decision cannot be written");
                    Commit::Lost(None)
                }
            });
        }
        Ok(commits)
    }

    /// Decides one question. `windows` counts what this round adds to each scope.
    async fn answer(
        &self,
        question: Question,
        windows: &mut Windows,
    ) -> Result<Answered, ReconcileError> {
        let Question {
            loaded,
            evidence,
            asked,
            source,
        } = question;
        let row = &loaded.loaded.row;
        let policy = self.policy_of(row);
        let machine = row.facts.machine();
        let observation = evidence
            .as_ref()
            .map(|evidence| evidence.observation(row, source));
        let now = self.decision_time(&machine, loaded.now(&*self.clock), &policy);
        let judged = judge(&machine, observation.as_ref(), now, &policy);
        let verdict = match windows.counted.get(machine.scope) {
            _ if !matches!(judged.sighting, Sighting::Gone) || !machine.status.is_active() => {
                GuardVerdict::Passed
            }
            Some(window) => self
                .settings
                .guard
                .examine(&machine, judged, asked, *window, now),
            None => {
                if windows.held.is_none() {
                    windows.held = Some(self.guarding.clone().lock_owned().await);
                }
                let window = self
                    .store
                    .scope_window(machine.scope, self.settings.guard.window)
                    .await?;
                windows.counted.insert(machine.scope.to_owned(), window);
                self.settings
                    .guard
                    .examine(&machine, judged, asked, window, now)
            }
        };
        let judgement = match verdict {
            GuardVerdict::Passed | GuardVerdict::Counted => judged,
            GuardVerdict::Held(held) | GuardVerdict::HoldBegins(held) => held,
        };
        let known = self
            .known_volume(row, &judgement, loaded.now(&*self.clock), &policy)
            .await;
        let machine = Machine {
            volume: known.volume,
            ..machine
        };
        let decision = conclude(&machine, judgement, asked, now, &policy);
        let mut change = change::of(
            row,
            &decision,
            observation.as_ref(),
            source,
            known,
            self.settings.journal_observations,
        );
        // Only a verdict on an absence has read the scope's window; none is made up here.
        if let (Some(change), Some(window)) = (&mut change, windows.counted.get_mut(machine.scope))
        {
            match verdict {
                GuardVerdict::Counted => {
                    window.newly_gone = window.newly_gone.saturating_add(1);
                    change.newly_gone = Some(machine.scope.to_owned());
                }
                GuardVerdict::HoldBegins(_) => {
                    window.held_since = Some(now);
                    change.hold = Some(machine.scope.to_owned());
                }
                GuardVerdict::Passed | GuardVerdict::Held(_) => {}
            }
        }
        let outcome = Outcome {
            row: row.clone(),
            kind: decision.kind(),
            answer: observation.map(|observation| observation.answer),
            sighting: Some(judgement.sighting),
            ground: Some(judgement.ground),
            rule: Some(decision.transition.rule),
            effects: decision.transition.effects,
            refused: decision.refused,
            why: decision.why().to_string(),
        };
        Ok(Answered { outcome, change })
    }

    /// Reads the volume where the answer depends on it: the compute is gone and the row has not ended.
    async fn known_volume(
        &self,
        row: &Row,
        judgement: &Judgement,
        now: Timestamp,
        policy: &Policy<'_>,
    ) -> KnownVolume {
        let machine = row.facts.machine();
        let stored = KnownVolume {
            volume: machine.volume,
            missing: row.volume_missing,
        };
        let depends = matches!(judgement.sighting, Sighting::Gone)
            && !matches!(machine.status, Status::Destroyed)
            && !matches!(machine.volume, Volume::None);
        match row.volume_target() {
            Some(target) if depends => {
                volume::read(row, self.provider.read_volume(&target).await, now, policy)
            }
            Some(_) | None => stored,
        }
    }

    /// Returns the time to decide at: the store's, but before the end of a grace that is not yet over
    /// by the host's own clock. A single clock that ran ahead must not end a quarantine.
    fn decision_time(
        &self,
        machine: &Machine<'_>,
        now: Timestamp,
        policy: &Policy<'_>,
    ) -> Timestamp {
        match machine.quarantine {
            Some(stamp)
                if policy.has_passed(stamp.destroy_at, now)
                    && !policy.has_passed(stamp.destroy_at, self.clock.now()) =>
            {
                stamp
                    .destroy_at
                    .saturating_add(policy.thresholds().clock_error)
                    .saturating_sub(Duration::from_millis(1))
            }
            Some(_) | None => now,
        }
    }

    /// Returns how long to wait before asking again in the same call, where the policy wants a typed
    /// absence confirmed and that can be had soon.
    pub(super) fn confirmation_wait(&self, outcome: &Outcome) -> Option<Duration> {
        let is_unconfirmed = matches!(outcome.sighting, Some(Sighting::Missing));
        let missing = outcome.row.facts.machine().missing?;
        let needed = self.policy_of(&outcome.row).thresholds().typed;
        let is_typed = matches!(outcome.answer, Some(lifecycle_core::Answer::Absent(proof)) if proof.is_typed());
        let is_last = missing.count.saturating_add(1) >= needed.count;
        let is_counted = matches!(outcome.ground, Some(Ground::Unconfirmed));
        (is_unconfirmed
            && is_counted
            && is_typed
            && is_last
            && needed.span <= self.settings.confirm_within)
            .then_some(needed.span)
    }
}

/// An observation that lost answers from the fresh row, with no effects.
fn lost(outcome: Outcome, row: Option<Row>) -> Outcome {
    Outcome {
        row: row.unwrap_or(outcome.row),
        kind: DecisionKind::Nothing,
        answer: outcome.answer,
        sighting: None,
        ground: None,
        rule: None,
        effects: Effects::NONE,
        refused: None,
        why: "somebody else was faster; this is the row as it is now".to_owned(),
    }
}
