//! What does the provider make of states that Podman does not have, and of an engine that is another?

use std::sync::Arc;

use lifecycle_adapters::{
    conformance::provider::http::{HttpHarness as _, HttpReply, Outcome},
    provider::{Completeness, Delivered, ProviderError, VolumeReading},
};
use lifecycle_core::{Answer, Cause, Power, Proof};
use serde_json::json;

use crate::faults::{FakeEngine, id, inspected, reply, summary};

#[tokio::test]
async fn a_dead_container_is_a_tombstone_and_is_removed_for_good() {
    let engine = Arc::new(FakeEngine::new());
    let (server, provider) = engine
        .lying(|request| match request.path.as_str() {
            path if path.ends_with(&format!("{}/json", id())) => {
                Some(Outcome::Reply(reply(&inspected("dead"))))
            }
            path if path.starts_with("/containers/json") => {
                Some(Outcome::Reply(reply(&json!([summary("dead")]))))
            }
            _ => None,
        })
        .await;
    let target = engine.target();
    let tombstone = Answer::Absent(Proof::Tombstone);
    assert_eq!(provider.observe(&target).await.answer, tombstone);
    let listing = provider.list().await.expect("a listing");
    assert_eq!(listing.machines[0].answer, tombstone);
    let stopped = provider.stop_compute(&target).await;
    assert_eq!(stopped, Ok(Delivered::NotFound(Proof::Tombstone)));
    let destroyed = provider.destroy_compute(&target).await;
    assert_eq!(destroyed, Ok(Delivered::Accepted));
    // What is left of it would keep the volume in use for ever.
    let destroyed = provider.destroy_volume(&target).await;
    assert_eq!(destroyed, Ok(Delivered::Accepted));
    let deleted: Vec<_> = server
        .requests()
        .into_iter()
        .filter(|request| request.method == "DELETE")
        .map(|request| request.path)
        .collect();
    let container = format!("/containers/{}?force=true&v=false", id());
    let volume = "/volumes/home".to_owned();
    assert_eq!(deleted, [container.clone(), container, volume]);
}

#[tokio::test]
async fn every_state_is_told_and_an_unknown_word_hides_nobody() {
    for (state, power) in [
        ("created", Power::Off),
        ("restarting", Power::Booting),
        ("paused", Power::Suspended),
        ("removing", Power::Stopping),
        ("stopped", Power::Off),
        ("hibernating", Power::Unrecognized),
    ] {
        let engine = Arc::new(FakeEngine::new());
        let (_server, provider) = engine
            .lying(move |request| match request.path.as_str() {
                path if path.ends_with(&format!("{}/json", id())) => {
                    Some(Outcome::Reply(reply(&inspected(state))))
                }
                path if path.starts_with("/containers/json") => {
                    Some(Outcome::Reply(reply(&json!([summary(state)]))))
                }
                _ => None,
            })
            .await;
        let seen = provider.observe(&engine.target()).await;
        assert_eq!(seen.answer, Answer::Present(power), "{state}");
        let listing = provider.list().await.expect("a listing");
        assert_eq!(listing.completeness, Completeness::Complete, "{state}");
        assert_eq!(
            listing.machines[0].answer,
            Answer::Present(power),
            "{state}"
        );
    }
}

#[tokio::test]
async fn a_container_that_cannot_be_read_makes_the_listing_partial() {
    let engine = Arc::new(FakeEngine::new());
    let (_server, provider) = engine
        .lying(|request| {
            let odd = json!([summary("running"), { "Id": "short", "State": "running" }, {}]);
            let is_list = request.path.starts_with("/containers/json");
            is_list.then(|| Outcome::Reply(reply(&odd)))
        })
        .await;
    let listing = provider.list().await.expect("a listing");
    assert_eq!(listing.completeness, Completeness::Partial);
    assert_eq!(listing.machines.len(), 1);
    // It may use the volume.
    let reading = provider.read_volume(&engine.target()).await;
    assert_eq!(reading, VolumeReading::Unknown(Cause::Malformed));
}

#[tokio::test]
async fn an_absence_is_told_with_the_scope_of_the_engine_that_said_it() {
    let engine = Arc::new(FakeEngine::new());
    let replaced = Arc::new(core::sync::atomic::AtomicBool::new(false));
    let is_replaced = replaced.clone();
    let service = engine.clone();
    let (_server, provider) = engine
        .lying(move |request| {
            if !is_replaced.load(core::sync::atomic::Ordering::SeqCst) {
                return None;
            }
            match request.path.as_str() {
                "/info" => Some(Outcome::Reply(reply(&json!({ "ID": "OTHER" })))),
                _ => service.not_found(request).map(Outcome::Reply),
            }
        })
        .await;
    let target = engine.target();
    let seen = provider.observe(&target).await;
    assert_eq!(seen.scope.as_deref(), Some("docker:ENGINE"));
    replaced.store(true, core::sync::atomic::Ordering::SeqCst);
    let seen = provider.observe(&target).await;
    assert_eq!(seen.answer, Answer::Absent(Proof::TypedNotFound));
    assert_eq!(seen.scope.as_deref(), Some("docker:OTHER"));
}

#[tokio::test]
async fn an_answer_about_another_container_is_none() {
    let engine = Arc::new(FakeEngine::new());
    let (server, provider) = engine
        .lying(|request| {
            let mut other = inspected("running");
            other["Id"] = json!("f".repeat(64));
            let is_inspect = request.path.ends_with(&format!("{}/json", id()));
            is_inspect.then(|| Outcome::Reply(reply(&other)))
        })
        .await;
    let target = engine.target();
    let seen = provider.observe(&target).await;
    assert_eq!(seen.answer, Answer::Unknown(Cause::Malformed));
    let destroyed = provider.destroy_compute(&target).await;
    assert!(matches!(
        destroyed,
        Err(ProviderError::Refused {
            cause: Cause::Malformed,
            ..
        })
    ));
    assert!(
        server
            .requests()
            .iter()
            .all(|request| request.method == "GET")
    );
}

#[tokio::test]
async fn a_removal_that_is_under_way_is_accepted_and_a_volume_in_use_stays_owed() {
    let engine = Arc::new(FakeEngine::new());
    let (_server, provider) = engine
        .lying(|request| {
            let says = |what: &str| {
                let body = json!({ "message": what }).to_string();
                Some(Outcome::Reply(HttpReply::json(409, body)))
            };
            match (
                request.method.as_str(),
                request.path.starts_with("/volumes"),
            ) {
                ("DELETE", true) => says("remove home: volume is in use - [0123]"),
                ("DELETE", false) => says("removal of container 0123 is already in progress"),
                _ => None,
            }
        })
        .await;
    let target = engine.target();
    let destroyed = provider.destroy_compute(&target).await;
    assert_eq!(destroyed, Ok(Delivered::Accepted));
    let destroyed = provider.destroy_volume(&target).await;
    assert!(destroyed.is_err_and(|error| error.is_retryable()));
}
