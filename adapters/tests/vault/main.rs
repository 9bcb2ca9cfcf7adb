//! How are tokens and leases revoked, told with a real OpenBao and with a server that fails?
//!
//! OpenBao is started by each test, in memory and on a port of its own. What its leases stand for are
//! the users of a message broker, of which a few lines here play the management interface.
#![cfg(feature = "vault")]

mod bao;
mod broker;
mod faults;
#[path = "../oauth/faulty.rs"]
mod faulty;
mod grants;
mod leases;
#[path = "../oauth/overheard.rs"]
mod overheard;
mod refusals;
mod secrets;
mod standby;
mod tokens;
