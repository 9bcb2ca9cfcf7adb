//! How is an example run that cargo has built?

use std::{
    env, fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    thread,
    time::SystemTime,
};

/// Runs an example to its end with these arguments and this input.
pub(crate) fn run(name: &str, arguments: &[&str], input: &[u8]) -> Output {
    let path = built(name);
    let mut child = Command::new(&path)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{} does not start: {error}", path.display()));
    let mut stdin = child.stdin.take().unwrap();
    thread::scope(|scope| {
        // An example that answers as it reads would block us both, were it all written first.
        scope.spawn(move || {
            // One that has ended early has said why.
            let _ = stdin.write_all(input);
        });
        child.wait_with_output().unwrap()
    })
}

/// Returns what an example prints where it must succeed.
pub(crate) fn page(name: &str, arguments: &[&str]) -> String {
    let output = run(name, arguments, b"");
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{name} {arguments:?}: {}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr),
    );
    String::from_utf8(output.stdout).unwrap()
}

/// `cargo test` builds the examples before it runs any test: target/debug/examples/NAME. With
/// `--test` it does not, so a binary that is not there, or older than what it is made of, is refused.
fn built(name: &str) -> PathBuf {
    let test = env::current_exe().unwrap();
    let profile = test.parent().and_then(Path::parent).unwrap();
    let path = profile
        .join("examples")
        .join(format!("{name}{}", env::consts::EXE_SUFFIX));
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sources = [
        root.join("examples").join(format!("{name}.rs")),
        root.join("examples").join(name),
        root.join("lifecycle-core/src"),
    ];
    let is_stale = match modified(&path) {
        Some(built_at) => sources
            .iter()
            .filter_map(|source| modified(source))
            .any(|at| at > built_at),
        None => true,
    };
    assert!(
        !is_stale,
        "{} is not built, or older than its source; run `cargo build --examples` first, or \
         `cargo test` without --test",
        path.display()
    );
    path
}

/// Returns when a file, or the latest file of a folder, was written.
fn modified(path: &Path) -> Option<SystemTime> {
    if path.is_dir() {
        return fs::read_dir(path)
            .unwrap()
            .filter_map(|entry| modified(&entry.unwrap().path()))
            .max();
    }
    path.metadata().ok()?.modified().ok()
}
