//! Does every table, and every whole decision, keep the laws?
//!
//! A law that speaks of one cell is checked twice, by the core's own [`Law`](lifecycle_core::Law)
//! and by [`promises`], which were written apart; and every promise is shown to notice a transition
//! that breaks it. The laws about whole decisions are checked over random machines.

mod broken;
mod cells;
mod decisions;
mod evidence;
mod inputs;
mod looking;
mod promises;
mod reports;
