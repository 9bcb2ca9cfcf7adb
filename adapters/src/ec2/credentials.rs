//! What are requests signed with?

use core::fmt;

use aws_credential_types::Credentials;

/// A key pair, and the token of a session where there is one. Nothing of it is ever shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Ec2Credentials(Credentials);

impl Ec2Credentials {
    /// Makes credentials.
    #[must_use]
    pub fn new(
        access_key_id: impl Into<String>,
        secret_access_key: impl Into<String>,
        session_token: Option<String>,
    ) -> Self {
        Self(Credentials::new(
            access_key_id,
            secret_access_key,
            session_token,
            None,
            "lifecycle",
        ))
    }

    /// Returns what the signer wants.
    pub(super) fn identity(&self) -> Credentials {
        self.0.clone()
    }

    /// Returns a text without any of it: services quote what they were sent.
    pub(super) fn redact(&self, text: &str) -> String {
        let token = self.0.session_token().unwrap_or_default();
        [token, self.0.secret_access_key(), self.0.access_key_id()]
            .into_iter()
            .filter(|secret| !secret.is_empty())
            .fold(text.to_owned(), |text, secret| {
                text.replace(secret, "[redacted]")
            })
    }
}

impl fmt::Debug for Ec2Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Ec2Credentials")
            .field(&"[redacted]")
            .finish()
    }
}
