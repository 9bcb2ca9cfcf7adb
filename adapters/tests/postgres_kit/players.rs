//! How does a test play processes that use a server and end in some way?

use core::time::Duration;
use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;
use std::{env, process, thread};

/// A fresh folder that stands for the OS's temporary one.
pub(crate) struct Place(PathBuf);

impl Place {
    pub(crate) fn new(name: &str) -> Self {
        let path = env::temp_dir().join(format!("kit-test-{name}-{}", process::id()));
        fs::create_dir(&path).expect("the temporary folder is writable");
        fs::set_permissions(&path, Permissions::from_mode(0o755)).expect("it is ours");
        Self(path)
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.0
    }

    pub(crate) fn entries(&self) -> Vec<PathBuf> {
        let bases = fs::read_dir(&self.0).expect("it exists").flatten();
        bases
            .filter(|base| base.path().is_dir())
            .flat_map(|base| fs::read_dir(base.path()).expect("it exists").flatten())
            .map(|entry| entry.path())
            .collect()
    }

    pub(crate) fn becomes_empty(&self) {
        let begun = Instant::now();
        loop {
            let (left, running) = (self.entries(), self.processes());
            if left.is_empty() && running.is_empty() {
                break;
            }
            assert!(begun.elapsed() < LIMIT, "{left:?} {running:?}");
            thread::sleep(Duration::from_millis(100));
        }
    }

    /// Everything that was started on a folder in this place, supervisors included.
    fn processes(&self) -> Vec<u32> {
        let place = self.0.to_str().expect("the path is text");
        let all = fs::read_dir("/proc").expect("Linux has it").flatten();
        all.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter(|pid| {
                let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
                String::from_utf8_lossy(&line).contains(place)
            })
            .collect()
    }

    pub(crate) fn kill_postmaster(&self) {
        let pids = self.processes().into_iter().filter(|pid| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains("/postgres\0-D")
        });
        for pid in pids {
            let killed = Command::new("sh")
                .args(["-c", &format!("kill -9 {pid}")])
                .status();
            assert!(killed.expect("sh is there").success());
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _kept_for_a_look_if_it_fails = fs::remove_dir_all(&self.0);
    }
}

/// A process that is told to use a server; `url` once it has one.
pub(crate) struct User {
    process: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    pub(crate) url: String,
}

impl User {
    pub(crate) fn start(place: &Place, role: &str, variables: &[(&str, &str)]) -> Self {
        let mut process = Command::new(env::current_exe().expect("Linux knows"))
            .args(["--exact", "a_process_that_uses_a_server", "--nocapture"])
            .env_remove("DATABASE_URL")
            .env("TMPDIR", &place.0)
            .env(ROLE, role)
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this binary runs");
        Self {
            stdin: process.stdin.take(),
            stdout: BufReader::new(process.stdout.take().expect("it is piped")),
            url: String::new(),
            process,
        }
    }

    pub(crate) fn ready(self) -> Self {
        let (ready, said) = self.outcome();
        ready.unwrap_or_else(|| panic!("{said}"))
    }

    pub(crate) fn outcome(mut self) -> (Option<Self>, String) {
        let mut said = String::new();
        for line in self.stdout.by_ref().lines().map_while(Result::ok) {
            if let Some(url) = line.strip_prefix("server: ") {
                self.url = url.to_owned();
                return (Some(self), said);
            }
            said.push_str(&line);
            said.push('\n');
        }
        self.process.wait().expect("it is our child");
        (None, said)
    }

    pub(crate) fn port(&self) -> u16 {
        let (_, rest) = self.url.rsplit_once(':').expect("the URL names a port");
        let (port, _) = rest.split_once('/').expect("the URL names a database");
        port.parse().expect("a port is a number")
    }

    pub(crate) fn server_answers(&self) -> bool {
        listens(self.port())
    }

    pub(crate) fn end(mut self) {
        drop(self.stdin.take());
        self.process.wait().expect("it is our child");
    }

    pub(crate) fn kill(mut self) {
        self.process.kill().expect("it is our child");
        self.process.wait().expect("it is our child");
    }
}

fn listens(port: u16) -> bool {
    TcpStream::connect(("127.0.0.1", port)).is_ok()
}

/// Logs in and leaves a long statement running, so that a kill meets a busy server.
pub(crate) fn busy_session(port: u16) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    let login = b"\0\x03\0\0user\0postgres\0\0";
    let sql = b"select count(*) from generate_series(1, 1000000000)\0";
    for (tag, body) in [(&b""[..], &login[..]), (b"Q", sql)] {
        let length = u32::try_from(body.len() + 4).expect("it is short");
        let message = [tag, &length.to_be_bytes(), body].concat();
        stream.write_all(&message).expect("it is up");
    }
    thread::sleep(Duration::from_millis(100));
    stream
}

/// Tells [`crate::a_process_that_uses_a_server`] what to do.
pub(crate) const ROLE: &str = "POSTGRES_KIT_ROLE";
/// Generous: the supervisor lingers three seconds, and the machine may be busy.
const LIMIT: Duration = Duration::from_secs(30);
