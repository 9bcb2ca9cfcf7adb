//! Does every provider that needs nothing but this host keep the promises of its trait, and are broken
//! ones caught?

mod broken;
#[cfg(feature = "guarded")]
mod guarded;
#[cfg(feature = "process")]
mod process;
mod simulated;
mod suite;
