//! Does the kit keep its promises, with servers shared between processes that
//! end in every way?
//!
//! Processes are played by this very test binary, started again with only
//! [`a_process_that_uses_a_server`]; each test gives them a `TMPDIR` of its own,
//! so that they never meet the server of the run that they are part of.

mod players;

use core::time::Duration;
use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::io::{Read, Write, stdin, stdout};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::{env, thread};

use lifecycle_adapters::postgres_kit::{Durability, Options, Server};
use players::{Place, ROLE, User, busy_session};

#[test]
fn two_processes_at_once_get_the_same_server_and_the_last_one_takes_it_along() {
    let place = Place::new("two");
    let first = User::start(&place, "shared", &[]);
    let second = User::start(&place, "shared", &[]);
    let (first, second) = (first.ready(), second.ready());
    assert_eq!(first.url, second.url);
    first.end();
    thread::sleep(Duration::from_secs(5));
    assert!(second.server_answers(), "the second process still uses it");
    second.end();
    place.becomes_empty();
}

#[test]
fn a_process_that_comes_shortly_after_the_last_one_finds_its_server() {
    let place = Place::new("after");
    let first = User::start(&place, "shared", &[]).ready();
    let url = first.url.clone();
    first.end();
    let second = User::start(&place, "shared", &[]).ready();
    assert_eq!(second.url, url);
    second.end();
    place.becomes_empty();
}

#[test]
fn a_shared_server_ends_when_its_users_are_killed() {
    let place = Place::new("killed");
    let first = User::start(&place, "shared", &[]);
    let second = User::start(&place, "shared", &[]);
    let (first, second) = (first.ready(), second.ready());
    first.kill();
    second.kill();
    place.becomes_empty();
}

#[test]
fn a_process_killed_while_it_starts_the_server_leaves_nothing() {
    let killed: Vec<Place> = [50, 150, 300, 450, 600, 750]
        .into_iter()
        .map(|wait| {
            let place = Place::new(&format!("starting-{wait}"));
            let user = User::start(&place, "shared", &[]);
            thread::sleep(Duration::from_millis(wait));
            user.kill();
            place
        })
        .collect();
    killed.iter().for_each(Place::becomes_empty);
}

#[test]
fn a_dead_shared_server_is_replaced() {
    let place = Place::new("dead");
    let first = User::start(&place, "shared", &[]).ready();
    place.kill_postmaster();
    let second = User::start(&place, "shared", &[]).ready();
    assert_ne!(first.url, second.url);
    assert!(second.server_answers());
    first.end();
    second.end();
    place.becomes_empty();
}

#[test]
fn a_private_server_ends_when_its_process_is_killed() {
    let place = Place::new("private");
    let user = User::start(&place, "private", &[]).ready();
    user.kill();
    place.becomes_empty();
}

#[test]
fn a_private_server_is_gone_after_drop() {
    let place = Place::new("drop");
    let user = User::start(&place, "dropped", &[]).ready();
    place.becomes_empty();
    user.end();
}

#[test]
fn a_private_server_keeps_port_and_commits_across_stop_and_kill() {
    let options = Options::default().durability(Durability::Kill);
    let mut server = Server::private(options.setting("work_mem", "5MB")).expect("it starts");
    let (url, port, first) = (server.admin_url(), server.port(), server.pid());
    server
        .execute("create table seen (row int)")
        .expect("it is up");

    server.stop().expect("it stops");
    assert_eq!(server.pid(), None);
    assert!(server.execute("insert into seen values (0)").is_err());
    server.start().expect("it starts again");
    server
        .execute("insert into seen values (1)")
        .expect("it is up");

    for _ in 0..5 {
        let mut busy = busy_session(port);
        server.kill().expect("it is killed");
        assert_eq!(server.pid(), None);
        let mut rest = Vec::new();
        let _reset_or_end = busy.read_to_end(&mut rest);
        server.start().expect("it recovers");
        server
            .execute("do $$ begin assert (select count(*) from seen) > 0; end $$")
            .expect("what was committed is there");
        server
            .execute("insert into seen values (2)")
            .expect("it is up");
    }
    server
        .execute("do $$ begin assert (select count(*) from seen) = 6; end $$")
        .expect("each commit is there");
    server
        .execute("do $$ begin assert current_setting('work_mem') = '5MB'; end $$")
        .expect("the setting is kept");
    assert_ne!(server.pid(), first);
    assert_eq!((server.admin_url(), server.port()), (url, port));
}

#[test]
fn many_threads_get_a_database_each() {
    let urls: Vec<String> = thread::scope(|scope| {
        let workers: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    let server = Server::shared().expect("there is a server");
                    let url = server.create_database("many").expect("it is created");
                    server.drop_database(&url).expect("it is dropped");
                    let again = server.drop_database(&url);
                    again.expect("it may be gone already");
                    url
                })
            })
            .collect();
        workers
            .into_iter()
            .map(|it| it.join().expect("no panic"))
            .collect()
    });
    let distinct: BTreeSet<_> = urls.iter().collect();
    assert_eq!(distinct.len(), 8, "{urls:?}");
}

#[test]
fn a_refusal_says_what_the_server_said() {
    let server = Server::private(Options::default()).expect("it starts");
    let refused = server
        .execute("select 1 from nowhere")
        .expect_err("there is no such table");
    let said = refused.to_string();
    assert!(
        said.contains("relation \"nowhere\" does not exist"),
        "{said}"
    );
    assert!(server.major_version() >= 13, "{}", server.version());
}

