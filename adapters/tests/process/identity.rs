//! Whose process is it? Never one that is not proven to be the machine.

use std::process::{Child, Command, Stdio};

use lifecycle_adapters::provider::{Delivered, Provider as _, ProviderError, Target};
use lifecycle_core::{
    Answer, Cause, Machine, Observation, Policy, Power, Proof, SeenMarker, Sighting, Source,
    Timestamp, judge,
};

use crate::kit::{World, machine, runs, sleep};

#[tokio::test]
async fn a_process_id_used_again_is_superseded_and_survives() {
    let world = World::new();
    let target = world.start("m", sleep()).await;
    let marker = target.marker.clone().expect("a marker");
    // The machine that had this id before began a tick earlier.
    let before = Target {
        marker: Some(earlier(&marker)),
        ..target.clone()
    };
    let seen = world.provider.observe(&before).await;
    assert_eq!(seen.answer, Answer::Present(Power::Running));
    assert_eq!(seen.marker, target.marker);

    let superseded = Ok(Delivered::NotFound(Proof::Superseded));
    assert_eq!(world.provider.stop_compute(&before).await, superseded);
    assert_eq!(world.provider.destroy_compute(&before).await, superseded);
    assert!(runs(&target.provider_id), "unharmed");
}

#[tokio::test]
async fn the_core_takes_another_start_for_a_superseded_machine() {
    let world = World::new();
    let target = world.start("m", sleep()).await;
    let marker = earlier(target.marker.as_ref().expect("a marker"));
    let seen = world.provider.observe(&target).await;
    let now = Timestamp::from_millis(1_000_000_000);
    let begun = Timestamp::from_millis(0);
    let row = Machine {
        marker: Some(&marker),
        ..Machine::new(&target.scope, Some(&marker), begun)
    };
    let seen_marker = seen
        .marker
        .as_deref()
        .map_or(SeenMarker::NotRead, SeenMarker::Is);
    let observation = Observation {
        marker: seen_marker,
        ..Observation::of(&row, seen.answer, now, Source::Sweep)
    };
    let judged = judge(&row, Some(&observation), now, &Policy::IMMEDIATE);
    assert_eq!(judged.sighting, Sighting::Gone);
}

#[tokio::test]
async fn a_foreign_process_survives_whatever_the_row_says_of_it() {
    let world = World::new();
    let mut foreign = Foreign::start(Command::new("sleep").arg("600"));
    let mut target = elsewhere(&world, &foreign.id());
    assert_eq!(
        world.provider.observe(&target).await.answer,
        Answer::Present(Power::Running)
    );
    // No marker, and none remembered: nothing proves that it is ours.
    let unproven = Err(ProviderError::Unproven);
    assert_eq!(world.provider.stop_compute(&target).await, unproven);
    assert_eq!(world.provider.destroy_compute(&target).await, unproven);
    for marker in ["", "somebody", "0", ":"] {
        target.marker = Some(marker.to_owned());
        let superseded = Ok(Delivered::NotFound(Proof::Superseded));
        assert_eq!(
            world.provider.stop_compute(&target).await,
            superseded,
            "{marker}"
        );
        assert_eq!(
            world.provider.destroy_compute(&target).await,
            superseded,
            "{marker}"
        );
    }
    assert!(foreign.runs());
}

#[tokio::test]
async fn a_foreign_zombie_is_not_reaped() {
    let world = World::new();
    let mut foreign = Foreign::start(&mut Command::new("true"));
    crate::kit::until("a zombie", || crate::kit::state(&foreign.id()) == Some('Z'));
    let mut target = elsewhere(&world, &foreign.id());
    let seen = world.provider.observe(&target).await;
    assert_eq!(seen.answer, Answer::Absent(Proof::TypedNotFound));
    // Its marker makes it the row's, but not ours to reap: we did not start it.
    target.marker = seen.marker;
    let seen = world.provider.observe(&target).await;
    assert_eq!(seen.answer, Answer::Absent(Proof::Tombstone));
    target.marker = Some("another".to_owned());
    let seen = world.provider.observe(&target).await;
    assert_eq!(seen.answer, Answer::Absent(Proof::Superseded));
    let ended = foreign.0.wait().expect("its parent still reaps it");
    assert!(ended.success());
}

#[tokio::test]
async fn a_row_without_a_marker_goes_by_what_was_recorded() {
    let world = World::new();
    let mut target = world.start("m", sleep()).await;
    target.marker = None;
    let destroyed = world.provider.destroy_compute(&target).await;
    assert_eq!(destroyed, Ok(Delivered::Accepted));
    assert!(!runs(&target.provider_id));
}

