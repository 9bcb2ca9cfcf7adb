//! Where do the files of the servers lie, and who may be trusted to have written them?
//!
//! ```text
//! TMPDIR/postgres-kit-UID/        this user's alone to write; the server may pass through
//!   KEY.lock, KEY.state           the shared server of one target folder (see `shared`)
//!   RANDOM/                       one server
//!     users                       locked shared by everybody who needs the server
//!     log                         what the server said
//!     data/                       owned by the server's account
//! ```

use std::env;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::account::{self, Account};
use super::error::StartError;
use super::random;
use super::supervisor;

/// The folder that holds all servers of this user.
#[derive(Clone, Debug)]
pub(super) struct Place(PathBuf);

/// The folder of one server, claimed for as long as `users` is open.
#[derive(Debug)]
pub(super) struct Home {
    pub(super) folder: PathBuf,
    pub(super) users: File,
}

impl Place {
    pub(super) fn open(account: &Account) -> Result<Self, StartError> {
        let uid = account::caller()?;
        // A root's TMPDIR is often closed to the account that the server runs as.
        let root = [env::temp_dir(), "/tmp".into(), "/var/tmp".into()]
            .into_iter()
            .filter_map(|root| root.canonicalize().ok())
            .find(|root| account.reaches(root))
            .unwrap_or_else(env::temp_dir);
        let path = root.join(format!("postgres-kit-{uid}"));
        match DirBuilder::new().mode(PASSABLE).create(&path) {
            // The mode again, because the umask may have taken from it.
            Ok(()) => fs::set_permissions(&path, Permissions::from_mode(PASSABLE)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error),
        }
        .map_err(StartError::io("create", &path))?;
        // Not followed: a link planted by somebody else must not pass as ours.
        let found = fs::symlink_metadata(&path).map_err(StartError::io("inspect", &path))?;
        let ours = found.is_dir() && found.uid() == uid && found.mode() & WRITABLE_BY_OTHERS == 0;
        if !ours {
            return Err(StartError::Untrusted(path));
        }
        Ok(Self(path))
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Makes a folder for one server and claims it.
    pub(super) fn new_home(&self) -> Result<Home, StartError> {
        supervisor::check()?;
        let folder = self.0.join(format!("{:016x}", random::bits()));
        DirBuilder::new()
            .mode(PASSABLE)
            .create(&folder)
            .and_then(|()| fs::set_permissions(&folder, Permissions::from_mode(PASSABLE)))
            .map_err(StartError::io("create", &folder))?;
        let path = folder.join("users");
        let users = open_lock(&path)?;
        users.lock_shared().map_err(StartError::io("lock", &path))?;
        Ok(Home { folder, users })
    }
}

impl Home {
    /// Claims the folder of a server that somebody else started; `None` when it is gone.
    pub(super) fn join(folder: &Path) -> Option<Self> {
        let path = folder.join("users");
        let users = File::open(&path).ok()?;
        users.lock_shared().ok()?;
        is_still_at(&users, &path).then(|| Self {
            folder: folder.to_path_buf(),
            users,
        })
    }
}

/// Waits for the only right to a lock file, which others may remove while holding it.
pub(super) fn lock_exclusively(path: &Path) -> Result<File, StartError> {
    loop {
        let file = open_lock(path)?;
        file.lock().map_err(StartError::io("lock", path))?;
        if is_still_at(&file, path) {
            return Ok(file);
        }
    }
}

fn open_lock(path: &Path) -> Result<File, StartError> {
    OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(path)
        .map_err(StartError::io("open", path))
}

fn is_still_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::metadata(path)) {
        (Ok(held), Ok(named)) => held.ino() == named.ino() && held.dev() == named.dev(),
        _ => false,
    }
}

/// Others may pass through, so that the server reaches its data, but not list.
const PASSABLE: u32 = 0o711;
const WRITABLE_BY_OTHERS: u32 = 0o022;
