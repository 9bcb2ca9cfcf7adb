//! Hostile ids, and links where folders should be.

use core::sync::atomic::{AtomicBool, Ordering};
use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::Path,
    process::Command,
    thread,
};

use lifecycle_adapters::{
    process::{ProcessError, ProcessProvider},
    provider::{Delivered, Provider as _, ProviderError, Target, VolumeReading},
};
use lifecycle_core::{Answer, Cause};

use crate::kit::{World, machine, runs, sleep, sleep_on};

#[tokio::test]
async fn hostile_process_ids_are_malformed_and_signal_nobody() {
    let world = World::new();
    let bystander = world.start("bystander", sleep()).await;
    let own = std::process::id().to_string();
    let group = format!("-{}", bystander.provider_id);
    let padded = format!("0{}", bystander.provider_id);
    let hostile = [
        "",
        "0",
        "1",
        "-1",
        "-0",
        "+1",
        " 1",
        "self",
        "thread-self",
        "..",
        "1/../1",
        "4294967297",
        "18446744073709551615",
        "2147483648",
        "1\n",
        &own,
        &group,
        &padded,
    ];
    for id in hostile {
        for marker in [None, bystander.marker.clone(), Some(String::new())] {
            let target = Target {
                provider_id: id.to_owned(),
                marker,
                ..bystander.clone()
            };
            let seen = world.provider.observe(&target).await;
            assert_eq!(seen.answer, Answer::Unknown(Cause::Malformed), "{id:?}");
            for ended in [
                world.provider.stop_compute(&target).await,
                world.provider.destroy_compute(&target).await,
            ] {
                let Err(error) = ended else {
                    panic!("{id:?}: {ended:?}")
                };
                assert!(!error.is_retryable(), "{id:?}");
            }
        }
    }
    assert!(runs(&bystander.provider_id));
}

#[tokio::test]
async fn hostile_volume_ids_touch_nothing() {
    let world = World::new();
    let started = world.start("m", sleep_on("v")).await;
    fs::create_dir(world.path("precious")).expect("a folder");
    let absolute = world.path("precious").to_string_lossy().into_owned();
    let hostile = [
        "",
        ".",
        "..",
        "/",
        "../precious",
        "v/../../precious",
        "v/",
        "./v",
        "v/.",
        "../volumes/v",
        "v\0",
        "v\n",
        "~",
        "-rf",
        &absolute,
    ];
    for id in hostile {
        let target = Target {
            volume_id: Some(id.to_owned()),
            ..started.clone()
        };
        let read = world.provider.read_volume(&target).await;
        assert_eq!(read, VolumeReading::Unknown(Cause::Malformed), "{id:?}");
        let refused = world.provider.destroy_volume(&target).await;
        assert!(
            matches!(refused, Err(ProviderError::OutOfBounds(_))),
            "{id:?}: {refused:?}"
        );
    }
    assert!(world.path("precious").exists());
    assert!(world.path("volumes/v").exists());
}

#[tokio::test]
async fn a_link_in_place_of_a_volume_is_refused() {
    let world = World::new();
    let target = world.start("m", sleep_on("v")).await;
    let precious = precious(&world);
    fs::remove_dir(world.path("volumes/v")).expect("no volume");
    for aim in [
        precious.as_path(),
        Path::new("../precious"),
        Path::new("/nowhere"),
    ] {
        symlink(aim, world.path("volumes/v")).expect("a link");
        refuses(&world, &target).await;
        fs::remove_file(world.path("volumes/v")).expect("no link");
    }
    fs::write(world.path("volumes/v"), "a file").expect("a file");
    refuses(&world, &target).await;
    assert!(precious.join("file").exists());
}

#[tokio::test]
async fn a_link_in_place_of_a_folder_above_is_refused() {
    for name in ["volumes", "trash", "machines"] {
        let world = World::new();
        let target = world.start("m", sleep_on("v")).await;
        // What it leads to looks just like what should be there.
        fs::rename(world.path(name), world.path("aside")).expect("moved");
        symlink(world.path("aside"), world.path(name)).expect("a link");
        let refused = world.provider.destroy_volume(&target).await;
        assert!(
            matches!(refused, Err(ProviderError::OutOfBounds(_))),
            "{name}: {refused:?}"
        );
        let opened = ProcessProvider::open(world.path(""));
        assert!(
            matches!(opened, Err(ProcessError::OutOfBounds(_))),
            "{name}"
        );
        fs::remove_file(world.path(name)).expect("no link");
        fs::rename(world.path("aside"), world.path(name)).expect("moved back");
        assert_eq!(
            world.provider.read_volume(&target).await,
            VolumeReading::Exclusive
        );
    }
}

#[tokio::test]
async fn a_machine_is_not_started_through_a_link() {
    let world = World::new();
    let precious = precious(&world);
    symlink(&precious, world.path("volumes/v")).expect("a link");
    let refused = world.provider.start(&machine("m"), 1, sleep_on("v")).await;
    assert!(
        matches!(refused, Err(ProcessError::OutOfBounds(_))),
        "{refused:?}"
    );
    assert_eq!(world.provider.list().await.expect("a listing").machines, []);
}

