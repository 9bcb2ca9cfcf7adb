//! Which instants are interesting beside a given now and policy?
//!
//! An off-by-one lives where an instant is exactly a threshold, or the sum of two, away from
//! another one. So every instant is made from such a distance, from now or from one used before.

use super::dice::Dice;
use crate::reference::policy::Policy;

/// The instants of one case.
#[derive(Debug)]
pub(crate) struct Instants {
    now: i64,
    distances: Vec<i64>,
    used: Vec<i64>,
}

impl Instants {
    /// Rolls now and begins with it.
    pub(crate) fn new(dice: &mut Dice, policy: &Policy) -> Self {
        let now = if dice.percent(94) {
            dice.pick(&[10_000_000, 1_000_000_000_000, 1_767_225_600_123])
        } else {
            dice.pick(&[0, 1, policy.clock_error_ms, policy.grace_ms, i64::MAX])
        };
        Self {
            now,
            distances: distances(policy),
            used: vec![now],
        }
    }

    /// Begins at a later look at the same row: its instants are those to be beside of.
    pub(crate) fn later(dice: &mut Dice, policy: &Policy, before: i64, stored: Vec<i64>) -> Self {
        let distances = distances(policy);
        let jitter = dice.pick(&[-1, 0, 0, 1]);
        let step = dice.pick(&distances).saturating_add(jitter).max(0);
        // A history that jumps to the end of time has nothing left to tell.
        let step = if step > FAR && dice.percent(95) {
            1_000
        } else {
            step
        };
        let mut used = stored;
        let now = before.saturating_add(step);
        used.push(now);
        Self {
            now,
            distances,
            used,
        }
    }

    /// The instant of the decision.
    pub(crate) fn now(&self) -> i64 {
        self.now
    }

    /// A time in the past, or just about now.
    pub(crate) fn past(&mut self, dice: &mut Dice) -> i64 {
        self.roll(dice, 88)
    }

    /// A time that is as likely to come as to be over.
    pub(crate) fn any(&mut self, dice: &mut Dice) -> i64 {
        self.roll(dice, 50)
    }

    /// Remembers an instant, so that others are made beside it.
    pub(crate) fn keep(&mut self, instant: i64) {
        self.used.push(instant);
    }

    fn roll(&mut self, dice: &mut Dice, past: usize) -> i64 {
        let instant = match dice.below(100) {
            0..2 => 0,
            2 => i64::MAX,
            3..25 => dice.pick(&self.used),
            25..45 => {
                let from = dice.pick(&self.used);
                self.beside(dice, from, past)
            }
            45..85 => self.beside(dice, self.now, past),
            _ => {
                let from = self.beside(dice, self.now, past);
                self.beside(dice, from, past)
            }
        };
        self.keep(instant);
        instant
    }

    fn beside(&self, dice: &mut Dice, from: i64, past: usize) -> i64 {
        let jitter = dice.pick(&[-1, 0, 0, 0, 1]);
        let distance = dice.pick(&self.distances).saturating_add(jitter);
        let instant = if dice.percent(past) {
            from.saturating_sub(distance)
        } else {
            from.saturating_add(distance)
        };
        instant.max(0)
    }
}

fn distances(policy: &Policy) -> Vec<i64> {
    let error = policy.clock_error_ms;
    let mut distances = vec![
        // The clock's error bounds most comparisons, so it is rolled more often.
        0,
        error,
        error,
        error,
        policy.typed_span_ms,
        policy.listed_span_ms,
        policy.visibility_window_ms,
        policy.launch_deadline_ms,
        policy.max_age_ms,
        policy.fresh_for_ms,
        policy.fresh_for_ms,
        policy.grace_ms,
        policy.recheck_ms,
        policy.sweep_every_ms,
        policy.retirement_grace_ms,
        policy.orphan_watch_ms,
    ];
    if let Some(after) = policy.retire_compute_lost_after_ms {
        distances.push(after);
        distances.push(after.saturating_add(error));
    }
    distances
}

/// A hundred days, in milliseconds.
const FAR: i64 = 8_640_000_000;
