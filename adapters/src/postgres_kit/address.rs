//! How is the address of a server taken apart and put together?

use core::fmt;

use super::error::StartError;

/// Where a server listens, and as whom to speak to it.
#[derive(Clone)]
pub(super) struct Address {
    /// `user[:password]@host[:port]`, as it was written.
    authority: String,
    database: String,
    /// With the question mark, or empty.
    parameters: String,
}

impl Address {
    pub(super) fn loopback(port: u16) -> Self {
        Self {
            authority: format!("postgres@127.0.0.1:{port}"),
            database: "postgres".to_owned(),
            parameters: String::new(),
        }
    }

    /// Parses a `DATABASE_URL`; one without user or host is refused, because
    /// every client has its own idea of the default.
    pub(super) fn parse(url: &str) -> Result<Self, StartError> {
        let rest = url
            .strip_prefix("postgres://")
            .or_else(|| url.strip_prefix("postgresql://"))
            .ok_or(StartError::WrongUrl("is not a Postgres URL"))?;
        let (rest, parameters) = match rest.find('?') {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        };
        let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
        match authority.rsplit_once('@') {
            None | Some(("", _)) => Err(StartError::WrongUrl("names no user")),
            Some((_, host)) if host.is_empty() || host.starts_with(':') => {
                Err(StartError::WrongUrl("names no host"))
            }
            Some(_) => Ok(Self {
                authority: authority.to_owned(),
                database: if database.is_empty() {
                    "postgres"
                } else {
                    database
                }
                .to_owned(),
                parameters: parameters.to_owned(),
            }),
        }
    }

    pub(super) fn url(&self, database: &str) -> String {
        format!(
            "postgres://{}/{database}{}",
            self.authority, self.parameters
        )
    }

    pub(super) fn admin_database(&self) -> &str {
        &self.database
    }

    pub(super) fn user(&self) -> String {
        decode(self.credentials().0)
    }

    pub(super) fn password(&self) -> Option<String> {
        self.credentials().1.map(decode)
    }

    /// Returns the URL for a command line, which every user can read.
    pub(super) fn url_without_password(&self, database: &str) -> String {
        let (_, host) = self.parts();
        let (user, _) = self.credentials();
        format!("postgres://{user}@{host}/{database}{}", self.parameters)
    }

    /// Returns host and port for a plain TCP connection, or `None` where the URL
    /// asks for more than that.
    pub(super) fn plain_tcp(&self) -> Option<(String, u16)> {
        let special = ["host=", "port=", "sslmode=require", "sslmode=verify"];
        if special
            .into_iter()
            .any(|word| self.parameters.contains(word))
        {
            return None;
        }
        let (_, host) = self.parts();
        let (host, port) = match host.strip_prefix('[') {
            Some(six) => six.split_once(']')?,
            None => host.split_at(host.find(':').unwrap_or(host.len())),
        };
        let port = match port.strip_prefix(':') {
            Some(port) => port.parse().ok()?,
            None => 5432,
        };
        let host = decode(host);
        (!host.starts_with('/') && !host.contains(',')).then_some((host, port))
    }

    fn parts(&self) -> (&str, &str) {
        self.authority
            .rsplit_once('@')
            .unwrap_or(("", &self.authority))
    }

    fn credentials(&self) -> (&str, Option<&str>) {
        let (credentials, _) = self.parts();
        match credentials.split_once(':') {
            Some((user, password)) => (user, Some(password)),
            None => (credentials, None),
        }
    }
}

/// Returns the database that a URL names.
pub(super) fn database_of(url: &str) -> String {
    let path = url.split('?').next().unwrap_or(url);
    decode(path.rsplit('/').next().unwrap_or(path))
}

fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let escaped = match (first, tail) {
            (b'%', [high, low, ..]) => core::str::from_utf8(&[*high, *low])
                .ok()
                .and_then(|hex| u8::from_str_radix(hex, 16).ok()),
            _ => None,
        };
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.url_without_password(&self.database))
    }
}

#[cfg(test)]
mod tests {
    use super::{Address, database_of};

    fn parse(url: &str) -> Address {
        Address::parse(url).expect("the URL is well formed")
    }

    #[test]
    fn a_url_keeps_user_password_and_parameters_for_every_database() {
        let address = parse("postgresql://me:p%40ss@db.example:6000/app?sslmode=disable");
        assert_eq!(
            address.url("other"),
            "postgres://me:p%40ss@db.example:6000/other?sslmode=disable"
        );
        assert_eq!(address.password().as_deref(), Some("p@ss"));
        assert_eq!(address.plain_tcp(), Some(("db.example".to_owned(), 6000)));
        assert_eq!(database_of(&address.url("other")), "other");
    }

    #[test]
    fn a_password_is_never_shown() {
        let shown = format!("{:?}", parse("postgres://me:secret@host/app"));
        assert_eq!(shown, "postgres://me@host/app");
    }

    #[test]
    fn a_url_without_user_or_host_or_of_another_database_is_refused() {
        for url in [
            "postgres://host/app",
            "postgres:///app",
            "postgres://me@/app",
            "sqlite://a",
        ] {
            assert!(Address::parse(url).is_err(), "{url}");
        }
    }

    #[test]
    fn sockets_and_required_encryption_are_left_to_psql() {
        for url in [
            "postgres://me@%2Frun%2Fpg/app",
            "postgres://me@h/app?sslmode=require",
        ] {
            assert_eq!(parse(url).plain_tcp(), None, "{url}");
        }
        assert_eq!(
            parse("postgres://me@[::1]/app").plain_tcp(),
            Some(("::1".to_owned(), 5432))
        );
    }
}
