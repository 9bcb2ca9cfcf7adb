//! Who may know whom?

use std::collections::{BTreeMap, BTreeSet};

use crate::{imports::crate_names, sources::sources};

/// `time ← facts ← effect ← transition ← table`, and
/// `observation, policy, machine ← judge ← decide ← report`: what each module of the core may use.
const CORE: [(&str, &[&str]); 20] = [
    ("words", &[]),
    ("time", &[]),
    ("wire", &["time"]),
    ("facts", &["words"]),
    ("choices", &["words"]),
    ("effect", &["facts", "words"]),
    ("transition", &["effect", "facts", "words"]),
    ("table", &["choices", "effect", "facts", "transition"]),
    (
        "laws",
        &["choices", "effect", "facts", "table", "transition", "words"],
    ),
    ("observation", &["facts", "machine", "time", "words"]),
    ("machine", &["facts", "time", "words"]),
    ("asked", &["facts", "words"]),
    ("deletion", &["asked", "facts", "machine", "policy", "time"]),
    (
        "policy",
        &["choices", "observation", "table", "time", "words"],
    ),
    (
        "judge",
        &["facts", "machine", "observation", "policy", "time", "words"],
    ),
    (
        "decide",
        &[
            "asked",
            "deletion",
            "effect",
            "facts",
            "judge",
            "machine",
            "observation",
            "policy",
            "time",
            "transition",
            "words",
        ],
    ),
    (
        "why",
        &[
            "asked",
            "decide",
            "deletion",
            "facts",
            "judge",
            "machine",
            "observation",
            "policy",
            "time",
            "transition",
        ],
    ),
    (
        "guard",
        &["asked", "facts", "judge", "machine", "observation", "time"],
    ),
    (
        "report",
        &["effect", "facts", "machine", "policy", "time", "words"],
    ),
    // For tests of services: it draws what the root offers.
    ("strategies", &[]),
];

#[test]
fn a_module_of_the_core_uses_only_what_its_arrow_allows() {
    let allowed: BTreeMap<_, BTreeSet<_>> = CORE
        .iter()
        .map(|(module, uses)| (*module, uses.iter().copied().collect()))
        .collect();
    for source in sources(CORE_SRC) {
        let part = source.part(CORE_SRC);
        if part == "lib" {
            continue;
        }
        let allowed = allowed
            .get(part.as_str())
            .unwrap_or_else(|| panic!("{} has no arrow yet", source.path));
        for name in crate_names(&source.code()) {
            let is_item = name.starts_with(char::is_uppercase);
            assert!(
                !is_item || part == "strategies",
                "{} uses crate::{name} from the root; name its module",
                source.path
            );
            assert!(
                is_item || name == part || allowed.contains(name.as_str()) || part == "strategies",
                "{} uses {name}, against the arrow",
                source.path
            );
        }
    }
}

#[test]
fn the_arrows_of_the_core_have_no_circle() {
    let mut left: BTreeMap<&str, BTreeSet<&str>> = CORE
        .iter()
        .map(|(module, uses)| (*module, uses.iter().copied().collect()))
        .collect();
    while !left.is_empty() {
        let free: Vec<_> = left
            .iter()
            .filter(|(_, uses)| uses.iter().all(|uses| !left.contains_key(uses)))
            .map(|(module, _)| *module)
            .collect();
        assert!(!free.is_empty(), "a circle: {left:?}");
        left.retain(|module, _| !free.contains(module));
    }
}

#[test]
fn the_core_reads_no_clock_asks_nobody_and_says_nothing() {
    for source in sources(CORE_SRC) {
        let code = source.code();
        for forbidden in [
            "std::",
            "alloc::",
            "Instant",
            "SystemTime",
            "println!",
            "panic!",
            "unreachable!",
            "todo!",
            ".unwrap()",
            ".expect(",
        ] {
            assert!(!code.contains(forbidden), "{} has {forbidden}", source.path);
        }
    }
}

#[test]
fn only_the_reconciler_asks_the_core() {
    for source in sources(ADAPTERS_SRC) {
        let part = source.part(ADAPTERS_SRC);
        let asks = ["decide(", "conclude(", "judge("]
            .iter()
            .any(|call| calls(&source.code(), call));
        assert!(
            !asks || part == "reconciler" || part == "wire",
            "{} asks the core",
            source.path
        );
    }
}

#[test]
fn a_store_knows_no_other_store_and_no_provider() {
    let sources = sources(ADAPTERS_SRC);
    let implementing = |what: &str| -> BTreeSet<String> {
        sources
            .iter()
            .filter(|source| source.code().contains(what))
            .map(|source| source.part(ADAPTERS_SRC))
            .collect()
    };
    let stores: BTreeSet<_> = implementing(" Store for ")
        .into_iter()
        .chain(["memory", "sqlite", "postgres", "sql"].map(str::to_owned))
        .collect();
    let providers = implementing(" Provider for ");
    for source in &sources {
        let part = source.part(ADAPTERS_SRC);
        if !stores.contains(&part) {
            continue;
        }
        for name in crate_names(&source.code()) {
            let is_other_store = stores.contains(&name) && name != part && name != "sql";
            assert!(!is_other_store, "{} knows the store {name}", source.path);
            let is_provider = providers.contains(&name) && name != part;
            assert!(!is_provider, "{} knows the provider {name}", source.path);
        }
    }
}

#[test]
fn the_relay_the_stores_and_the_providers_do_not_know_the_reconciler() {
    for source in sources(ADAPTERS_SRC) {
        let part = source.part(ADAPTERS_SRC);
        if [
            "memory",
            "sqlite",
            "postgres",
            "sql",
            "store",
            "provider",
            "simulated",
        ]
        .contains(&part.as_str())
        {
            for above in ["reconciler", "relay"] {
                assert!(
                    !crate_names(&source.code()).contains(above),
                    "{} knows the {above}",
                    source.path
                );
            }
        }
    }
}

#[test]
fn the_reference_model_knows_neither_the_core_nor_the_adapters() {
    let independent: Vec<_> = sources("fuzz/src/")
        .into_iter()
        .filter(|source| ["reference", "generate"].contains(&source.part("fuzz/src/").as_str()))
        .collect();
    assert!(independent.len() > 10, "the reference model was not found");
    for source in independent {
        assert!(
            !source.text.contains("lifecycle_"),
            "{} is not independent",
            source.path
        );
        for name in crate_names(&source.code()) {
            assert!(
                ["reference", "generate"].contains(&name.as_str()),
                "{} uses {name}",
                source.path
            );
        }
    }
}

#[test]
fn the_core_does_not_know_the_adapters_nor_they_the_examples() {
    for source in sources(CORE_SRC) {
        assert!(
            !source.code().contains("lifecycle_adapters"),
            "{}",
            source.path
        );
    }
    for source in sources(ADAPTERS_SRC) {
        assert!(!source.code().contains("lifecycle_fuzz"), "{}", source.path);
    }
}

/// Tells whether code calls this function, rather than declares it or calls a method of that name.
fn calls(code: &str, call: &str) -> bool {
    code.match_indices(call).any(|(place, _)| {
        let before = &code[..place];
        !before.ends_with("fn ")
            && !before.ends_with(|last: char| last == '.' || last == '_' || last.is_alphanumeric())
    })
}

const CORE_SRC: &str = "lifecycle-core/src/";

const ADAPTERS_SRC: &str = "adapters/src/";
