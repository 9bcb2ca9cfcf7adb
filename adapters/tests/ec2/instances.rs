//! A machine's whole life at moto.

use lifecycle_adapters::provider::{
    Completeness, Delivered, Listed, Provider as _, ProviderError, Seen, VolumeReading,
};
use lifecycle_core::{Answer, Cause, Power, Proof};

use crate::moto::{World, element, machine, options};

#[tokio::test]
async fn a_machine_lives_stops_ends_and_leaves_its_volume() {
    let world = World::new();
    let target = world.create("web-1", &options().with_data_volume(8)).await;
    let scope = format!("123456789012/{}", world.region);
    assert_eq!(target.scope, scope);
    let seen = |answer| Seen {
        answer,
        scope: Some(scope.clone()),
        marker: Some("web-1/1".to_owned()),
    };
    let observed = world.provider.observe(&target).await;
    assert_eq!(observed, seen(Answer::Present(Power::Running)));
    let listing = world.provider.list().await.expect("a listing");
    assert_eq!(listing.scope, scope);
    assert_eq!(listing.completeness, Completeness::Complete);
    let marker = Some("web-1/1".to_owned());
    let listed = Listed::present(&target.provider_id, Power::Running, marker);
    assert_eq!(listing.machines, [listed]);

    let stopped = world.provider.stop_compute(&target).await;
    assert_eq!(stopped, Ok(Delivered::Accepted));
    let observed = world.provider.observe(&target).await;
    assert_eq!(observed, seen(Answer::Present(Power::Off)));
    let again = world.provider.stop_compute(&target).await;
    assert_eq!(again, Ok(Delivered::Accepted));

    let destroyed = world.provider.destroy_compute(&target).await;
    assert_eq!(destroyed, Ok(Delivered::Accepted));
    let observed = world.provider.observe(&target).await;
    assert_eq!(observed, seen(Answer::Absent(Proof::Tombstone)));
    for over in [
        world.provider.destroy_compute(&target).await,
        world.provider.stop_compute(&target).await,
    ] {
        assert_eq!(over, Ok(Delivered::NotFound(Proof::Tombstone)));
    }
    let listing = world.provider.list().await.expect("a listing");
    assert_eq!(listing.machines[0].answer, Answer::Absent(Proof::Tombstone));

    let volume = world.provider.read_volume(&target).await;
    assert_eq!(volume, VolumeReading::Exclusive);
    let destroyed = world.provider.destroy_volume(&target).await;
    assert_eq!(destroyed, Ok(Delivered::Accepted));
    let volume = world.provider.read_volume(&target).await;
    assert_eq!(volume, VolumeReading::Absent(Proof::TypedNotFound));
    let again = world.provider.destroy_volume(&target).await;
    assert_eq!(again, Ok(Delivered::NotFound(Proof::TypedNotFound)));
}

#[tokio::test]
async fn no_volume_goes_down_with_its_instance() {
    let world = World::new();
    let target = world.create("web-1", &options().with_data_volume(8)).await;
    // Another volume, and one attached later: all of them to be deleted with the instance.
    let zone = format!("{}a", world.region);
    let volume = [
        ("Action", "CreateVolume"),
        ("Size", "1"),
        ("AvailabilityZone", zone.as_str()),
    ];
    let later = element(&world.ask(&volume), "volumeId");
    world.ask(&[
        ("Action", "AttachVolume"),
        ("VolumeId", &later),
        ("InstanceId", &target.provider_id),
        ("Device", "/dev/sdg"),
    ]);
    let describe = [
        ("Action", "DescribeInstances"),
        ("InstanceId.1", target.provider_id.as_str()),
    ];
    let devices: Vec<_> = world
        .ask(&describe)
        .split("<deviceName>")
        .skip(1)
        .map(|device| device.split('<').next().unwrap_or_default().to_owned())
        .collect();
    assert!(devices.len() >= 2, "{devices:?}");
    for device in &devices {
        world.ask(&[
            ("Action", "ModifyInstanceAttribute"),
            ("InstanceId", &target.provider_id),
            ("BlockDeviceMapping.1.DeviceName", device),
            ("BlockDeviceMapping.1.Ebs.DeleteOnTermination", "true"),
        ]);
    }
    let before = world.ask(&describe);
    let count = |flag| {
        before
            .matches(&format!("<deleteOnTermination>{flag}"))
            .count()
    };
    assert!(count("true") >= devices.len(), "{before}");

    let destroyed = world.provider.destroy_compute(&target).await;
    assert_eq!(destroyed, Ok(Delivered::Accepted));
    let volumes = world.ask(&[("Action", "DescribeVolumes")]);
    assert_eq!(
        volumes.matches("<volumeId>").count(),
        devices.len(),
        "{volumes}"
    );
    assert_eq!(
        volumes.matches("<status>available").count(),
        devices.len(),
        "{volumes}"
    );
}

