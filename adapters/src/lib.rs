//! Carries the decisions of `lifecycle-core` out, exactly once.
//!
//! A [`Reconciler`](reconciler::Reconciler) asks the core and commits its answer through a
//! [`Store`](store::Store): status, ledger, outbox and journal in one transaction. A
//! [`Relay`](relay::Relay) delivers the outbox to a [`Provider`](provider::Provider), a
//! [`Revoker`](revoker::Revoker) and a [`Capacity`](capacity::Capacity).

pub mod alert;
pub mod capacity;
pub mod clock;
#[cfg(feature = "conformance")]
pub mod conformance;
#[cfg(feature = "docker")]
pub mod docker;
#[cfg(feature = "ec2")]
pub mod ec2;
#[cfg(any(feature = "oauth", feature = "vault"))]
pub mod endpoint;
pub mod facts;
#[cfg(feature = "guarded")]
pub mod guarded;
pub mod id;
pub mod journal;
pub mod ledger;
#[cfg(feature = "testing")]
pub mod memory;
#[cfg(feature = "oauth")]
pub mod oauth;
pub mod outbox;
pub mod policies;
#[cfg(feature = "postgres")]
pub mod postgres;
#[cfg(feature = "postgres-kit")]
pub mod postgres_kit;
#[cfg(feature = "process")]
pub mod process;
pub mod provider;
pub mod reconciler;
pub mod relay;
#[cfg(any(feature = "oauth", feature = "vault"))]
mod remote;
pub mod revoker;
pub mod row;
#[cfg(any(feature = "oauth", feature = "vault"))]
pub mod secret;
#[cfg(feature = "testing")]
pub mod simulated;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod sql;
#[cfg(feature = "sqlite")]
pub mod sqlite;
pub mod store;
#[cfg(feature = "vault")]
pub mod vault;
pub mod wire;
