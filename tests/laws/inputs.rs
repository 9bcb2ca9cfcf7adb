//! Which policies and machines are the laws checked over?

use core::time::Duration;

use lifecycle_adapters::policies::table_of;
use lifecycle_core::{
    Choices, ComputeLost, LastSeen, Machine, Misses, Missing, Policy, QuarantineStamp, Thresholds,
    Timestamp, strategies,
};
use proptest::prelude::*;

/// Draws a sound policy: a named one, or drawn thresholds with every unsoundness mended.
pub(crate) fn policy() -> impl Strategy<Value = Policy<'static>> {
    let named = proptest::sample::select(&Policy::NAMED[..]).prop_map(|(_, policy)| policy);
    let drawn = (strategies::choices(), strategies::thresholds())
        .prop_map(|(choices, thresholds)| mended(choices, thresholds));
    prop_oneof![1 => named, 3 => drawn]
}

fn mended(choices: Choices, drawn: Thresholds) -> Policy<'static> {
    let longest = Duration::from_millis(i64::MAX.unsigned_abs());
    let clock_error = drawn.clock_error.min(Duration::from_hours(1));
    let above_error = clock_error + Duration::from_millis(1);
    let misses = |misses: Misses| Misses {
        count: misses.count.max(1),
        span: misses.span.min(drawn.max_age),
    };
    let sweep_every = drawn.sweep_every.min(drawn.fresh_for);
    let thresholds = Thresholds {
        typed: misses(drawn.typed),
        listed: misses(drawn.listed),
        clock_error,
        grace: if drawn.grace < Duration::from_millis(1) {
            Duration::ZERO
        } else {
            drawn.grace.clamp(above_error, longest)
        },
        retire_compute_lost_after: match choices.compute_lost {
            ComputeLost::Keep => drawn.retire_compute_lost_after,
            ComputeLost::Destroy => None,
        },
        retirement_grace: drawn.retirement_grace.clamp(above_error, longest),
        sweep_every,
        recheck: drawn.recheck.min(sweep_every),
        ..drawn
    };
    Policy::new(table_of(choices), thresholds).expect("every lint was mended")
}

/// Brings every instant of a machine to a time that a clock shows within a life's length.
pub(crate) fn of_our_time(machine: Machine<'static>) -> Machine<'static> {
    let day = 86_400_000;
    let now = strategies::NOW.as_millis();
    let near = |at: Timestamp| Timestamp::from_millis(at.as_millis().clamp(now - day, now));
    Machine {
        created_at: near(machine.created_at),
        status_since: near(machine.status_since),
        last_seen: machine.last_seen.map(|seen| LastSeen {
            at: near(seen.at),
            ..seen
        }),
        observed_at: machine.observed_at.map(near),
        missing: machine.missing.map(|missing| Missing {
            since: near(missing.since),
            ..missing
        }),
        quarantine: machine.quarantine.map(|stamp| QuarantineStamp {
            since: near(stamp.since),
            destroy_at: near(stamp.destroy_at),
            ..stamp
        }),
        compute_lost_at: machine.compute_lost_at.map(near),
        busy_until: machine.busy_until.map(near),
        ..machine
    }
}