#[tokio::test]
async fn an_instance_of_another_marker_is_not_touched() {
    let world = World::new();
    let target = world.create("web-1", &options()).await;
    world.tag(&target.provider_id, Some("web-1/2"));
    let seen = world.provider.observe(&target).await;
    assert_eq!(seen.answer, Answer::Present(Power::Running));
    assert_eq!(seen.marker.as_deref(), Some("web-1/2"));
    let superseded = Ok(Delivered::NotFound(Proof::Superseded));
    assert_eq!(world.provider.stop_compute(&target).await, superseded);
    assert_eq!(world.provider.destroy_compute(&target).await, superseded);

    world.tag(&target.provider_id, None);
    let seen = world.provider.observe(&target).await;
    assert_eq!(seen.marker.as_deref(), Some(""), "looked, and found none");
    let unproven = Err(ProviderError::Unproven);
    assert_eq!(world.provider.stop_compute(&target).await, unproven);
    assert_eq!(world.provider.destroy_compute(&target).await, unproven);
    let listing = world.provider.list().await.expect("a listing");
    let untagged = Listed::present(&target.provider_id, Power::Running, Some(String::new()));
    assert_eq!(listing.machines, [untagged], "a lost tag is no end");
}

#[tokio::test]
async fn an_unknown_instance_is_absent_by_the_services_own_code() {
    let world = World::new();
    let mut target = world.create("web-1", &options()).await;
    target.provider_id = "i-0123456789abcdef0".to_owned();
    target.volume_id = Some("vol-0123456789abcdef0".to_owned());
    let seen = world.provider.observe(&target).await;
    assert_eq!(seen.answer, Answer::Absent(Proof::TypedNotFound));
    assert_eq!(seen.scope.as_ref(), Some(&target.scope));
    let not_found = Ok(Delivered::NotFound(Proof::TypedNotFound));
    assert_eq!(world.provider.stop_compute(&target).await, not_found);
    assert_eq!(world.provider.destroy_compute(&target).await, not_found);
    assert_eq!(world.provider.destroy_volume(&target).await, not_found);
    let absent = VolumeReading::Absent(Proof::TypedNotFound);
    assert_eq!(world.provider.read_volume(&target).await, absent);
}

#[tokio::test]
async fn what_is_kept_elsewhere_is_not_touched_and_its_absence_proves_nothing() {
    let world = World::new();
    let mut target = world.create("web-1", &options().with_data_volume(1)).await;
    target.scope = "210987654321/eu-central-1".to_owned();
    let seen = world.provider.observe(&target).await;
    assert_eq!(
        seen.scope,
        Some(world.provider.scope().await.expect("a scope"))
    );
    let forbidden = VolumeReading::Unknown(Cause::Forbidden);
    assert_eq!(world.provider.read_volume(&target).await, forbidden);
    for refused in [
        world.provider.stop_compute(&target).await,
        world.provider.destroy_compute(&target).await,
        world.provider.destroy_volume(&target).await,
    ] {
        assert!(
            matches!(refused, Err(ProviderError::OutOfBounds(_))),
            "{refused:?}"
        );
    }
    let listing = world.provider.list().await.expect("a listing");
    assert_eq!(listing.machines[0].answer, Answer::Present(Power::Running));
    assert_eq!(target.machine, machine("web-1"));
}
