//! Is a machine's volume there, whose is it, and how is it destroyed?

use core::fmt;

use lifecycle_core::{Cause, Proof};
use rustix::{fs::FileType, io::Errno};
use serde::{Deserialize, Serialize};

use super::{
    error::{During as _, ProcessError},
    files, host,
    registry::{Root, TRASH, VOLUMES},
    trash,
};
use crate::provider::{Delivered, ProviderError, Target, VolumeReading};

/// The name of a volume: 1 to 100 letters, digits, dots, dashes and underscores of ASCII, the first
/// one a letter or digit. So it is a plain name below the root, and nothing else.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct VolumeName(String);

impl VolumeName {
    /// Makes a name of a text; none where the text cannot be one.
    #[must_use]
    pub fn parse(text: impl Into<String>) -> Option<Self> {
        let text = text.into();
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        let begins_well = text.starts_with(|first: char| first.is_ascii_alphanumeric());
        let fits = begins_well && text.len() <= 100 && text.bytes().all(plain);
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

impl TryFrom<String> for VolumeName {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(text).ok_or("not a volume's name")
    }
}

impl From<VolumeName> for String {
    fn from(name: VolumeName) -> Self {
        name.0
    }
}

/// Reads the volume of a machine.
pub(super) fn read(root: &Root, target: &Target) -> VolumeReading {
    let volume = match claim(root, target) {
        Ok(Claim::Nothing(proof)) => return VolumeReading::Absent(proof),
        Ok(Claim::Named { volume, known }) => (volume, known),
        Err(error) => return VolumeReading::Unknown(error.cause()),
    };
    let (volume, known) = volume;
    let there = root
        .folder(VOLUMES)
        .and_then(|folder| files::kind(folder, volume.as_str()).during("reading a volume"));
    match there {
        Ok(None) => VolumeReading::Absent(absence(known)),
        Ok(Some(FileType::Directory)) => match others(root, target, &volume) {
            Ok(false) => VolumeReading::Exclusive,
            Ok(true) => VolumeReading::Shared,
            Err(error) => VolumeReading::Unknown(error.cause()),
        },
        Ok(Some(_)) => VolumeReading::Unknown(Cause::Malformed),
        Err(error) => VolumeReading::Unknown(error.cause()),
    }
}

/// Destroys the volume of a machine: out of sight in one step, then for good.
pub(super) fn destroy(root: &Root, target: &Target) -> Result<Delivered, ProviderError> {
    let (volume, known) = match claim(root, target)? {
        Claim::Nothing(proof) => return Ok(Delivered::NotFound(proof)),
        Claim::Named { volume, known } => (volume, known),
    };
    let moved = discard(root, target, &volume)?;
    // Also what an earlier call did not get to the end of.
    let leftovers = trash::empty(root, &volume)?;
    Ok(if moved || leftovers {
        Delivered::Accepted
    } else {
        Delivered::NotFound(absence(known))
    })
}

/// Which volume a target means.
enum Claim {
    Nothing(Proof),
    Named {
        volume: VolumeName,
        /// Whether we remember the machine. Where we do not, this may not be its disk at all.
        known: bool,
    },
}

fn claim(root: &Root, target: &Target) -> Result<Claim, ProcessError> {
    let scope = host::scope().during("reading where we are")?;
    if host::host_of(&scope) != host::host_of(&target.scope) {
        let elsewhere = format!("scope {}, this is {scope}", target.scope);
        return Err(ProcessError::OutOfBounds(elsewhere));
    }
    let entry = root.find(&target.machine, target.generation)?;
    let known = entry.is_some();
    let named = match &target.volume_id {
        Some(name) => match VolumeName::parse(name.as_str()) {
            Some(volume) => Some(volume),
            None => return Err(ProcessError::OutOfBounds(format!("the volume {name:?}"))),
        },
        None => entry.and_then(|entry| entry.volume),
    };
    Ok(
        named.map_or(Claim::Nothing(absence(known)), |volume| Claim::Named {
            volume,
            known,
        }),
    )
}

const fn absence(known: bool) -> Proof {
    if known {
        Proof::TypedNotFound
    } else {
        Proof::UntypedNotFound
    }
}

fn others(root: &Root, target: &Target, volume: &VolumeName) -> Result<bool, ProcessError> {
    let found = root.entries()?;
    let shares = found.entries.iter().any(|entry| {
        entry.volume.as_ref() == Some(volume) && entry.machine != target.machine.as_str()
    });
    // A share that was seen is one, whatever else could not be read.
    match found.unread {
        Some(error) if !shares => Err(error),
        Some(_) | None => Ok(shares),
    }
}

/// Moves the volume out of sight; tells whether it was there.
fn discard(root: &Root, target: &Target, volume: &VolumeName) -> Result<bool, ProviderError> {
    let lock = root.lock()?;
    let volumes = root.folder(VOLUMES)?;
    let what = "reading a volume";
    let there = files::kind(&volumes, volume.as_str()).during(what)?;
    let ours: Vec<_> = root
        .incarnations(&target.machine)?
        .into_iter()
        .filter(|entry| entry.volume.as_ref() == Some(volume))
        .collect();
    match there {
        None => {}
        Some(FileType::Directory) => {
            if ours.is_empty() {
                return Err(ProviderError::Unproven);
            }
            if others(root, target, volume)? {
                let shared = format!("the volume {volume}, which another machine uses");
                return Err(ProviderError::OutOfBounds(shared));
            }
            let name = trash::name_for(volume)?;
            let trash = root.folder(TRASH)?;
            match trash::take(&volumes, volume.as_str(), &trash, &name) {
                Ok(()) | Err(Errno::NOENT) => Ok(()),
                Err(error) => Err(error),
            }
            .during("moving a volume to the trash")?;
        }
        Some(_) => {
            let wrong = format!("the volume {volume} is no folder");
            return Err(ProviderError::OutOfBounds(wrong));
        }
    }
    // From here on the name is free: who takes it later is not ours to destroy.
    for entry in &ours {
        root.amend(&lock, entry, |entry| entry.volume = None)?;
    }
    Ok(there.is_some())
}

#[cfg(test)]
mod tests {
    use super::VolumeName;

    #[test]
    fn hostile_texts_are_no_names() {
        let long = "a".repeat(101);
        let hostile = [
            "", ".", "..", "../x", "a/b", "/etc", "/", ".hidden", "-rf", "_", "a b", "a\0", "a\n",
            "ä", "a\\b", &long,
        ];
        for text in hostile {
            assert_eq!(VolumeName::parse(text), None, "{text:?}");
        }
        for text in ["a", "0", "home-1", "a..b", "A_b.c"] {
            assert!(VolumeName::parse(text).is_some(), "{text:?}");
        }
    }
}
