//! What is the answer to one line of JSON?

use serde_json::{Map, Value};

use super::conclude::decide;
use super::facts::Asked;
use super::fields::Fields;
use super::policy::Policy;
use super::report::report;
use super::words::Force;
use super::{read, write};

/// Answers one line; none for a blank one. The number is the one an error line names.
///
/// The id is given back as it came, whatever it is.
#[must_use]
pub fn decide_line(line: &str, number: u64) -> Option<Value> {
    if line.trim().is_empty() {
        return None;
    }
    let value: Value = match serde_json::from_str(line) {
        Ok(value) => value,
        Err(error) => return Some(write::error(&Value::Null, &error.to_string(), number)),
    };
    let id = value.get("id").unwrap_or(&Value::Null);
    let answer = match value.as_object() {
        Some(map) => answer(id, map),
        None => Err("not an object".to_owned()),
    };
    Some(answer.unwrap_or_else(|error| write::error(id, &error, number)))
}

/// The error line for bytes that are no text.
#[must_use]
pub fn not_text(number: u64) -> Value {
    write::error(&Value::Null, "not UTF-8", number)
}

/// Reads a policy in its wire form, and refuses an unsound one.
///
/// # Errors
///
/// Says what is wrong with it, or names its lints.
pub fn sound_policy(value: Option<&Value>) -> Result<Policy, String> {
    let policy = read::policy(value)?;
    let lints = policy.lints();
    if lints.is_empty() {
        Ok(policy)
    } else {
        Err(format!("unsound policy: {}", lints.join("; ")))
    }
}

fn answer(id: &Value, map: &Map<String, Value>) -> Result<Value, String> {
    let fields = Fields::top(map);
    let now = fields.required_number("now")?;
    let policy = sound_policy(fields.value("policy"))?;
    let machine = match fields.value("machine") {
        Some(value) => read::machine(value)?,
        None => return Err(fields.complaint("machine", "is required")),
    };
    let observation = match fields.value("observation") {
        Some(value) => Some(read::observation(value, &machine, now)?),
        None => None,
    };
    let asked = Asked {
        request: fields.word("asked")?,
        force: force(fields)?,
    };
    let decision = decide(&machine, observation.as_ref(), asked, now, &policy);
    let report = report(&decision.machine, now, &policy);
    Ok(write::decision(id, &decision, report))
}

/// A force is named or absent: the column's own word for none is not one of the wire.
fn force(fields: Fields<'_>) -> Result<Force, String> {
    match fields.text("force")? {
        None => Ok(Force::None),
        Some("destroyed") => Ok(Force::Destroyed),
        Some(_) => Err(fields.complaint("force", "unknown word")),
    }
}
