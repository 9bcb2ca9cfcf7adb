//! Whose volume is it? Never one that does not say that it is the machine's.

use lifecycle_adapters::provider::{
    Delivered, Provider as _, ProviderError, Target, VolumeReading,
};
use lifecycle_core::{Cause, Proof};

use crate::kit::{IMAGE, POLITE, Podman};

#[tokio::test]
async fn only_a_volume_that_carries_the_machines_label_is_destroyed() {
    let podman = Podman::start();
    let provider = podman.provider();
    let target = podman.make(&POLITE, false).await;
    podman.run(&["volume", "create", "theirs"]);
    podman.run(&[
        "volume",
        "create",
        "--label=lifecycle.machine=other",
        "others",
    ]);
    let of = |name: &str| Target {
        volume_id: Some(name.to_owned()),
        ..target.clone()
    };
    let theirs = provider.destroy_volume(&of("theirs")).await;
    assert_eq!(theirs, Err(ProviderError::Unproven));
    let others = provider.destroy_volume(&of("others")).await;
    assert_eq!(others, Ok(Delivered::NotFound(Proof::Superseded)));
    assert!(podman.has_volume("theirs") && podman.has_volume("others"));
}

#[tokio::test]
async fn a_shared_volume_is_not_destroyed_whoever_uses_it_and_whether_it_runs() {
    let podman = Podman::start();
    let provider = podman.provider();
    let target = podman.make(&POLITE, true).await;
    let volume = target.volume_id.clone().expect("a volume");
    let mount = format!("{volume}:/theirs");
    podman.run(&["create", "--volume", &mount, IMAGE, "true"]);
    let destroyed = provider.destroy_compute(&target).await;
    assert_eq!(destroyed, Ok(Delivered::Accepted));
    let reading = provider.read_volume(&target).await;
    assert_eq!(reading, VolumeReading::Shared);
    let refused = provider.destroy_volume(&target).await;
    assert!(
        matches!(refused, Err(ProviderError::OutOfBounds(_))),
        "{refused:?}"
    );
    assert!(podman.has_volume(&volume));
}

#[tokio::test]
async fn a_name_that_can_be_none_means_no_volume() {
    let podman = Podman::start();
    let provider = podman.provider();
    let target = podman.make(&POLITE, true).await;
    let volume = target.volume_id.clone().expect("a volume");
    let traversal = format!("../volumes/{volume}");
    for name in [
        None,
        Some(""),
        Some(".."),
        Some("*"),
        Some(traversal.as_str()),
    ] {
        let wrong = Target {
            volume_id: name.map(str::to_owned),
            ..target.clone()
        };
        let reading = provider.read_volume(&wrong).await;
        assert_eq!(
            reading,
            VolumeReading::Unknown(Cause::Malformed),
            "{name:?}"
        );
        let refused = provider.destroy_volume(&wrong).await;
        assert!(
            matches!(refused, Err(ProviderError::OutOfBounds(_))),
            "{name:?}"
        );
    }
    assert!(podman.has_volume(&volume));
}
