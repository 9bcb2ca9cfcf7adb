//! Does an adapter that somebody else wrote keep the promises of its trait?

pub mod provider;
pub mod store;
