//! How is a machine named by the service that owns it?

use core::{fmt, str::FromStr};

use thiserror::Error;

/// The service's own name of a machine: 1 to 200 characters, no control characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MachineId(String);

/// A text that cannot name a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a machine id has 1 to 200 characters, none of them a control character")]
pub struct WrongId;

impl MachineId {
    /// Makes an id of a text.
    ///
    /// # Errors
    ///
    /// Returns [`WrongId`] for an empty or overlong text, and for control characters.
    pub fn new(text: impl Into<String>) -> Result<Self, WrongId> {
        let text = text.into();
        let fits = (1..=200).contains(&text.chars().count()) && !text.chars().any(char::is_control);
        if fits { Ok(Self(text)) } else { Err(WrongId) }
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for MachineId {
    type Err = WrongId;

    fn from_str(text: &str) -> Result<Self, WrongId> {
        Self::new(text)
    }
}

impl fmt::Display for MachineId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}
