//! Folders that are volumes: read, shared, destroyed once.

use std::{fs, os::unix::fs::symlink};

use lifecycle_adapters::provider::{
    Delivered, Provider as _, ProviderError, Target, VolumeReading,
};
use lifecycle_core::{Cause, Proof};

use crate::kit::{World, machine, sleep, sleep_on};

#[tokio::test]
async fn a_volume_is_exclusive_until_another_machine_uses_it() {
    let world = World::new();
    let first = world.start("first", sleep_on("v")).await;
    assert_eq!(
        world.provider.read_volume(&first).await,
        VolumeReading::Exclusive
    );
    // The next incarnation of the same machine is no other machine.
    let next = world
        .provider
        .start(&machine("first"), 2, sleep_on("v"))
        .await;
    world.note(&next.expect("a machine").target(machine("first"), 2));
    assert_eq!(
        world.provider.read_volume(&first).await,
        VolumeReading::Exclusive
    );

    let second = world.start("second", sleep_on("v")).await;
    for target in [&first, &second] {
        assert_eq!(
            world.provider.read_volume(target).await,
            VolumeReading::Shared
        );
        let refused = world.provider.destroy_volume(target).await;
        assert!(
            matches!(refused, Err(ProviderError::OutOfBounds(_))),
            "{refused:?}"
        );
    }
    assert!(world.path("volumes/v").exists());

    world
        .provider
        .destroy_compute(&second)
        .await
        .expect("an end");
    world
        .provider
        .forget(&machine("second"), 1)
        .await
        .expect("forgotten");
    assert_eq!(
        world.provider.read_volume(&first).await,
        VolumeReading::Exclusive
    );
}

#[tokio::test]
async fn a_destroyed_volume_is_absent_and_destroyed_once() {
    let world = World::new();
    let target = world.start("m", sleep_on("v")).await;
    fs::create_dir_all(world.path("volumes/v/deep/er")).expect("folders");
    fs::write(world.path("volumes/v/deep/er/file"), "x").expect("a file");
    world
        .provider
        .destroy_compute(&target)
        .await
        .expect("an end");
    assert_eq!(
        world.provider.read_volume(&target).await,
        VolumeReading::Exclusive
    );
    let destroyed = world.provider.destroy_volume(&target).await;
    assert_eq!(destroyed, Ok(Delivered::Accepted));
    let absent = VolumeReading::Absent(Proof::TypedNotFound);
    assert_eq!(world.provider.read_volume(&target).await, absent);
    let again = world.provider.destroy_volume(&target).await;
    assert_eq!(again, Ok(Delivered::NotFound(Proof::TypedNotFound)));
    assert!(names(&world, "trash").is_empty());
    assert!(names(&world, "volumes").is_empty());
}

#[tokio::test]
async fn a_volume_made_anew_under_the_name_is_not_the_old_machines() {
    let world = World::new();
    let first = world.start("first", sleep_on("v")).await;
    world
        .provider
        .destroy_compute(&first)
        .await
        .expect("an end");
    world.provider.destroy_volume(&first).await.expect("an end");
    let second = world.start("second", sleep_on("v")).await;
    let refused = world.provider.destroy_volume(&first).await;
    assert_eq!(refused, Err(ProviderError::Unproven));
    assert_eq!(
        world.provider.read_volume(&first).await,
        VolumeReading::Shared
    );
    assert_eq!(
        world.provider.read_volume(&second).await,
        VolumeReading::Exclusive
    );
}

#[tokio::test]
async fn a_machine_without_a_volume_has_none() {
    let world = World::new();
    let target = world.start("m", sleep()).await;
    let absent = VolumeReading::Absent(Proof::TypedNotFound);
    assert_eq!(world.provider.read_volume(&target).await, absent);
    let destroyed = world.provider.destroy_volume(&target).await;
    assert_eq!(destroyed, Ok(Delivered::NotFound(Proof::TypedNotFound)));
}

#[tokio::test]
async fn the_absence_of_a_volume_we_never_knew_proves_little() {
    let world = World::new();
    let target = never_started(&world, Some("v"));
    let absent = VolumeReading::Absent(Proof::UntypedNotFound);
    assert_eq!(world.provider.read_volume(&target).await, absent);
}

#[tokio::test]
async fn a_folder_that_no_machine_was_started_on_is_not_destroyed() {
    let world = World::new();
    fs::create_dir(world.path("volumes/v")).expect("a folder");
    let target = never_started(&world, Some("v"));
    let refused = world.provider.destroy_volume(&target).await;
    assert_eq!(refused, Err(ProviderError::Unproven));
    assert!(world.path("volumes/v").exists());
}

#[tokio::test]
async fn a_disk_that_is_not_there_is_unknown_and_not_absent() {
    let world = World::new();
    let target = world.start("m", sleep_on("v")).await;
    fs::rename(world.path("volumes"), world.path("aside")).expect("moved");
    let unknown = VolumeReading::Unknown(Cause::Transport);
    assert_eq!(world.provider.read_volume(&target).await, unknown);
    assert!(world.provider.destroy_volume(&target).await.is_err());
    fs::rename(world.path("aside"), world.path("volumes")).expect("moved back");
    assert_eq!(
        world.provider.read_volume(&target).await,
        VolumeReading::Exclusive
    );
}

