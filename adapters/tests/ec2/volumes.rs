//! Whose a volume is, who uses it, and what may be deleted.

use core::sync::atomic::{AtomicUsize, Ordering};

use lifecycle_adapters::provider::{Delivered, Provider as _, ProviderError, VolumeReading};
use lifecycle_core::{Cause, Proof};

use crate::{
    moto::{World, options},
    recorded::{INSTANCE, Recorded, Reply, VOLUME, instance, target, volume},
};

#[tokio::test]
async fn a_volume_that_another_machine_took_is_shared_and_stays() {
    let world = World::new();
    let first = world.create("first", &options().with_data_volume(8)).await;
    let second = world.create("second", &options()).await;
    let id = first.volume_id.clone().expect("a volume");
    assert_eq!(
        world.provider.read_volume(&first).await,
        VolumeReading::Exclusive
    );
    let running = world.provider.destroy_volume(&first).await;
    assert!(
        matches!(
            running,
            Err(ProviderError::Refused {
                cause: Cause::Timeout,
                ..
            })
        ),
        "{running:?}"
    );
    world.ask(&[
        ("Action", "DetachVolume"),
        ("VolumeId", &id),
        ("InstanceId", &first.provider_id),
    ]);
    world.ask(&[
        ("Action", "AttachVolume"),
        ("VolumeId", &id),
        ("InstanceId", &second.provider_id),
        ("Device", "/dev/sdf"),
    ]);
    assert_eq!(
        world.provider.read_volume(&first).await,
        VolumeReading::Shared
    );
    let refused = world.provider.destroy_volume(&first).await;
    assert!(
        matches!(refused, Err(ProviderError::OutOfBounds(_))),
        "{refused:?}"
    );
}

#[tokio::test]
async fn only_a_volume_with_the_machines_own_tag_is_deleted() {
    let world = World::new();
    let target = world.create("web-1", &options().with_data_volume(8)).await;
    world
        .provider
        .destroy_compute(&target)
        .await
        .expect("an end");
    let id = target.volume_id.clone().expect("a volume");
    world.tag(&id, Some("web-2/1"));
    assert_eq!(
        world.provider.read_volume(&target).await,
        VolumeReading::Shared
    );
    let superseded = Ok(Delivered::NotFound(Proof::Superseded));
    assert_eq!(world.provider.destroy_volume(&target).await, superseded);
    world.tag(&id, None);
    assert_eq!(
        world.provider.read_volume(&target).await,
        VolumeReading::Exclusive
    );
    assert_eq!(
        world.provider.destroy_volume(&target).await,
        Err(ProviderError::Unproven)
    );
    // What an earlier incarnation was made with is the machine's own.
    world.tag(&id, Some("web-1/1"));
    let mut next = target.clone();
    next.generation = 2;
    next.marker = Some("web-1/2".to_owned());
    assert_eq!(
        world.provider.destroy_volume(&next).await,
        Ok(Delivered::Accepted)
    );
}

#[tokio::test]
async fn a_volume_is_read_by_who_uses_it() {
    let own = [INSTANCE];
    let foreign = ["i-0000000b"];
    for (reply, reading) in [
        (
            volume("available", "web-1/1", &[], false),
            VolumeReading::Exclusive,
        ),
        (
            volume("in-use", "web-1/1", &own, false),
            VolumeReading::Exclusive,
        ),
        (volume("in-use", "", &own, false), VolumeReading::Exclusive),
        (
            volume("in-use", "web-1/1", &own, true),
            VolumeReading::Shared,
        ),
        (
            volume("available", "web-1/1", &[], true),
            VolumeReading::Shared,
        ),
        (
            volume("in-use", "web-1/1", &foreign, false),
            VolumeReading::Shared,
        ),
        (
            volume("in-use", "web-1/1", &[INSTANCE, "i-0000000b"], false),
            VolumeReading::Shared,
        ),
        (
            volume("in-use", "web-1/1", &[""], false),
            VolumeReading::Shared,
        ),
        (
            volume("in-use", "web-2/1", &own, false),
            VolumeReading::Shared,
        ),
        (
            volume("deleted", "web-1/1", &[], false),
            VolumeReading::Absent(Proof::Tombstone),
        ),
        (String::new(), VolumeReading::Absent(Proof::UntypedNotFound)),
        (
            "<item/>".to_owned(),
            VolumeReading::Unknown(Cause::Malformed),
        ),
    ] {
        let what = reply.clone();
        let server = Recorded::new(move |request| match request.action() {
            "DescribeVolumes" => Reply::volume(&reply),
            _ if request.get("InstanceId.1") == Some(INSTANCE) => {
                Reply::instances(&[&instance(INSTANCE, "running", "web-1/1")])
            }
            _ => Reply::instances(&[&instance("i-0000000b", "running", "web-2/1")]),
        });
        assert_eq!(
            server.provider().read_volume(&target()).await,
            reading,
            "{what}"
        );
    }
}

