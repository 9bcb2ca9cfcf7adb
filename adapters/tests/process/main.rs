//! What becomes of machines that are processes, told with real ones.
//!
//! Only processes that a test started itself are ever signalled, and all of them are stopped at its end.
#![cfg(feature = "process")]

mod attacks;
mod compute;
mod identity;
mod kit;
mod listing;
mod start;
mod volume;
