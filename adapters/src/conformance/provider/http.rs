//! Does a provider that speaks HTTP take a broken answer for what it is?
//!
//! The fault table: every answer that was seen in the field to be taken for "it is gone", or for "it is
//! done". Each [`Fault`] strikes each of the provider's calls at its first request, at its second, and so
//! on, until the call does not get that far: once alone, and once with all that follow. All else is
//! answered as by a service that is well.
//!
//! A harness says what that service answers ([`HttpHarness::answer`]) and makes a provider that asks a
//! local address. Give it a short time-out: one of the faults is silence.
//!
//! What holds of every call:
//!
//! - a reading that was struck is unknown, or an absence no stronger than the fault may prove; where the
//!   adapter asked the same again and was answered, it may be what that answer says;
//! - a listing that was struck is an error, or says that it is not complete;
//! - a stop or destroy that was struck before it was carried out is an error with the cause, and with the
//!   time after which the service wants to be asked again; it is never accepted;
//! - no stop or destroy is sent twice.

mod call;
mod check;
mod fault;
mod server;

use core::time::Duration;
#[cfg(unix)]
use std::path::PathBuf;
use std::sync::Arc;

use crate::provider::{Provider, Target};

pub use check::{CHECKS, Check, CheckRun, run};
pub use fault::{Expected, FAULTS, Fault, RETRY_AFTER};
pub use server::{Address, HttpReply, HttpRequest, Outcome, Server};

/// Answers as the provider's service would, and makes providers that ask a local address.
pub trait HttpHarness: Send + Sync {
    /// Returns how the service is reached.
    fn transport(&self) -> Transport;

    /// Makes a provider that asks this address.
    fn provider(&self, address: &Address) -> Arc<dyn Provider>;

    /// Returns a machine that the service has, with a volume, and as a row would keep it.
    fn target(&self) -> Target;

    /// Answers a request as the service does when it is well and has the target running, alone.
    fn answer(&self, request: &HttpRequest) -> HttpReply;

    /// Answers as the service does where it has neither the target nor its volume, in its own words;
    /// none for requests about something else.
    fn not_found(&self, request: &HttpRequest) -> Option<HttpReply>;

    /// Tells whether a request changes something.
    fn is_change(&self, request: &HttpRequest) -> bool {
        !matches!(request.method.as_str(), "GET" | "HEAD")
    }

    /// Returns how long a call may take before it is given up.
    fn patience(&self) -> Duration {
        Duration::from_secs(20)
    }

    /// Answers a listing with a page that is full and does not name the next one; none where the
    /// service knows no pages.
    fn page_without_a_next(&self, _request: &HttpRequest) -> Option<HttpReply> {
        None
    }
}

/// How a service is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transport {
    /// On a port of this host.
    Tcp,
    /// On sockets that are made in this folder.
    #[cfg(unix)]
    Unix(PathBuf),
}
