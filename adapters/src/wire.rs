//! How is a decision's input read from one line of JSON, and its answer written?
//!
//! The form serves the `decide` example, the cases under `tests/cases/` and the journal. Times are
//! whole milliseconds; absent and `null` are the same.

mod answer;
mod input;
mod policy;
mod write;

use serde_json::{Value, json};

pub use input::{Input, WrongInput};
pub use policy::{WrongPolicy, policy};
pub use write::line;

/// Answers one line; none where it is blank. `number` counts lines from 1.
///
/// ```
/// use lifecycle_adapters::wire;
///
/// let answer = wire::decide_line(
///     r#"{"id":"a","machine":{"status":"running"},"observation":{"unknown":"timeout"},"now":10}"#,
///     1,
/// );
/// assert_eq!(answer.unwrap().unwrap()["rule"], "no_evidence");
/// ```
///
/// # Errors
///
/// Returns the error line to write where the input cannot be read.
#[must_use]
pub fn decide_line(line: &str, number: u64) -> Option<Result<Value, Value>> {
    if line.trim().is_empty() {
        return None;
    }
    let wrong = |id: &Value, error: String| json!({"id": id, "error": error, "line": number});
    let value: Value = match serde_json::from_str(line) {
        Ok(value) => value,
        Err(error) => return Some(Err(wrong(&Value::Null, format!("not JSON: {error}")))),
    };
    let id = value.get("id").cloned().unwrap_or(Value::Null);
    Some(match Input::read(value) {
        Ok(input) => Ok(answer::write(&id, &input.decide())),
        Err(error) => Err(wrong(&id, error.to_string())),
    })
}

/// Answers a line of bytes; one that is not UTF-8 is an error like any other.
///
/// # Errors
///
/// Returns the error line to write where the input cannot be read.
#[must_use]
pub fn decide_bytes(line: &[u8], number: u64) -> Option<Result<Value, Value>> {
    match core::str::from_utf8(line) {
        Ok(text) => decide_line(text.trim_end_matches(['\r', '\n']), number),
        Err(error) => Some(Err(
            json!({"id": null, "error": format!("not UTF-8: {error}"), "line": number}),
        )),
    }
}
