//! How does a test get a server that it may stop, start and kill?

use core::ops::Deref;
use core::time::Duration;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Instant;

use super::Server;
use super::account::Account;
use super::binaries::Binaries;
use super::cluster::Cluster;
use super::error::StartError;
use super::options::Options;
use super::place::{Home, Place};
use super::supervisor;

/// A server of one test; its port and data stay the same across restarts.
///
/// Stopped and removed on drop, and by its supervisor where the process ends
/// without dropping. A cloned [`Server`] does not keep it alive.
#[derive(Debug)]
pub struct PrivateServer {
    server: Server,
    cluster: Cluster,
    postmaster: Option<Child>,
    guard: Guard,
}

impl PrivateServer {
    /// Makes and starts a server, see [`Server::private`].
    pub(super) fn start_with(options: Options) -> Result<Self, StartError> {
        let binaries = Binaries::find()?.ok_or(StartError::NoBinaries)?;
        let account = Account::choose()?;
        let Home { folder, users } = Place::open(&account)?.new_home()?;
        // Before anything that could need cleaning up.
        let guard = Guard {
            supervisor: supervisor::spawn(&folder, None)?,
            users: Some(users),
        };
        let mut cluster = Cluster::create(&folder, binaries, account, options)?;
        let postmaster = Some(cluster.launch_anywhere()?);
        let server = Server::connect(cluster.address(), None).map_err(StartError::Unreachable)?;
        Ok(Self {
            server,
            cluster,
            postmaster,
            guard,
        })
    }

    /// Starts the server again and returns when it answers; nothing to do where it runs.
    ///
    /// # Errors
    /// When it does not come up, with the end of its log.
    pub fn start(&mut self) -> Result<(), StartError> {
        if self.pid().is_none() {
            self.postmaster = Some(self.cluster.launch()?);
        }
        Ok(())
    }

    /// Stops the server in order (Postgres's "fast" shutdown: clients are
    /// disconnected, open transactions rolled back) and returns when it has ended.
    ///
    /// # Errors
    /// When no signal can be sent.
    pub fn stop(&mut self) -> Result<(), StartError> {
        if let Some(pid) = self.pid() {
            signal("INT", &[pid])?;
            self.await_end(STOP_LIMIT)?;
        }
        Ok(())
    }

    /// Ends every process of the server at once with `kill -9`, as a crash would.
    ///
    /// # Errors
    /// When no signal can be sent.
    pub fn kill(&mut self) -> Result<(), StartError> {
        if let Some(pid) = self.pid() {
            // Frozen first, or it could fork a child that the list does not name.
            signal("STOP", &[pid])?;
            let children = children_of(pid);
            signal("KILL", &[&[pid], children.as_slice()].concat())?;
            self.await_end(STOP_LIMIT)?;
            // Recovery refuses to begin while a child is still attached.
            let begun = Instant::now();
            while children.iter().any(|child| runs(*child)) && begun.elapsed() < STOP_LIMIT {
                thread::sleep(POLL);
            }
        }
        Ok(())
    }

    /// Returns the process id of the postmaster, or `None` where it does not run.
    #[must_use]
    pub fn pid(&mut self) -> Option<u32> {
        let postmaster = self.postmaster.as_mut()?;
        matches!(postmaster.try_wait(), Ok(None)).then(|| postmaster.id())
    }

    /// Returns the port, the same for the whole life of the server.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.cluster.port()
    }

    fn await_end(&mut self, limit: Duration) -> Result<(), StartError> {
        let Some(mut postmaster) = self.postmaster.take() else {
            return Ok(());
        };
        let begun = Instant::now();
        while matches!(postmaster.try_wait(), Ok(None)) {
            if begun.elapsed() > limit {
                postmaster
                    .kill()
                    .map_err(StartError::io("kill", "postgres"))?;
            }
            thread::sleep(POLL);
        }
        Ok(())
    }
}

/// A private server is a server that can do more; the tests' helpers take `&Server`.
impl Deref for PrivateServer {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

impl Drop for PrivateServer {
    fn drop(&mut self) {
        self.guard.release();
        if let Some(mut postmaster) = self.postmaster.take() {
            // Already ended, unless somebody ended the supervisor.
            let _may_have_ended = postmaster.kill();
            let _status = postmaster.wait();
        }
    }
}

/// The claim on the folder and the process that clears it once the claim is gone.
#[derive(Debug)]
struct Guard {
    users: Option<File>,
    supervisor: Child,
}

impl Guard {
    fn release(&mut self) {
        if self.users.take().is_some() {
            let _status = self.supervisor.wait();
        }
    }
}

/// Also clears up after a start that failed half way.
impl Drop for Guard {
    fn drop(&mut self) {
        self.release();
    }
}

/// Through the shell, since the standard library only knows `SIGKILL`.
fn signal(name: &str, pids: &[u32]) -> Result<(), StartError> {
    Command::new("sh")
        .args(["-c", r#"kill -s "$@""#, "sh", name])
        .args(pids.iter().map(u32::to_string))
        .stdin(Stdio::null())
        // One of them may have ended by itself.
        .stderr(Stdio::null())
        .status()
        .map(drop)
        .map_err(StartError::io("run", "sh"))
}

fn children_of(parent: u32) -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten();
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|pid| status_of(*pid).is_some_and(|(_, its_parent)| its_parent == parent))
        .collect()
}

fn runs(pid: u32) -> bool {
    status_of(pid).is_some_and(|(state, _)| state != "Z")
}

/// Returns state and parent, which follow the name in parentheses.
fn status_of(pid: u32) -> Option<(String, u32)> {
    let stat = fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat")).ok()?;
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    Some((fields.next()?.to_owned(), fields.next()?.parse().ok()?))
}

const STOP_LIMIT: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(5);
