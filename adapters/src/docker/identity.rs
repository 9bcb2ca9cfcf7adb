//! Whose is a container or a volume?

use lifecycle_core::Proof;

use super::shape::{Container, Labels, label};
use crate::{
    id::MachineId,
    provider::{ProviderError, Target},
};

/// The label that holds the machine's id.
pub const MACHINE_LABEL: &str = "lifecycle.machine";

/// The label that holds the incarnation.
pub const GENERATION_LABEL: &str = "lifecycle.generation";

/// The label that holds the marker.
pub const MARKER_LABEL: &str = "lifecycle.marker";

/// The label that holds the name of the machine's volume.
pub const VOLUME_LABEL: &str = "lifecycle.volume";

/// Returns the marker of an incarnation.
///
/// ```
/// use lifecycle_adapters::{docker::marker_of, id::MachineId};
///
/// let machine = MachineId::new("web-1").expect("an id");
/// assert_eq!(marker_of(&machine, 3), "web-1/3");
/// ```
#[must_use]
pub fn marker_of(machine: &MachineId, generation: u64) -> String {
    format!("{machine}/{generation}")
}

/// Whose a container is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Identity {
    Ours,
    Anothers(Proof),
}

/// Makes sure that a container is the target's before anything is done to it.
pub(super) fn identify(container: &Container, target: &Target) -> Result<Identity, ProviderError> {
    let says = label(&container.config.labels, MARKER_LABEL);
    if says.is_empty() {
        return Err(ProviderError::Unproven);
    }
    let derived;
    let expected = match &target.marker {
        Some(marker) => marker.as_str(),
        None => {
            derived = marker_of(&target.machine, target.generation);
            &derived
        }
    };
    Ok(if says == expected {
        Identity::Ours
    } else {
        Identity::Anothers(Proof::Superseded)
    })
}

/// Tells whether the labels name this machine, in whatever incarnation.
pub(super) fn is_of(labels: &Labels, machine: &MachineId) -> bool {
    label(labels, MACHINE_LABEL) == machine.as_str()
}
