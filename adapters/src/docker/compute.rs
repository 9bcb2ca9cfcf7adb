//! Is a container there, and how does it end?

use core::time::Duration;

use lifecycle_core::{Answer, Cause, Proof};

use super::{
    engine::{Engine, Request},
    failure::{Failure, Kind, Thing},
    identity::{Identity, MARKER_LABEL, identify},
    name::ContainerId,
    shape::{Container, answer, label},
};
use crate::provider::{Delivered, ProviderError, Seen, Target};

pub(super) async fn observe(engine: &Engine, target: &Target) -> Seen {
    match try_observe(engine, target).await {
        Ok(seen) => seen,
        Err(failure) => Seen::unknown(failure.cause()),
    }
}

async fn try_observe(engine: &Engine, target: &Target) -> Result<Seen, Failure> {
    let Some(id) = ContainerId::parse(&target.provider_id) else {
        return Err(Failure::malformed("the id is none of the engine's"));
    };
    match inspect(engine, id).await {
        Ok(container) => Ok(Seen {
            answer: answer(&container.state.status),
            scope: Some(engine.known_scope().await?),
            marker: Some(label(&container.config.labels, MARKER_LABEL).to_owned()),
        }),
        Err(Failure {
            kind: Kind::NotFound(proof),
            message: _,
            retry_after: _,
        }) => Ok(Seen {
            answer: Answer::Absent(proof),
            // Another engine may have taken the socket over: there, nothing of ours is.
            scope: Some(engine.asked_scope().await?),
            marker: None,
        }),
        Err(failure) => Err(failure),
    }
}

/// Stops a container: the engine asks politely, and kills after the limit.
pub(super) async fn stop(engine: &Engine, target: &Target) -> Result<Delivered, ProviderError> {
    let (id, container) = match find(engine, target).await? {
        Found::There(id, container) => (id, container),
        Found::Not(proof) => return Ok(Delivered::NotFound(proof)),
    };
    match container.state.status.as_str() {
        super::shape::DEAD => return Ok(Delivered::NotFound(Proof::Tombstone)),
        // Who is frozen cannot act on a signal, and Podman refuses to stop it.
        "paused" => {
            let path = ["containers", id.as_str(), "unpause"];
            match engine.act(Request::post(&path, Thing::Container)).await {
                Ok(()) => {}
                Err(failure) => return delivered(failure),
            }
        }
        _ => {}
    }
    let limit = engine.config.stop_limit;
    let seconds = limit.as_secs() + u64::from(limit.subsec_nanos() > 0);
    let path = ["containers", id.as_str(), "stop"];
    let text = seconds.to_string();
    let query = [("t", text.as_str())];
    let request = Request::post(&path, Thing::Container)
        .with(&query)
        .within(Duration::from_secs(seconds));
    match engine.act(request).await {
        Ok(()) => Ok(Delivered::Accepted),
        Err(failure) => delivered(failure),
    }
}

/// Destroys a container, and none of its volumes.
pub(super) async fn destroy(engine: &Engine, target: &Target) -> Result<Delivered, ProviderError> {
    match find(engine, target).await? {
        Found::There(id, _) => remove(engine, id).await,
        Found::Not(proof) => Ok(Delivered::NotFound(proof)),
    }
}

/// Removes a container whose identity is proven. A dead one is removed for good.
pub(super) async fn remove(
    engine: &Engine,
    id: ContainerId<'_>,
) -> Result<Delivered, ProviderError> {
    let path = ["containers", id.as_str()];
    let query = [("force", "true"), ("v", "false")];
    match engine
        .act(Request::delete(&path, Thing::Container).with(&query))
        .await
    {
        Ok(()) => Ok(Delivered::Accepted),
        // Somebody else's removal is under way.
        Err(failure)
            if failure.kind == Kind::Conflict
                && failure.message.contains("already in progress") =>
        {
            Ok(Delivered::Accepted)
        }
        Err(failure) => delivered(failure),
    }
}

enum Found<'t> {
    There(ContainerId<'t>, Container),
    Not(Proof),
}

/// Finds the target's own container, and makes sure that its end takes no volume with it.
async fn find<'t>(engine: &Engine, target: &'t Target) -> Result<Found<'t>, ProviderError> {
    let Some(id) = ContainerId::parse(&target.provider_id) else {
        let wrong = format!("the container {:?}", target.provider_id);
        return Err(ProviderError::OutOfBounds(wrong));
    };
    let container = match inspect(engine, id).await {
        Ok(container) => container,
        Err(failure) => {
            return match failure.kind {
                Kind::NotFound(proof) => Ok(Found::Not(proof)),
                Kind::Conflict | Kind::Refused(_) => Err(failure.into()),
            };
        }
    };
    match identify(&container, target)? {
        Identity::Anothers(proof) => return Ok(Found::Not(proof)),
        Identity::Ours => {}
    }
    // Where a container removes itself, the engine removes the volumes that nobody named with it.
    let volume = container
        .mounts
        .iter()
        .flatten()
        .find(|mount| mount.is_nameless_volume());
    match volume {
        Some(volume) if container.host_config.auto_remove => {
            Err(ProviderError::VolumeAtRisk(volume.name.clone()))
        }
        Some(_) | None => Ok(Found::There(id, container)),
    }
}

async fn inspect(engine: &Engine, id: ContainerId<'_>) -> Result<Container, Failure> {
    let path = ["containers", id.as_str(), "json"];
    let container: Container = engine.read(Request::get(&path, Thing::Container)).await?;
    if container.id == id.as_str() {
        Ok(container)
    } else {
        Err(Failure::refused(
            Cause::Malformed,
            "the answer is about another container",
        ))
    }
}

fn delivered(failure: Failure) -> Result<Delivered, ProviderError> {
    match failure.kind {
        Kind::NotFound(proof) => Ok(Delivered::NotFound(proof)),
        Kind::Conflict | Kind::Refused(_) => Err(failure.into()),
    }
}
