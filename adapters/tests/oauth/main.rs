//! How are OAuth tokens revoked, told with a real authorization server and with one that fails?
//!
//! The real one is `oidc-provider`, started by each test on a port of its own.
#![cfg(feature = "oauth")]

mod faults;
mod faulty;
mod overheard;
mod progress;
mod real;
mod secrets;
mod server;
mod tokens;
