//! Do the examples print what lies beside them, and answer bad input as they should?

mod decide;
mod fleet;
mod golden;
mod run;

use core::fmt::Write as _;

use lifecycle_core::{Cell, Choices};
use sha2::{Digest as _, Sha256};

#[test]
fn status_mapping_prints_its_pages() {
    for (format, file) in [
        ("text", "status_mapping.txt"),
        ("markdown", "status_mapping.md"),
        ("mermaid", "status_mapping.mmd"),
    ] {
        golden::check(file, &run::page("status_mapping", &["--format", format]));
    }
}

/// A whole page has 4,705 lines: beside the example lie its first lines and the sum of every page.
#[test]
fn status_mapping_prints_every_cell_of_every_set_of_choices() {
    let default = run::page("status_mapping", &["--format", "csv"]);
    let mut page: String = default
        .lines()
        .take(12)
        .map(|line| format!("{line}\n"))
        .collect();
    page += "…\n\n";
    for choices in Choices::all() {
        let flags = flags(choices);
        let mut arguments = vec!["--format", "csv"];
        arguments.extend(flags.iter().flatten());
        let csv = run::page("status_mapping", &arguments);
        assert_eq!(csv.lines().count(), 1 + Cell::COUNT);
        for byte in Sha256::digest(&csv) {
            write!(page, "{byte:02x}").unwrap();
        }
        writeln!(page, "  {}", flags.concat().join(" ")).unwrap();
    }
    golden::check("status_mapping.csv.sha256", &page);
}

#[test]
fn flags_left_out_mean_the_default_choices() {
    let flags = flags(Choices::DEFAULT);
    let mut spelled_out = vec!["--format", "csv"];
    spelled_out.extend(flags.iter().flatten());
    assert!(
        run::page("status_mapping", &spelled_out)
            == run::page("status_mapping", &["--format", "csv"])
    );
}

#[test]
fn a_flag_replaces_the_choice_of_the_cases_too() {
    let page = run::page("status_mapping", &["--compute-lost", "destroy"]);
    let of = |case: &str| {
        page.lines()
            .find(|line| line.split_whitespace().next() == Some(case))
            .unwrap_or_else(|| panic!("no case {case}"))
    };
    assert!(of("S2").contains("gone_despite_volume"));
    // A policy that the flag makes unsound is refused with its lint.
    assert!(of("S6").contains("unsound policy"));
}

#[test]
fn a_word_that_is_no_choice_is_refused_with_those_that_are() {
    let output = run::run("status_mapping", &["--orphan", "adopt"], b"");
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(
        error.contains("possible values: report, destroy"),
        "{error}"
    );
}

#[test]
fn the_quarantine_is_told_minute_by_minute() {
    golden::check("quarantine.txt", &run::page("quarantine", &[]));
}

fn flags(choices: Choices) -> [[&'static str; 2]; 5] {
    let Choices {
        compute_lost,
        volume_after_quarantine,
        late_arrival,
        orphan,
        revoke_on_compute_lost,
    } = choices;
    [
        ["--compute-lost", compute_lost.word()],
        ["--volume-after-quarantine", volume_after_quarantine.word()],
        ["--late-arrival", late_arrival.word()],
        ["--orphan", orphan.word()],
        ["--revoke-on-compute-lost", revoke_on_compute_lost.word()],
    ]
}
