//! Where does the service say that we are logged in?

use core::time::Duration;
use std::{
    sync::{Mutex, PoisonError},
    time::Instant,
};

use super::{
    Ec2Provider,
    credentials::Ec2Credentials,
    failure::Failure,
    query::Request,
    shape::{Caller, Zones},
};

/// The credentials that are used now, and what the service says of them.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) credentials: Ec2Credentials,
    scope: Mutex<Option<(String, Instant)>>,
}

impl Session {
    pub(super) const fn of(credentials: Ec2Credentials) -> Self {
        Self {
            credentials,
            scope: Mutex::new(None),
        }
    }

    fn known(&self) -> Option<String> {
        let scope = self.scope.lock().unwrap_or_else(PoisonError::into_inner);
        let known = scope.as_ref().filter(|(_, at)| at.elapsed() < KEPT_FOR)?;
        Some(known.0.clone())
    }

    fn keep(&self, scope: &str) {
        let mut kept = self.scope.lock().unwrap_or_else(PoisonError::into_inner);
        *kept = Some((scope.to_owned(), Instant::now()));
    }
}

impl Ec2Provider {
    pub(super) async fn scope_of(&self, session: &Session) -> Result<String, Failure> {
        if let Some(scope) = session.known() {
            return Ok(scope);
        }
        let caller: Caller = self.read(session, Request::sts()).await?;
        let zones: Zones = self.read(session, Request::ec2()).await?;
        let account = caller.result.account.trim().to_owned();
        let mut regions: Vec<_> = zones
            .zones
            .items
            .iter()
            .map(|zone| zone.region_name.trim())
            .collect();
        regions.dedup();
        let [region] = regions[..] else {
            return Err(Failure::malformed("the zones name no region, or several"));
        };
        if account.is_empty() || region.is_empty() {
            return Err(Failure::malformed("the service does not say where we are"));
        }
        let scope = format!("{account}/{region}");
        session.keep(&scope);
        Ok(scope)
    }
}

const KEPT_FOR: Duration = Duration::from_secs(60);
