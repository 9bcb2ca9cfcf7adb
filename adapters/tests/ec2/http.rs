//! A few lines of HTTP, for a server that answers as it is told and for a client that asks moto.

use core::net::SocketAddr;
use std::{
    collections::BTreeMap,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
};

/// A request as it was received.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    /// Names in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
    pub(crate) parameters: BTreeMap<String, String>,
}

/// Reads one message: its headers, without the first line, and its body.
pub(crate) fn receive(stream: &TcpStream) -> Option<Received> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let mut headers = BTreeMap::new();
    loop {
        line.clear();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        headers.insert(name.to_lowercase(), value.to_owned());
    }
    let length = headers.get("content-length");
    let length = length.map_or(0, |length| length.parse().expect("a length"));
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body = String::from_utf8(body).expect("a text");
    let parameters = form_urlencoded::parse(body.as_bytes())
        .into_owned()
        .collect();
    Some(Received {
        headers,
        body,
        parameters,
    })
}

/// Asks for an action without a signature that anybody would believe, and returns the answer.
pub(crate) fn ask(to: SocketAddr, region: &str, parameters: &[(&str, &str)]) -> String {
    let body = form_urlencoded::Serializer::new(String::new())
        .append_pair("Version", "2016-11-15")
        .extend_pairs(parameters)
        .finish();
    let scope = format!("20260101/{region}/ec2/aws4_request");
    let request = format!(
        "POST / HTTP/1.1\r\nhost: {to}\r\nconnection: close\r\n\
         authorization: AWS4-HMAC-SHA256 Credential=test/{scope}, SignedHeaders=host, Signature=0\r\n\
         content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(to).expect("the server");
    stream.write_all(request.as_bytes()).expect("a request");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let (head, body) = answer.split_once("\r\n\r\n").expect("an answer");
    assert!(head.starts_with("HTTP/1.1 200"), "{answer}");
    body.to_owned()
}
