//! Machines are made once.

use std::fs;

use lifecycle_adapters::{
    process::{Output, ProcessError, ProcessProvider, StartOptions},
    provider::{Completeness, Provider as _},
};
use lifecycle_core::{Answer, Power, Proof};
use rustix::process::Signal;

use crate::kit::{
    World, machine, runs, script, signal, sleep, sleep_on, state, until, until_file, volume,
};

#[tokio::test]
async fn the_same_incarnation_started_twice_is_one_process() {
    let world = World::new();
    let first = world.start("m", sleep_on("v")).await;
    let second = world.start("m", sleep_on("v")).await;
    assert_eq!(first, second);
    let next = world.reopen().start(&machine("m"), 1, sleep()).await;
    assert_eq!(next.expect("a machine").target(machine("m"), 1), first);
}

#[tokio::test]
async fn many_programs_that_start_the_same_at_once_make_one_process() {
    let world = World::new();
    let starting: Vec<_> = (0..8)
        .map(|_| {
            let provider = world.reopen();
            tokio::spawn(async move { provider.start(&machine("m"), 1, sleep()).await })
        })
        .collect();
    let mut started = Vec::new();
    for one in starting {
        started.push(one.await.expect("a task").expect("a machine"));
    }
    world.note(&started[0].target(machine("m"), 1));
    started.dedup();
    assert_eq!(started.len(), 1);
}

#[tokio::test]
async fn an_incarnation_that_ended_is_not_started_again_but_the_next_one_is() {
    let world = World::new();
    let first = world.start("m", sleep_on("v")).await;
    world
        .provider
        .destroy_compute(&first)
        .await
        .expect("an end");
    assert_eq!(world.start("m", sleep_on("v")).await, first);
    assert!(!runs(&first.provider_id));
    let next = world.provider.start(&machine("m"), 2, sleep_on("v")).await;
    let next = next.expect("a machine").target(machine("m"), 2);
    world.note(&next);
    assert!(runs(&next.provider_id));
    assert_eq!(next.volume_id, first.volume_id);
    let seen = world.provider.observe(&first).await;
    assert_eq!(seen.answer, Answer::Absent(Proof::Tombstone));
}

#[tokio::test]
async fn a_program_killed_between_making_a_process_and_noting_it_finds_it_again() {
    let world = World::new();
    // A child that carries the same token must not be taken for the machine.
    let target = world
        .start("m", script("v", "setsid sleep 600 & echo > ready; wait"))
        .await;
    until_file(&world.path("volumes/v/ready"));
    let entry = world.entry(&target);
    let whole = fs::read_to_string(&entry).expect("an entry");
    for lists in [false, true] {
        fs::write(&entry, unnoted(&whole)).expect("an entry");
        let next = world.reopen();
        if lists {
            let listing = next.list().await.expect("a listing");
            assert_eq!(listing.completeness, Completeness::Complete);
            assert_eq!(listing.machines.len(), 1);
            assert_eq!(listing.machines[0].provider_id, target.provider_id);
        } else {
            let again = next
                .start(&machine("m"), 1, sleep())
                .await
                .expect("a machine");
            assert_eq!(again.target(machine("m"), 1), target);
        }
        assert_eq!(fs::read_to_string(&entry).expect("an entry"), whole);
    }
}

#[tokio::test]
async fn a_program_killed_before_it_made_a_process_makes_it_when_asked_again() {
    let world = World::new();
    let first = world.start("m", sleep()).await;
    world
        .provider
        .destroy_compute(&first)
        .await
        .expect("an end");
    let entry = world.entry(&first);
    let whole = fs::read_to_string(&entry).expect("an entry");
    fs::write(&entry, unnoted(&whole)).expect("an entry");
    let listing = world.provider.list().await.expect("a listing");
    assert_eq!(listing.machines, []);
    assert_eq!(listing.completeness, Completeness::Complete);
    let second = world.start("m", sleep()).await;
    assert!(runs(&second.provider_id));
    assert_ne!(second.provider_id, first.provider_id);
}

