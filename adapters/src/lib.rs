//! Carries the decisions of `lifecycle-core` out, exactly once.

pub mod facts;
pub mod policies;
pub mod wire;
