//! If the service is killed again and again at random moments, is everything right in the end?
//!
//! The service runs as a process of its own over a real database and over a world that outlives it: a
//! folder in which a machine is a file. It is killed with SIGKILL, started again, and killed again;
//! then one run is left in peace, and the database is compared with the world.
//!
//! `LIFECYCLE_KILLS=2000 cargo test --test kills` is the long form.

mod database;
mod service;
mod verdict;
mod world;

use core::time::Duration;
use std::{
    env,
    process::{Child, Command, Stdio},
    thread,
    time::Instant,
};

use database::Database;

fn main() {
    if let Ok(seed) = env::var(CHILD) {
        let seed = seed.parse().expect("the parent passes a number");
        block_on(service::live(&Database::of_environment(), seed));
        return;
    }
    // Like the harness that this stands in for, it can be asked what it holds, and for a part of it.
    let arguments: Vec<String> = env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--list") {
        println!("over_sqlite: test\nover_postgres: test");
        return;
    }
    let is_meant = |name: &str| {
        let mut names = arguments
            .iter()
            .filter(|argument| !argument.starts_with('-'))
            .peekable();
        names.peek().is_none() || names.any(|wanted| name.contains(wanted.as_str()))
    };
    let mut passed = 0;
    if is_meant("over_sqlite") {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let database = Database::sqlite(
            &folder.path().join("service.db"),
            &folder.path().join("world"),
        );
        killed_again_and_again("over_sqlite", &database);
        passed += 1;
    }
    if is_meant("over_postgres") {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let server = lifecycle_adapters::postgres_kit::Server::shared()
            .unwrap_or_else(|error| panic!("{error}"));
        let url = server.create_database("kills").expect("a new database");
        let database = Database::postgres(&url, &folder.path().join("world"));
        killed_again_and_again("over_postgres", &database);
        passed += 1;
    }
    println!("\n{passed} passed, 0 failed");
}

fn killed_again_and_again(name: &str, database: &Database) {
    let kills = env::var("LIFECYCLE_KILLS").map_or(40, |text| {
        text.parse().expect("LIFECYCLE_KILLS is a number")
    });
    let begun = Instant::now();
    let mut dice = world::Dice::new(0x5eed);
    block_on(database.prepare());
    for kill in 0..kills {
        let mut child = Running(start(database, kill));
        // From before the first statement to well into the story.
        thread::sleep(Duration::from_millis(20 + dice.below(180)));
        child.0.kill().expect("it is ours");
        let status = child.0.wait().expect("it was started");
        assert!(
            !status.success(),
            "the service ended by itself before kill {kill}"
        );
        use std::os::unix::process::ExitStatusExt as _;
        assert_eq!(
            status.signal(),
            Some(9),
            "the service fell over by itself before kill {kill}: {status}"
        );
    }
    let seen = block_on(verdict::after_recovery(database, kills));
    println!(
        "test {name}: {kills} kills, {seen}, {:.1} s ... ok",
        begun.elapsed().as_secs_f64()
    );
}

fn start(database: &Database, seed: u64) -> Child {
    Command::new(env::current_exe().expect("this program has a path"))
        .env(CHILD, seed.to_string())
        .envs(database.environment())
        .stdin(Stdio::null())
        .spawn()
        .expect("this program starts")
}

/// A child that does not outlive a test that fails.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // One that has ended already cannot be killed, which is as good.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn block_on<F: Future>(work: F) -> F::Output {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime")
        .block_on(work)
}

const CHILD: &str = "LIFECYCLE_KILLS_CHILD";
