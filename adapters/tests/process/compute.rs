//! Processes that run, pause, end and are ended.

use core::time::Duration;
use std::time::Instant;

use lifecycle_adapters::{
    process::StartOptions,
    provider::{Delivered, Provider as _, Seen, Target},
};
use lifecycle_core::{Answer, Power, Proof};
use rustix::process::Signal;

use crate::kit::{World, runs, script, signal, sleep, state, until, until_file};

const RUNNING: Answer = Answer::Present(Power::Running);
const SUSPENDED: Answer = Answer::Present(Power::Suspended);
const TOMBSTONE: Answer = Answer::Absent(Proof::Tombstone);
const NOT_FOUND: Answer = Answer::Absent(Proof::TypedNotFound);

#[tokio::test]
async fn a_process_that_runs_is_a_running_machine() {
    let world = World::new();
    let target = world.start("m", sleep()).await;
    let seen = world.provider.observe(&target).await;
    let expected = Seen {
        answer: RUNNING,
        scope: Some(target.scope.clone()),
        marker: target.marker.clone(),
    };
    assert_eq!(seen, expected);
    assert_eq!(world.provider.scope().expect("a scope"), target.scope);
}

#[tokio::test]
async fn a_process_stopped_by_a_signal_is_a_suspended_machine_until_it_is_continued() {
    let world = World::new();
    let target = world.start("m", sleep()).await;
    signal(&target, Signal::STOP);
    until("stopped", || state(&target.provider_id) == Some('T'));
    check(&world, &target, SUSPENDED).await;
    signal(&target, Signal::CONT);
    until("continued", || state(&target.provider_id) != Some('T'));
    check(&world, &target, RUNNING).await;
}

#[tokio::test]
async fn a_process_killed_from_outside_is_a_tombstone_and_no_zombie_is_left() {
    let world = World::new();
    let target = world.start("m", sleep()).await;
    signal(&target, Signal::KILL);
    until("a zombie", || state(&target.provider_id) == Some('Z'));
    check(&world, &target, TOMBSTONE).await;
    assert_eq!(state(&target.provider_id), None, "it was reaped");
    check(&world, &target, TOMBSTONE).await;
}

#[tokio::test]
async fn what_was_seen_to_end_is_a_tombstone_for_the_next_program_too() {
    let world = World::new();
    let target = world.start("m", sleep()).await;
    signal(&target, Signal::KILL);
    until("a zombie", || state(&target.provider_id) == Some('Z'));
    check(&world, &target, TOMBSTONE).await;
    assert_eq!(world.reopen().observe(&target).await.answer, TOMBSTONE);
}

#[tokio::test]
async fn a_process_that_ended_unseen_is_not_found() {
    let world = World::new();
    let target = world.start("m", sleep()).await;
    signal(&target, Signal::KILL);
    // Its parent is this program: it reaps it as any parent would, without a word to the provider.
    let options = rustix::process::WaitOptions::empty();
    let reaped = rustix::process::waitpid(Some(crate::kit::pid(&target)), options);
    assert!(matches!(reaped, Ok(Some(_))));
    check(&world, &target, NOT_FOUND).await;
    let delivered = world.provider.destroy_compute(&target).await;
    assert_eq!(delivered, Ok(Delivered::NotFound(Proof::TypedNotFound)));
}

#[tokio::test]
async fn a_program_that_ends_by_itself_is_a_tombstone() {
    let world = World::new();
    let none: [&str; 0] = [];
    let target = world.start("m", StartOptions::new("true", none)).await;
    until("ended", || !runs(&target.provider_id));
    check(&world, &target, TOMBSTONE).await;
}

#[tokio::test]
async fn a_stop_is_polite_first() {
    let world = World::new();
    let text = "trap 'echo bye > said; exit 0' TERM; echo > ready; while :; do sleep 0.02; done";
    let target = world.start("m", script("v", text)).await;
    until_file(&world.path("volumes/v/ready"));
    let begun = Instant::now();
    let stopped = world.provider.stop_compute(&target).await;
    assert_eq!(stopped, Ok(Delivered::Accepted));
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert_eq!(until_file(&world.path("volumes/v/said")), "bye");
    check(&world, &target, TOMBSTONE).await;
    let again = world.provider.stop_compute(&target).await;
    assert_eq!(again, Ok(Delivered::NotFound(Proof::Tombstone)));
}

#[tokio::test]
async fn a_stop_that_is_ignored_becomes_hard_at_the_limit() {
    let world = World::new().with_stop_limit(Duration::from_millis(300));
    let target = world.start("m", script("v", DEAF)).await;
    until_file(&world.path("volumes/v/ready"));
    let begun = Instant::now();
    let stopped = world.provider.stop_compute(&target).await;
    assert_eq!(stopped, Ok(Delivered::Accepted));
    assert!(
        begun.elapsed() >= Duration::from_millis(300),
        "not before the limit"
    );
    assert!(!runs(&target.provider_id));
    check(&world, &target, TOMBSTONE).await;
}