#[tokio::test]
async fn links_in_the_trash_are_removed_as_links() {
    let world = World::new();
    let target = world.start("m", sleep_on("v")).await;
    let precious = precious(&world);
    symlink(&precious, world.path("trash/v~1")).expect("a link");
    let destroyed = world.provider.destroy_volume(&target).await;
    assert_eq!(destroyed, Ok(Delivered::Accepted));
    assert!(!world.path("trash/v~1").is_symlink());
    assert!(precious.join("file").exists());
}

#[tokio::test]
async fn a_volume_whose_folders_are_swapped_for_links_meanwhile_leads_nowhere() {
    let world = World::new();
    let precious = precious(&world);
    let over = AtomicBool::new(false);
    let trash = world.path("trash");
    let mut targets = Vec::new();
    for n in 0..20 {
        let name = format!("v{n}");
        let target = world.start(&name, sleep_on(&name)).await;
        world
            .provider
            .destroy_compute(&target)
            .await
            .expect("an end");
        for folder in 0..50 {
            let path = world.path(&format!("volumes/{name}/{folder}/deep"));
            fs::create_dir_all(path).expect("folders");
        }
        targets.push(target);
    }
    let runtime = tokio::runtime::Handle::current();
    thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                swap(&trash, &precious);
            }
        });
        scope.spawn(|| {
            for target in &targets {
                // It may lose against who swaps for ever, but never leaves its root.
                let _ = runtime.block_on(world.provider.destroy_volume(target));
            }
            over.store(true, Ordering::Relaxed);
        });
    });
    assert!(precious.join("file").exists());
    assert!(precious.join("folder/file").exists());
    world.provider.list().await.expect("a listing");
    assert_eq!(fs::read_dir(&trash).expect("the trash").count(), 0);
}

#[tokio::test]
async fn a_volume_that_took_its_owners_rights_away_is_removed() {
    let world = World::new();
    let target = world.start("m", sleep_on("v")).await;
    world
        .provider
        .destroy_compute(&target)
        .await
        .expect("an end");
    let locked = world.path("volumes/v/locked/inside");
    fs::create_dir_all(&locked).expect("folders");
    fs::write(locked.join("file"), "x").expect("a file");
    for path in [
        locked.as_path(),
        &world.path("volumes/v/locked"),
        &world.path("volumes/v"),
    ] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o0)).expect("no rights");
    }
    let destroyed = world.provider.destroy_volume(&target).await;
    assert_eq!(destroyed, Ok(Delivered::Accepted));
    assert_eq!(
        fs::read_dir(world.path("trash"))
            .expect("the trash")
            .count(),
        0
    );
}

#[tokio::test]
async fn a_disk_mounted_inside_a_volume_is_not_emptied() {
    // Only root mounts; elsewhere nothing can be mounted into a volume to begin with.
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let world = World::new();
    let target = world.start("m", sleep_on("v")).await;
    let precious = precious(&world);
    let point = world.path("volumes/v/mounted");
    fs::create_dir(&point).expect("a folder");
    let mount = Command::new("mount")
        .arg("--bind")
        .arg(&precious)
        .arg(&point)
        .status();
    if !mount.is_ok_and(|status| status.success()) {
        return;
    }
    let destroyed = world.provider.destroy_volume(&target).await;
    let moved = fs::read_dir(world.path("trash")).expect("the trash").next();
    let left = moved.map_or(point, |entry| entry.expect("trash").path().join("mounted"));
    let unmounted = Command::new("umount").arg(&left).status();
    assert!(unmounted.is_ok_and(|status| status.success()));
    assert!(destroyed.is_err(), "{destroyed:?}");
    assert!(precious.join("file").exists());
    assert!(precious.join("folder/file").exists());
}

async fn refuses(world: &World, target: &Target) {
    let read = world.provider.read_volume(target).await;
    assert_eq!(read, VolumeReading::Unknown(Cause::Malformed));
    let refused = world.provider.destroy_volume(target).await;
    assert!(
        matches!(refused, Err(ProviderError::OutOfBounds(_))),
        "{refused:?}"
    );
}

fn precious(world: &World) -> std::path::PathBuf {
    let precious = world.path("precious");
    fs::create_dir_all(precious.join("folder")).expect("folders");
    fs::write(precious.join("file"), "x").expect("a file");
    fs::write(precious.join("folder/file"), "x").expect("a file");
    precious
}

/// Puts links where folders of the trash are.
fn swap(trash: &Path, precious: &Path) {
    let Ok(entries) = fs::read_dir(trash) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_symlink() {
            // Put there before: it leads out, and only the provider is on trial.
            continue;
        }
        for inside in fs::read_dir(&path).into_iter().flatten().flatten().take(5) {
            let _ = fs::remove_dir_all(inside.path());
            let _ = symlink(precious, inside.path());
        }
        let aside = path.with_extension("aside");
        if fs::rename(&path, &aside).is_ok() {
            let _ = symlink(precious, &path);
        }
    }
}
