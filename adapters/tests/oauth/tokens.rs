//! A host's record of the tokens it had issued.

use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use lifecycle_adapters::{
    id::MachineId,
    oauth::{IssuedToken, TokenHint, TokenSource, TokenSourceError},
    revoker::Revocation,
    secret::Secret,
};
use lifecycle_core::Timestamp;

/// In memory; it can lose its tongue.
#[derive(Debug, Default)]
pub(crate) struct Tokens {
    rows: Mutex<Vec<Row>>,
    pub(crate) noted: Mutex<Vec<String>>,
    /// What fails from now on: reading, writing.
    pub(crate) fails: Mutex<[Option<bool>; 2]>,
}

#[derive(Debug)]
struct Row {
    machine: MachineId,
    generation: u64,
    issued_at: Timestamp,
    token: IssuedToken,
}

impl Tokens {
    pub(crate) fn issue(&self, generation: u64, issued_at: i64, token: &str) {
        self.issue_kind(generation, issued_at, token, None);
    }

    pub(crate) fn issue_kind(
        &self,
        generation: u64,
        issued_at: i64,
        token: &str,
        hint: Option<TokenHint>,
    ) {
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        let id = format!("row-{}", rows.len());
        rows.push(Row {
            machine: machine(),
            generation,
            issued_at: Timestamp::from_millis(issued_at),
            token: IssuedToken {
                id,
                token: Secret::new(token),
                hint,
            },
        });
    }

    pub(crate) fn noted(&self) -> Vec<String> {
        let mut noted = self.noted.lock().expect("a record").clone();
        noted.sort();
        noted
    }

    fn fail(&self, what: usize) -> Result<(), TokenSourceError> {
        match self.fails.lock().expect("a switch")[what] {
            None => Ok(()),
            Some(is_retryable) => Err(TokenSourceError {
                message: "the table is locked".to_owned(),
                is_retryable,
            }),
        }
    }
}

#[async_trait]
impl TokenSource for Tokens {
    async fn issued(&self, revocation: &Revocation) -> Result<Vec<IssuedToken>, TokenSourceError> {
        self.fail(0)?;
        let noted = self.noted();
        let rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        let meant = rows.iter().filter(|row| {
            row.machine == revocation.machine
                && row.generation <= revocation.generation
                && revocation
                    .issued_before
                    .is_none_or(|before| row.issued_at < before)
                && !noted.contains(&row.token.id)
        });
        Ok(meant.map(|row| row.token.clone()).collect())
    }

    async fn revoked(&self, ids: &[String]) -> Result<(), TokenSourceError> {
        self.fail(1)?;
        self.noted.lock().expect("a record").extend_from_slice(ids);
        Ok(())
    }
}

pub(crate) fn machine() -> MachineId {
    MachineId::new("m-1").expect("a machine id")
}

/// All that the machine has, for one that ended.
pub(crate) fn everything() -> Revocation {
    Revocation {
        machine: machine(),
        generation: 9,
        issued_before: None,
    }
}
