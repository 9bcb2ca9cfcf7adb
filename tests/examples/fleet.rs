//! Does the main example tell its story to the end, and refuse a database that is not its own?

use std::fs;

use crate::run::{page, run};

#[test]
fn every_destroyed_machine_of_the_fleet_has_one_fact() {
    let page = page("fleet", &["--fast"]);
    for line in [
        "destroy facts: 5, machines destroyed: 5",
        "of destroyed machines: 0",
        "Volumes that outlived their machines: base-1 (owned)",
    ] {
        assert!(page.contains(line), "{line}\n{page}");
    }
    for (machine, phase) in [
        ("web-1", "running"),
        ("web-2", "destroyed"),
        ("web-3", "paused"),
        ("db-1", "compute_lost"),
        ("db-2", "destroyed"),
        ("db-3", "running"),
        ("late-1", "failed"),
    ] {
        let shown = page.lines().any(|line| {
            let mut words = line.split_whitespace();
            words.next() == Some(machine) && words.next() == Some(phase)
        });
        assert!(shown, "{machine} should be {phase}\n{page}");
    }
    let (_, end) = page
        .split_once("What is shown of each machine")
        .expect("the reports");
    assert!(!end.contains("cleanup pending"), "{end}");
}

#[test]
fn a_file_of_another_program_is_refused_and_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("notes.txt");
    fs::write(&file, "not a database at all, but somebody's notes\n").unwrap();
    let output = run("fleet", &["--fast", "--db", file.to_str().unwrap()], b"");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(error.contains("not a lifecycle database"), "{error}");
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        "not a database at all, but somebody's notes\n"
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}
