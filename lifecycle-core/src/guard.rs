//! Are too many machines of one scope going at once to be believed?

use core::time::Duration;

use crate::{
    asked::{Asked, Request},
    facts::{Force, Sighting},
    judge::{Ground, Judgement, Observed},
    machine::{LastSeen, Machine, SeenPower},
    observation::{Answer, Proof},
    time::Timestamp,
};

/// The brake on mass absence: an outage or a wrong account must not retire a fleet.
///
/// Where the active rows of one scope that are newly gone reach both a count and a share within the
/// window, further ones are concluded as missing and one alert is raised. Rows being deleted never
/// count, and what the provider itself says has ended is never held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FleetGuard {
    /// How many rows must have gone.
    pub count: u64,
    /// How many of a hundred active rows must have gone.
    pub share_percent: u64,
    /// Within what time.
    pub window: Duration,
    /// How long a row is held before typed proof is believed again.
    pub hold: Duration,
}

/// What the store knows of one scope, all sources together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct ScopeWindow {
    /// Rows concluded as newly gone within the guard's window.
    pub newly_gone: u64,
    /// Rows that are active, those counted as newly gone included.
    pub active: u64,
    /// Since when the scope is held.
    pub held_since: Option<Timestamp>,
    /// When an operator last released it.
    pub released_at: Option<Timestamp>,
}

/// What the guard makes of a judgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GuardVerdict {
    /// The judgement stands, and does not count.
    Passed,
    /// The judgement stands, and the store counts one more newly gone.
    Counted,
    /// The row is to be concluded from this judgement instead; the scope was held before.
    Held(Judgement),
    /// The same, and the hold begins with it: the one that raises the alert.
    HoldBegins(Judgement),
}

impl FleetGuard {
    /// Five rows and a fifth of the scope within ten minutes; held for a quarter of an hour.
    pub const DEFAULT: Self = Self {
        count: 5,
        share_percent: 20,
        window: Duration::from_secs(10 * 60),
        hold: Duration::from_secs(15 * 60),
    };

    /// Says whether a judgement may stand. Stands between [`judge`](crate::judge) and
    /// [`conclude`](crate::conclude).
    ///
    /// ```
    /// use lifecycle_core::{
    ///     Answer, Asked, FleetGuard, GuardVerdict, Machine, Observation, Policy, Proof, ScopeWindow,
    ///     Source, Status, Timestamp, judge,
    /// };
    ///
    /// let now = Timestamp::from_millis(10_000_000);
    /// let mut machine = Machine::new("account-1/eu", None, Timestamp::from_millis(0));
    /// machine.status = Status::Running;
    /// let absent = Observation::of(&machine, Answer::Absent(Proof::CompleteList), now, Source::Sweep);
    /// let judgement = judge(&machine, Some(&absent), now, &Policy::IMMEDIATE);
    ///
    /// let outage = ScopeWindow { newly_gone: 5, active: 20, ..ScopeWindow::default() };
    /// let verdict = FleetGuard::DEFAULT.examine(&machine, judgement, Asked::NOTHING, outage, now);
    /// assert!(matches!(verdict, GuardVerdict::HoldBegins(_)));
    /// ```
    #[must_use]
    pub fn examine(
        &self,
        machine: &Machine<'_>,
        judgement: Judgement,
        asked: Asked,
        scope: ScopeWindow,
        now: Timestamp,
    ) -> GuardVerdict {
        let is_deleted = matches!(asked.request, Some(Request::Delete))
            || matches!(asked.force, Force::Destroyed)
            || machine.quarantine.is_some();
        let is_newly_gone = matches!(judgement.sighting, Sighting::Gone)
            && machine.status.is_active()
            && !matches!(
                machine.last_seen,
                Some(LastSeen {
                    power: SeenPower::Gone,
                    at: _
                })
            );
        if is_deleted || !is_newly_gone {
            return GuardVerdict::Passed;
        }
        let is_released = scope
            .released_at
            .is_some_and(|at| now.is_within(self.window, at));
        if matches!(judgement.ground, Ground::FinalProof) || is_released {
            return GuardVerdict::Counted;
        }
        let held = Judgement {
            sighting: Sighting::Missing,
            ground: Ground::FleetGuard,
            observed: Observed {
                last_seen: machine.last_seen,
                ..judgement.observed
            },
            ..judgement
        };
        match scope.held_since {
            Some(since) if self.is_over(since, &judgement, now) => GuardVerdict::Counted,
            Some(_) => GuardVerdict::Held(held),
            None if self.is_reached(scope) => GuardVerdict::HoldBegins(held),
            None => GuardVerdict::Counted,
        }
    }

    const fn is_reached(&self, scope: ScopeWindow) -> bool {
        scope.newly_gone >= self.count
            && scope.newly_gone.saturating_mul(100)
                >= scope.active.saturating_mul(self.share_percent)
    }

    /// A hold is over for one row that has been missing throughout it, on typed proof.
    fn is_over(&self, held_since: Timestamp, judgement: &Judgement, now: Timestamp) -> bool {
        let missing_since = judgement
            .observed
            .missing
            .map_or(now, |missing| missing.since);
        let is_typed = matches!(
            judgement.answer,
            Some(Answer::Absent(Proof::TypedNotFound | Proof::Superseded))
        );
        is_typed && !now.is_within(self.hold, held_since.max(missing_since))
    }
}

impl Default for FleetGuard {
    fn default() -> Self {
        Self::DEFAULT
    }
}
