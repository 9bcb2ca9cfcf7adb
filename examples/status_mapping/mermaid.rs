//! Which rules lead from which status to which?

use lifecycle_core::{Cell, Rule, Status, Table};

/// Draws the statuses with the rules on the arrows; where a status stays, there is no arrow.
pub(super) fn diagram(table: &Table) -> String {
    let mut page = format!(
        "stateDiagram-v2\n    direction LR\n    [*] --> {}\n",
        Status::Provisioning
    );
    for from in Status::ALL {
        for to in Status::ALL.iter().filter(|to| *to != from) {
            let rules = rules(*from, *to, table);
            if !rules.is_empty() {
                page += &format!("    {from} --> {to} : {}\n", rules.join("<br/>"));
            }
        }
    }
    for terminal in Status::TERMINAL {
        page += &format!("    {terminal} --> [*]\n");
    }
    page
}

fn rules(from: Status, to: Status, table: &Table) -> Vec<&'static str> {
    Rule::ALL
        .iter()
        .filter(|rule| {
            Cell::all().any(|cell| {
                let transition = table.answer(cell);
                cell.status == from && transition.to == to && transition.rule == **rule
            })
        })
        .map(|rule| rule.word())
        .collect()
}
