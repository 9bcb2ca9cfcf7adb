//! How do all test processes of a run find the one server?
//!
//! Whoever wants it takes its turn (exclusive lock on `KEY.lock`), reads in
//! `KEY.state` where the server is, claims that folder and asks the server who
//! it is. Where any of this fails, it starts a new one and writes the state anew.

use std::env;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::Server;
use super::account::Account;
use super::address::Address;
use super::binaries::Binaries;
use super::cluster::{self, Cluster};
use super::error::StartError;
use super::options::{Durability, Options};
use super::place::{self, Home, Place};
use super::supervisor;

/// What the state file says.
struct State {
    folder: PathBuf,
    port: u16,
}

pub(super) fn attach() -> Result<Server, StartError> {
    if let Some(url) = env::var_os("DATABASE_URL").filter(|url| !url.is_empty()) {
        let url = url
            .into_string()
            .map_err(|_| StartError::WrongUrl("is not text"))?;
        return Server::connect(Address::parse(&url)?, None).map_err(StartError::Unreachable);
    }
    // A panic in another test says nothing about the server.
    let mut attached = ATTACHED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((state, server)) = &*attached
        && cluster::answers(state.port, &state.folder)
    {
        return Ok(server.clone());
    }
    let (state, server) = find_or_start()?;
    *attached = Some((state, server.clone()));
    Ok(server)
}

fn find_or_start() -> Result<(State, Server), StartError> {
    let binaries = Binaries::find()?.ok_or(StartError::NoServer)?;
    let account = Account::choose()?;
    let place = Place::open(&account)?;
    let key = key(&binaries, &account);
    let lock_path = place.file(&format!("{key}.lock"));
    let state_path = place.file(&format!("{key}.state"));
    let _turn = place::lock_exclusively(&lock_path)?;

    if let Some(state) = read(&state_path) {
        let claimed = Home::join(&state.folder);
        if let Some(home) = claimed
            && cluster::answers(state.port, &state.folder)
        {
            return connect(state, home);
        }
        let _removed_or_absent = fs::remove_file(&state_path);
        if state.folder.exists() {
            // Its supervisor may have died with it, in a crash of the machine.
            let _detached = supervisor::spawn(&state.folder, Some((&lock_path, &state_path)))?;
        }
    }

    let home = place.new_home()?;
    let _detached = supervisor::spawn(&home.folder, Some((&lock_path, &state_path)))?;
    let options = Options::default().durability(Durability::OrderlyStop);
    let mut cluster = Cluster::create(&home.folder, binaries, account, options)?;
    // Neither is awaited: they outlive this process where others use the server.
    let _detached = cluster.launch_anywhere()?;
    let state = State {
        folder: home.folder.clone(),
        port: cluster.port(),
    };
    write(&state_path, &state).map_err(StartError::io("write", &state_path))?;
    connect(state, home)
}

fn connect(state: State, home: Home) -> Result<(State, Server), StartError> {
    let address = Address::loopback(state.port);
    let server =
        Server::connect(address, Some(Arc::new(home.users))).map_err(StartError::Unreachable)?;
    Ok((state, server))
}

/// Two runs share a server where they agree on binaries, account and target folder.
fn key(binaries: &Binaries, account: &Account) -> String {
    let parts = [
        LAYOUT.as_ref(),
        binaries.folder(),
        Path::new(&account.name()),
        &target_folder(),
    ]
    .map(|part| part.as_os_str().as_encoded_bytes().to_vec())
    .join(&0);
    // FNV-1a: it has to agree between compilers, which the standard hasher need not.
    let hash = parts.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}

/// Cargo marks its target folder with this tag, whatever the folder is called;
/// tests, examples and binaries lie at different depths in it.
fn target_folder() -> PathBuf {
    let program = env::current_exe().unwrap_or_default();
    let tagged = program
        .ancestors()
        .find(|folder| folder.join("CACHEDIR.TAG").is_file());
    tagged
        .or(program.parent())
        .unwrap_or(Path::new(""))
        .to_path_buf()
}

fn read(path: &Path) -> Option<State> {
    let text = fs::read_to_string(path).ok()?;
    let mut lines = text.lines();
    Some(State {
        folder: lines.next()?.into(),
        port: lines.next()?.parse().ok()?,
    })
}

/// Renamed into place, so that a killed writer leaves the old state or the new one.
fn write(path: &Path, state: &State) -> std::io::Result<()> {
    let draft = path.with_extension("draft");
    let mut file = OpenOptions::new()
        .create(true)
        .write(true)
        .truncate(true)
        .mode(0o600)
        .open(&draft)?;
    writeln!(file, "{}\n{}", state.folder.display(), state.port)?;
    fs::rename(&draft, path)
}

/// Held until the process ends: a server that goes between two tests would have
/// to be started again.
static ATTACHED: Mutex<Option<(State, Server)>> = Mutex::new(None);
/// Changes with the meaning of the files, so that old and new kits do not meet.
const LAYOUT: &str = "1";
