//! Which machines are there?

use std::fs;

use lifecycle_adapters::provider::{Completeness, Listed, Provider as _, Target};
use lifecycle_core::{Answer, Power, Proof};
use rustix::process::Signal;

use crate::kit::{World, machine, signal, sleep, sleep_on, state, until};

#[tokio::test]
async fn an_empty_root_lists_nothing_completely() {
    let world = World::new();
    let listing = world.provider.list().await.expect("a listing");
    assert_eq!(listing.scope, world.provider.scope().expect("a scope"));
    assert_eq!(listing.completeness, Completeness::Complete);
    assert_eq!(listing.machines, []);
}

#[tokio::test]
async fn a_listing_shows_every_machine_of_ours_as_it_is() {
    let world = World::new();
    let running = world.start("running", sleep()).await;
    let paused = world.start("paused", sleep_on("v")).await;
    let dead = world.start("dead", sleep()).await;
    signal(&paused, Signal::STOP);
    signal(&dead, Signal::KILL);
    until("stopped", || state(&paused.provider_id) == Some('T'));
    until("a zombie", || state(&dead.provider_id) == Some('Z'));
    let expected = [
        listed(&running, Answer::Present(Power::Running)),
        listed(&paused, Answer::Present(Power::Suspended)),
        listed(&dead, Answer::Absent(Proof::Tombstone)),
    ];
    // A program that is started next sees the same, and again the same.
    let next = world.reopen();
    for provider in [&world.provider, &next, &next] {
        let listing = provider.list().await.expect("a listing");
        assert_eq!(listing.completeness, Completeness::Complete);
        assert_eq!(listing.machines.len(), expected.len());
        for machine in &expected {
            assert!(listing.machines.contains(machine), "{listing:?}");
        }
    }
}

#[tokio::test]
async fn an_id_used_again_is_listed_for_whom_it_is_now() {
    let world = World::new();
    let old = world.start("old", sleep()).await;
    let new = world.start("new", sleep()).await;
    // As if the process of the new machine had got the id of the old one, which ended.
    let entry = world.entry(&old);
    let text = fs::read_to_string(&entry).expect("an entry");
    let spoilt = text
        .replace(
            &format!("\"{}\"", old.provider_id),
            &format!("\"{}\"", new.provider_id),
        )
        .replace("\"ended\":false", "\"ended\":true");
    fs::write(&entry, &spoilt).expect("an entry");
    let listing = world.provider.list().await.expect("a listing");
    if old.marker != new.marker {
        assert_eq!(
            listing.machines,
            [listed(&new, Answer::Present(Power::Running))]
        );
    }
    fs::write(&entry, &text).expect("an entry");
}

#[tokio::test]
async fn an_entry_that_cannot_be_read_makes_the_listing_partial() {
    let world = World::new();
    let good = world.start("good", sleep()).await;
    let bad = world.start("bad", sleep()).await;
    let entry = world.entry(&bad);
    let text = fs::read(&entry).expect("an entry");
    let unknown_field =
        String::from_utf8_lossy(&text).replace("\"ended\"", "\"newer\":1,\"ended\"");
    for spoilt in ["", "{", "null", unknown_field.as_str()] {
        fs::write(&entry, spoilt).expect("an entry");
        let listing = world.provider.list().await.expect("a listing");
        assert_eq!(listing.completeness, Completeness::Partial, "{spoilt}");
        assert_eq!(
            listing.machines,
            [listed(&good, Answer::Present(Power::Running))]
        );
    }
    fs::write(&entry, text).expect("an entry");
}

#[tokio::test]
async fn machines_of_before_a_reboot_are_of_another_scope() {
    let world = World::new();
    let target = world.start("m", sleep()).await;
    let entry = world.entry(&target);
    let text = fs::read_to_string(&entry).expect("an entry");
    fs::write(&entry, text.replace(&target.scope, "host/before/1")).expect("an entry");
    let listing = world.provider.list().await.expect("a listing");
    assert_eq!(listing.completeness, Completeness::Complete);
    assert_eq!(listing.machines, []);
    fs::write(&entry, text).expect("an entry");
}

#[tokio::test]
async fn a_machine_is_forgotten_only_once_it_ended() {
    let world = World::new();
    let target = world.start("m", sleep_on("v")).await;
    let refused = world.provider.forget(&machine("m"), 1).await;
    assert!(matches!(
        refused,
        Err(lifecycle_adapters::process::ProcessError::NotEnded)
    ));
    world
        .provider
        .destroy_compute(&target)
        .await
        .expect("an end");
    for _ in 0..2 {
        world
            .provider
            .forget(&machine("m"), 1)
            .await
            .expect("forgotten, and again");
    }
    assert_eq!(world.provider.list().await.expect("a listing").machines, []);
    assert!(world.path("volumes/v").exists(), "the volume stays");
}

#[tokio::test]
async fn a_root_without_its_folders_lists_nothing_as_an_error() {
    let world = World::new();
    let machines = world.path("machines");
    fs::rename(&machines, world.path("aside")).expect("moved");
    assert!(world.provider.list().await.is_err());
    fs::rename(world.path("aside"), machines).expect("moved back");
}

fn listed(target: &Target, answer: Answer) -> Listed {
    Listed {
        provider_id: target.provider_id.clone(),
        answer,
        marker: target.marker.clone(),
    }
}
