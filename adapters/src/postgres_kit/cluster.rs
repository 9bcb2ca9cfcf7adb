//! How is a throw-away server made, started and stopped?

use core::time::Duration;
use std::env;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Instant;

use super::account::Account;
use super::address::Address;
use super::binaries::Binaries;
use super::client;
use super::error::StartError;
use super::options::Options;
use super::random;

/// A data folder and how to run a server on it.
#[derive(Debug)]
pub(super) struct Cluster {
    home: PathBuf,
    binaries: Binaries,
    account: Account,
    options: Options,
    port: u16,
}

impl Cluster {
    /// Makes the data folder in `home`, which the caller has claimed.
    pub(super) fn create(
        home: &Path,
        binaries: Binaries,
        account: Account,
        options: Options,
    ) -> Result<Self, StartError> {
        let cluster = Self {
            home: home.to_path_buf(),
            binaries,
            account,
            options,
            port: 0,
        };
        let data = data_in(home);
        DirBuilder::new()
            .mode(0o700)
            .create(&data)
            .map_err(StartError::io("create", &data))?;
        cluster.account.own(&data)?;
        let mut initdb = cluster.command("initdb")?;
        initdb
            .args(["--username=postgres", "--auth=trust", "--encoding=UTF8"])
            .args(["--no-locale", "--no-sync"]);
        let status = cluster
            .spawn("initdb", &mut initdb)?
            .wait()
            .map_err(StartError::io("await", "initdb"))?;
        if !status.success() {
            return Err(cluster.failed("initdb", 0));
        }
        Ok(cluster)
    }

    /// Starts the server for the first time, on a port that is then kept.
    pub(super) fn launch_anywhere(&mut self) -> Result<Child, StartError> {
        let mut attempts = 0;
        loop {
            attempts += 1;
            self.port = random::port().ok_or_else(|| StartError::Failed {
                program: "postgres",
                said: "no free port on 127.0.0.1".to_owned(),
            })?;
            match self.launch() {
                // Between the look at the port and its use somebody else was faster.
                Err(StartError::Failed { program: _, said })
                    if attempts < 5 && said.contains("Address already in use") => {}
                outcome => return outcome,
            }
        }
    }

    /// Starts the server and returns when it answers.
    pub(super) fn launch(&self) -> Result<Child, StartError> {
        let said_before = self.log()?.metadata().map_or(0, |log| log.len());
        let mut command = self.command("postgres")?;
        let port = self.port.to_string();
        let fixed = [
            ("listen_addresses", "127.0.0.1"),
            ("port", &port),
            // Debian's default folder belongs to the packaged server.
            ("unix_socket_directories", ""),
            ("max_connections", "200"),
            ("timezone", "UTC"),
            ("log_timezone", "UTC"),
            // In the data folder, where nothing outlives a `kill -9`, not in /dev/shm.
            ("dynamic_shared_memory_type", "mmap"),
        ];
        for (name, value) in fixed.into_iter().chain(self.options.all()) {
            command.arg("-c").arg(format!("{name}={value}"));
        }
        let mut postmaster = self.spawn("postgres", &mut command)?;
        let begun = Instant::now();
        while !answers(self.port, &self.home) {
            let ended = postmaster.try_wait();
            if !matches!(ended, Ok(None)) || begun.elapsed() > START_LIMIT {
                let _may_have_ended = postmaster.kill();
                let _status = postmaster.wait();
                return Err(self.failed("postgres", said_before));
            }
            thread::sleep(Duration::from_millis(15));
        }
        Ok(postmaster)
    }

    pub(super) fn address(&self) -> Address {
        Address::loopback(self.port)
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// Prepares one of the server's programs, free of what the caller's
    /// environment (`PGDATA`, `PGPORT`, languages) would make it do.
    fn command(&self, program: &str) -> Result<Command, StartError> {
        let mut command = Command::new(self.binaries.program(program));
        command.env_clear().env("LC_ALL", "C");
        for name in ["PATH", "LD_LIBRARY_PATH"] {
            if let Some(value) = env::var_os(name) {
                command.env(name, value);
            }
        }
        command
            .arg("-D")
            .arg(data_in(&self.home))
            .current_dir(&self.home)
            .stdin(Stdio::null())
            .stdout(self.log()?)
            .stderr(self.log()?)
            // Its own group: nextest and terminals signal the group of the test.
            .process_group(0);
        self.account.apply(&mut command);
        Ok(command)
    }

    fn spawn(&self, program: &str, command: &mut Command) -> Result<Child, StartError> {
        let path = self.binaries.program(program);
        command.spawn().map_err(|error| {
            if error.kind() == io::ErrorKind::PermissionDenied {
                let account = self.account.name();
                StartError::Forbidden { account, path }
            } else {
                StartError::io("run", path)(error)
            }
        })
    }

    fn log(&self) -> Result<File, StartError> {
        let path = self.home.join("log");
        OpenOptions::new()
            .create(true)
            .append(true)
            .read(true)
            .open(&path)
            .map_err(StartError::io("open", path))
    }

    fn failed(&self, program: &'static str, said_before: u64) -> StartError {
        let mut said = Vec::new();
        let read = self.log().map(|mut log| {
            log.seek(SeekFrom::Start(said_before))
                .and_then(|_| log.read_to_end(&mut said))
        });
        let said = match read {
            Ok(Ok(_)) => String::from_utf8_lossy(&said).into_owned(),
            Ok(Err(_)) | Err(_) => "its log cannot be read".to_owned(),
        };
        let lines: Vec<_> = said
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .collect();
        StartError::Failed {
            program,
            said: lines[lines.len().saturating_sub(6)..].join(" | "),
        }
    }
}

/// Says whether the server of this very folder answers on the port, which
/// somebody else may have taken meanwhile.
pub(super) fn answers(port: u16, home: &Path) -> bool {
    let sql = "select current_setting('data_directory')";
    let answer = client::query(&Address::loopback(port), "postgres", sql, ANSWER_LIMIT);
    matches!(answer, Ok(Some(folder)) if Path::new(&folder) == data_in(home))
}

fn data_in(home: &Path) -> PathBuf {
    home.join("data")
}

const START_LIMIT: Duration = Duration::from_secs(60);
const ANSWER_LIMIT: Duration = Duration::from_secs(10);
