//! Is a container made once, however often it is asked for?

use std::collections::BTreeSet;

use lifecycle_adapters::{
    docker::VolumeName,
    provider::{Listing, Provider as _, ProviderError},
};
use lifecycle_core::{Answer, Power, Proof};
use serde_json::json;
use tokio::task::JoinSet;

use crate::kit::{IMAGE, POLITE, Podman, machine, options};

#[tokio::test]
async fn many_creates_of_one_incarnation_make_one_container() {
    let podman = Podman::start();
    let name = VolumeName::parse("home").expect("a name");
    let mut creates = JoinSet::new();
    for _ in 0..6 {
        let provider = podman.provider();
        let options = options(&POLITE).with_volume(name.clone(), "/home");
        creates.spawn(async move { provider.create(&machine("m"), 1, &options).await });
    }
    let mut made = BTreeSet::new();
    for created in creates.join_all().await {
        match created {
            Ok(created) => {
                assert_eq!(created.marker, "m/1");
                assert_eq!(created.volume_id.as_deref(), Some("home"));
                made.insert(created.provider_id);
            }
            // Several starts of one container may disturb each other: whoever repeats it gets it.
            Err(error) => assert!(error.is_retryable(), "{error}"),
        }
    }
    let provider = podman.provider();
    let again = provider.create(&machine("m"), 1, &options(&POLITE)).await;
    let again = again.expect("what was made");
    made.insert(again.provider_id.clone());
    assert_eq!(made.len(), 1, "{made:?}");
    let listing = podman.provider().list().await.expect("a listing");
    assert_eq!(ids(&listing), made);
    let seen = podman
        .provider()
        .observe(&again.target(machine("m"), 1))
        .await;
    assert_eq!(seen.answer, Answer::Present(Power::Running));
}

#[tokio::test]
async fn a_container_that_was_made_and_never_started_is_started_by_the_repeated_create() {
    let podman = Podman::start();
    let provider = podman.provider();
    let target = podman.make(&POLITE, false).await;
    // As after a crash between making and starting.
    let name = podman.run(&[
        "container",
        "inspect",
        "--format",
        "{{.Name}}",
        &target.provider_id,
    ]);
    podman.run(&["rm", "--force", "--time", "0", &target.provider_id]);
    let labels = [
        ("machine", target.machine.as_str()),
        ("generation", "1"),
        ("marker", target.marker.as_deref().expect("a marker")),
    ];
    let labels = labels.map(|(key, value)| format!("--label=lifecycle.{key}={value}"));
    let mut arguments = vec![
        "create",
        "--network=none",
        "--name",
        &name,
        "--pids-limit=0",
    ];
    arguments.extend(["--ulimit=nofile=1024:1024", "--ulimit=nproc=1024:1024"]);
    arguments.extend(labels.iter().map(String::as_str));
    arguments.push(IMAGE);
    arguments.extend(POLITE);
    let id = podman.run(&arguments);

    let created = provider.create(&target.machine, 1, &options(&POLITE)).await;
    let created = created.expect("a container");
    assert_eq!(created.provider_id, id);
    let seen = provider.observe(&created.target(target.machine, 1)).await;
    assert_eq!(seen.answer, Answer::Present(Power::Running));
}

#[tokio::test]
async fn what_ended_is_returned_as_it_is_and_the_next_incarnation_is_another() {
    let podman = Podman::start();
    let provider = podman.provider();
    let target = podman.make(&POLITE, false).await;
    podman.run(&["kill", &target.provider_id]);
    let again = provider.create(&target.machine, 1, &options(&POLITE)).await;
    assert_eq!(
        again.expect("what was made").provider_id,
        target.provider_id
    );
    let seen = provider.observe(&target).await;
    assert_eq!(seen.answer, Answer::Present(Power::Off));
    let next = provider.create(&target.machine, 2, &options(&POLITE)).await;
    assert_ne!(next.expect("the next").provider_id, target.provider_id);
}

#[tokio::test]
async fn what_another_owns_is_not_taken() {
    let podman = Podman::start();
    let provider = podman.provider();
    podman.run(&["volume", "create", "theirs"]);
    podman.run(&[
        "volume",
        "create",
        "--label=lifecycle.machine=other",
        "others",
    ]);
    for volume in ["theirs", "others"] {
        let name = VolumeName::parse(volume).expect("a name");
        let options = options(&POLITE).with_volume(name, "/home");
        let refused = provider.create(&machine("m"), 1, &options).await;
        assert!(
            matches!(refused, Err(ProviderError::OutOfBounds(_))),
            "{refused:?}"
        );
    }
    // A container in the place of ours.
    let target = podman.make(&POLITE, false).await;
    let format = "{{.Name}}";
    let name = podman.run(&[
        "container",
        "inspect",
        "--format",
        format,
        &target.provider_id,
    ]);
    podman.run(&["rm", "--force", "--time", "0", &target.provider_id]);
    podman.run(&["create", "--name", &name, IMAGE, "true"]);
    let refused = provider.create(&target.machine, 1, &options(&POLITE)).await;
    assert!(
        matches!(refused, Err(ProviderError::OutOfBounds(_))),
        "{refused:?}"
    );
}

#[tokio::test]
async fn a_container_that_removes_itself_is_not_made_and_no_secret_is_told() {
    let podman = Podman::start();
    let provider = podman.provider();
    let mut removes = options(&POLITE);
    removes.host.insert("AutoRemove".to_owned(), json!(true));
    let refused = provider.create(&machine("m"), 1, &removes).await;
    assert!(
        matches!(refused, Err(ProviderError::OutOfBounds(_))),
        "{refused:?}"
    );

    let mut missing = options(&POLITE);
    "localhost/s3cr3t:1".clone_into(&mut missing.image);
    let token = ("TOKEN".to_owned(), "s3cr3t".to_owned());
    missing.environment.insert(token.0, token.1);
    let refused = provider.create(&machine("m"), 1, &missing).await;
    let error = refused.expect_err("no such image").to_string();
    assert!(
        error.contains("[redacted]") && !error.contains("s3cr3t"),
        "{error}"
    );
    missing.image.clear();
    assert!(!format!("{missing:?}").contains("s3cr3t"));
    // Nothing of it was made.
    let listing = provider.list().await.expect("a listing");
    assert_eq!(listing.machines, []);
}

#[tokio::test]
async fn a_listing_has_the_containers_of_others_too_with_a_blank_marker() {
    let podman = Podman::start();
    let provider = podman.provider();
    let target = podman.make(&POLITE, false).await;
    let created = podman.run(&["create", IMAGE, "true"]);
    let listing = provider.list().await.expect("a listing");
    let marker = |id: &str| {
        let one = listing.machines.iter().find(|one| one.provider_id == id);
        one.expect("listed").marker.clone()
    };
    assert_eq!(listing.machines.len(), 2);
    assert_eq!(marker(&target.provider_id), target.marker);
    assert_eq!(marker(&created).as_deref(), Some(""));
    podman.run(&["rm", "--force", "--time", "0", &target.provider_id]);
    let seen = provider.observe(&target).await;
    assert_eq!(seen.answer, Answer::Absent(Proof::TypedNotFound));
}

fn ids(listing: &Listing) -> BTreeSet<String> {
    let ids = listing.machines.iter().map(|one| one.provider_id.clone());
    ids.collect()
}
