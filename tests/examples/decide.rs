//! Does the filter answer every line, the bad ones with their error?

use serde_json::Value;

use crate::run::run;

const GOOD: &str = r#"{"id":"good","machine":{"status":"running"},"now":10,"observation":{"present":"running"},"note":"any","expect":1}"#;

/// Runs the filter; returns its lines and whether it succeeded.
fn filter(input: &[u8]) -> (Vec<Value>, Option<i32>) {
    let output = run("decide", &[], input);
    assert!(output.stderr.is_empty(), "{output:?}");
    let lines = String::from_utf8(output.stdout).unwrap();
    let answers = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    (answers, output.status.code())
}

/// Answers a bad line between good ones: it alone is an error, and the exit status says so.
#[track_caller]
fn check(bad: &[u8], error: &str) {
    let input = [GOOD.as_bytes(), b"\n", bad, b"\n", GOOD.as_bytes(), b"\n"].concat();
    let (answers, status) = filter(&input);
    assert_eq!(answers.len(), 3, "{answers:?}");
    assert_eq!(answers[0], answers[2]);
    assert_eq!(answers[0]["rule"], "seen_running");
    assert_eq!(answers[1]["line"], 2);
    let text = answers[1]["error"].as_str().unwrap();
    assert!(text.contains(error), "{text:?} does not say {error:?}");
    assert_eq!(status, Some(1));
}

#[test]
fn good_lines_end_well() {
    let (answers, status) = filter(format!("{GOOD}\n{GOOD}").as_bytes());
    assert_eq!(answers.len(), 2);
    assert_eq!(answers[0]["id"], "good");
    assert_eq!(status, Some(0));
}

#[test]
fn no_input_is_no_error() {
    assert_eq!(filter(b""), (Vec::new(), Some(0)));
    assert_eq!(filter(b"\n  \n\r\n"), (Vec::new(), Some(0)));
}

#[test]
fn blank_lines_are_skipped_but_counted() {
    let (answers, status) = filter(b"\n \t\n{\"id\":7}\n");
    assert_eq!(answers.len(), 1);
    assert_eq!(
        (&answers[0]["id"], &answers[0]["line"]),
        (&7.into(), &3.into())
    );
    assert_eq!(status, Some(1));
}

#[test]
fn a_carriage_return_ends_a_line_too() {
    let (answers, status) = filter(format!("{GOOD}\r\n{GOOD}\r\n").as_bytes());
    assert_eq!(answers.len(), 2);
    assert_eq!(status, Some(0));
}

#[test]
fn what_is_not_json_is_an_error_of_its_line() {
    check(b"{", "not JSON");
    check(b"[1]", "not an object");
    check(b"\"text\"", "not an object");
    check(b"{\"id\":\"\xff\"}", "not UTF-8");
}

#[test]
fn what_is_missing_or_wrong_is_named() {
    check(br#"{"machine":{"status":"running"}}"#, "now: missing");
    check(br#"{"now":1}"#, "machine: missing");
    check(br#"{"now":1,"machine":{}}"#, "status");
    check(br#"{"now":1,"machine":{"status":"asleep"}}"#, "asleep");
    check(br#"{"now":1,"machine":{"status":7}}"#, "status");
    check(
        br#"{"now":1,"machine":{"status":"running","colour":"red"}}"#,
        "colour",
    );
    check(br#"{"now":"1","machine":{"status":"running"}}"#, "now");
    check(
        br#"{"now":1,"machine":{"status":"running"},"asked":"undelete"}"#,
        "undelete",
    );
    check(
        br#"{"now":1,"machine":{"status":"running"},"force":"none"}"#,
        "force",
    );
}

#[test]
fn times_are_whole_milliseconds_that_fit() {
    check(br#"{"now":-1,"machine":{"status":"running"}}"#, "now");
    check(br#"{"now":1.5,"machine":{"status":"running"}}"#, "now");
    check(
        br#"{"now":9223372036854775808,"machine":{"status":"running"}}"#,
        "now",
    );
    check(
        br#"{"now":1,"machine":{"status":"running","created_at":-5}}"#,
        "machine",
    );
    check(
        br#"{"now":1,"machine":{"status":"running"},"policy":{"grace_ms":-1}}"#,
        "policy",
    );
}

#[test]
fn an_observation_says_one_thing() {
    for observation in [
        r#"{}"#,
        r#"{"present":"running","absent":"tombstone"}"#,
        r#"{"present":"running","unknown":"timeout"}"#,
        r#"{"absent":"tombstone","unknown":"timeout"}"#,
    ] {
        check(
            format!(r#"{{"now":1,"machine":{{"status":"running"}},"observation":{observation}}}"#)
                .as_bytes(),
            "exactly one of present, absent, unknown",
        );
    }
}

#[test]
fn an_unsound_policy_is_refused_with_every_lint() {
    let line =
        br#"{"now":1,"machine":{"status":"running"},"policy":{"grace_ms":1,"typed_misses":0}}"#;
    check(line, "grace must be zero or longer than clock_error");
    check(line, "typed_misses must be at least 1");
    check(
        br#"{"now":1,"machine":{"status":"running"},"policy":"hasty"}"#,
        "cautious, immediate, converge",
    );
}

#[test]
fn a_restore_that_comes_too_late_is_refused_and_the_rest_decided() {
    let (answers, status) =
        filter(br#"{"id":1,"now":10,"machine":{"status":"destroying"},"asked":"restore"}"#);
    assert_eq!(answers[0]["refused"], "point_of_no_return");
    assert_eq!(answers[0]["to"], "destroying");
    assert_eq!(status, Some(0));
}

#[test]
fn many_lines_pass_through() {
    let input = format!("{GOOD}\n").repeat(5_000);
    let (answers, status) = filter(input.as_bytes());
    assert_eq!(answers.len(), 5_000);
    assert_eq!(status, Some(0));
}
