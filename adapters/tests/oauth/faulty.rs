//! A server that answers as it is told, also badly.

use core::{net::Ipv4Addr, time::Duration};
use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex, PoisonError},
    thread,
};

/// A server of one test; its threads end with the process.
pub(crate) struct Faulty {
    pub(crate) address: String,
    received: Arc<Mutex<Vec<Received>>>,
}

/// A request as it was received.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) line: String,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

/// What the server does with a request.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    Text {
        status: u16,
        headers: String,
        body: String,
    },
    /// Nothing, until the caller has given up.
    Silence,
    /// Half of what was announced, with this status.
    Cut(u16),
    /// The connection is closed.
    Closed,
}

impl Faulty {
    /// Answers so: the number of the request, from 0, and the request.
    pub(crate) fn new(answer: impl Fn(usize, &Received) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let received = Arc::new(Mutex::new(Vec::new()));
        let (log, answer) = (Arc::clone(&received), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else { continue };
                let (log, answer) = (Arc::clone(&log), Arc::clone(&answer));
                thread::spawn(move || {
                    let Some(request) = receive(&stream) else {
                        return;
                    };
                    let number = {
                        let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
                        log.push(request.clone());
                        log.len() - 1
                    };
                    send(stream, &answer(number, &request));
                });
            }
        });
        Self { address, received }
    }

    /// Answers everything with this.
    pub(crate) fn always(reply: Reply) -> Self {
        Self::new(move |_, _| reply.clone())
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        let received = self.received.lock();
        received.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Received {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }
}

impl Reply {
    pub(crate) fn text(status: u16, body: impl Into<String>) -> Self {
        Self::with(status, "", body)
    }

    /// With headers, each ended by a line's end.
    pub(crate) fn with(status: u16, headers: &str, body: impl Into<String>) -> Self {
        Self::Text {
            status,
            headers: headers.to_owned(),
            body: body.into(),
        }
    }
}

fn receive(stream: &TcpStream) -> Option<Received> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let mut headers = Vec::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim_end().split_once(": ") else {
            break;
        };
        headers.push((name.to_lowercase(), value.to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.map_or(0, |(_, length)| length.parse().expect("a length"));
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Received {
        line: line.trim_end().to_owned(),
        headers,
        body: String::from_utf8(body).expect("a text"),
    })
}

fn send(mut stream: TcpStream, reply: &Reply) {
    let text = match reply {
        Reply::Text {
            status,
            headers,
            body,
        } => {
            let length = body.len();
            format!(
                "HTTP/1.1 {status} x\r\nconnection: close\r\n{headers}content-length: {length}\r\n\r\n{body}"
            )
        }
        Reply::Cut(status) => {
            format!("HTTP/1.1 {status} x\r\nconnection: close\r\ncontent-length: 900\r\n\r\n{{\"er")
        }
        Reply::Silence => {
            // Until the caller closes.
            let _ = stream.set_read_timeout(Some(Duration::from_secs(30)));
            let _ = stream.read(&mut [0]);
            return;
        }
        Reply::Closed => return,
    };
    let _ = stream.write_all(text.as_bytes());
}
