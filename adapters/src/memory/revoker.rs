//! Which credentials does a service's test mint, and which of them still work?

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use lifecycle_core::Timestamp;

use super::MemoryStore;
use crate::{
    id::MachineId,
    revoker::{Revocation, RevokeError, Revoker},
    store::Admission,
};

/// A table of tokens beside a [`MemoryStore`]: none is minted for a machine that is not live.
#[derive(Debug)]
pub struct MemoryRevoker {
    store: Arc<MemoryStore>,
    tokens: Mutex<Vec<Token>>,
}

/// One credential.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Which one, counted from 1.
    pub serial: usize,
    /// The machine.
    pub machine: MachineId,
    /// The incarnation.
    pub generation: u64,
    /// When it was minted, by the store's clock.
    pub issued_at: Timestamp,
    /// When it was first revoked.
    pub revoked_at: Option<Timestamp>,
}

impl MemoryRevoker {
    /// Makes a table without tokens.
    #[must_use]
    pub fn new(store: Arc<MemoryStore>) -> Self {
        Self {
            store,
            tokens: Mutex::default(),
        }
    }

    /// Mints a token; none where the machine does not admit it.
    pub fn mint(&self, id: &MachineId) -> Option<Token> {
        self.store.admitted(id, |admission, now| match admission {
            Admission::Live { generation } => {
                let mut tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
                let token = Token {
                    serial: tokens.len().saturating_add(1),
                    machine: id.clone(),
                    generation,
                    issued_at: now,
                    revoked_at: None,
                };
                tokens.push(token.clone());
                Some(token)
            }
            Admission::Refused | Admission::Unknown => None,
        })
    }

    /// Returns every token of a machine, in the order minted.
    #[must_use]
    pub fn tokens(&self, id: &MachineId) -> Vec<Token> {
        let tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        let tokens = tokens.iter().filter(|token| token.machine == *id);
        tokens.cloned().collect()
    }

    /// Returns the tokens of a machine that still work.
    #[must_use]
    pub fn live(&self, id: &MachineId) -> Vec<Token> {
        let mut tokens = self.tokens(id);
        tokens.retain(|token| token.revoked_at.is_none());
        tokens
    }
}

#[async_trait]
impl Revoker for MemoryRevoker {
    async fn revoke(&self, revocation: &Revocation) -> Result<(), RevokeError> {
        let Revocation {
            machine,
            generation,
            issued_before,
        } = revocation;
        let now = self.store.clock.now();
        let mut tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        for token in tokens.iter_mut() {
            // One that was minted in the very millisecond of the commit may have been there before it.
            let is_meant = token.machine == *machine
                && token.generation <= *generation
                && issued_before.is_none_or(|before| token.issued_at <= before);
            if is_meant {
                token.revoked_at.get_or_insert(now);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use lifecycle_core::{Machine, Status, Volume};

    use super::*;
    use crate::{
        clock::ManualClock,
        row::NewMachine,
        store::{Change, Commit, Registered, Store as _},
    };

    #[tokio::test]
    async fn tokens_are_minted_only_for_live_machines_and_keep_their_first_stamp() {
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_000)));
        let store = Arc::new(MemoryStore::new(clock.clone()));
        let revoker = MemoryRevoker::new(store.clone());
        let id = MachineId::new("a").unwrap();
        assert_eq!(revoker.mint(&id), None);

        let Registered::Created(row) = store.register(&new(&id)).await.unwrap() else {
            panic!("it is new");
        };
        let token = revoker.mint(&id).unwrap();
        let all = Revocation {
            machine: id.clone(),
            generation: 1,
            issued_before: None,
        };
        let earlier = Revocation {
            issued_before: Some(Timestamp::from_millis(999)),
            ..all.clone()
        };
        revoker.revoke(&earlier).await.unwrap();
        assert_eq!(revoker.live(&id), [token]);

        for _ in 0..2 {
            clock.advance(Duration::from_secs(1));
            revoker.revoke(&all).await.unwrap();
        }
        assert_eq!(revoker.live(&id), []);
        let stamps: Vec<_> = revoker
            .tokens(&id)
            .iter()
            .map(|one| one.revoked_at)
            .collect();
        assert_eq!(stamps, [Some(Timestamp::from_millis(2_000))]);

        let mut ended = row;
        ended.facts.update(|machine| Machine {
            status: Status::Quarantined,
            ..machine
        });
        let change = Change::of(ended);
        assert!(matches!(
            store.commit(&change).await.unwrap(),
            Commit::Won(_)
        ));
        assert_eq!(revoker.mint(&id), None);
    }

    fn new(id: &MachineId) -> NewMachine {
        NewMachine {
            id: id.clone(),
            scope: "s".to_owned(),
            marker: None,
            provider_id: None,
            volume: Volume::None,
            volume_id: None,
            policy: None,
        }
    }
}
