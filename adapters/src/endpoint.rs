//! Where may credentials be sent?

use core::{fmt, net::IpAddr};

use reqwest::Url;
use thiserror::Error;

/// An address that credentials may be sent to: `https`, or `http` on this host.
///
/// `https` needs the feature `tls-rustls`, or TLS that the host enables in reqwest.
///
/// ```
/// use lifecycle_adapters::endpoint::{Endpoint, EndpointError};
///
/// assert!(Endpoint::new("https://login.example/revoke").is_ok());
/// assert!(Endpoint::new("http://127.0.0.1:8200").is_ok());
/// assert!(matches!(
///     Endpoint::new("http://login.example/revoke"),
///     Err(EndpointError::Unencrypted)
/// ));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint(Url);

/// Why credentials are not sent to an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum EndpointError {
    /// It is no address of `http` or `https`.
    #[error("the endpoint is no http or https address")]
    NoAddress,
    /// It holds a user or a password, which would be shown.
    #[error("the endpoint holds credentials")]
    HoldsCredentials,
    /// It has a fragment, which RFC 6749, section 3.1, forbids.
    #[error("the endpoint has a fragment")]
    HasFragment,
    /// It is `http` on another host.
    #[error("the endpoint is not encrypted: http is for this host only, unless it is told so")]
    Unencrypted,
}

impl Endpoint {
    /// Reads an address.
    ///
    /// # Errors
    ///
    /// Returns why no credentials are sent there.
    pub fn new(address: &str) -> Result<Self, EndpointError> {
        let endpoint = Self::unencrypted(address)?;
        if endpoint.0.scheme() == "https" || endpoint.is_loopback() {
            Ok(endpoint)
        } else {
            Err(EndpointError::Unencrypted)
        }
    }

    /// Reads an address that may be `http` on another host, for networks that encrypt by themselves.
    ///
    /// # Errors
    ///
    /// Returns why no credentials are sent there all the same.
    pub fn unencrypted(address: &str) -> Result<Self, EndpointError> {
        let url = Url::parse(address).map_err(|_| EndpointError::NoAddress)?;
        if !["http", "https"].contains(&url.scheme()) || !url.has_host() {
            return Err(EndpointError::NoAddress);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(EndpointError::HoldsCredentials);
        }
        if url.fragment().is_some() {
            return Err(EndpointError::HasFragment);
        }
        Ok(Self(url))
    }

    pub(crate) const fn url(&self) -> &Url {
        &self.0
    }

    pub(crate) fn is_loopback(&self) -> bool {
        let host = self.0.host_str().unwrap_or_default();
        let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
        host == "localhost" || address.is_ok_and(|address| address.is_loopback())
    }
}

impl fmt::Debug for Endpoint {
    /// Shows no query: some services want a key in it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = self.0.clone();
        shown.set_query(None);
        f.debug_tuple("Endpoint").field(&shown.as_str()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_is_for_this_host_unless_told() {
        for address in [
            "http://localhost:1/x",
            "http://127.8.0.1/x",
            "http://[::1]:9/x",
        ] {
            assert!(Endpoint::new(address).is_ok(), "{address}");
        }
        for address in [
            "http://10.0.0.1/x",
            "http://localhost.example/x",
            "http://127.0.0.1.example/x",
            "http://[::2]/x",
        ] {
            assert_eq!(
                Endpoint::new(address),
                Err(EndpointError::Unencrypted),
                "{address}"
            );
            assert!(Endpoint::unencrypted(address).is_ok(), "{address}");
        }
    }

    #[test]
    fn what_would_be_shown_or_is_no_address_is_refused() {
        for (address, error) in [
            ("nonsense", EndpointError::NoAddress),
            ("ftp://host/x", EndpointError::NoAddress),
            ("unix:/run/x", EndpointError::NoAddress),
            ("https://user@host/x", EndpointError::HoldsCredentials),
            ("https://:word@host/x", EndpointError::HoldsCredentials),
            ("https://host/x#y", EndpointError::HasFragment),
        ] {
            assert_eq!(Endpoint::new(address), Err(error), "{address}");
            assert_eq!(Endpoint::unencrypted(address), Err(error), "{address}");
        }
        let endpoint = Endpoint::new("https://host/x?key=opensesame").expect("an endpoint");
        assert_eq!(format!("{endpoint:?}"), r#"Endpoint("https://host/x")"#);
    }
}
