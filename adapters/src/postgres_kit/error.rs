//! Why was there no server, and what should the reader install or set?

use core::{error, fmt};
use std::io;
use std::path::PathBuf;

use super::client::SqlError;

/// Why no server could be had. Displayed as one line.
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// Neither `DATABASE_URL` nor server binaries.
    NoServer,
    /// No server binaries, for a test that must own its server.
    NoBinaries,
    /// `LIFECYCLE_PG_BIN` names a folder without `initdb` and `postgres`.
    WrongBinaries(PathBuf),
    /// `DATABASE_URL` cannot be used.
    WrongUrl(&'static str),
    /// The server that `DATABASE_URL` names does not answer.
    Unreachable(SqlError),
    /// Postgres refuses to run as root, and there is nobody else to run as.
    NoAccount,
    /// The unprivileged account may not execute the binaries.
    Forbidden {
        /// The account.
        account: String,
        /// The binary.
        path: PathBuf,
    },
    /// A program the kit itself needs is not there.
    NoProgram(&'static str),
    /// The state folder belongs to somebody else or is open to others.
    Untrusted(PathBuf),
    /// `initdb` or `postgres` ended or never answered.
    Failed {
        /// Which of them.
        program: &'static str,
        /// The end of what it said, lines joined.
        said: String,
    },
    /// A file or process operation failed.
    Io {
        /// What was attempted.
        doing: &'static str,
        /// On which path.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
}

impl StartError {
    pub(super) fn io(
        doing: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io {
            doing,
            path,
            source,
        }
    }
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoServer => f.write_str(
                "no Postgres server found: install Debian's `postgresql` package, \
                 or set DATABASE_URL or LIFECYCLE_PG_BIN",
            ),
            Self::NoBinaries => f.write_str(
                "no Postgres server binaries found: install Debian's `postgresql` package, \
                 or set LIFECYCLE_PG_BIN (this test stops its server, so DATABASE_URL cannot help)",
            ),
            Self::WrongBinaries(path) => write!(
                f,
                "LIFECYCLE_PG_BIN is {}, which does not hold `initdb` and `postgres`",
                path.display()
            ),
            Self::WrongUrl(reason) => write!(
                f,
                "DATABASE_URL {reason}: expected postgres://user@host:port/database"
            ),
            Self::Unreachable(error) => write!(f, "the server of DATABASE_URL: {error}"),
            Self::NoAccount => f.write_str(
                "Postgres refuses to run as root, and neither `postgres` nor `nobody` is in /etc/passwd",
            ),
            Self::Forbidden { account, path } => write!(
                f,
                "user `{account}` may not execute {}: put the Postgres binaries where every user can read them",
                path.display()
            ),
            Self::NoProgram(program) => {
                write!(f, "`{program}` not found on PATH, it comes with util-linux or the base system")
            }
            Self::Untrusted(path) => write!(
                f,
                "{} belongs to another user or is writable by others: remove it or set TMPDIR",
                path.display()
            ),
            Self::Failed { program, said } => write!(f, "`{program}` failed: {said}"),
            Self::Io {
                doing,
                path,
                source,
            } => write!(f, "could not {doing} {}: {source}", path.display()),
        }
    }
}

impl error::Error for StartError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Io {
                doing: _,
                path: _,
                source,
            } => Some(source),
            Self::Unreachable(source) => Some(source),
            Self::NoServer
            | Self::NoBinaries
            | Self::WrongBinaries(_)
            | Self::WrongUrl(_)
            | Self::NoAccount
            | Self::Forbidden { .. }
            | Self::NoProgram(_)
            | Self::Untrusted(_)
            | Self::Failed { .. } => None,
        }
    }
}
