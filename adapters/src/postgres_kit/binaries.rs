//! Which server binaries does a test run use?

use std::env;
use std::path::{Path, PathBuf};

use super::error::StartError;

/// A folder that holds `initdb` and `postgres`.
#[derive(Clone, Debug)]
pub(super) struct Binaries(PathBuf);

impl Binaries {
    /// Looks where the user says, then where Debian puts them, then on the path.
    ///
    /// `None` when there are none; a wrong `LIFECYCLE_PG_BIN` is an error, since
    /// silently testing against another version would be worse.
    pub(super) fn find() -> Result<Option<Self>, StartError> {
        if let Some(named) = env::var_os("LIFECYCLE_PG_BIN").filter(|named| !named.is_empty()) {
            let named = PathBuf::from(named);
            return match Self::in_folder(&named) {
                Some(found) => Ok(Some(found)),
                None => Err(StartError::WrongBinaries(named)),
            };
        }
        let path = env::var_os("PATH").unwrap_or_default();
        let found = debian_folders()
            .into_iter()
            .chain(env::split_paths(&path))
            .find_map(|folder| Self::in_folder(&folder));
        Ok(found)
    }

    pub(super) fn folder(&self) -> &Path {
        &self.0
    }

    pub(super) fn program(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Follows links, because Postgres finds its share folder beside the real binary.
    fn in_folder(folder: &Path) -> Option<Self> {
        let initdb = folder.join("initdb").canonicalize().ok()?;
        let real = initdb.parent()?;
        let complete = real.join("initdb").is_file() && real.join("postgres").is_file();
        complete.then(|| Self(real.to_path_buf()))
    }
}

/// Newest major version first.
fn debian_folders() -> Vec<PathBuf> {
    let Ok(entries) = Path::new("/usr/lib/postgresql").read_dir() else {
        return Vec::new();
    };
    let mut versions: Vec<(Vec<u32>, PathBuf)> = entries
        .filter_map(Result::ok)
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let version = name
                .split('.')
                .map(|part| part.parse().ok())
                .collect::<Option<_>>()?;
            Some((version, entry.path().join("bin")))
        })
        .collect();
    versions.sort_by(|a, b| b.0.cmp(&a.0));
    versions.into_iter().map(|(_, folder)| folder).collect()
}
