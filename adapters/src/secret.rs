//! How is a credential held so that nothing shows it?

use core::fmt;

/// A credential: a token, a client's secret. `Debug` shows none of it, and there is no `Display`.
///
/// ```
/// use lifecycle_adapters::secret::Secret;
///
/// let secret = Secret::new("opensesame");
/// assert_eq!(format!("{secret:?}"), "Secret([redacted])");
/// ```
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// Takes a credential over.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the credential itself, for the request that needs it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret([redacted])")
    }
}
