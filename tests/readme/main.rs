//! Does the README say what the code does?

mod blocks;
#[path = "../examples/run.rs"]
mod run;

use std::{collections::BTreeSet, env, fs, path::Path};

use lifecycle_core::{Choices, Effect, Effects, Rule, Status, Table};
use serde_json::Value;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn readme() -> String {
    fs::read_to_string(root().join("README.md")).unwrap()
}

/// Returns what stands between the markers of a block.
fn between<'r>(readme: &'r str, name: &str) -> &'r str {
    let (open, close) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    let begin = readme.find(&open).unwrap_or_else(|| panic!("no {open}")) + open.len();
    let length = readme[begin..]
        .find(&close)
        .unwrap_or_else(|| panic!("no {close}"));
    &readme[begin..begin + length]
}

/// `UPDATE_GOLDEN=1 cargo test` writes the blocks anew.
#[test]
fn the_blocks_are_what_the_code_says() {
    let mut readme = readme();
    let is_updating = env::var_os("UPDATE_GOLDEN").is_some();
    for (name, block) in blocks::all() {
        let written = between(&readme, name).to_owned();
        if is_updating {
            let marker = format!("<!-- {name} -->\n");
            readme = readme.replace(&format!("{marker}{written}"), &format!("{marker}{block}"));
        } else {
            assert!(
                written == block,
                "the block {name:?} of README.md differs from the code; if that is meant, run \
                 `UPDATE_GOLDEN=1 cargo test`\n{}",
                similar::TextDiff::from_lines(written.as_str(), &block).unified_diff()
            );
        }
    }
    if is_updating {
        fs::write(root().join("README.md"), readme).unwrap();
    }
}

/// The words of a rule and its answers are written apart; here they meet.
#[test]
fn every_rule_names_the_effects_and_statuses_it_can_bring() {
    let readme = readme();
    let rows: Vec<Vec<&str>> = between(&readme, "rules")
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| #"))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    let rows: Vec<_> = rows
        .iter()
        .filter(|row| !row[0].starts_with("---"))
        .collect();
    assert_eq!(rows.len(), Rule::ALL.len());
    for (rule, row) in Rule::ALL.iter().zip(rows) {
        let [number, name, _when, to, effects, _cells, _leads_to] = row[..] else {
            panic!("{row:?}")
        };
        assert_eq!(number, rule.tag().to_string());
        assert_eq!(name, format!("`{rule}`"));
        let (statuses, brought) = answers(*rule);
        assert_eq!(named_effects(to, effects), brought, "effects of {rule}");
        if to != "as it was" {
            assert_eq!(named_statuses(to), statuses, "statuses of {rule}");
        }
    }
}

/// Returns where a rule leads and all that it can bring, for any choices.
fn answers(rule: Rule) -> (BTreeSet<&'static str>, Effects) {
    let mut statuses = BTreeSet::new();
    let mut effects = Effects::NONE;
    for choices in Choices::all() {
        let table = Table::new(choices);
        for cell in lifecycle_core::Cell::all() {
            let transition = table.answer(cell);
            if transition.rule == rule {
                statuses.insert(transition.to.word());
                effects = effects.union(transition.effects);
            }
        }
    }
    (statuses, effects)
}

fn named_statuses(to: &str) -> BTreeSet<&'static str> {
    // Choices have words of their own, of which "destroy" alone looks like a status.
    let words: Vec<_> = to
        .split(|letter: char| !letter.is_alphabetic() && letter != '_')
        .collect();
    Status::ALL
        .iter()
        .map(|status| status.word())
        .filter(|status| words.contains(status))
        .collect()
}

fn named_effects(to: &str, effects: &str) -> Effects {
    let words: Vec<_> = effects
        .split(|letter: char| !letter.is_alphabetic() && letter != '_')
        .collect();
    let mut named: Effects = Effect::ALL
        .iter()
        .copied()
        .filter(|effect| words.contains(&effect.word()))
        .collect();
    if words.contains(&"settle") {
        named = named.with(Effect::ReleaseCompute);
    }
    if words.contains(&"hold") {
        named = named.with(Effect::HoldCompute);
    }
    for status in Status::ALL {
        if let Some(record) = Effect::record_of(*status)
            && to.contains(&format!("enter({status})"))
        {
            named = named.with(record);
        }
    }
    named
}

/// The README shows one line and part of its answer.
#[test]
fn the_json_example_is_what_decide_answers() {
    let readme = readme();
    let mut fences = between(&readme, "decide")
        .split("```json\n")
        .skip(1)
        .map(|rest| rest.split_once("```").unwrap().0);
    let (question, shown) = (fences.next().unwrap(), fences.next().unwrap());
    let output = run::run("decide", &[], question.as_bytes());
    assert!(output.status.success(), "{output:?}");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let shown: Value = serde_json::from_str(shown).unwrap();
    for (field, value) in shown.as_object().unwrap() {
        assert_eq!(&answer[field], value, "{field}");
    }
    let left_out: Vec<_> = answer
        .as_object()
        .unwrap()
        .keys()
        .filter(|field| shown.get(field).is_none())
        .collect();
    assert_eq!(left_out, ["machine"]);
}

#[test]
fn every_link_and_every_example_leads_somewhere() {
    let readme = readme();
    for rest in readme.split("](").skip(1) {
        let (target, _) = rest.split_once(')').unwrap();
        assert!(
            target.starts_with('#') || root().join(target).exists(),
            "README.md links to {target}, which is not there"
        );
    }
    for rest in readme.split("--example ").skip(1) {
        let name: String = rest
            .chars()
            .take_while(|letter| letter.is_alphanumeric() || *letter == '_')
            .collect();
        let examples = root().join("examples");
        assert!(
            examples.join(format!("{name}.rs")).exists() || examples.join(&name).exists(),
            "README.md runs the example {name}, which is not there"
        );
    }
}

#[test]
fn the_suites_that_keep_the_laws_are_there() {
    let readme = readme();
    for path in between(&readme, "laws")
        .split('`')
        .filter(|word| word.starts_with("tests/"))
    {
        assert!(root().join(path).is_dir(), "no suite {path}");
    }
}