#[test]
fn the_server_does_not_run_as_root() {
    let mut server = Server::private(Options::default()).expect("it starts");
    let pid = server.pid().expect("it runs");
    let owner = fs::metadata(format!("/proc/{pid}")).expect("it runs").uid();
    assert_ne!(owner, 0);
}

#[test]
fn database_url_names_the_server_to_use() {
    let place = Place::new("named");
    let server = Server::private(Options::default()).expect("it starts");
    let url = server.url("postgres");
    let user = User::start(&place, "shared", &[("DATABASE_URL", &url)]).ready();
    assert_eq!(user.port(), server.port());
    user.end();
    place.becomes_empty();
}

#[test]
fn a_server_that_asks_for_a_password_gets_the_one_of_database_url() {
    let place = Place::new("password");
    let rules = place.folder().join("rules");
    fs::write(
        &rules,
        "host all postgres 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 password\n",
    )
    .expect("the folder is ours");
    let path = rules.to_str().expect("the path is text");
    let options = Options::default().setting("hba_file", path);
    let server = Server::private(options).expect("it starts");
    server
        .execute("create role me login createdb password 'p@ss'")
        .expect("it is created");
    let port = server.port();
    for (password, works) in [("p%40ss", true), ("wrong", false)] {
        let url = format!("postgres://me:{password}@127.0.0.1:{port}/postgres");
        let user = User::start(&place, "shared", &[("DATABASE_URL", &url)]);
        let (ready, said) = user.outcome();
        assert_eq!(ready.is_some(), works, "{said}");
        ready.into_iter().for_each(User::end);
    }
}

#[test]
fn what_is_wrong_with_the_environment_is_said_in_one_line() {
    let place = Place::new("wrong");
    for (name, value, expected) in [
        (
            "LIFECYCLE_PG_BIN",
            "/nowhere",
            "LIFECYCLE_PG_BIN is /nowhere, which does not hold",
        ),
        (
            "DATABASE_URL",
            "sqlite://a",
            "DATABASE_URL is not a Postgres URL",
        ),
        (
            "DATABASE_URL",
            "postgres://me@127.0.0.1:1/a",
            "the server of DATABASE_URL",
        ),
    ] {
        let (ready, said) = User::start(&place, "shared", &[(name, value)]).outcome();
        assert!(ready.is_none());
        assert!(said.contains(&format!("no-server: {expected}")), "{said}");
    }
}

#[test]
fn a_start_that_fails_leaves_nothing_but_an_empty_lock() {
    let place = Place::new("fails");
    let (ready, said) = User::start(&place, "shared", &[("PATH", "/nowhere")]).outcome();
    assert!(ready.is_none());
    assert!(said.contains("no-server: `sh` not found on PATH"), "{said}");
    let left = place.entries();
    let is_lock = |path: &Path| path.extension().is_some_and(|suffix| suffix == "lock");
    assert!(left.iter().all(|path| is_lock(path)), "{left:?}");

    let server = Server::private(Options::default().setting("no_such", "1"));
    let said = server.expect_err("there is no such parameter").to_string();
    assert!(
        said.contains("unrecognized configuration parameter"),
        "{said}"
    );
    assert_eq!(said.lines().count(), 1);
}

#[test]
fn a_state_folder_that_others_may_write_is_refused() {
    let place = Place::new("foreign");
    let uid = fs::metadata("/proc/self").expect("Linux has it").uid();
    let planted = place.folder().join(format!("postgres-kit-{uid}"));
    fs::create_dir(&planted).expect("the folder is ours");
    fs::set_permissions(&planted, Permissions::from_mode(0o777)).expect("it is ours");
    let (ready, said) = User::start(&place, "shared", &[]).outcome();
    assert!(ready.is_none());
    assert!(said.contains("writable by others"), "{said}");
}

/// Not a test of its own: what the processes of the other tests do. It returns
/// at once in a normal run, and says which server it got when it is asked to.
#[test]
fn a_process_that_uses_a_server() {
    let Ok(role) = env::var(ROLE) else { return };
    let started = match role.as_str() {
        "shared" => Server::shared().map(|server| (server.url("postgres"), Some(server), None)),
        "private" => Server::private(Options::default())
            .map(|server| (server.url("postgres"), None, Some(server))),
        _ => Server::private(Options::default()).map(|server| (server.url("postgres"), None, None)),
    };
    match &started {
        Ok((url, shared, _)) => {
            if let Some(server) = shared {
                server.create_database("used").expect("it is created");
            }
            writeln!(stdout(), "\nserver: {url}").expect("the parent listens");
        }
        Err(error) => writeln!(stdout(), "\nno-server: {error}").expect("the parent listens"),
    }
    stdout().flush().expect("the parent listens");
    if started.is_ok() {
        let _until_the_parent_closes_it = stdin().read(&mut [0]);
    }
}

#[test]
fn every_file_says_which_question_it_answers() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/postgres_kit");
    for file in fs::read_dir(root).expect("it exists").flatten() {
        let text = fs::read_to_string(file.path()).expect("it is text");
        assert!(text.starts_with("//! "), "{file:?}");
        assert!(text.lines().count() <= 250, "{file:?}");
    }
}
