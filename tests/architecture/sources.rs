//! Which files does the project have, and what do they say when comments and tests are left out?

use std::{
    fs,
    path::{Path, PathBuf},
};

/// One Rust file.
#[derive(Debug)]
pub(crate) struct Source {
    /// From the root, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Source {
    /// Returns the code without comments and without unit tests.
    pub(crate) fn code(&self) -> String {
        let shipped = self
            .text
            .split_once("#[cfg(test)]\nmod tests {")
            .map_or(self.text.as_str(), |(shipped, _)| shipped);
        let mut code = String::new();
        for line in shipped.lines() {
            let line = line.split_once("//").map_or(line, |(before, _)| before);
            code.push_str(line);
            code.push('\n');
        }
        code
    }

    /// Returns the part of the crate it belongs to: `sqlite` for `src/sqlite.rs` and `src/sqlite/*`.
    pub(crate) fn part(&self, src: &str) -> String {
        let inside = self.path.strip_prefix(src).unwrap_or(&self.path);
        let end = inside.find(['/', '.']).unwrap_or(inside.len());
        inside[..end].to_owned()
    }
}

/// Returns every Rust file below a folder of the project, `target` aside.
pub(crate) fn sources(below: &str) -> Vec<Source> {
    let mut files = Vec::new();
    collect(&root().join(below), &mut files);
    files.sort();
    let sources: Vec<_> = files
        .into_iter()
        .map(|file| Source {
            path: file
                .strip_prefix(root())
                .expect("below the root")
                .to_string_lossy()
                .replace('\\', "/"),
            text: fs::read_to_string(&file).expect("a readable file"),
        })
        .collect();
    assert!(!sources.is_empty(), "{below} has no Rust file");
    sources
}

/// Returns the text of a file of the project.
pub(crate) fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns the names at the root of the project.
pub(crate) fn root_entries() -> Vec<String> {
    fs::read_dir(root())
        .expect("a readable root")
        .map(|entry| {
            entry
                .expect("a readable entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect()
}

pub(crate) fn exists(path: &str) -> bool {
    root().join(path).exists()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries =
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for entry in entries {
        let path = entry.expect("a readable entry").path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if path.is_dir() {
            if name != "target" && !name.starts_with('.') {
                collect(&path, files);
            }
        } else if name.ends_with(".rs") {
            files.push(path);
        }
    }
}
