//! Do the manifests keep the core free, the lints on and the members tested?

use crate::sources::{exists, read};

#[test]
fn the_core_has_no_dependency_unless_a_feature_asks_for_it() {
    let manifest = read("lifecycle-core/Cargo.toml");
    let dependencies = section(&manifest, "[dependencies]");
    assert!(!dependencies.is_empty());
    for dependency in dependencies {
        assert!(dependency.contains("optional = true"), "{dependency}");
    }
    for absent in ["[build-dependencies]", "[target.", "default = ["] {
        assert!(!manifest.contains(absent), "the core has {absent}");
    }
    let lib = read("lifecycle-core/src/lib.rs");
    assert!(
        lib.contains("\n#![no_std]\n"),
        "no_std holds without a condition"
    );
    assert!(
        !lib.contains("extern crate"),
        "the core takes nothing in by name"
    );
}

#[test]
fn unsafe_code_is_forbidden_and_every_member_takes_the_lints() {
    let root = read("Cargo.toml");
    let lints = section(&root, "[workspace.lints.rust]");
    assert!(lints.contains(&"unsafe_code = \"forbid\""), "{lints:?}");
    for lint in [
        "missing_docs",
        "missing_debug_implementations",
        "unreachable_pub",
    ] {
        assert!(lints.iter().any(|line| line.starts_with(lint)), "{lint}");
    }
    let clippy = section(&root, "[workspace.lints.clippy]");
    for lint in [
        "wildcard_enum_match_arm",
        "rest_pat_in_fully_bound_structs",
        "std_instead_of_core",
    ] {
        assert!(clippy.iter().any(|line| line.starts_with(lint)), "{lint}");
    }
    for manifest in manifests() {
        assert_eq!(
            section(&read(&manifest), "[lints]"),
            ["workspace = true"],
            "{manifest}"
        );
    }
}

#[test]
fn every_member_is_tested_by_cargo_test_at_the_root() {
    let root = read("Cargo.toml");
    let members = list(&root, "members");
    let mut defaults = list(&root, "default-members");
    assert_eq!(
        defaults.first().copied(),
        Some("."),
        "the package at the root is one of them"
    );
    defaults.remove(0);
    assert_eq!(members, defaults);
    for member in ["lifecycle-core", "adapters", "fuzz"] {
        assert!(members.contains(&member), "{member}");
    }
}

#[test]
fn versions_are_written_once_at_the_root() {
    for manifest in manifests()
        .into_iter()
        .filter(|manifest| manifest != "Cargo.toml")
    {
        let text = read(&manifest);
        for inherited in ["version", "edition", "rust-version", "license", "publish"] {
            let line = format!("{inherited}.workspace = true");
            assert!(
                section(&text, "[package]").contains(&line.as_str()),
                "{manifest}: {line}"
            );
        }
        for kind in [
            "[dependencies]",
            "[dev-dependencies]",
            "[build-dependencies]",
        ] {
            for dependency in section(&text, kind) {
                // A package's tests may need more features of itself.
                let is_itself = dependency.contains(r#"path = ".""#);
                assert!(
                    is_itself || dependency.contains("workspace = true"),
                    "{manifest}: {dependency}"
                );
            }
        }
    }
}

#[test]
fn every_suite_is_a_folder_with_a_main_file() {
    for suite in ["architecture", "cases", "laws", "table", "words"] {
        assert!(exists(&format!("tests/{suite}/main.rs")), "{suite}");
    }
    assert!(exists("tests/no_std/check.sh"));
}

fn manifests() -> Vec<String> {
    let root = read("Cargo.toml");
    let members = list(&root, "members");
    core::iter::once("Cargo.toml".to_owned())
        .chain(members.iter().map(|member| format!("{member}/Cargo.toml")))
        .collect()
}

/// Returns the lines of a section, without comments.
fn section<'t>(manifest: &'t str, heading: &str) -> Vec<&'t str> {
    manifest
        .lines()
        .map(str::trim)
        .skip_while(|line| *line != heading)
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect()
}

/// Returns the texts of a list that stands on one line.
fn list<'t>(manifest: &'t str, name: &str) -> Vec<&'t str> {
    let start = format!("{name} = [");
    manifest
        .lines()
        .find_map(|line| line.strip_prefix(&start))
        .unwrap_or_else(|| panic!("no list {name}"))
        .trim_end_matches(']')
        .split(',')
        .map(|item| item.trim().trim_matches('"'))
        .filter(|item| !item.is_empty())
        .collect()
}
