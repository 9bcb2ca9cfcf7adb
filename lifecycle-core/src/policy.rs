//! Which choices and thresholds hold for a machine, and are they sound?

use core::{fmt, time::Duration};

use crate::{
    choices::{Choices, ComputeLost},
    observation::Proof,
    table::Table,
    time::Timestamp,
    words::words,
};

/// How many misses over how long a time make an absence believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Misses {
    /// How many answers must not have had the machine.
    pub count: u64,
    /// How long the first of them must lie before the last.
    pub span: Duration,
}

/// The thresholds of a policy. Times count in whole milliseconds.
///
/// ```
/// use core::time::Duration;
/// use lifecycle_core::{Lint, Policy, Table, Thresholds};
///
/// let patient = Thresholds { grace: Duration::from_secs(3_600), ..Thresholds::CAUTIOUS };
/// assert!(Policy::new(Table::DEFAULT, patient).is_ok());
///
/// let unsound = Thresholds { grace: Duration::from_secs(1), ..Thresholds::CAUTIOUS };
/// let refused = Policy::new(Table::DEFAULT, unsound).unwrap_err();
/// assert!(refused.lints.contains(Lint::GraceWithinClockError));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Thresholds {
    /// The weakest proof of absence that counts at all.
    pub min_proof: Proof,
    /// What it takes to believe a typed absence.
    pub typed: Misses,
    /// What it takes to believe an absence from listings.
    pub listed: Misses,
    /// How long a new machine may be invisible to a provider that has it.
    pub visibility_window: Duration,
    /// How long a machine that was never seen may still be on its way.
    pub launch_deadline: Duration,
    /// How old an observation may be.
    pub max_age: Duration,
    /// How long a sighting says something about now.
    pub fresh_for: Duration,
    /// How far two clocks may be apart.
    pub clock_error: Duration,
    /// How long a deleted machine is held; zero: not at all.
    pub grace: Duration,
    /// After what time lost compute retires the machine; none: never.
    pub retire_compute_lost_after: Option<Duration>,
    /// How long a retired machine is held.
    pub retirement_grace: Duration,
    /// How long a destroyed machine is looked at for a return.
    pub orphan_watch: Duration,
    /// When to look again at what is on its way.
    pub recheck: Duration,
    /// When to look again at what is at rest.
    pub sweep_every: Duration,
}

impl Thresholds {
    /// The thresholds of [`Policy::CAUTIOUS`].
    pub const CAUTIOUS: Self = Self {
        min_proof: Proof::CompleteList,
        typed: Misses {
            count: 2,
            span: Duration::from_secs(1),
        },
        listed: Misses {
            count: 3,
            span: Duration::from_secs(60),
        },
        visibility_window: Duration::from_secs(60),
        launch_deadline: Duration::from_secs(30 * 60),
        max_age: Duration::from_secs(5 * 60),
        fresh_for: Duration::from_secs(10 * 60),
        clock_error: Duration::from_secs(2),
        grace: Duration::from_secs(5 * 60),
        retire_compute_lost_after: None,
        retirement_grace: Duration::from_secs(24 * 3_600),
        orphan_watch: Duration::from_secs(24 * 3_600),
        recheck: Duration::from_secs(30),
        sweep_every: Duration::from_secs(5 * 60),
    };

    /// The thresholds of [`Policy::IMMEDIATE`].
    pub const IMMEDIATE: Self = Self {
        typed: Misses {
            count: 1,
            span: Duration::ZERO,
        },
        listed: Misses {
            count: 1,
            span: Duration::ZERO,
        },
        visibility_window: Duration::ZERO,
        ..Self::CAUTIOUS
    };
}

/// A sound set of choices and thresholds.
#[derive(Clone, Copy, Debug)]
pub struct Policy<'t> {
    table: &'t Table,
    thresholds: Thresholds,
}