#[tokio::test]
async fn the_volume_of_another_host_is_unknown_here() {
    let world = World::new();
    let mut target = world.start("m", sleep_on("v")).await;
    let scope = core::mem::replace(&mut target.scope, "elsewhere/boot/1".to_owned());
    let unknown = VolumeReading::Unknown(Cause::Malformed);
    assert_eq!(world.provider.read_volume(&target).await, unknown);
    let refused = world.provider.destroy_volume(&target).await;
    assert!(
        matches!(refused, Err(ProviderError::OutOfBounds(_))),
        "{refused:?}"
    );
    // A volume survives a reboot of its own host.
    let host = scope.split('/').next().expect("a host");
    target.scope = format!("{host}/before/1");
    assert_eq!(
        world.provider.read_volume(&target).await,
        VolumeReading::Exclusive
    );
    target.scope = scope;
}

#[tokio::test]
async fn whether_others_use_it_is_unknown_where_an_entry_cannot_be_read() {
    let world = World::new();
    let target = world.start("m", sleep_on("v")).await;
    let other = world.start("other", sleep()).await;
    let entry = world.entry(&other);
    let text = fs::read(&entry).expect("an entry");
    fs::write(&entry, "{").expect("an entry");
    let unknown = VolumeReading::Unknown(Cause::Malformed);
    assert_eq!(world.provider.read_volume(&target).await, unknown);
    assert!(world.provider.destroy_volume(&target).await.is_err());
    assert!(world.path("volumes/v").exists());
    fs::write(&entry, text).expect("an entry");
}

#[tokio::test]
async fn what_an_interrupted_destroy_left_is_no_volume_and_is_removed_next_time() {
    let world = World::new();
    let target = world.start("m", sleep_on("v")).await;
    let trash = |name: &str| {
        fs::create_dir_all(world.path(&format!("trash/{name}/deep"))).expect("trash");
        fs::write(world.path(&format!("trash/{name}/deep/file")), "x").expect("trash");
    };
    // Killed after the first step: out of sight, but whole.
    fs::remove_dir(world.path("volumes/v")).expect("no volume");
    trash("v~1");
    trash("vv~1");
    let absent = VolumeReading::Absent(Proof::TypedNotFound);
    assert_eq!(world.provider.read_volume(&target).await, absent);
    let destroyed = world.provider.destroy_volume(&target).await;
    assert_eq!(destroyed, Ok(Delivered::Accepted));
    assert_eq!(
        names(&world, "trash"),
        ["vv~1"],
        "and nothing of another volume's"
    );
    let destroyed = world.provider.destroy_volume(&target).await;
    assert_eq!(destroyed, Ok(Delivered::NotFound(Proof::TypedNotFound)));
    // The next program, and every listing, removes the rest.
    world.reopen();
    assert!(names(&world, "trash").is_empty());
    trash("v~2");
    world.provider.list().await.expect("a listing");
    assert!(names(&world, "trash").is_empty());
}

#[tokio::test]
async fn a_volume_of_any_depth_and_content_is_removed_and_its_links_stay_links() {
    let world = World::new();
    let target = world.start("m", sleep_on("v")).await;
    let outside = world.path("outside");
    fs::create_dir(&outside).expect("a folder");
    fs::write(outside.join("precious"), "x").expect("a file");
    let inside = world.path("volumes/v");
    symlink(&outside, inside.join("folder")).expect("a link");
    symlink(outside.join("precious"), inside.join("file")).expect("a link");
    symlink("/nowhere", inside.join("dangling")).expect("a link");
    symlink("loop", inside.join("loop")).expect("a link");
    fs::hard_link(outside.join("precious"), inside.join("hard")).expect("a link");
    fs::write(inside.join(".hidden"), "x").expect("a file");
    fs::create_dir(inside.join(".hidden-folder")).expect("a folder");
    let socket = std::os::unix::net::UnixListener::bind(inside.join("socket"));
    drop(socket.expect("a socket"));
    deepen(&inside, 3_000);
    world
        .provider
        .destroy_compute(&target)
        .await
        .expect("an end");
    let destroyed = world.provider.destroy_volume(&target).await;
    assert_eq!(destroyed, Ok(Delivered::Accepted));
    assert!(names(&world, "trash").is_empty());
    assert_eq!(
        fs::read_to_string(outside.join("precious")).expect("a file"),
        "x"
    );
}

fn never_started(world: &World, volume: Option<&str>) -> Target {
    Target {
        machine: machine("never-started"),
        generation: 1,
        provider_id: "2".to_owned(),
        marker: None,
        scope: world.provider.scope().expect("a scope"),
        volume_id: volume.map(str::to_owned),
    }
}

fn names(world: &World, folder: &str) -> Vec<String> {
    let entries = fs::read_dir(world.path(folder)).expect("a folder");
    entries
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect()
}

/// Makes folders in folders, deeper than a path may be long.
fn deepen(below: &std::path::Path, levels: usize) {
    use rustix::fs::{Mode, OFlags};

    let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
    let mut here = rustix::fs::open(below, flags, Mode::empty()).expect("a folder");
    for _ in 0..levels {
        rustix::fs::mkdirat(&here, "deep", Mode::RWXU).expect("a folder");
        here = rustix::fs::openat(&here, "deep", flags, Mode::empty()).expect("a folder");
    }
}
