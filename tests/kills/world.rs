//! What is true outside of the database? A folder in which a machine is a file, and a volume too.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use async_trait::async_trait;
use lifecycle_adapters::{
    id::MachineId,
    provider::{
        Completeness, Delivered, Listed, Listing, Provider, ProviderError, Seen, Target,
        VolumeReading,
    },
};
use lifecycle_core::{Answer, Cause, Power, Proof};

pub(crate) const SCOPE: &str = "folder";

/// A provider whose machines outlive every service that uses it.
#[derive(Clone, Debug)]
pub(crate) struct World {
    root: PathBuf,
}

impl World {
    pub(crate) fn open(root: &Path) -> Self {
        for folder in ["machines", "volumes"] {
            fs::create_dir_all(root.join(folder)).expect("a folder of the test's own");
        }
        Self {
            root: root.to_owned(),
        }
    }

    /// Creates a machine and its volume; again, it is the same one.
    pub(crate) fn create(
        &self,
        id: &MachineId,
        generation: u64,
        volume: Option<&str>,
    ) -> (String, String) {
        if let Some(volume) = volume.filter(|_| generation == 1) {
            write(&self.volume(volume), "");
        }
        let (name, marker) = (format!("{id}.{generation}"), marker(id, generation));
        write(&self.machine(&name), &format!("running {marker}"));
        (name, marker)
    }

    /// Takes a machine away behind everybody's back.
    pub(crate) fn vanish(&self, name: &str) {
        let _ = fs::remove_file(self.machine(name));
    }

    pub(crate) fn machines(&self) -> Vec<String> {
        names(&self.root.join("machines"))
    }

    pub(crate) fn has_volume(&self, volume: &str) -> bool {
        self.volume(volume).exists()
    }

    fn machine(&self, name: &str) -> PathBuf {
        self.root.join("machines").join(name)
    }

    fn volume(&self, name: &str) -> PathBuf {
        self.root.join("volumes").join(name)
    }

    fn read(&self, name: &str) -> io::Result<(Power, String)> {
        let text = fs::read_to_string(self.machine(name))?;
        let (power, marker) = text.split_once(' ').unwrap_or(("off", ""));
        Ok((
            if power == "running" {
                Power::Running
            } else {
                Power::Off
            },
            marker.to_owned(),
        ))
    }
}

#[async_trait]
impl Provider for World {
    async fn observe(&self, target: &Target) -> Seen {
        let scope = Some(SCOPE.to_owned());
        match self.read(&target.provider_id) {
            Ok((power, marker)) => Seen {
                answer: Answer::Present(power),
                scope,
                marker: Some(marker),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => Seen {
                answer: Answer::Absent(Proof::TypedNotFound),
                scope,
                marker: None,
            },
            Err(_) => Seen::unknown(Cause::Transport),
        }
    }

    async fn list(&self) -> Result<Listing, ProviderError> {
        // What goes while we look is as if it had gone before.
        let listed = |name: String| {
            self.read(&name)
                .ok()
                .map(|(power, marker)| Listed::present(name, power, Some(marker)))
        };
        Ok(Listing {
            scope: SCOPE.to_owned(),
            completeness: Completeness::Complete,
            machines: self.machines().into_iter().filter_map(listed).collect(),
        })
    }

    async fn read_volume(&self, target: &Target) -> VolumeReading {
        match target.volume_id.as_deref() {
            Some(volume) if self.has_volume(volume) => VolumeReading::Exclusive,
            Some(_) | None => VolumeReading::Absent(Proof::TypedNotFound),
        }
    }

    async fn stop_compute(&self, target: &Target) -> Result<Delivered, ProviderError> {
        match self.read(&target.provider_id) {
            Ok((_, marker)) => {
                write(&self.machine(&target.provider_id), &format!("off {marker}"));
                Ok(Delivered::Accepted)
            }
            Err(_) => Ok(Delivered::NotFound(Proof::TypedNotFound)),
        }
    }

    async fn destroy_compute(&self, target: &Target) -> Result<Delivered, ProviderError> {
        removed(&self.machine(&target.provider_id))
    }

    async fn destroy_volume(&self, target: &Target) -> Result<Delivered, ProviderError> {
        removed(&self.volume(target.volume_id.as_deref().unwrap_or("none")))
    }
}

pub(crate) fn marker(id: &MachineId, generation: u64) -> String {
    format!("{id}/{generation}")
}

fn removed(path: &Path) -> Result<Delivered, ProviderError> {
    match fs::remove_file(path) {
        Ok(()) => Ok(Delivered::Accepted),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Ok(Delivered::NotFound(Proof::TypedNotFound))
        }
        Err(error) => Err(ProviderError::refused(Cause::Transport, error.to_string())),
    }
}

/// Writes beside and renames, so that a kill leaves the old file or the new one.
fn write(path: &Path, text: &str) {
    let draft = path
        .parent()
        .and_then(Path::parent)
        .expect("two folders deep")
        .join(format!(
            ".draft-{}-{}",
            std::process::id(),
            path.file_name()
                .and_then(|name| name.to_str())
                .expect("a plain name")
        ));
    fs::write(&draft, text)
        .and_then(|()| fs::rename(&draft, path))
        .expect("a folder of the test's own");
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder of the test's own");
    entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect()
}

/// A seeded sequence of numbers (`SplitMix64`).
#[derive(Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }
}