#[tokio::test]
async fn who_uses_a_volume_is_unknown_where_the_instance_cannot_be_read() {
    for (reply, cause) in [
        (Reply::error(403, "UnauthorizedOperation"), Cause::Forbidden),
        (Reply::instances(&[]), Cause::Malformed),
    ] {
        let server = Recorded::new(move |request| match request.action() {
            "DescribeVolumes" => {
                Reply::volume(&volume("in-use", "web-1/1", &["i-0000000b"], false))
            }
            _ => reply.clone(),
        });
        let reading = server.provider().read_volume(&target()).await;
        assert_eq!(reading, VolumeReading::Unknown(cause));
        assert!(server.provider().destroy_volume(&target()).await.is_err());
    }
}

#[tokio::test]
async fn a_volume_still_at_its_ended_instance_is_detached_and_then_deleted() {
    for detached in [
        Reply::done("DetachVolume"),
        Reply::error(400, "IncorrectState"),
    ] {
        let looks = AtomicUsize::new(0);
        let server = Recorded::new(move |request| match request.action() {
            "DescribeVolumes" => {
                let look = looks.fetch_add(1, Ordering::Relaxed);
                Reply::volume(&match look {
                    0 | 1 => volume("in-use", "web-1/1", &[INSTANCE], false),
                    2 => volume("creating", "web-1/1", &[], false),
                    _ => volume("available", "web-1/1", &[], false),
                })
            }
            // Its tags went before its attachment.
            "DescribeInstances" => Reply::instances(&[&instance(INSTANCE, "terminated", "")]),
            "DetachVolume" => detached.clone(),
            action => Reply::done(action),
        });
        let destroyed = server.provider().destroy_volume(&target()).await;
        assert_eq!(destroyed, Ok(Delivered::Accepted));
        let asked = server.asked("DetachVolume");
        assert_eq!(asked.len(), 1);
        assert_eq!(asked[0]["InstanceId"], INSTANCE);
        assert_eq!(asked[0].get("Force"), None);
        assert_eq!(server.asked("DeleteVolume")[0]["VolumeId"], VOLUME);
    }
}

#[tokio::test]
async fn a_volume_at_an_instance_that_has_not_ended_is_neither_detached_nor_deleted() {
    for state in ["running", "stopped", "shutting-down"] {
        let server = Recorded::new(move |request| match request.action() {
            "DescribeVolumes" => Reply::volume(&volume("in-use", "web-1/1", &[INSTANCE], false)),
            _ => Reply::instances(&[&instance(INSTANCE, state, "web-1/1")]),
        });
        let refused = server.provider().destroy_volume(&target()).await;
        assert!(
            refused.is_err_and(|refused| refused.is_retryable()),
            "{state}"
        );
        assert!(server.asked("DetachVolume").is_empty());
        assert!(server.asked("DeleteVolume").is_empty());
    }
}

#[tokio::test]
async fn a_delete_that_was_raced_is_told_as_it_was() {
    for (code, delivered) in [
        (
            "InvalidVolume.NotFound",
            Some(Delivered::NotFound(Proof::TypedNotFound)),
        ),
        ("VolumeInUse", None),
    ] {
        let server = Recorded::new(move |request| match request.action() {
            "DeleteVolume" => Reply::error(400, code),
            _ => Reply::volume(&volume("available", "web-1/1", &[], false)),
        });
        let answer = server.provider().destroy_volume(&target()).await;
        assert_eq!(answer.as_ref().ok().copied(), delivered, "{answer:?}");
        assert!(answer.is_ok() || answer.is_err_and(|error| error.is_retryable()));
    }
    let mut without = target();
    without.volume_id = None;
    let server = Recorded::new(|_| Reply::Closed);
    let nothing = VolumeReading::Absent(Proof::UntypedNotFound);
    assert_eq!(
        server.provider().read_volume(&without).await,
        nothing,
        "proves nothing"
    );
    let nothing = Ok(Delivered::NotFound(Proof::UntypedNotFound));
    assert_eq!(server.provider().destroy_volume(&without).await, nothing);
}
