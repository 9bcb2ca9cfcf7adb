//! Who stops a server when its last user has ended, in whatever way?

use std::env;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::error::StartError;

/// Starts the process that waits until nobody claims the folder any more, and
/// then stops the server in it and removes it.
///
/// A second one for the same folder does no harm: it finds the folder gone.
/// `shared` names the lock and the state file to clean up as well; such a server
/// outlives its last user a little, for the next test process to find it.
pub(super) fn spawn(folder: &Path, shared: Option<(&Path, &Path)>) -> Result<Child, StartError> {
    let mut command = Command::new("sh");
    command.args(["-c", SCRIPT, "postgres-kit"]).arg(folder);
    match shared {
        Some((lock, state)) => command.arg(lock).arg(state).arg(LINGER),
        None => command.args(["", "", "0"]),
    };
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .current_dir("/")
        // Its own group: nextest and terminals signal the group of the test.
        .process_group(0)
        .spawn()
        .map_err(StartError::io("run", "sh"))
}

/// Says early whether a supervisor could run: later there is a folder that only
/// it would remove.
pub(super) fn check() -> Result<(), StartError> {
    let path = env::var_os("PATH").unwrap_or_default();
    for program in ["sh", "flock"] {
        if !env::split_paths(&path).any(|folder| folder.join(program).is_file()) {
            return Err(StartError::NoProgram(program));
        }
    }
    Ok(())
}

/// Seconds; longer than the gap between two test binaries of one `cargo test`.
const LINGER: &str = "3";

/// Descriptor 8 is the claim on the server, 9 the turn to attach or start.
///
/// The order matters: whoever attaches holds 9 while waiting for 8, so this
/// waits for 9 only without 8, and looks again whether somebody came meanwhile.
/// Processes are found by their `-D` argument, not by `postmaster.pid`, which a
/// server that is just starting has not written; the name of the folder is
/// random, so no stranger can match. The pattern goes through a pipe, or `grep`
/// would find itself. A killed server leaves its pid file, whose seventh line
/// names the shared memory that would otherwise outlive it.
const SCRIPT: &str = r#"
folder=$1 lock=$2 state=$3 linger=$4
umask 077
exec 8<>"$folder/users" || exit 0
while :; do
  flock 8 || exit 1
  flock -u 8
  sleep "$linger"
  if [ -n "$lock" ]; then
    exec 9>>"$lock"
    flock 9 || exit 1
    [ /proc/self/fd/9 -ef "$lock" ] || continue
  fi
  flock -n 8 && break
  exec 9>&-
done
servers() {
  printf '%s\n' "$folder/data" | grep -lszxF -f - /proc/[0-9]*/cmdline | cut -d/ -f3
}
tries=0
while [ $tries -lt 400 ]; do
  pids=$(servers)
  case $tries in
    0) signal=QUIT ;;
    100) signal=KILL ;;
    *) signal= ;;
  esac
  [ -z "$pids" ] && break
  [ -n "$signal" ] && kill -s "$signal" $pids
  tries=$((tries + 1))
  sleep 0.05
done
if [ -e "$folder/data/postmaster.pid" ]; then
  set -- $(sed -n 7p "$folder/data/postmaster.pid")
  if awk -v k="$1" -v i="$2" '$1 == k && $2 == i && $7 == 0 { f = 1 } END { exit !f }' /proc/sysvipc/shm
  then ipcrm -m "$2"; fi
fi
for again in 1 2 3 4 5; do
  rm -rf "$folder"
  [ -e "$folder" ] || break
  sleep 0.2
done
if [ -n "$state" ]; then
  if [ ! -e "$state" ] || grep -qxF -e "$folder" "$state"; then rm -f "$state" "$lock"; fi
fi
"#;
