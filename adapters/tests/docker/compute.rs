//! How do real containers end, and what do they leave?

use lifecycle_adapters::provider::{
    Delivered, Provider as _, ProviderError, Target, VolumeReading,
};
use lifecycle_core::{Answer, Power, Proof};

use crate::kit::{IMAGE, IMAGE_WITH_VOLUME, IMPOLITE, POLITE, Podman, machine, options};

#[tokio::test]
async fn after_the_destroy_the_container_answers_404_and_its_volume_still_answers() {
    let podman = Podman::start();
    let provider = podman.provider();
    let target = podman.make(&POLITE, true).await;
    let volume = target.volume_id.clone().expect("a volume");
    let write = [
        "exec",
        &target.provider_id,
        "sh",
        "-c",
        "echo kept > /home/file",
    ];
    podman.run(&write);

    let destroyed = provider.destroy_compute(&target).await;
    assert_eq!(destroyed, Ok(Delivered::Accepted));
    let seen = provider.observe(&target).await;
    assert_eq!(seen.answer, Answer::Absent(Proof::TypedNotFound));
    assert_eq!(seen.scope.as_ref(), Some(&target.scope));
    let reading = provider.read_volume(&target).await;
    assert_eq!(reading, VolumeReading::Exclusive);
    assert_eq!(podman.state(&target), None);

    // The next incarnation finds what the last one left.
    let options = options(&POLITE).with_volume(
        lifecycle_adapters::docker::VolumeName::parse(volume.as_str()).expect("a name"),
        "/home",
    );
    let next = provider.create(&target.machine, 2, &options).await;
    let next = next.expect("a container").target(target.machine.clone(), 2);
    let read = ["exec", &next.provider_id, "cat", "/home/file"];
    assert_eq!(podman.run(&read), "kept");

    let in_use = provider.destroy_volume(&next).await;
    assert!(in_use.is_err_and(|error| error.is_retryable()), "in use");
    assert!(podman.has_volume(&volume));
    let destroyed = provider.destroy_compute(&next).await;
    assert_eq!(destroyed, Ok(Delivered::Accepted));
    let destroyed = provider.destroy_volume(&next).await;
    assert_eq!(destroyed, Ok(Delivered::Accepted));
    assert!(!podman.has_volume(&volume));
}

#[tokio::test]
async fn a_guest_that_does_not_listen_is_killed_after_the_limit() {
    let podman = Podman::start();
    let provider = podman.provider();
    let target = podman.make(&IMPOLITE, false).await;
    let begun = std::time::Instant::now();
    let stopped = provider.stop_compute(&target).await;
    assert_eq!(stopped, Ok(Delivered::Accepted));
    assert!(
        begun.elapsed() >= core::time::Duration::from_secs(2),
        "asked first"
    );
    let seen = provider.observe(&target).await;
    assert_eq!(seen.answer, Answer::Present(Power::Off));
}

#[tokio::test]
async fn a_paused_container_is_suspended_and_can_be_stopped_and_destroyed() {
    let podman = Podman::start();
    let provider = podman.provider();
    let targets = [
        podman.make(&POLITE, true).await,
        podman.make(&POLITE, true).await,
    ];
    for target in &targets {
        podman.run(&["pause", &target.provider_id]);
        let seen = provider.observe(target).await;
        assert_eq!(seen.answer, Answer::Present(Power::Suspended));
    }
    let stopped = provider.stop_compute(&targets[0]).await;
    assert_eq!(stopped, Ok(Delivered::Accepted));
    let seen = provider.observe(&targets[0]).await;
    assert_eq!(seen.answer, Answer::Present(Power::Off));
    let destroyed = provider.destroy_compute(&targets[1]).await;
    assert_eq!(destroyed, Ok(Delivered::Accepted));
    let seen = provider.observe(&targets[1]).await;
    assert_eq!(seen.answer, Answer::Absent(Proof::TypedNotFound));
}

#[tokio::test]
async fn a_container_that_removes_itself_is_not_ended_while_a_nameless_volume_would_go_with_it() {
    let podman = Podman::start();
    let provider = podman.provider();
    let label = [
        "--label",
        "lifecycle.marker=self/1",
        "--label",
        "lifecycle.machine=self",
    ];
    let scope = provider.scope().await.expect("a scope");
    let target = |id: String| Target {
        machine: machine("self"),
        generation: 1,
        provider_id: id,
        marker: Some("self/1".to_owned()),
        scope: scope.clone(),
        volume_id: Some("named".to_owned()),
    };
    let nameless = [&["--rm"][..], &label, &[IMAGE_WITH_VOLUME], &IMPOLITE].concat();
    let nameless = target(podman.foreign(&nameless));
    for ended in [
        provider.stop_compute(&nameless).await,
        provider.destroy_compute(&nameless).await,
    ] {
        assert!(
            matches!(ended, Err(ProviderError::VolumeAtRisk(_))),
            "{ended:?}"
        );
    }
    assert_eq!(podman.state(&nameless).as_deref(), Some("running"));

    // A volume that has a name stays, whatever the container does.
    let named = [
        &["--rm", "--volume", "named:/home"][..],
        &label,
        &[IMAGE],
        &IMPOLITE,
    ]
    .concat();
    let named = target(podman.foreign(&named));
    let destroyed = provider.destroy_compute(&named).await;
    assert_eq!(destroyed, Ok(Delivered::Accepted));
    assert_eq!(podman.state(&named), None);
    assert!(podman.has_volume("named"));
}

#[tokio::test]
async fn a_volume_that_the_image_brought_outlives_its_container() {
    let podman = Podman::start();
    let provider = podman.provider();
    let mut options = options(&POLITE);
    IMAGE_WITH_VOLUME.clone_into(&mut options.image);
    let created = provider.create(&machine("m"), 1, &options).await;
    let target = created.expect("a container").target(machine("m"), 1);
    assert_eq!(target.volume_id, None, "nobody named it");
    let before = podman.run(&["volume", "ls", "--quiet"]);
    assert_eq!(before.len(), 64, "{before}");
    let destroyed = provider.destroy_compute(&target).await;
    assert_eq!(destroyed, Ok(Delivered::Accepted));
    assert_eq!(podman.run(&["volume", "ls", "--quiet"]), before);
}

#[tokio::test]
async fn a_row_without_a_marker_goes_by_the_labels_of_its_incarnation() {
    let podman = Podman::start();
    let provider = podman.provider();
    let made = podman.make(&POLITE, false).await;
    let mut target = Target {
        marker: None,
        generation: 2,
        ..made.clone()
    };
    let destroyed = provider.destroy_compute(&target).await;
    assert_eq!(destroyed, Ok(Delivered::NotFound(Proof::Superseded)));
    assert_eq!(podman.state(&made).as_deref(), Some("running"));
    target.generation = 1;
    let destroyed = provider.destroy_compute(&target).await;
    assert_eq!(destroyed, Ok(Delivered::Accepted));
    assert_eq!(podman.state(&made), None);
}
