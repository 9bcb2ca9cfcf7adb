//! May this file be used, and how is it opened?

use core::time::Duration;
use std::{
    ffi::OsString,
    fs::File,
    io::{ErrorKind, Read as _},
    path::{Path, PathBuf},
};

use sqlx::{
    ConnectOptions as _, Connection as _, Row as _, SqliteConnection, SqlitePool, query,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};

use super::{failed, schema};
use crate::store::StoreError;

/// How long a write waits for other programs' writes.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// How long opening waits before it tries again.
const PAUSE: Duration = Duration::from_millis(20);

/// One of them writes, the others read.
const CONNECTIONS: u32 = 8;

/// What every SQLite file begins with.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// Opens the file, after making sure that it is ours or new.
pub(super) async fn pool(path: &Path) -> Result<SqlitePool, StoreError> {
    let mut left = BUSY_TIMEOUT;
    loop {
        match attempt(path).await {
            // Turning the log on does not wait for another program that does the same.
            Err(error) if error.is_retryable() && left > PAUSE => {
                tracing::debug!(%error, "waits to open");
                tokio::time::sleep(PAUSE).await;
                left = left.saturating_sub(PAUSE);
            }
            outcome => return outcome,
        }
    }
}

async fn attempt(path: &Path) -> Result<SqlitePool, StoreError> {
    examine(path).await?;
    let options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .busy_timeout(BUSY_TIMEOUT)
        .foreign_keys(true)
        .journal_mode(SqliteJournalMode::Wal)
        // What was committed must survive a loss of power: the relay acts on it at once.
        .synchronous(SqliteSynchronous::Full);
    SqlitePoolOptions::new()
        .max_connections(CONNECTIONS)
        // Where SQLite rolled back by itself (a full disk does that), sqlx takes the transaction for
        // open, and would refuse every other on this connection for ever.
        .before_acquire(|connection, _| {
            Box::pin(async move { Ok(!connection.is_in_transaction()) })
        })
        .connect_with(options)
        .await
        .map_err(failed)
}

/// Looks at the file without changing it.
async fn examine(path: &Path) -> Result<(), StoreError> {
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(StoreError::Refused(error.into())),
    };
    if metadata.len() == 0 {
        return writable(path, &metadata);
    }
    let mut head = [0_u8; 16];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut head));
    match read {
        Ok(()) if head == *MAGIC => {}
        Ok(()) => return Err(foreign(path, "is not a SQLite file")),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
            return Err(foreign(path, "is not a SQLite file"));
        }
        Err(error) => return Err(StoreError::Refused(error.into())),
    }
    let mut connection = SqliteConnectOptions::new()
        .filename(path)
        // A journal that a crash left must be played back, which only a writer can.
        .read_only(!beside(path, "-journal").exists())
        // A log beside the file belongs to it; without one nothing has to be made beside it to read.
        .immutable(!beside(path, "-wal").exists() && !beside(path, "-journal").exists())
        .busy_timeout(BUSY_TIMEOUT)
        .connect()
        .await
        .map_err(failed)?;
    let found = version(&mut connection, path).await;
    connection.close().await.map_err(failed)?;
    schema::refuse_newer(found?)?;
    writable(path, &metadata)
}

/// Returns the version of our tables, 0 in an empty database.
async fn version(connection: &mut SqliteConnection, path: &Path) -> Result<i64, StoreError> {
    if let Some(version) = schema::version(connection).await? {
        return Ok(version);
    }
    let other = query("SELECT name FROM sqlite_schema ORDER BY name LIMIT 1")
        .fetch_optional(connection)
        .await
        .map_err(failed)?;
    match other {
        None => Ok(0),
        Some(row) => {
            let name: String = row.try_get(0).map_err(failed)?;
            Err(foreign(
                path,
                &format!("is the database of another program (it has {name:?})"),
            ))
        }
    }
}

/// Refuses a file that says it must not be written, even where the system would let us.
fn writable(path: &Path, metadata: &std::fs::Metadata) -> Result<(), StoreError> {
    if metadata.permissions().readonly() {
        return Err(StoreError::Refused(
            format!("{} is read-only", path.display()).into(),
        ));
    }
    Ok(())
}

fn foreign(path: &Path, what: &str) -> StoreError {
    StoreError::ForeignDatabase(format!("{} {what}", path.display()))
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}
