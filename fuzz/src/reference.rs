//! What does the specification answer, read literally?
//!
//! The flow is the one of the specification: [`mod@line`] reads one case, [`mod@judge`] turns the
//! observation into a sighting, [`conclude`] finds the quarantine column, asks the [`table`] and
//! writes the next facts, [`report`] shows them.

pub mod conclude;
pub mod csv;
pub mod facts;
pub mod judge;
pub mod line;
pub mod policy;
pub mod quarantine;
pub mod report;
pub mod table;
pub mod words;

mod draft;
mod fields;
mod read;
mod wide;
mod write;
