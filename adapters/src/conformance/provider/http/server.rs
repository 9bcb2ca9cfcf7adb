//! A server that answers one request a connection, as it is told to, and breaks off as it is told to.

use core::net::SocketAddr;
#[cfg(unix)]
use core::sync::atomic::{AtomicU64, Ordering};
#[cfg(unix)]
use std::path::PathBuf;
use std::{
    io,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    net::TcpListener,
    task::{JoinHandle, JoinSet},
};

use super::Transport;

/// A request, as far as an answer may depend on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpRequest {
    /// The method.
    pub method: String,
    /// The path, with the query.
    pub path: String,
    /// The body.
    pub body: Vec<u8>,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpReply {
    /// The status.
    pub status: u16,
    /// Headers beside the body's length.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

/// What becomes of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is answered.
    Reply(HttpReply),
    /// Half of an answer comes, and no more.
    CutShort(HttpReply),
    /// Nothing comes, and the connection stays open.
    Silence,
    /// The connection is closed without an answer.
    Closed,
}

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// On a port of this host.
    Tcp(SocketAddr),
    /// On a socket.
    #[cfg(unix)]
    Unix(PathBuf),
}

/// A server; it ends when it is dropped.
#[derive(Debug)]
pub struct Server {
    address: Address,
    requests: Arc<Mutex<Vec<HttpRequest>>>,
    serving: JoinHandle<()>,
}

type Answers = Arc<dyn Fn(&HttpRequest) -> Outcome + Send + Sync>;

impl HttpReply {
    /// Makes an answer of a content type.
    pub fn new(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            headers: vec![("content-type".to_owned(), content_type.to_owned())],
            body: body.into(),
        }
    }

    /// Makes an answer that has no body.
    #[must_use]
    pub const fn empty(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: Vec::new(),
        }
    }

    /// Makes an answer in JSON.
    pub fn json(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self::new(status, "application/json", body)
    }

    fn bytes(&self) -> Vec<u8> {
        let mut head = format!("HTTP/1.1 {} Fault\r\nconnection: close\r\n", self.status);
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        // These may have no length at all.
        if !matches!(self.status, 204 | 304) {
            head.push_str(&format!("content-length: {}\r\n", self.body.len()));
        }
        head.push_str("\r\n");
        [head.as_bytes(), &self.body].concat()
    }

    /// Half of the body; where there is none, half of the head.
    fn half(&self) -> Vec<u8> {
        let mut bytes = self.bytes();
        let missing = match self.body.len() {
            0 => bytes.len() / 2,
            length => length.div_ceil(2),
        };
        bytes.truncate(bytes.len() - missing);
        bytes
    }
}

impl Server {
    /// Starts a server that answers so.
    ///
    /// # Panics
    ///
    /// Panics where it cannot listen.
    pub async fn start(
        transport: &Transport,
        answers: impl Fn(&HttpRequest) -> Outcome + Send + Sync + 'static,
    ) -> Self {
        let requests = Arc::new(Mutex::new(Vec::new()));
        let answers: Answers = Arc::new(answers);
        let log = requests.clone();
        let started = match transport {
            Transport::Tcp => tcp(answers, log).await,
            #[cfg(unix)]
            Transport::Unix(folder) => unix(folder.join(fresh_name()), answers, log),
        };
        match started {
            Ok((address, serving)) => Self {
                address,
                requests,
                serving,
            },
            Err(error) => panic!("a local server can listen, but: {error}"),
        }
    }

    /// Returns an address where nobody listens.
    ///
    /// # Panics
    ///
    /// Panics where none can be found.
    pub async fn nowhere(transport: &Transport) -> Address {
        match transport {
            Transport::Tcp => Self::start(transport, |_| Outcome::Closed)
                .await
                .address
                .clone(),
            #[cfg(unix)]
            Transport::Unix(folder) => Address::Unix(folder.join(fresh_name())),
        }
    }

    /// Returns where it listens.
    #[must_use]
    pub const fn address(&self) -> &Address {
        &self.address
    }

    /// Returns what it was asked, in that order.
    #[must_use]
    pub fn requests(&self) -> Vec<HttpRequest> {
        let requests = self.requests.lock();
        requests.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.serving.abort();
        #[cfg(unix)]
        if let Address::Unix(path) = &self.address {
            // A folder of the harness, that it removes.
            let _ = std::fs::remove_file(path);
        }
    }
}

type Log = Arc<Mutex<Vec<HttpRequest>>>;
type Started = io::Result<(Address, JoinHandle<()>)>;

async fn tcp(answers: Answers, log: Log) -> Started {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let address = Address::Tcp(listener.local_addr()?);
    let serving = tokio::spawn(async move {
        let mut connections = JoinSet::new();
        while let Ok((stream, _)) = listener.accept().await {
            connections.spawn(serve(stream, answers.clone(), log.clone()));
        }
    });
    Ok((address, serving))
}

#[cfg(unix)]
fn unix(path: PathBuf, answers: Answers, log: Log) -> Started {
    let listener = tokio::net::UnixListener::bind(&path)?;
    let serving = tokio::spawn(async move {
        let mut connections = JoinSet::new();
        while let Ok((stream, _)) = listener.accept().await {
            connections.spawn(serve(stream, answers.clone(), log.clone()));
        }
    });
    Ok((Address::Unix(path), serving))
}

async fn serve(mut stream: impl AsyncRead + AsyncWrite + Unpin, answers: Answers, log: Log) {
    let Some(request) = read(&mut stream).await else {
        return;
    };
    log.lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(request.clone());
    let bytes = match answers(&request) {
        Outcome::Reply(reply) => reply.bytes(),
        Outcome::CutShort(reply) => reply.half(),
        Outcome::Silence => return core::future::pending().await,
        Outcome::Closed => return,
    };
    // Who has gone away wants no answer.
    let _ = stream.write_all(&bytes).await;
    let _ = stream.shutdown().await;
}

async fn read(stream: &mut (impl AsyncRead + Unpin)) -> Option<HttpRequest> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut body = bytes.split_off(end + 4);
    let mut lines = head.lines();
    let mut first = lines.next()?.split(' ');
    let (method, path) = (first.next()?.to_owned(), first.next()?.to_owned());
    let length = lines
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        .and_then(|(_, value)| value.trim().parse().ok())
        .unwrap_or(0);
    while body.len() < length {
        if stream.read_buf(&mut body).await.ok()? == 0 {
            return None;
        }
    }
    Some(HttpRequest { method, path, body })
}

#[cfg(unix)]
fn fresh_name() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!("{}.sock", COUNT.fetch_add(1, Ordering::Relaxed))
}
