//! How are leases revoked, and only those that are meant?

use lifecycle_core::Timestamp;
use serde_json::json;

use super::{LeasePrefix, VaultRevoker, answer, instant::read_instant};
use crate::remote::{Failure, Reach, Tally};

impl VaultRevoker {
    /// Revokes the leases under a prefix that were issued before the instant, or all of them.
    pub(super) async fn revoke_leases(
        &self,
        prefix: &LeasePrefix,
        issued_before: Option<Timestamp>,
    ) -> Result<(), Failure> {
        let Some(before) = issued_before else {
            let path: Vec<_> = ["sys", "leases", "revoke-prefix"]
                .into_iter()
                .chain(prefix.as_str().split('/'))
                .collect();
            // Without `sync` the answer is given before anything was revoked.
            let reply = self.ask(&path, Some(json!({ "sync": true }))).await?;
            return answer::read(&reply);
        };
        let leases = self.leases(prefix).await?;
        let mut tally = Tally::of(leases.len());
        for lease in &leases {
            if tally
                .count(self.revoke_older(lease, before).await)
                .is_break()
            {
                break;
            }
        }
        tally.finish("leases")
    }

    async fn leases(&self, prefix: &LeasePrefix) -> Result<Vec<String>, Failure> {
        // A lease's own id is a prefix, too.
        let mut leases = vec![prefix.as_str().to_owned()];
        let mut folders = leases.clone();
        while let Some(folder) = folders.pop() {
            let path: Vec<_> = ["sys", "leases", "lookup"]
                .into_iter()
                .chain(folder.split('/'))
                .collect();
            let reply = self.ask(&path, None).await?;
            for key in answer::read_list(&reply)?.unwrap_or_default() {
                let (name, found) = match key.strip_suffix('/') {
                    Some(name) => (name, &mut folders),
                    None => (key.as_str(), &mut leases),
                };
                found.push(format!("{folder}/{name}"));
            }
            if leases.len().max(folders.len()) > MOST_LEASES {
                let message = "there are more leases under a prefix than one machine has";
                return Err(Failure::lasting(message, Reach::One));
            }
        }
        Ok(leases)
    }

    async fn revoke_older(&self, lease: &str, before: Timestamp) -> Result<(), Failure> {
        let question = json!({ "lease_id": lease });
        let reply = self
            .ask(&["sys", "leases", "lookup"], Some(question))
            .await?;
        let Some(issued) = answer::read_issue_time(&reply)? else {
            return Ok(());
        };
        // What does not say how old it is may be older.
        let is_younger = read_instant(&issued)
            .is_some_and(|issued| issued >= before.saturating_add(self.config.clock_error));
        if is_younger {
            return Ok(());
        }
        let question = json!({ "lease_id": lease, "sync": true });
        let reply = self
            .ask(&["sys", "leases", "revoke"], Some(question))
            .await?;
        answer::read(&reply)
    }
}

const MOST_LEASES: usize = 10_000;
