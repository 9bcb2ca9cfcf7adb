//! What can a volume and a container be called?

use core::fmt;

use sha2::{Digest as _, Sha256};

use crate::id::MachineId;

/// The name of a volume: 1 to 200 letters, digits, dots, dashes and underscores of ASCII, the first
/// one a letter or digit, as the engines have it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VolumeName(String);

impl VolumeName {
    /// Makes a name of a text; none where the text cannot be one.
    #[must_use]
    pub fn parse(text: impl Into<String>) -> Option<Self> {
        let text = text.into();
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        let begins_well = text.starts_with(|first: char| first.is_ascii_alphanumeric());
        let fits = begins_well && text.len() <= 200 && text.bytes().all(plain);
        fits.then_some(Self(text))
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for VolumeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// The full id of a container. A short one, or a name, may mean another container tomorrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ContainerId<'a>(&'a str);

impl<'a> ContainerId<'a> {
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        let digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        (text.len() == 64 && text.bytes().all(digit)).then_some(Self(text))
    }

    pub(super) const fn as_str(self) -> &'a str {
        self.0
    }
}

/// Returns the name of an incarnation's container. Ids have letters that no container's name may have.
pub(super) fn container_name(machine: &MachineId, generation: u64) -> String {
    let digest = Sha256::digest(machine.as_str().as_bytes());
    let hash: String = digest[..16]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("lifecycle-{hash}-{generation}")
}

#[cfg(test)]
mod tests {
    use super::{ContainerId, VolumeName, container_name};
    use crate::id::MachineId;

    #[test]
    fn hostile_texts_are_no_names_and_no_ids() {
        let long = "a".repeat(201);
        for text in [
            "", ".", "..", "../x", "a/b", "/etc", "-rf", "_", "a b", "a\0", "a\n", "ä", "a?x",
            &long,
        ] {
            assert_eq!(VolumeName::parse(text), None, "{text:?}");
            assert_eq!(ContainerId::parse(text), None, "{text:?}");
        }
        assert!(VolumeName::parse("home-1_a.b").is_some());
        let id = "0123456789abcdef".repeat(4);
        assert!(ContainerId::parse(&id).is_some());
        for text in [&id[..12], &id[..63], &id.to_uppercase(), "web-1"] {
            assert_eq!(ContainerId::parse(text), None, "{text}");
        }
    }

    #[test]
    fn any_machine_has_a_name_that_a_container_can_have() {
        let machine = MachineId::new("../ä b").expect("an id");
        let name = container_name(&machine, 3);
        assert!(VolumeName::parse(name.as_str()).is_some(), "{name}");
        assert!(name.ends_with("-3"));
        assert_ne!(name, container_name(&machine, 2));
    }
}
