//! How is a server that revokes asked once, and what does it say?

mod failure;
mod gate;
mod tally;

use core::{fmt, time::Duration};

use reqwest::{
    Client, RequestBuilder, Response,
    header::{self, HeaderMap},
    redirect,
};

pub(crate) use failure::{Failure, Reach, said};
pub(crate) use tally::Tally;

use crate::endpoint::Endpoint;
use gate::Gate;

/// A server that revokes.
pub(crate) struct Remote {
    client: Client,
    gate: Gate,
}

/// What it answered.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Remote {
    pub(crate) fn new(endpoints: &[&Endpoint], timeout: Duration) -> Result<Self, reqwest::Error> {
        let client = Client::builder()
            .timeout(timeout)
            // Credentials are for the addresses that are configured.
            .redirect(redirect::Policy::none());
        let is_local = endpoints.iter().all(|endpoint| endpoint.is_loopback());
        let client = if is_local { client.no_proxy() } else { client };
        Ok(Self {
            client: client.build()?,
            gate: Gate::default(),
        })
    }

    pub(crate) const fn client(&self) -> &Client {
        &self.client
    }

    /// Returns a failure while the server wants to be left alone.
    pub(crate) fn may_be_asked(&self) -> Result<(), Failure> {
        match self.gate.closed_for() {
            None => Ok(()),
            Some(left) => Err(Failure::passing(
                format!(
                    "the server asked to be left alone for another {} s",
                    left.as_secs().saturating_add(1)
                ),
                Reach::All,
            )),
        }
    }

    /// Asks once.
    pub(crate) async fn ask(&self, request: RequestBuilder) -> Result<Reply, Failure> {
        let mut response = request.send().await.map_err(Failure::transport)?;
        let status = response.status().as_u16();
        if [429, 503].contains(&status)
            && let Some(wait) = retry_after(&response)
        {
            self.gate.close(wait);
        }
        let mut reply = Reply {
            status,
            headers: response.headers().clone(),
            body: Vec::new(),
        };
        // A refusal is one by its status, however its text ends.
        loop {
            match response.chunk().await {
                Ok(None) => break,
                Ok(Some(chunk)) => reply.body.extend_from_slice(&chunk),
                Err(error) if reply.is_good() => return Err(Failure::transport(error)),
                Err(_) => break,
            }
            if reply.body.len() > LONGEST_BODY {
                return Err(Failure::passing("the answer is too long", Reach::Server));
            }
        }
        Ok(reply)
    }
}

impl Reply {
    const fn is_good(&self) -> bool {
        matches!(self.status, 200..=299)
    }
}

impl fmt::Debug for Remote {
    /// Shows nothing: a proxy's address may hold a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote").finish_non_exhaustive()
    }
}

impl fmt::Debug for Reply {
    /// Shows no text: servers quote what they were sent.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reply")
            .field("status", &self.status)
            .finish_non_exhaustive()
    }
}

/// Returns what `Retry-After` says in seconds; a date is left to the caller's own backoff.
fn retry_after(response: &Response) -> Option<Duration> {
    let seconds = response.headers().get(header::RETRY_AFTER)?.to_str().ok()?;
    seconds.trim().parse().ok().map(Duration::from_secs)
}

const LONGEST_BODY: usize = 4 << 20;
