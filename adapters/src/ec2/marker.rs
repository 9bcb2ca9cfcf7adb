//! What does an instance or a volume carry to say whose it is?

use core::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use crate::{id::MachineId, provider::Target};

/// The key of the tag that holds the marker.
pub const MARKER_TAG: &str = "lifecycle:marker";

/// Returns the marker of an incarnation: the machine's id and the generation.
///
/// An id with anything but letters and digits of ASCII and `-._:@=+/` stands there as its SHA-256:
/// no service and no XML may change a single letter of it.
///
/// ```
/// use lifecycle_adapters::{ec2::marker_of, id::MachineId};
///
/// let machine = MachineId::new("web-1").expect("an id");
/// assert_eq!(marker_of(&machine, 3), "web-1/3");
/// ```
#[must_use]
pub fn marker_of(machine: &MachineId, generation: u64) -> String {
    format!("{}/{generation}", name_of(machine))
}

/// Returns what makes a repeated create the same one: 64 letters, as many as the service takes.
pub(super) fn client_token(machine: &MachineId, generation: u64) -> String {
    hash(&format!("{machine}\n{generation}"))
}

/// Returns the marker that the target's instance must carry.
pub(super) fn expected(target: &Target) -> String {
    let marker = target.marker.clone();
    marker.unwrap_or_else(|| marker_of(&target.machine, target.generation))
}

/// Whose a volume is, by its tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// The machine's own, made for this incarnation or an earlier one.
    Machine,
    /// Another machine's, or a later incarnation's.
    Other,
    /// It does not say.
    Unsaid,
}

/// Tells whose something is that outlives incarnations.
pub(super) fn owner(tag: &str, target: &Target) -> Owner {
    if tag.is_empty() {
        return Owner::Unsaid;
    }
    if target.marker.as_deref() == Some(tag) {
        return Owner::Machine;
    }
    let earlier = tag.rsplit_once('/').is_some_and(|(name, generation)| {
        let generation = generation.parse::<u64>();
        name == name_of(&target.machine)
            && generation.is_ok_and(|generation| generation <= target.generation)
    });
    if earlier {
        Owner::Machine
    } else {
        Owner::Other
    }
}

fn name_of(machine: &MachineId) -> String {
    let text = machine.as_str();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:@=+/".contains(&byte);
    if text.bytes().all(plain) && !text.starts_with(HASHED) {
        text.to_owned()
    } else {
        format!("{HASHED}{}", hash(text))
    }
}

fn hash(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().fold(String::new(), |mut hex, byte| {
        // Writing to a text does not fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

const HASHED: &str = "sha256:";

#[cfg(test)]
mod tests {
    use super::{Owner, client_token, marker_of, owner};
    use crate::{id::MachineId, provider::Target};

    fn target(machine: &str, generation: u64) -> Target {
        Target {
            machine: MachineId::new(machine).expect("an id"),
            generation,
            provider_id: String::new(),
            marker: None,
            scope: String::new(),
            volume_id: None,
        }
    }

    #[test]
    fn markers_are_short_plain_and_distinct() {
        let long = "ä".repeat(200);
        let names = [
            " a", "a", "a ", "A", "a\u{e4}", "a/1", "sha256:a", &long, "a&b",
        ];
        let mut seen = std::collections::BTreeSet::new();
        for name in names {
            let machine = MachineId::new(name).expect("an id");
            let marker = marker_of(&machine, u64::MAX);
            assert!(marker.len() <= 256 && marker.is_ascii() && !marker.contains(' '));
            assert_eq!(client_token(&machine, 1).len(), 64);
            assert!(seen.insert(marker), "{name:?}");
        }
    }

    #[test]
    fn a_volume_is_the_machines_own_through_its_incarnations() {
        let second = target("a/1", 2);
        assert_eq!(owner("a/1/1", &second), Owner::Machine);
        assert_eq!(owner("a/1/2", &second), Owner::Machine);
        for other in ["a/1/3", "a/1", "a/2", "b/1", "a/1/", "a/1/x", "x"] {
            assert_eq!(owner(other, &second), Owner::Other, "{other}");
        }
        assert_eq!(owner("", &second), Owner::Unsaid);
    }
}