impl<'t> Policy<'t> {
    /// Believes an absence after a second look, keeps lost compute for recovery. The default.
    pub const CAUTIOUS: Policy<'static> = Policy {
        table: Table::DEFAULT,
        thresholds: Thresholds::CAUTIOUS,
    };

    /// Believes the first typed or complete absence.
    pub const IMMEDIATE: Policy<'static> = Policy {
        table: Table::DEFAULT,
        thresholds: Thresholds::IMMEDIATE,
    };

    /// Believes at once and ends a machine whose compute is gone, volume or not; the volume stays.
    pub const CONVERGE: Policy<'static> = Policy {
        table: Table::COMPUTE_LOST_DESTROY,
        thresholds: Thresholds::IMMEDIATE,
    };

    /// The named policies with their names.
    pub const NAMED: [(&'static str, Policy<'static>); 3] = [
        ("cautious", Policy::CAUTIOUS),
        ("immediate", Policy::IMMEDIATE),
        ("converge", Policy::CONVERGE),
    ];

    /// Makes a policy of a table and thresholds.
    ///
    /// # Errors
    ///
    /// Returns [`Unsound`] with every lint that makes the combination unsound.
    pub const fn new(table: &'t Table, thresholds: Thresholds) -> Result<Self, Unsound> {
        let policy = Self { table, thresholds };
        let lints = policy.lints().unsound();
        if lints.is_empty() {
            Ok(policy)
        } else {
            Err(Unsound { lints })
        }
    }

    /// Returns the policy of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Policy<'static>> {
        Policy::NAMED
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, policy)| *policy)
    }

    /// Returns the table that the choices select.
    #[must_use]
    pub const fn table(&self) -> &'t Table {
        self.table
    }

    /// Returns the choices.
    #[must_use]
    pub const fn choices(&self) -> Choices {
        self.table.choices()
    }

    /// Returns the thresholds.
    #[must_use]
    pub const fn thresholds(&self) -> &Thresholds {
        &self.thresholds
    }

    /// Returns what is questionable about this policy; of a built one that is at most a weak proof.
    #[must_use]
    pub const fn lints(&self) -> Lints {
        let Thresholds {
            min_proof,
            typed,
            listed,
            visibility_window: _,
            launch_deadline: _,
            max_age,
            fresh_for,
            clock_error,
            grace,
            retire_compute_lost_after,
            retirement_grace,
            orphan_watch: _,
            recheck,
            sweep_every,
        } = self.thresholds;
        let retires = retire_compute_lost_after.is_some();
        let destroys = matches!(self.table.choices().compute_lost, ComputeLost::Destroy);
        Lints(0)
            .with_if(
                Lint::GraceWithinClockError,
                !grace.is_zero() && !longer(grace, clock_error),
            )
            .with_if(Lint::TypedSpanAboveMaxAge, longer(typed.span, max_age))
            .with_if(Lint::ListedSpanAboveMaxAge, longer(listed.span, max_age))
            .with_if(Lint::RecheckAboveSweepEvery, longer(recheck, sweep_every))
            .with_if(
                Lint::FreshForBelowSweepEvery,
                longer(sweep_every, fresh_for),
            )
            .with_if(Lint::ZeroTypedMisses, typed.count == 0)
            .with_if(Lint::ZeroListedMisses, listed.count == 0)
            .with_if(Lint::RetirementOfDestroyed, retires && destroys)
            .with_if(
                Lint::RetirementGraceWithinClockError,
                retires && !longer(retirement_grace, clock_error),
            )
            .with_if(
                Lint::WeakMinProof,
                min_proof.strength() < Proof::CompleteList.strength(),
            )
    }

    /// Tells whether a deadline has passed for every clock that may be asked.
    #[must_use]
    pub const fn has_passed(&self, deadline: Timestamp, now: Timestamp) -> bool {
        !now.is_within(self.thresholds.clock_error, deadline)
    }

    /// Tells whether a stored instant lies further in the future than clocks can be apart.
    #[must_use]
    pub const fn is_void(&self, stored: Timestamp, now: Timestamp) -> bool {
        stored.is_beyond(self.thresholds.clock_error, now)
    }

    /// Tells whether a sighting of that time still says something about now.
    #[must_use]
    pub const fn is_fresh(&self, seen_at: Timestamp, now: Timestamp) -> bool {
        !now.is_beyond(self.thresholds.fresh_for, seen_at) && !self.is_void(seen_at, now)
    }
}

impl Default for Policy<'static> {
    fn default() -> Self {
        Policy::CAUTIOUS
    }
}

