//! Where is the revocation endpoint, and as whom is it asked?

use core::time::Duration;

use form_urlencoded::{Serializer, byte_serialize};
use reqwest::{Client, RequestBuilder, header};
use thiserror::Error;

use super::source::IssuedToken;
use crate::{endpoint::Endpoint, secret::Secret};

/// Where tokens are revoked, and as whom.
#[derive(Clone, Debug)]
pub struct OAuthConfig {
    pub(super) endpoint: Endpoint,
    client: ClientAuthentication,
    pub(super) timeout: Duration,
}

/// How the client says who it is (RFC 6749, section 2.3).
#[derive(Clone, Debug)]
pub enum ClientAuthentication {
    /// By HTTP basic authentication; every server knows it.
    Basic {
        /// The client.
        id: String,
        /// Its secret.
        secret: Secret,
    },
    /// In the body of the request.
    Post {
        /// The client.
        id: String,
        /// Its secret.
        secret: Secret,
    },
    /// A public client only names itself.
    Public {
        /// The client.
        id: String,
    },
}

/// What is wrong with a configuration.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OAuthConfigError {
    /// The HTTP client could not be made.
    #[error("the http client could not be made")]
    Client(#[from] reqwest::Error),
}

impl OAuthConfig {
    /// Makes a configuration.
    #[must_use]
    pub const fn new(endpoint: Endpoint, client: ClientAuthentication) -> Self {
        Self {
            endpoint,
            client,
            timeout: Duration::from_secs(10),
        }
    }

    /// Sets how long one request may take, its answer included: 10 s unless set.
    #[must_use]
    pub const fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Makes the request that revokes a token.
    pub(super) fn request(&self, client: &Client, token: &IssuedToken) -> RequestBuilder {
        let mut body = Serializer::new(String::new());
        body.append_pair("token", token.token.expose());
        if let Some(hint) = token.hint {
            body.append_pair("token_type_hint", hint.as_str());
        }
        let request = client
            .post(self.endpoint.url().clone())
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .header(header::ACCEPT, "application/json");
        let request = match &self.client {
            // Encoded as RFC 6749, section 2.3.1, wants it: a colon in the id would end it.
            ClientAuthentication::Basic { id, secret } => {
                request.basic_auth(encoded(id), Some(encoded(secret.expose())))
            }
            ClientAuthentication::Post { id, secret } => {
                body.append_pair("client_id", id);
                body.append_pair("client_secret", secret.expose());
                request
            }
            ClientAuthentication::Public { id } => {
                body.append_pair("client_id", id);
                request
            }
        };
        request.body(body.finish())
    }
}

fn encoded(text: &str) -> String {
    byte_serialize(text.as_bytes()).collect()
}
