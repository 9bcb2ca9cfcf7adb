//! As which user does the server run?

use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use super::error::StartError;

/// The user of the server's processes and owner of its data.
#[derive(Clone, Debug)]
pub(super) enum Account {
    /// The caller, an ordinary user.
    Caller { uid: u32 },
    /// Somebody without privileges, because the caller is root and Postgres refuses root.
    Lowered { name: String, uid: u32, gid: u32 },
}

impl Account {
    pub(super) fn choose() -> Result<Self, StartError> {
        let uid = caller()?;
        if uid != 0 {
            return Ok(Self::Caller { uid });
        }
        let passwd =
            fs::read_to_string("/etc/passwd").map_err(StartError::io("read", "/etc/passwd"))?;
        ["postgres", "nobody"]
            .into_iter()
            .find_map(|name| look_up(&passwd, name))
            .ok_or(StartError::NoAccount)
    }

    pub(super) fn name(&self) -> String {
        match self {
            Self::Caller { uid } => uid.to_string(),
            Self::Lowered {
                name,
                uid: _,
                gid: _,
            } => name.clone(),
        }
    }

    /// Lets the command run as this user.
    ///
    /// Where it is root that steps down, the standard library also drops the
    /// supplementary groups.
    pub(super) fn apply(&self, command: &mut Command) {
        match self {
            Self::Caller { uid: _ } => {}
            Self::Lowered { name: _, uid, gid } => {
                command.uid(*uid).gid(*gid);
            }
        }
    }

    pub(super) fn own(&self, folder: &Path) -> Result<(), StartError> {
        match self {
            Self::Caller { uid: _ } => Ok(()),
            Self::Lowered { name: _, uid, gid } => {
                chown(folder, Some(*uid), Some(*gid)).map_err(StartError::io("hand over", folder))
            }
        }
    }

    /// Says whether the server can reach what lies in this folder.
    pub(super) fn reaches(&self, folder: &Path) -> bool {
        match self {
            Self::Caller { uid: _ } => true,
            Self::Lowered { .. } => folder
                .ancestors()
                .all(|folder| fs::metadata(folder).is_ok_and(|found| found.mode() & 0o001 != 0)),
        }
    }
}

/// Returns the user id of this process: the owner of its entry in `/proc`, since
/// asking the kernel directly would need unsafe code or a dependency.
pub(super) fn caller() -> Result<u32, StartError> {
    fs::metadata("/proc/self")
        .map(|found| found.uid())
        .map_err(StartError::io("read", "/proc/self"))
}

fn look_up(passwd: &str, name: &str) -> Option<Account> {
    passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        (fields.next()? == name).then_some(())?;
        let (uid, gid) = (fields.nth(1)?.parse().ok()?, fields.next()?.parse().ok()?);
        (uid != 0).then(|| Account::Lowered {
            name: name.to_owned(),
            uid,
            gid,
        })
    })
}
