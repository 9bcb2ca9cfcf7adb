//! A host's record of what machines hold of the store.

use std::sync::Mutex;

use async_trait::async_trait;
use lifecycle_adapters::{
    id::MachineId,
    revoker::Revocation,
    secret::Secret,
    vault::{Grant, GrantSource, GrantSourceError, LeasePrefix},
};
use lifecycle_core::Timestamp;

/// In memory; it can lose its tongue.
#[derive(Debug, Default)]
pub(crate) struct Grants {
    issued: Mutex<Vec<Grant>>,
    noted: Mutex<Vec<String>>,
    /// What fails from now on: reading, writing.
    pub(crate) fails: Mutex<[Option<bool>; 2]>,
}

impl Grants {
    pub(crate) fn with_token(self, accessor: &str) -> Self {
        let mut issued = self.issued.lock().expect("a record");
        let id = format!("row-{}", issued.len());
        let accessor = Secret::new(accessor);
        issued.push(Grant::Token { id, accessor });
        drop(issued);
        self
    }

    pub(crate) fn with_leases(self, prefix: &str) -> Self {
        let prefix = LeasePrefix::new(prefix).expect("a prefix");
        let mut issued = self.issued.lock().expect("a record");
        issued.push(Grant::Leases(prefix));
        drop(issued);
        self
    }

    pub(crate) fn noted(&self) -> Vec<String> {
        let mut noted = self.noted.lock().expect("a record").clone();
        noted.sort();
        noted
    }

    fn fail(&self, what: usize) -> Result<(), GrantSourceError> {
        match self.fails.lock().expect("a switch")[what] {
            None => Ok(()),
            Some(is_retryable) => Err(GrantSourceError {
                message: "the table is locked".to_owned(),
                is_retryable,
            }),
        }
    }
}

#[async_trait]
impl GrantSource for Grants {
    async fn issued(&self, revocation: &Revocation) -> Result<Vec<Grant>, GrantSourceError> {
        self.fail(0)?;
        assert_eq!(revocation.machine, machine());
        let noted = self.noted();
        let issued = self.issued.lock().expect("a record");
        let meant = issued.iter().filter(|grant| match grant {
            Grant::Token { id, .. } => !noted.contains(id),
            Grant::Leases(_) => true,
        });
        Ok(meant.cloned().collect())
    }

    async fn revoked(&self, ids: &[String]) -> Result<(), GrantSourceError> {
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
        generation: 1,
        issued_before: None,
    }
}

pub(crate) fn before(millis: i64) -> Revocation {
    Revocation {
        issued_before: Some(Timestamp::from_millis(millis)),
        ..everything()
    }
}
