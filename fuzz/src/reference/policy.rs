//! Which thresholds does a policy carry, and which combinations of them are unsound?

use super::table::Choices;
use super::words::{
    ComputeLost, LateArrival, Orphan, Proof, RevokeOnComputeLost, VolumeAfterQuarantine,
};

/// Choices and thresholds. Durations are milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// The five choices that select the table.
    pub choices: Choices,
    /// The weakest proof of absence that is listened to.
    pub min_proof: Proof,
    /// Misses needed on typed proof.
    pub typed_misses: i64,
    /// Time they must span.
    pub typed_span_ms: i64,
    /// Misses needed on weaker proof.
    pub listed_misses: i64,
    /// Time they must span.
    pub listed_span_ms: i64,
    /// How long a machine that was seen may be invisible after its creation.
    pub visibility_window_ms: i64,
    /// How long a machine that was never seen may take to appear.
    pub launch_deadline_ms: i64,
    /// The oldest observation that is listened to.
    pub max_age_ms: i64,
    /// How long a fact stays fresh.
    pub fresh_for_ms: i64,
    /// How far two clocks may be apart.
    pub clock_error_ms: i64,
    /// How long a quarantine lasts.
    pub grace_ms: i64,
    /// After what time a row with lost compute retires, if ever.
    pub retire_compute_lost_after_ms: Option<i64>,
    /// How long the quarantine of a retired row lasts.
    pub retirement_grace_ms: i64,
    /// How long a destroyed row is still looked at.
    pub orphan_watch_ms: i64,
    /// The short time to the next look.
    pub recheck_ms: i64,
    /// The ordinary time to the next look.
    pub sweep_every_ms: i64,
}

impl Policy {
    /// Finds a policy by its name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        if name == "cautious" {
            return Some(Self::cautious());
        }
        if name == "immediate" {
            return Some(Self::immediate());
        }
        if name == "converge" {
            return Some(Self::converge());
        }
        None
    }

    /// The defaults.
    #[must_use]
    pub fn cautious() -> Self {
        Self {
            choices: Choices {
                compute_lost: ComputeLost::Keep,
                volume_after_quarantine: VolumeAfterQuarantine::Destroy,
                late_arrival: LateArrival::Adopt,
                orphan: Orphan::Report,
                revoke_on_compute_lost: RevokeOnComputeLost::False,
            },
            min_proof: Proof::CompleteList,
            typed_misses: 2,
            typed_span_ms: SECOND,
            listed_misses: 3,
            listed_span_ms: 60 * SECOND,
            visibility_window_ms: 60 * SECOND,
            launch_deadline_ms: 30 * MINUTE,
            max_age_ms: 5 * MINUTE,
            fresh_for_ms: 10 * MINUTE,
            clock_error_ms: 2 * SECOND,
            grace_ms: 5 * MINUTE,
            retire_compute_lost_after_ms: None,
            retirement_grace_ms: 24 * HOUR,
            orphan_watch_ms: 24 * HOUR,
            recheck_ms: 30 * SECOND,
            sweep_every_ms: 5 * MINUTE,
        }
    }

    /// Believes the first miss.
    #[must_use]
    pub fn immediate() -> Self {
        Self {
            typed_misses: 1,
            typed_span_ms: 0,
            listed_misses: 1,
            listed_span_ms: 0,
            visibility_window_ms: 0,
            ..Self::cautious()
        }
    }

    /// Believes the first miss, and destroys a row whose compute is gone although a volume is left.
    #[must_use]
    pub fn converge() -> Self {
        let mut policy = Self::immediate();
        policy.choices.compute_lost = ComputeLost::Destroy;
        policy
    }

    /// Names the unsound combinations. A weak `min_proof` is not among them: it is allowed.
    #[must_use]
    pub fn lints(&self) -> Vec<&'static str> {
        let mut lints = Vec::new();
        if self.grace_ms != 0 && self.grace_ms <= self.clock_error_ms {
            lints.push("grace is neither zero nor above the clock's error");
        }
        if self.typed_span_ms > self.max_age_ms {
            lints.push("typed span is above max_age");
        }
        if self.listed_span_ms > self.max_age_ms {
            lints.push("listed span is above max_age");
        }
        if self.recheck_ms > self.sweep_every_ms {
            lints.push("recheck is above sweep_every");
        }
        if self.fresh_for_ms < self.sweep_every_ms {
            lints.push("fresh_for is below sweep_every");
        }
        if self.typed_misses == 0 {
            lints.push("zero typed misses");
        }
        if self.listed_misses == 0 {
            lints.push("zero listed misses");
        }
        let retires = self.retire_compute_lost_after_ms.is_some();
        if retires && self.choices.compute_lost == ComputeLost::Destroy {
            lints.push("retirement together with compute_lost=destroy");
        }
        if retires && self.retirement_grace_ms <= self.clock_error_ms {
            lints.push("retirement with a grace not above the clock's error");
        }
        lints
    }
}

const SECOND: i64 = 1000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
