//! How does the kit run a statement without depending on a client library?
//!
//! It speaks the simple-query part of the protocol itself, which covers every
//! server the kit starts. A server of `DATABASE_URL` that asks for more (SCRAM,
//! TLS, a socket) is spoken to through `psql`.

use core::time::Duration;
use core::{error, fmt};
use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::process::{Command, Stdio};

use super::address::Address;

/// Why a statement could not be run. Displayed as one line.
#[derive(Debug)]
#[non_exhaustive]
pub enum SqlError {
    /// The server said no.
    Refused(String),
    /// The connection failed.
    Io(io::Error),
    /// Whatever listens there does not speak as a Postgres server does.
    Protocol(&'static str),
    /// The server needs a client that can do more, and `psql` is not installed.
    NoPsql,
}

/// Runs one statement and returns the first column of its first row.
///
/// `limit` bounds every single wait for the server.
pub(super) fn query(
    address: &Address,
    database: &str,
    sql: &str,
    limit: Duration,
) -> Result<Option<String>, SqlError> {
    let Some(host) = address.plain_tcp() else {
        return through_psql(address, database, sql);
    };
    let mut connection = Connection::open(&host, limit)?;
    if !connection.log_in(address, database)? {
        return through_psql(address, database, sql);
    }
    connection.run(sql)
}

struct Connection(TcpStream);

impl Connection {
    fn open((host, port): &(String, u16), limit: Duration) -> Result<Self, SqlError> {
        let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
        for target in (host.as_str(), *port).to_socket_addrs()? {
            match TcpStream::connect_timeout(&target, limit) {
                Ok(stream) => {
                    stream.set_read_timeout(Some(limit))?;
                    stream.set_write_timeout(Some(limit))?;
                    stream.set_nodelay(true)?;
                    return Ok(Self(stream));
                }
                Err(error) => last = error,
            }
        }
        Err(SqlError::Io(last))
    }

    /// Returns false where the server wants a proof that this client cannot give.
    fn log_in(&mut self, address: &Address, database: &str) -> Result<bool, SqlError> {
        let mut body = VERSION_3.to_be_bytes().to_vec();
        for text in ["user", &address.user(), "database", database] {
            body.extend(text.bytes().chain([0]));
        }
        body.push(0);
        self.send(None, &body)?;
        loop {
            let (tag, body) = self.receive()?;
            match (tag, body.get(..4)) {
                (b'R', Some([0, 0, 0, 0])) => {}
                (b'R', Some([0, 0, 0, 3])) => {
                    let password = address.password().unwrap_or_default();
                    self.send(Some(b'p'), format!("{password}\0").as_bytes())?;
                }
                (b'R', _) => return Ok(false),
                (b'E', _) => return Err(refusal(&body)),
                (b'Z', _) => return Ok(true),
                _ => {}
            }
        }
    }

    fn run(&mut self, sql: &str) -> Result<Option<String>, SqlError> {
        self.send(Some(b'Q'), format!("{sql}\0").as_bytes())?;
        let (mut value, mut refused) = (None, None);
        loop {
            match self.receive()? {
                (b'D', row) => value = value.or_else(|| first_column(&row)),
                (b'E', body) => refused = Some(refusal(&body)),
                (b'Z', _) => break,
                _ => {}
            }
        }
        // Politeness: without it the server's log complains of a lost client.
        let _already_answered = self.send(Some(b'X'), &[]);
        refused.map_or(Ok(value), Err)
    }

    fn send(&mut self, tag: Option<u8>, body: &[u8]) -> Result<(), SqlError> {
        let length = u32::try_from(body.len() + 4).map_err(|_| SqlError::Protocol("too long"))?;
        let mut message: Vec<u8> = tag.into_iter().collect();
        message.extend(length.to_be_bytes());
        message.extend(body);
        Ok(self.0.write_all(&message)?)
    }

    fn receive(&mut self) -> Result<(u8, Vec<u8>), SqlError> {
        let mut head = [0; 5];
        self.0.read_exact(&mut head)?;
        let [tag, length @ ..] = head;
        let length = u32::from_be_bytes(length)
            .checked_sub(4)
            .and_then(|length| usize::try_from(length).ok())
            .filter(|length| *length <= LONGEST_MESSAGE)
            .ok_or(SqlError::Protocol("impossible message length"))?;
        let mut body = vec![0; length];
        self.0.read_exact(&mut body)?;
        Ok((tag, body))
    }
}

fn first_column(row: &[u8]) -> Option<String> {
    let length = u32::from_be_bytes(row.get(2..6)?.try_into().ok()?);
    let value = row.get(6..)?.get(..usize::try_from(length).ok()?)?;
    Some(String::from_utf8_lossy(value).into_owned())
}

/// Takes the message out of the fields, each a letter and a text that ends with zero.
fn refusal(body: &[u8]) -> SqlError {
    let message = body
        .split(|byte| *byte == 0)
        .find_map(|field| field.strip_prefix(b"M"));
    SqlError::Refused(one_line(message.unwrap_or(b"no reason given")))
}

fn through_psql(address: &Address, database: &str, sql: &str) -> Result<Option<String>, SqlError> {
    let mut psql = Command::new("psql");
    psql.args([
        "-X",
        "-A",
        "-t",
        "-q",
        "-w",
        "-v",
        "ON_ERROR_STOP=1",
        "-c",
        sql,
        "-d",
    ])
    .arg(address.url_without_password(database))
    .stdin(Stdio::null());
    if let Some(password) = address.password() {
        psql.env("PGPASSWORD", password);
    }
    let output = psql.output().map_err(|error| {
        if error.kind() == io::ErrorKind::NotFound {
            SqlError::NoPsql
        } else {
            SqlError::Io(error)
        }
    })?;
    if !output.status.success() {
        return Err(SqlError::Refused(one_line(&output.stderr)));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().next().map(str::to_owned))
}

fn one_line(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    text.lines().map(str::trim).collect::<Vec<_>>().join(" | ")
}

impl From<io::Error> for SqlError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl fmt::Display for SqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(message) => write!(f, "the server refused: {message}"),
            Self::Io(error) => write!(f, "the server cannot be reached: {error}"),
            Self::Protocol(what) => write!(f, "not a Postgres server: {what}"),
            Self::NoPsql => {
                f.write_str("it asks for SCRAM, TLS or a socket, which takes `psql`: install it")
            }
        }
    }
}

impl error::Error for SqlError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Io(source) => Some(source),
            Self::Refused(_) | Self::Protocol(_) | Self::NoPsql => None,
        }
    }
}

const VERSION_3: u32 = 3 << 16;
/// Far above what the kit asks for; a stranger's bytes must not make it allocate gigabytes.
const LONGEST_MESSAGE: usize = 1 << 20;
