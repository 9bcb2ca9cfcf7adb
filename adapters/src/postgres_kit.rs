//! How does a test get a real Postgres?
//!
//! [`Server::shared`] gives every test of a run, in whatever process, the same
//! server; [`Server::private`] gives one test a server that it may stop, start
//! and `kill -9`. Both are throw-away: fresh data folder, loopback port,
//! superuser `postgres` without a password.
//!
//! ```text
//! test process ── shared lock on FOLDER/users ──┐
//! test process ── shared lock on FOLDER/users ──┤ the last one ends, in whatever way
//!                                               ▼
//!                       supervisor (sh, flock): stops the server, removes FOLDER
//! ```
//!
//! The kernel drops a lock when its process ends, `kill -9` included, so nothing
//! depends on a destructor. Linux only: it reads `/proc` and needs util-linux's
//! (or BusyBox's) `flock`. Any user of the machine may connect to such a server
//! as its superuser: not for hosts shared with people you do not trust.
//!
//! Environment: `DATABASE_URL` (use that server instead; [`Server::shared`]
//! only), `LIFECYCLE_PG_BIN` (folder with `initdb` and `postgres`).

mod account;
mod address;
mod binaries;
mod client;
mod cluster;
mod error;
mod options;
mod place;
mod private;
mod random;
mod shared;
mod supervisor;

use core::time::Duration;
use std::sync::Arc;

use address::Address;

pub use client::SqlError;
pub use error::StartError;
pub use options::{Durability, Options};
pub use private::PrivateServer;

/// A running Postgres, and as long as any clone lives, a claim on it.
#[derive(Clone, Debug)]
pub struct Server {
    address: Address,
    version: String,
    /// Only held: the lock in it keeps the server running.
    _lease: Option<Arc<std::fs::File>>,
}

/// A database that is still to be created, see [`Server::plan_database`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewDatabase {
    /// Creates it, when run on [`Server::admin_url`].
    pub statement: String,
    /// Its address afterwards.
    pub url: String,
}

impl Server {
    /// Returns the one server of this test run, and starts it where needed.
    ///
    /// # Errors
    /// When no server can be found or started; the message is one line that
    /// says what to do. A test should fail on it, never skip.
    pub fn shared() -> Result<Self, StartError> {
        shared::attach()
    }

    /// Starts a server for one test, see [`PrivateServer`].
    ///
    /// # Errors
    /// When no server binaries can be found or started. `DATABASE_URL` does not
    /// help here, a foreign server cannot be stopped.
    pub fn private(options: Options) -> Result<PrivateServer, StartError> {
        PrivateServer::start_with(options)
    }

    /// Returns the URL of a database on this server; user and host are always named.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        self.address.url(database)
    }

    /// Returns the URL from which databases can be created.
    #[must_use]
    pub fn admin_url(&self) -> String {
        self.address.url(self.address.admin_database())
    }

    /// Creates an empty database with a name that nobody else has, and returns its URL.
    ///
    /// It goes with the server; on a `DATABASE_URL` server it stays until
    /// [`Server::drop_database`].
    ///
    /// # Errors
    /// When the server refuses or cannot be reached, or when it asks for a
    /// password in a way only `psql` can answer and there is no `psql`.
    pub fn create_database(&self, prefix: &str) -> Result<String, SqlError> {
        let planned = self.plan_database(prefix);
        self.execute(&planned.statement)?;
        Ok(planned.url)
    }

    /// Chooses a database name and leaves creating it to the caller's own client.
    #[must_use]
    pub fn plan_database(&self, prefix: &str) -> NewDatabase {
        let name = random::name(prefix);
        NewDatabase {
            // Nobody can be connected to template0, so it can always be copied.
            statement: format!("create database {name} template template0"),
            url: self.url(&name),
        }
    }

    /// Drops a database made by [`Server::create_database`], connected clients or not.
    ///
    /// # Errors
    /// As [`Server::create_database`].
    pub fn drop_database(&self, url: &str) -> Result<(), SqlError> {
        let name = address::database_of(url).replace('"', "\"\"");
        self.execute(&format!("drop database if exists \"{name}\" with (force)"))
    }

    /// Returns what the server calls itself, such as `15.13 (Debian 15.13-0+deb12u1)`.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Returns the major version, such as 15.
    #[must_use]
    pub fn major_version(&self) -> u32 {
        let digits = self.version.split(|c: char| !c.is_ascii_digit()).next();
        digits
            .and_then(|digits| digits.parse().ok())
            .expect("a version begins with its major number, `connect` has checked it")
    }

    /// Runs one statement as superuser in the admin database, for instance to
    /// create a role.
    ///
    /// # Errors
    /// As [`Server::create_database`].
    pub fn execute(&self, sql: &str) -> Result<(), SqlError> {
        client::query(
            &self.address,
            self.address.admin_database(),
            sql,
            STATEMENT_LIMIT,
        )?;
        Ok(())
    }

    fn connect(address: Address, lease: Option<Arc<std::fs::File>>) -> Result<Self, SqlError> {
        let sql = "select current_setting('server_version')";
        let version = client::query(&address, address.admin_database(), sql, PROBE_LIMIT)?
            .filter(|version| version.starts_with(|c: char| c.is_ascii_digit()))
            .ok_or(SqlError::Protocol("no version"))?;
        Ok(Self {
            address,
            version,
            _lease: lease,
        })
    }
}

/// For statements such as `create database`, on a machine that others load.
const STATEMENT_LIMIT: Duration = Duration::from_secs(120);
/// For asking a server who it is.
const PROBE_LIMIT: Duration = Duration::from_secs(10);