#[tokio::test]
async fn a_program_that_does_not_exist_leaves_nothing() {
    let world = World::new();
    let none: [&str; 0] = [];
    let mut options = StartOptions::new("/no/such/program", none);
    options.volume = volume("v");
    let failed = world.provider.start(&machine("m"), 1, options).await;
    assert!(matches!(failed, Err(ProcessError::Io { .. })), "{failed:?}");
    assert!(!world.path("volumes/v").exists());
    assert_eq!(
        fs::read_dir(world.path("machines"))
            .expect("machines")
            .count(),
        0
    );
    world.start("m", sleep_on("v")).await;
}

#[tokio::test]
async fn a_machine_has_its_own_group_its_volume_and_nearly_no_environment() {
    let world = World::new();
    let text = "env > environment; pwd -P > place; echo > ready; exec sleep 600";
    let mut options = script("v", text);
    options.output = Output::Log;
    let target = world.start("m", options).await;
    until_file(&world.path("volumes/v/ready"));
    let environment = fs::read_to_string(world.path("volumes/v/environment")).expect("a file");
    let mut names: Vec<_> = environment
        .lines()
        .filter_map(|line| line.split_once('='))
        .collect();
    names.retain(|(name, _)| !matches!(*name, "PWD" | "_" | "SHLVL" | "OLDPWD"));
    let mut names: Vec<_> = names.into_iter().map(|(name, _)| name).collect();
    names.sort_unstable();
    assert_eq!(names, ["LIFECYCLE_TOKEN", "PATH"]);
    let place = fs::read_to_string(world.path("volumes/v/place")).expect("a file");
    let expected = world.path("volumes/v").canonicalize().expect("a folder");
    assert_eq!(place.trim(), expected.to_str().expect("a path"));
    let stat = fs::read_to_string(format!("/proc/{}/stat", target.provider_id)).expect("a process");
    let group = stat
        .rsplit_once(") ")
        .and_then(|(_, rest)| rest.split(' ').nth(2));
    assert_eq!(group, Some(target.provider_id.as_str()));
}

#[tokio::test]
async fn output_goes_to_a_log_where_it_is_wanted() {
    let world = World::new();
    let mut options = StartOptions::new("sh", ["-c", "echo out; echo err >&2"]);
    options.output = Output::Log;
    let target = world.start("m", options).await;
    until("ended", || !runs(&target.provider_id));
    let log = world.entry(&target).with_extension("log");
    assert_eq!(fs::read_to_string(log).expect("a log"), "out\nerr\n");
}

#[tokio::test]
async fn the_next_program_sees_pauses_and_ends_the_machines_of_its_predecessor() {
    let world = World::new();
    let target = world.start("m", sleep_on("v")).await;
    let next = ProcessProvider::open(world.path("")).expect("a root");
    let seen = next.observe(&target).await;
    assert_eq!(seen.answer, Answer::Present(Power::Running));
    signal(&target, Signal::STOP);
    until("stopped", || state(&target.provider_id) == Some('T'));
    let seen = next.observe(&target).await;
    assert_eq!(seen.answer, Answer::Present(Power::Suspended));
    next.stop_compute(&target).await.expect("a stop");
    assert!(!runs(&target.provider_id));
    next.destroy_volume(&target).await.expect("an end");
    assert!(!world.path("volumes/v").exists());
}

#[tokio::test]
async fn machines_of_any_name_are_kept_apart() {
    let world = World::new();
    let long = "ü".repeat(200);
    let names = [
        "..",
        "../../etc",
        "/",
        "a/b",
        "a b",
        "ab",
        "\"",
        "💥",
        &long,
    ];
    let mut ids = Vec::new();
    for name in names {
        ids.push(world.start(name, sleep()).await.provider_id);
    }
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), names.len());
    let listing = world.reopen().list().await.expect("a listing");
    assert_eq!(listing.machines.len(), names.len());
}

/// The entry as it is written before its process is made.
fn unnoted(whole: &str) -> String {
    let (before, rest) = whole.split_once("\"process\":{").expect("a process");
    let (_, after) = rest.split_once('}').expect("its end");
    format!("{before}\"process\":null{after}").replace("\"ended\":true", "\"ended\":false")
}
