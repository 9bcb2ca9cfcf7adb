//! Which containers does the engine have?

use serde_json::Value;

use super::{
    engine::{Engine, Request},
    failure::{Failure, Thing},
    identity::MARKER_LABEL,
    name::ContainerId,
    shape::{Summary, answer, label},
};
use crate::provider::{Completeness, Listed, Listing};

pub(super) async fn list(engine: &Engine) -> Result<Listing, Failure> {
    // What is absent from a listing is judged by its scope: asked for with it, not earlier.
    let scope = engine.asked_scope().await?;
    let found = containers(engine, &[("all", "true")]).await?;
    let machines = found.summaries.iter().map(|one| Listed {
        provider_id: one.id.clone(),
        answer: answer(&one.state),
        marker: Some(label(&one.labels, MARKER_LABEL).to_owned()),
    });
    Ok(Listing {
        scope,
        completeness: found.completeness,
        machines: machines.collect(),
    })
}

/// Containers, and whether all of them could be read.
pub(super) struct Containers {
    pub(super) summaries: Vec<Summary>,
    pub(super) completeness: Completeness,
}

/// Lists containers. One that cannot be read does not hide the others.
pub(super) async fn containers(
    engine: &Engine,
    query: &[(&str, &str)],
) -> Result<Containers, Failure> {
    let path = ["containers", "json"];
    let request = Request::get(&path, Thing::Other).with(query);
    let all: Vec<Value> = engine.read(request).await?;
    let count = all.len();
    let summaries: Vec<Summary> = all
        .into_iter()
        .filter_map(|one| serde_json::from_value::<Summary>(one).ok())
        .filter(|one| ContainerId::parse(&one.id).is_some())
        .collect();
    let completeness = if summaries.len() == count {
        Completeness::Complete
    } else {
        tracing::warn!(
            unread = count - summaries.len(),
            "containers could not be read"
        );
        Completeness::Partial
    };
    Ok(Containers {
        summaries,
        completeness,
    })
}
