//! Does a file answer one question, say which, and stay short enough to be read?

use crate::sources::{Source, exists, root_entries, sources};

#[test]
fn every_file_opens_with_what_it_is() {
    for source in everything() {
        let first = source.text.lines().next().unwrap_or_default();
        let sentence = first.strip_prefix("//! ").unwrap_or_default();
        assert!(
            sentence.len() > 10 && sentence.starts_with(|letter: char| !letter.is_lowercase()),
            "{} does not open with what it is: {first:?}",
            source.path
        );
    }
}

#[test]
fn no_file_is_longer_than_400_lines() {
    let long: Vec<_> = everything()
        .iter()
        .filter(|source| source.text.lines().count() > 400)
        .map(|source| format!("{} ({} lines)", source.path, source.text.lines().count()))
        .collect();
    assert!(long.is_empty(), "look for the second question in {long:?}");
}

#[test]
fn folders_have_their_file_beside_them_and_no_name_says_nothing() {
    for source in everything() {
        let name = source.path.rsplit('/').next().unwrap_or_default();
        assert_ne!(name, "mod.rs", "{}", source.path);
        for vague in [
            "util", "utils", "helper", "helpers", "manager", "common", "misc",
        ] {
            assert_ne!(name, format!("{vague}.rs"), "{}", source.path);
        }
    }
}

#[test]
fn tests_are_named_as_sentences() {
    for source in everything() {
        let mut lines = source.text.lines().map(str::trim);
        while let Some(line) = lines.next() {
            if line != "#[test]" && !line.starts_with("#[tokio::test") {
                continue;
            }
            let declared = lines
                .by_ref()
                .find(|line| line.contains("fn "))
                .unwrap_or_default();
            let name = declared
                .split_once("fn ")
                .and_then(|(_, rest)| rest.split_once('('))
                .map(|(name, _)| name)
                .unwrap_or_default();
            let words = name.split('_').count();
            assert!(
                (2..=24).contains(&words) && !name.starts_with("test_"),
                "{}: {name:?} is no sentence",
                source.path
            );
        }
    }
}

#[test]
fn libraries_do_not_print_and_code_is_safe() {
    let dash = ["un", "safe "].concat();
    for source in everything() {
        if source.path.starts_with("tests/no_std/") {
            continue;
        }
        let code = source.code();
        for start in ["{", "fn", "impl", "extern"] {
            let block = format!("{dash}{start}");
            assert!(!code.contains(&block), "{} has {block}", source.path);
        }
        let is_library = source.path.starts_with("lifecycle-core/src/")
            || source.path.starts_with("adapters/src/");
        for print in ["println!", "eprintln!", "dbg!"] {
            assert!(
                !is_library || !code.contains(print),
                "{} prints",
                source.path
            );
        }
    }
}

#[test]
fn an_exception_to_a_lint_has_its_reason() {
    for source in everything() {
        let code = source.code();
        let allow = ["#[", "allow("].concat();
        assert!(
            !code.contains(&allow),
            "{}: use expect with a reason",
            source.path
        );
        let expect = ["#[", "expect("].concat();
        for (place, _) in code.match_indices(&expect) {
            let attribute = code[place..].split(']').next().unwrap_or_default();
            assert!(attribute.contains("reason"), "{}: {attribute}", source.path);
        }
    }
}

#[test]
fn the_root_holds_what_the_ecosystem_expects_and_nothing_else() {
    for entry in root_entries() {
        let is_expected = entry.starts_with('.')
            || entry.starts_with("LICENSE")
            || EXPECTED.contains(&entry.as_str());
        assert!(is_expected, "{entry} does not belong to the root");
    }
    assert!(
        !exists("src"),
        "the package at the root owns examples and tests only"
    );
}

fn everything() -> Vec<Source> {
    ["lifecycle-core", "adapters", "examples", "tests", "fuzz"]
        .into_iter()
        .chain(exists("benches").then_some("benches"))
        .flat_map(sources)
        .collect()
}

const EXPECTED: [&str; 11] = [
    "Cargo.toml",
    "Cargo.lock",
    "README.md",
    "CHANGELOG.md",
    "adapters",
    "benches",
    "examples",
    "fuzz",
    "lifecycle-core",
    "target",
    "tests",
];
