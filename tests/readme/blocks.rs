//! What does the code say where the README has a generated block?

use core::time::Duration;
use std::collections::BTreeMap;

use lifecycle_core::{
    Choices, Compute, Effect, Force, Law, Lint, Misses, Policy, Quarantine, Sighting, Status,
    Thresholds, Volume,
};

use crate::run;

/// Returns every block by the name of its markers.
pub(crate) fn all() -> BTreeMap<&'static str, String> {
    BTreeMap::from([
        ("rules", rules()),
        ("ten lines", ten_lines()),
        ("columns", columns()),
        ("effects", effects()),
        ("laws", laws()),
        ("policies", policies()),
        ("lints", lints()),
    ])
}

/// The rules as `status_mapping` prints them, without the cases.
fn rules() -> String {
    let page = run::page("status_mapping", &["--format", "markdown"]);
    let (rules, _cases) = page.split_once("\n| case |").unwrap();
    rules.to_owned()
}

fn ten_lines() -> String {
    let code = include_str!("../../examples/ten_lines.rs")
        .lines()
        .skip_while(|line| line.starts_with("//!") || line.is_empty())
        .map(|line| format!("{line}\n"))
        .collect::<String>();
    let printed = run::page("ten_lines", &[]);
    format!("```rust\n{code}```\n\n```text\n{printed}```\n")
}

fn columns() -> String {
    let values = |words: &[&str]| words.join(", ");
    table(
        ["column", "values"],
        [
            ("status", values(Status::WORDS)),
            ("sighting", values(Sighting::WORDS)),
            ("volume", values(Volume::WORDS)),
            ("quarantine", values(Quarantine::WORDS)),
            ("compute", values(Compute::WORDS)),
            ("force", values(Force::WORDS)),
        ]
        .map(|(column, values)| [column.to_owned(), values]),
    )
}

fn effects() -> String {
    table(
        ["effect", "class", "delivery"],
        Effect::ALL.iter().map(|effect| {
            [
                format!("`{effect}`"),
                effect.class().to_string(),
                effect.delivery().word().replace('_', " "),
            ]
        }),
    )
}

/// The laws in the words of their documentation.
fn laws() -> String {
    let source = include_str!("../../lifecycle-core/src/laws.rs");
    table(
        ["#", "law", "promise", "kept by"],
        Law::ALL.iter().map(|law| {
            let (before, _) = source
                .split_once(&format!(" = \"{law}\","))
                .unwrap_or_else(|| panic!("{law} is not declared in laws.rs"));
            let promise: Vec<_> = before
                .lines()
                .rev()
                .skip(1)
                .map_while(|line| line.trim().strip_prefix("/// "))
                .collect();
            let promise: Vec<_> = promise.into_iter().rev().collect();
            // What one look-up can break is asserted while the core is compiled.
            let is_asserted = source.contains(&format!("Some(Self::{law:?})"));
            let by_build = if is_asserted { "the build, and " } else { "" };
            [
                law.tag().to_string(),
                format!("`{law}`"),
                promise.join(" "),
                format!("{by_build}`{}`", kept_by(*law)),
            ]
        }),
    )
}

/// Returns the suite that keeps a law, for every set of choices.
const fn kept_by(law: Law) -> &'static str {
    match law {
        Law::DestroyedAbsorbs
        | Law::DestroyRecordedOnEntry
        | Law::IgnoranceChangesNothing
        | Law::VolumeKeepsMachine
        | Law::SourceIsIrrelevant
        | Law::AskingAgainIsIdle
        | Law::VolumeDestroyedOnlyWhenDoomed
        | Law::NothingIsStarted
        | Law::EveryRowIsLookedAt
        | Law::ReportsAreWhole
        | Law::EndingRevokes
        | Law::DestroyedHoldsNothing
        | Law::DeletionIsPursued => "tests/laws",
    }
}

