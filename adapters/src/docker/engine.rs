//! How is one question put to the engine?

use core::time::Duration;
use std::{sync::Mutex, time::Instant};

use reqwest::{Client, Method, Response, Url, header, redirect};
use serde::{Serialize, de::DeserializeOwned};

use super::{
    config::{DockerConfig, DockerConfigError},
    failure::{Failure, Thing},
};

/// The engine behind a socket.
#[derive(Debug)]
pub(super) struct Engine {
    client: Client,
    pub(super) config: DockerConfig,
    /// Where the engine said that we are, and when.
    pub(super) scope: Mutex<Option<(String, Instant)>>,
}

/// What is asked.
#[derive(Debug)]
pub(super) struct Request<'a> {
    method: Method,
    path: &'a [&'a str],
    query: &'a [(&'a str, &'a str)],
    body: Option<Vec<u8>>,
    /// How much longer than any other question it may take.
    extra: Duration,
    /// What a 404 would be about.
    thing: Thing,
}

/// What the engine answered, and answered well.
#[derive(Debug)]
pub(super) struct Reply {
    status: u16,
    pub(super) is_podman: bool,
    body: Vec<u8>,
}

impl<'a> Request<'a> {
    pub(super) const fn get(path: &'a [&'a str], thing: Thing) -> Self {
        Self::new(Method::GET, path, thing)
    }

    pub(super) const fn post(path: &'a [&'a str], thing: Thing) -> Self {
        Self::new(Method::POST, path, thing)
    }

    pub(super) const fn delete(path: &'a [&'a str], thing: Thing) -> Self {
        Self::new(Method::DELETE, path, thing)
    }

    const fn new(method: Method, path: &'a [&'a str], thing: Thing) -> Self {
        Self {
            method,
            path,
            query: &[],
            body: None,
            extra: Duration::ZERO,
            thing,
        }
    }

    pub(super) const fn with(mut self, query: &'a [(&'a str, &'a str)]) -> Self {
        self.query = query;
        self
    }

    pub(super) fn with_body(mut self, body: &impl Serialize) -> Result<Self, Failure> {
        let body = serde_json::to_vec(body);
        self.body = Some(body.map_err(|_| Failure::malformed("the question is no JSON"))?);
        Ok(self)
    }

    pub(super) const fn within(mut self, extra: Duration) -> Self {
        self.extra = extra;
        self
    }

    fn url(&self) -> Result<Url, Failure> {
        let wrong = || Failure::malformed("the question has no address");
        // Over a socket the host's name means nothing.
        let mut url = Url::parse("http://engine").map_err(|_| wrong())?;
        url.path_segments_mut()
            .map_err(|()| wrong())?
            .extend(self.path);
        if !self.query.is_empty() {
            url.query_pairs_mut().extend_pairs(self.query);
        }
        Ok(url)
    }
}

impl Engine {
    pub(super) fn new(config: DockerConfig) -> Result<Self, DockerConfigError> {
        let client = Client::builder()
            .unix_socket(config.socket.as_path())
            .no_proxy()
            .redirect(redirect::Policy::none())
            // An engine that is started again does not answer on an old connection.
            .pool_max_idle_per_host(0)
            .build()
            .map_err(DockerConfigError::Client)?;
        Ok(Self {
            client,
            config,
            scope: Mutex::new(None),
        })
    }

    /// Asks once.
    pub(super) async fn ask(&self, request: Request<'_>) -> Result<Reply, Failure> {
        let url = request.url()?;
        let timeout = self.config.timeout.saturating_add(request.extra);
        let mut asked = self.client.request(request.method, url).timeout(timeout);
        if let Some(body) = request.body {
            asked = asked
                .header(header::CONTENT_TYPE, "application/json")
                .body(body);
        }
        let response = asked.send().await.map_err(Failure::transport)?;
        let status = response.status().as_u16();
        let retry_after = retry_after(&response);
        let is_podman = response.headers().contains_key("libpod-api-version");
        let body = body(response).await?;
        match status {
            // 304: it was so already.
            200..=299 | 304 => Ok(Reply {
                status,
                is_podman,
                body,
            }),
            _ => Err(Failure::of(status, &body, request.thing, retry_after)),
        }
    }

    /// Asks for something to be done. The engine has nothing to say where it is: a page that somebody
    /// else puts in its place does.
    pub(super) async fn act(&self, request: Request<'_>) -> Result<(), Failure> {
        match self.ask(request).await?.status {
            204 | 304 => Ok(()),
            _ => Err(Failure::malformed("the answer is none of the engine's")),
        }
    }

    /// Asks for something that can be read.
    pub(super) async fn read<T: DeserializeOwned>(
        &self,
        request: Request<'_>,
    ) -> Result<T, Failure> {
        self.ask(request).await?.read()
    }
}

impl Reply {
    pub(super) fn read<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        // What serde says quotes the answer, and there may be a secret in it.
        serde_json::from_slice(&self.body)
            .map_err(|_| Failure::malformed("the answer is none of the engine's"))
    }
}

async fn body(mut response: Response) -> Result<Vec<u8>, Failure> {
    let mut body = Vec::new();
    while let Some(part) = response.chunk().await.map_err(Failure::transport)? {
        body.extend_from_slice(&part);
        if body.len() > LONGEST_BODY {
            return Err(Failure::malformed("the answer is too long"));
        }
    }
    Ok(body)
}

fn retry_after(response: &Response) -> Option<Duration> {
    let seconds = response.headers().get(header::RETRY_AFTER)?.to_str().ok()?;
    seconds.trim().parse().ok().map(Duration::from_secs)
}

const LONGEST_BODY: usize = 64 << 20;
