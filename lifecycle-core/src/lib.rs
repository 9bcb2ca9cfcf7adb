//! Given what is known of a machine and what its provider just said, what is its status now, and
//! what must happen because of it?
//!
//! One pure function answers: [`decide`]. It reads no clock, asks nobody, allocates nothing and
//! cannot fail; whoever embeds it carries the [`Effects`] out. `lifecycle-adapters` does so exactly
//! once against a database, a provider and a revoker.
//!
//! # Scope of this crate
//!
//! The meaning, and nothing else: the columns ([`Cell`]), the [`Table`] of twenty [`Rule`]s, what
//! evidence is worth ([`judge`]), the next facts ([`conclude`]), what is shown ([`Report`]), and the
//! brake on mass absence ([`FleetGuard`]).
//!
//! ```text
//! Observation ── judge ──> Judgement ── (FleetGuard) ──> conclude ──> Decision ──> next Machine
//!   Machine ──────┘                                         │                 └──> Effects
//!   Policy ───────┴── Table <── Choices ────────────────────┘
//! ```
//!
//! # Features
//!
//! - `serde`: the text form of every enum and the JSON form of facts.
//! - `proptest`: `strategies` for every input type.
//!
//! Neither changes behaviour.

#![no_std]

mod asked;
mod choices;
mod decide;
mod deletion;
mod effect;
mod facts;
mod guard;
mod judge;
mod laws;
mod machine;
mod observation;
mod policy;
mod report;
#[cfg(feature = "proptest")]
pub mod strategies;
mod table;
mod time;
mod transition;
mod why;
#[cfg(feature = "serde")]
mod wire;
mod words;

pub use asked::{Asked, Refusal, Request};
pub use choices::{
    Choices, ComputeLost, LateArrival, Orphan, RevokeOnComputeLost, VolumeAfterQuarantine,
};
pub use decide::{Decision, DecisionKind, Why, conclude, decide};
pub use effect::{Delivery, Effect, EffectClass, Effects};
pub use facts::{Compute, Desired, Force, Quarantine, Sighting, Status, Volume};
pub use guard::{FleetGuard, GuardVerdict, ScopeWindow};
pub use judge::{Ground, Judgement, Observed, judge};
pub use laws::Law;
pub use machine::{LastSeen, Machine, Missing, NotRecoverable, QuarantineStamp, SeenPower};
pub use observation::{Answer, Cause, Observation, Power, Proof, SeenMarker, Source};
pub use policy::{Lint, Lints, Misses, Policy, Thresholds, Unsound};
pub use report::{ActualPower, Detail, Phase, Report};
pub use table::{Table, answer};
pub use time::Timestamp;
pub use transition::{Cell, Rule, Transition};
pub use words::UnknownWord;