/// The named policies, with the names that the JSON form has.
fn policies() -> String {
    let columns = Policy::NAMED.map(|(_, policy)| settings(&policy));
    let [cautious, ..] = &columns;
    let header = ["", "`cautious`", "`immediate`", "`converge`"];
    assert_eq!(
        header.map(|name| name.replace('`', ""))[1..],
        Policy::NAMED.map(|(name, _)| name.to_owned())
    );
    table(
        header,
        (0..cautious.len()).map(|row| {
            let value = |column: usize| columns[column][row].1.clone();
            [
                format!("`{}`", cautious[row].0),
                value(0),
                value(1),
                value(2),
            ]
        }),
    )
}

fn settings(policy: &Policy<'_>) -> Vec<(&'static str, String)> {
    let Choices {
        compute_lost,
        volume_after_quarantine,
        late_arrival,
        orphan,
        revoke_on_compute_lost,
    } = policy.choices();
    let Thresholds {
        min_proof,
        typed,
        listed,
        visibility_window,
        launch_deadline,
        max_age,
        fresh_for,
        clock_error,
        grace,
        retire_compute_lost_after,
        retirement_grace,
        orphan_watch,
        recheck,
        sweep_every,
    } = *policy.thresholds();
    let count = |misses: Misses| misses.count.to_string();
    vec![
        ("compute_lost", compute_lost.to_string()),
        (
            "volume_after_quarantine",
            volume_after_quarantine.to_string(),
        ),
        ("late_arrival", late_arrival.to_string()),
        ("orphan", orphan.to_string()),
        ("revoke_on_compute_lost", revoke_on_compute_lost.to_string()),
        ("min_proof", min_proof.to_string()),
        ("typed_misses", count(typed)),
        ("typed_span_ms", spoken(typed.span)),
        ("listed_misses", count(listed)),
        ("listed_span_ms", spoken(listed.span)),
        ("visibility_window_ms", spoken(visibility_window)),
        ("launch_deadline_ms", spoken(launch_deadline)),
        ("max_age_ms", spoken(max_age)),
        ("fresh_for_ms", spoken(fresh_for)),
        ("clock_error_ms", spoken(clock_error)),
        ("grace_ms", spoken(grace)),
        (
            "retire_compute_lost_after_ms",
            retire_compute_lost_after.map_or("never".to_owned(), spoken),
        ),
        ("retirement_grace_ms", spoken(retirement_grace)),
        ("orphan_watch_ms", spoken(orphan_watch)),
        ("recheck_ms", spoken(recheck)),
        ("sweep_every_ms", spoken(sweep_every)),
    ]
}

fn lints() -> String {
    table(
        ["lint", "says", "policy"],
        Lint::ALL.iter().map(|lint| {
            let verdict = if lint.is_unsound() {
                "refused"
            } else {
                "allowed"
            };
            [
                format!("`{lint}`"),
                lint.text().to_owned(),
                verdict.to_owned(),
            ]
        }),
    )
}

fn table<const COLUMNS: usize>(
    header: [&str; COLUMNS],
    rows: impl IntoIterator<Item = [String; COLUMNS]>,
) -> String {
    let mut page = format!(
        "| {} |\n|{}\n",
        header.join(" | "),
        " --- |".repeat(COLUMNS)
    );
    for row in rows {
        page += &format!("| {} |\n", row.join(" | "));
    }
    page
}

/// Returns a length of time in the largest unit that it is whole in.
fn spoken(length: Duration) -> String {
    let millis = length.as_millis();
    let unit = [(3_600_000, "h"), (60_000, "min"), (1_000, "s")]
        .into_iter()
        .find(|(unit, _)| millis >= *unit && millis.is_multiple_of(*unit));
    match unit {
        Some((unit, name)) => format!("{} {name}", millis / unit),
        None if millis == 0 => "0".to_owned(),
        None => format!("{millis} ms"),
    }
}
