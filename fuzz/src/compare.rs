//! Where do the implementation and the reference model differ?

use lifecycle_adapters::wire;
use serde_json::Value;

use crate::reference::line;

/// Answers a line with both, and says where they differ; none where they agree.
///
/// Free text is left out: `why`, `report.detail`, and what exactly is wrong with a wrong line.
#[must_use]
pub fn difference(text: &str) -> Option<String> {
    let implemented = wire::decide_line(text, NUMBER).map(|answer| match answer {
        Ok(answer) | Err(answer) => comparable(answer),
    });
    let modelled = line::decide_line(text, NUMBER).map(comparable);
    let diverges = implemented != modelled;
    diverges.then(|| {
        format!(
            "input     {text}\nanswered  {}\nreference {}",
            shown(implemented.as_ref()),
            shown(modelled.as_ref()),
        )
    })
}

fn comparable(mut answer: Value) -> Value {
    if let Some(fields) = answer.as_object_mut() {
        fields.remove("why");
        if let Some(error) = fields.get_mut("error") {
            *error = Value::Bool(true);
        }
    }
    if let Some(report) = answer.get_mut("report").and_then(Value::as_object_mut) {
        report.remove("detail");
    }
    answer
}

fn shown(answer: Option<&Value>) -> String {
    answer.map_or_else(|| "nothing".to_owned(), Value::to_string)
}

const NUMBER: u64 = 1;
