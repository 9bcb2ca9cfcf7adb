//! What is written of a decision?

use lifecycle_core::{Decision, Delivery, Report};
use serde_json::{Value, json};

pub(super) fn write(id: &Value, decision: &Decision<'_>) -> Value {
    // Shown as right after the commit: what the outbox then holds is still owed.
    let owed = decision.transition.effects.delivered(Delivery::Outbox);
    let mut answer = json!({
        "id": id,
        "sighting": decision.judgement.sighting,
        "to": decision.transition.to,
        "effects": decision.transition.effects,
        "rule": decision.transition.rule,
        "machine": decision.next,
        "look_again_at": decision.look_again_at,
        "report": Report::of(&decision.next, decision.now, &decision.policy, owed),
        "why": decision.why().to_string(),
    });
    if let Some(refusal) = decision.refused {
        answer["refused"] = json!(refusal);
    }
    answer
}