words! {
    /// What is questionable about a policy.
    pub enum Lint ("lint") {
        /// A grace that the clock's error can swallow.
        GraceWithinClockError = "grace_within_clock_error",
        /// Typed misses that are too old to count before their span is over.
        TypedSpanAboveMaxAge = "typed_span_above_max_age",
        /// Listed misses that are too old to count before their span is over.
        ListedSpanAboveMaxAge = "listed_span_above_max_age",
        /// What is on its way is looked at more rarely than what is at rest.
        RecheckAboveSweepEvery = "recheck_above_sweep_every",
        /// Every sighting is old before the next one comes.
        FreshForBelowSweepEvery = "fresh_for_below_sweep_every",
        /// No typed miss is needed to believe an absence.
        ZeroTypedMisses = "zero_typed_misses",
        /// No listed miss is needed to believe an absence.
        ZeroListedMisses = "zero_listed_misses",
        /// A retirement that can never fall due: lost compute ends the machine at once.
        RetirementOfDestroyed = "retirement_of_destroyed",
        /// A retirement's grace that the clock's error can swallow.
        RetirementGraceWithinClockError = "retirement_grace_within_clock_error",
        /// Proof that may mean "one page" or "no permission" is believed. Allowed.
        WeakMinProof = "weak_min_proof",
    }
}

impl Lint {
    /// Tells whether a policy with this lint is refused.
    #[must_use]
    pub const fn is_unsound(self) -> bool {
        match self {
            Self::GraceWithinClockError
            | Self::TypedSpanAboveMaxAge
            | Self::ListedSpanAboveMaxAge
            | Self::RecheckAboveSweepEvery
            | Self::FreshForBelowSweepEvery
            | Self::ZeroTypedMisses
            | Self::ZeroListedMisses
            | Self::RetirementOfDestroyed
            | Self::RetirementGraceWithinClockError => true,
            Self::WeakMinProof => false,
        }
    }

    /// Returns the sentence that says what is wrong.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::GraceWithinClockError => "grace must be zero or longer than clock_error",
            Self::TypedSpanAboveMaxAge => "typed_span must not be longer than max_age",
            Self::ListedSpanAboveMaxAge => "listed_span must not be longer than max_age",
            Self::RecheckAboveSweepEvery => "recheck must not be longer than sweep_every",
            Self::FreshForBelowSweepEvery => "fresh_for must not be shorter than sweep_every",
            Self::ZeroTypedMisses => "typed_misses must be at least 1",
            Self::ZeroListedMisses => "listed_misses must be at least 1",
            Self::RetirementOfDestroyed => {
                "retire_compute_lost_after has no meaning where compute_lost is destroy"
            }
            Self::RetirementGraceWithinClockError => {
                "retirement_grace must be longer than clock_error"
            }
            Self::WeakMinProof => {
                "min_proof below complete_list is weak: it may mean one page, or no permission"
            }
        }
    }
}

/// A set of lints, iterated in the order of [`Lint::ALL`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Lints(u16);

impl Lints {
    /// Tells whether there is none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Tells whether the lint is in the set.
    #[must_use]
    pub const fn contains(self, lint: Lint) -> bool {
        self.0 & Self::bit(lint) != 0
    }

    /// Returns the lints in the order of [`Lint::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Lint> + Clone {
        Lint::ALL
            .iter()
            .copied()
            .filter(move |lint| self.contains(*lint))
    }

    const fn unsound(self) -> Self {
        Self(self.0 & !Self::bit(Lint::WeakMinProof))
    }

    const fn with_if(self, lint: Lint, holds: bool) -> Self {
        if holds {
            Self(self.0 | Self::bit(lint))
        } else {
            self
        }
    }

    const fn bit(lint: Lint) -> u16 {
        1u16.wrapping_shl(lint as u32)
    }
}

impl fmt::Display for Lints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, lint) in self.iter().enumerate() {
            f.write_str(if position == 0 { "" } else { "; " })?;
            f.write_str(lint.text())?;
        }
        Ok(())
    }
}

/// A policy was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsound {
    /// Why.
    pub lints: Lints,
}

impl fmt::Display for Unsound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unsound policy: {}", self.lints)
    }
}

impl core::error::Error for Unsound {}

const fn longer(one: Duration, other: Duration) -> bool {
    crate::time::millis(one) > crate::time::millis(other)
}