#[tokio::test]
async fn another_scope_is_neither_believed_nor_touched() {
    let world = World::new();
    let target = world.start("m", sleep()).await;
    for scope in ["", "default", "elsewhere/boot/1"] {
        let other = Target {
            scope: scope.to_owned(),
            ..target.clone()
        };
        // The answer names the scope it is for; the core makes `unknown` of it.
        let seen = world.provider.observe(&other).await;
        assert_eq!(seen.scope.as_ref(), Some(&target.scope));
        for ended in [
            world.provider.stop_compute(&other).await,
            world.provider.destroy_compute(&other).await,
        ] {
            assert!(
                matches!(ended, Err(ProviderError::OutOfBounds(_))),
                "{ended:?}"
            );
        }
    }
    assert!(runs(&target.provider_id));
}

#[tokio::test]
async fn a_process_of_another_user_is_forbidden_and_not_gone() {
    // Whoever runs the tests, both users are needed. As root: a process of root's, and a program
    // that has given up being root. Otherwise the rules of the mapping are all that can be tried,
    // and they are tried beside the code.
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let world = World::new();
    let target = world.start("m", sleep()).await;
    let shared = tempfile::tempdir().expect("a folder");
    let program = shared.path().join("program");
    std::fs::copy(std::env::current_exe().expect("this program"), &program).expect("a copy");
    open_up(shared.path());
    open_up(&program);
    let marker = target.marker.clone().unwrap_or_default();
    // Once as usual, and once where other users' processes are hidden: that looks like an absence.
    let hidden = "mount -t proc -o hidepid=2 proc /proc && exec \"$@\"";
    let hiding = ["unshare", "--mount", "sh", "-c", hidden, "sh"];
    let can_hide = Command::new(hiding[0])
        .args(&hiding[1..])
        .arg("true")
        .status();
    let mut ways = vec![(vec!["env"], Answer::Present(Power::Running))];
    if can_hide.is_ok_and(|status| status.success()) {
        // A root that may not mount, as in most containers, cannot hide them either.
        ways.push((hiding.to_vec(), Answer::Unknown(Cause::Forbidden)));
    }
    for (way, expected) in ways {
        let output = Command::new(way[0])
            .args(&way[1..])
            .arg("setpriv")
            .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
            .arg(&program)
            .args(["--ignored", "--exact", "identity::as_another_user"])
            .env("OF_ROOT", format!("{} {marker}", target.provider_id))
            .env("EXPECTED", format!("{expected:?}"))
            .env_remove("TMPDIR")
            .current_dir("/")
            .output()
            .expect("the program as another user");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{said}");
        assert!(said.contains("1 passed"), "{said}");
    }
    assert!(runs(&target.provider_id), "unharmed");
}

#[tokio::test]
#[ignore = "a part of `a_process_of_another_user_is_forbidden_and_not_gone`, which runs it"]
async fn as_another_user() {
    let of_root = std::env::var("OF_ROOT").expect("run by the other test");
    let expected = std::env::var("EXPECTED").expect("run by the other test");
    let (pid, marker) = of_root.split_once(' ').expect("a process and its marker");
    let world = World::new();
    let mut target = elsewhere(&world, pid);
    target.marker = Some(marker.to_owned());
    let seen = world.provider.observe(&target).await;
    assert_eq!(format!("{:?}", seen.answer), expected);
    for ended in [
        world.provider.stop_compute(&target).await,
        world.provider.destroy_compute(&target).await,
    ] {
        let Err(ProviderError::Refused { cause, .. }) = ended else {
            panic!("{ended:?}");
        };
        assert_eq!(cause, Cause::Forbidden);
    }
    let seen = world.provider.observe(&target).await;
    assert_eq!(format!("{:?}", seen.answer), expected);
}

/// A process that no provider started.
struct Foreign(Child);

impl Foreign {
    fn start(command: &mut Command) -> Self {
        let quiet = command.stdin(Stdio::null()).stdout(Stdio::null());
        Self(quiet.spawn().expect("a process"))
    }

    fn id(&self) -> String {
        self.0.id().to_string()
    }

    fn runs(&mut self) -> bool {
        matches!(self.0.try_wait(), Ok(None))
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn elsewhere(world: &World, pid: &str) -> Target {
    Target {
        machine: machine("never-started"),
        generation: 1,
        provider_id: pid.to_owned(),
        marker: None,
        scope: world.provider.scope().expect("a scope"),
        volume_id: None,
    }
}

/// The marker of a process that began one tick before.
fn earlier(marker: &str) -> String {
    let (boot, ticks) = marker.rsplit_once(':').expect("a marker");
    let ticks: u64 = ticks.parse().expect("ticks");
    format!("{boot}:{}", ticks - 1)
}

fn open_up(path: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let all = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(path, all).expect("permissions");
}
