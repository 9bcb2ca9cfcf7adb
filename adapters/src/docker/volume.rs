//! Is a machine's volume there, whose is it, and how is it destroyed?

use lifecycle_core::{Cause, Proof};

use super::{
    compute,
    engine::{Engine, Request},
    failure::{Failure, Kind, Thing},
    identity::{MACHINE_LABEL, is_of},
    list::containers,
    name::{ContainerId, VolumeName},
    shape::{DEAD, Mount, Summary, Volume, label},
};
use crate::provider::{Completeness, Delivered, ProviderError, Target, VolumeReading};

pub(super) async fn read(engine: &Engine, target: &Target) -> VolumeReading {
    match try_read(engine, target).await {
        Ok(reading) => reading,
        Err(failure) => match failure.kind {
            Kind::NotFound(proof) => VolumeReading::Absent(proof),
            Kind::Conflict | Kind::Refused(_) => VolumeReading::Unknown(failure.cause()),
        },
    }
}

async fn try_read(engine: &Engine, target: &Target) -> Result<VolumeReading, Failure> {
    // A row that does not know its volume's name cannot ask whether it is there.
    let Some(name) = target.volume_id.as_deref().and_then(VolumeName::parse) else {
        return Ok(VolumeReading::Unknown(Cause::Malformed));
    };
    inspect(engine, &name).await?;
    let users = users(engine, &name).await?;
    Ok(if users.iter().any(|user| !user.is_own(target)) {
        VolumeReading::Shared
    } else {
        VolumeReading::Exclusive
    })
}

/// Destroys a volume that carries the machine's label and that nobody else uses.
pub(super) async fn destroy(engine: &Engine, target: &Target) -> Result<Delivered, ProviderError> {
    let Some(name) = target.volume_id.as_deref().and_then(VolumeName::parse) else {
        let wrong = format!("the volume {:?}", target.volume_id);
        return Err(ProviderError::OutOfBounds(wrong));
    };
    let volume = match inspect(engine, &name).await {
        Ok(volume) => volume,
        Err(failure) => return delivered(failure),
    };
    if label(&volume.labels, MACHINE_LABEL).is_empty() {
        return Err(ProviderError::Unproven);
    }
    if !is_of(&volume.labels, &target.machine) {
        return Ok(Delivered::NotFound(Proof::Superseded));
    }
    let users = users(engine, &name).await?;
    if users.iter().any(|user| !user.is_own(target)) {
        let shared = format!("the volume {name}, which another container uses");
        return Err(ProviderError::OutOfBounds(shared));
    }
    for dead in users.iter().filter(|user| user.0.state == DEAD) {
        // What is left of a removal that failed keeps the volume in use, and nobody else removes it.
        if let Some(id) = ContainerId::parse(&dead.0.id) {
            compute::remove(engine, id).await?;
        }
    }
    let path = ["volumes", name.as_str()];
    match engine.act(Request::delete(&path, Thing::Volume)).await {
        Ok(()) => Ok(Delivered::Accepted),
        Err(failure) => delivered(failure),
    }
}

pub(super) async fn inspect(engine: &Engine, name: &VolumeName) -> Result<Volume, Failure> {
    let path = ["volumes", name.as_str()];
    let volume: Volume = engine.read(Request::get(&path, Thing::Volume)).await?;
    if volume.name == name.as_str() {
        Ok(volume)
    } else {
        Err(Failure::malformed("the answer is about another volume"))
    }
}

/// A container that uses a volume.
struct User(Summary);

impl User {
    fn is_own(&self, target: &Target) -> bool {
        is_of(&self.0.labels, &target.machine)
    }
}

/// Returns the containers that use a volume, in whatever state they are.
async fn users(engine: &Engine, name: &VolumeName) -> Result<Vec<User>, Failure> {
    let filters = serde_json::json!({ "volume": [name.as_str()] }).to_string();
    let query = [("all", "true"), ("filters", filters.as_str())];
    let found = containers(engine, &query).await?;
    if found.completeness != Completeness::Complete {
        return Err(Failure::malformed("a container could not be read"));
    }
    // The engine also returns those that have something else mounted where the name is a path.
    let uses = |one: &Summary| {
        let mounts: &Option<Vec<Mount>> = &one.mounts;
        mounts
            .as_ref()
            .is_none_or(|mounts| mounts.iter().any(|mount| mount.is_volume(name.as_str())))
    };
    Ok(found.summaries.into_iter().filter(uses).map(User).collect())
}

fn delivered(failure: Failure) -> Result<Delivered, ProviderError> {
    match failure.kind {
        Kind::NotFound(proof) => Ok(Delivered::NotFound(proof)),
        Kind::Conflict | Kind::Refused(_) => Err(failure.into()),
    }
}
