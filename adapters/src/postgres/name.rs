//! Which names may be written into a statement?

use core::{fmt, str::FromStr};

use thiserror::Error;

/// A name of a schema, table, column or role: 1 to 63 ASCII letters, digits and underscores, not
/// beginning with a digit. It is always quoted, so that its case and reserved words do not matter.
///
/// ```
/// use lifecycle_adapters::postgres::Name;
///
/// assert!(Name::new("Order").is_ok());
/// assert!(Name::new("tokens; drop table users").is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Name(String);

/// A text that may not be written into a statement.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("a name has 1 to 63 letters, digits and underscores, and begins with no digit: {0:?}")]
pub struct WrongName(String);

impl Name {
    /// Makes a name of a text.
    ///
    /// # Errors
    ///
    /// Returns [`WrongName`] for anything but letters, digits and underscores.
    pub fn new(text: impl Into<String>) -> Result<Self, WrongName> {
        let text = text.into();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let fits = (1..=63).contains(&text.len())
            && text.chars().all(is_plain)
            && !text.starts_with(|c: char| c.is_ascii_digit());
        if fits {
            Ok(Self(text))
        } else {
            Err(WrongName(text))
        }
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// As a statement has it: quoted.
impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0)
    }
}

impl FromStr for Name {
    type Err = WrongName;

    fn from_str(text: &str) -> Result<Self, WrongName> {
        Self::new(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_could_end_a_quoted_name_passes() {
        let long = "a".repeat(64);
        for text in [
            "",
            "a b",
            "a\"b",
            "a;b",
            "1a",
            "ä",
            "a\0",
            "a.b",
            "$$",
            long.as_str(),
        ] {
            assert!(Name::new(text).is_err(), "{text:?}");
        }
        assert_eq!(Name::new("Select_1").unwrap().to_string(), "\"Select_1\"");
    }
}