#[tokio::test]
async fn a_stop_interrupted_again_and_again_still_becomes_hard() {
    let world = World::new().with_stop_limit(Duration::from_millis(600));
    let target = world.start("m", script("v", DEAF)).await;
    until_file(&world.path("volumes/v/ready"));
    for _ in 0..3 {
        let call = world.provider.stop_compute(&target);
        let cut = tokio::time::timeout(Duration::from_millis(100), call).await;
        assert!(cut.is_err(), "the caller had no patience");
    }
    check(&world, &target, RUNNING).await;
    // Another program goes on where the first was interrupted.
    let next = world.reopen().with_stop_limit(Duration::from_millis(600));
    let begun = Instant::now();
    assert_eq!(next.stop_compute(&target).await, Ok(Delivered::Accepted));
    assert!(
        begun.elapsed() < Duration::from_millis(550),
        "only the rest was waited for"
    );
    check(&world, &target, TOMBSTONE).await;
}

#[tokio::test]
async fn a_dropped_stop_signals_nothing_behind_the_callers_back() {
    let world = World::new().with_stop_limit(Duration::from_millis(100));
    let target = world.start("m", script("v", DEAF)).await;
    until_file(&world.path("volumes/v/ready"));
    let call = world.provider.stop_compute(&target);
    assert!(
        tokio::time::timeout(Duration::from_millis(40), call)
            .await
            .is_err()
    );
    tokio::time::sleep(Duration::from_millis(300)).await;
    check(&world, &target, RUNNING).await;
}

#[tokio::test]
async fn a_paused_machine_can_act_on_a_stop() {
    let world = World::new();
    let text = "trap 'echo bye > said; exit 0' TERM; echo > ready; while :; do sleep 0.02; done";
    let target = world.start("m", script("v", text)).await;
    until_file(&world.path("volumes/v/ready"));
    signal(&target, Signal::STOP);
    until("stopped", || state(&target.provider_id) == Some('T'));
    let stopped = world.provider.stop_compute(&target).await;
    assert_eq!(stopped, Ok(Delivered::Accepted));
    assert_eq!(until_file(&world.path("volumes/v/said")), "bye");
}

#[tokio::test]
async fn a_destroy_is_hard_at_once_and_leaves_the_volume() {
    let world = World::new();
    let target = world.start("m", script("v", DEAF)).await;
    until_file(&world.path("volumes/v/ready"));
    let begun = Instant::now();
    let destroyed = world.provider.destroy_compute(&target).await;
    assert_eq!(destroyed, Ok(Delivered::Accepted));
    assert!(begun.elapsed() < Duration::from_secs(2));
    assert!(!runs(&target.provider_id));
    assert!(world.path("volumes/v/ready").exists());
    let again = world.provider.destroy_compute(&target).await;
    assert_eq!(again, Ok(Delivered::NotFound(Proof::Tombstone)));
}

#[tokio::test]
async fn a_paused_machine_is_destroyed_too() {
    let world = World::new();
    let target = world.start("m", sleep()).await;
    signal(&target, Signal::STOP);
    until("stopped", || state(&target.provider_id) == Some('T'));
    let destroyed = world.provider.destroy_compute(&target).await;
    assert_eq!(destroyed, Ok(Delivered::Accepted));
    check(&world, &target, TOMBSTONE).await;
}

#[tokio::test]
async fn what_a_machine_started_ends_with_it() {
    let world = World::new();
    // One child as usual, and one in a session of its own.
    let text = "sleep 600 & a=$!; setsid sleep 600 & echo $a $! > ready; wait";
    for (name, stops) in [("stopped", true), ("destroyed", false)] {
        let target = world.start(name, script(name, text)).await;
        let ready = until_file(&world.path(&format!("volumes/{name}/ready")));
        let children: Vec<&str> = ready.split(' ').collect();
        assert!(children.iter().all(|pid| runs(pid)));
        let ended = if stops {
            world.provider.stop_compute(&target).await
        } else {
            world.provider.destroy_compute(&target).await
        };
        assert_eq!(ended, Ok(Delivered::Accepted));
        until("no child", || !children.iter().any(|pid| runs(pid)));
    }
}

#[tokio::test]
async fn what_a_killed_machine_left_behind_ends_with_its_destroy() {
    let world = World::new();
    let target = world
        .start("m", script("v", "sleep 600 & echo $! > ready; wait"))
        .await;
    let child = until_file(&world.path("volumes/v/ready"));
    signal(&target, Signal::KILL);
    until("a zombie", || state(&target.provider_id) == Some('Z'));
    check(&world, &target, TOMBSTONE).await;
    assert!(runs(&child), "looking ends nothing");
    let destroyed = world.provider.destroy_compute(&target).await;
    assert_eq!(destroyed, Ok(Delivered::NotFound(Proof::Tombstone)));
    until("no child", || !runs(&child));
}

async fn check(world: &World, target: &Target, expected: Answer) {
    let seen = world.provider.observe(target).await;
    assert_eq!(seen.answer, expected);
    assert_eq!(seen.scope.as_ref(), Some(&target.scope));
}

const DEAF: &str = "trap '' TERM; echo > ready; while :; do sleep 0.02; done";
