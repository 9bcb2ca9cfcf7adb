//! What does each rule say, in words, and what does the table make of it?

use lifecycle_core::{Cell, Rule, Status, Table};

use crate::draw;

/// Writes the rules for a terminal.
pub(super) fn text(table: &Table) -> String {
    let rows = rows(table).map(|row| row.map(|column| column.replace('`', "")));
    draw::text_within(WIDTH, HEADER, rows) + "\n" + &LEGEND.replace('`', "")
}

/// Writes the rules as the README has them.
pub(super) fn markdown(table: &Table) -> String {
    draw::markdown(HEADER, rows(table)) + "\n" + LEGEND
}

fn rows(table: &Table) -> impl Iterator<Item = [String; COLUMNS]> {
    Rule::ALL.iter().map(|rule| {
        let Prose { when, to, effects } = prose(*rule);
        let (cells, leads_to) = reach(*rule, table);
        [
            rule.tag().to_string(),
            format!("`{rule}`"),
            when.to_owned(),
            to.to_owned(),
            effects.to_owned(),
            cells.to_string(),
            leads_to,
        ]
    })
}

/// Counts the cells that a rule answers, and names the statuses it leads to.
fn reach(rule: Rule, table: &Table) -> (usize, String) {
    let answers = || {
        Cell::all()
            .map(|cell| table.answer(cell))
            .filter(|transition| transition.rule == rule)
    };
    let statuses: Vec<_> = Status::ALL
        .iter()
        .filter(|status| answers().any(|transition| transition.to == **status))
        .map(|status| status.word())
        .collect();
    let leads_to = if statuses.is_empty() {
        String::from("–")
    } else {
        statuses.join(", ")
    };
    (answers().count(), leads_to)
}

/// One row of the table in words.
struct Prose {
    when: &'static str,
    to: &'static str,
    effects: &'static str,
}

const fn prose(rule: Rule) -> Prose {
    let (when, to, effects) = match rule {
        Rule::Terminal => (
            "status destroyed",
            "destroyed",
            "seen booting, running, stopping or stopped: `record_orphan`, and `destroy_compute` where orphan=destroy; else none",
        ),
        Rule::ForcedDestroyed => (
            "force destroyed",
            "enter(destroyed)",
            "`revoke_credentials`, settle; `destroy_compute` unless gone. The volume is never touched",
        ),
        Rule::QuarantineOver => (
            "doomed, gone, and no volume is to be destroyed: it is none or shared, or volume_after_quarantine=retain",
            "enter(destroyed)",
            "`revoke_credentials`, settle",
        ),
        Rule::VolumeDue => (
            "doomed, gone, volume owned",
            "enter(destroying)",
            "`destroy_volume`, settle; on entry `revoke_credentials`",
        ),
        Rule::VolumeUnreadable => (
            "doomed, gone, volume unknown",
            "enter(destroying)",
            "settle; on entry `revoke_credentials`",
        ),
        Rule::ComputeDue => (
            "doomed, not gone",
            "enter(destroying)",
            "`destroy_compute`; settle where stopped; on entry `revoke_credentials`",
        ),
        Rule::NothingLeftToHold => (
            "quarantine due or open, gone, volume none",
            "enter(destroyed)",
            "`revoke_credentials`, settle",
        ),
        Rule::QuarantineHeld => (
            "quarantine due or open",
            "enter(quarantined)",
            "on entry `revoke_credentials`, and `stop_compute` unless stopped or gone; later `stop_compute` where booting or running; settle where stopped or gone",
        ),
        Rule::Restored => (
            "status quarantined (quarantine clear), neither running nor gone",
            "enter(paused)",
            "none further",
        ),
        Rule::NoEvidence => ("unknown", "as it was", "none"),
        Rule::AbsenceUnconfirmed => ("missing", "as it was", "none"),
        Rule::Transitional => ("booting or stopping", "as it was", "none"),
        Rule::LateArrival => (
            "status failed, running or stopped",
            "late_arrival=adopt: enter(running) or enter(paused), as seen; late_arrival=destroy: enter(destroying) where volume none, else failed",
            "adopt, running: hold; destroy: `destroy_compute`, `revoke_credentials`, settle where stopped",
        ),
        Rule::SeenRunning => ("running", "enter(running)", "hold"),
        Rule::SeenStopped => ("stopped", "enter(paused)", "none further"),
        Rule::NeverArrived => (
            "status provisioning, gone",
            "enter(failed)",
            "`revoke_credentials`, settle",
        ),
        Rule::StillFailed => ("status failed, gone", "failed", "settle"),
        Rule::GoneWithoutVolume => (
            "gone, volume none",
            "enter(destroyed)",
            "`revoke_credentials`, settle",
        ),
        Rule::GoneDespiteVolume => (
            "gone, compute_lost=destroy",
            "enter(destroyed)",
            "`revoke_credentials`, settle. The volume stays",
        ),
        Rule::VolumeOutlivesCompute => (
            "gone (compute_lost=keep)",
            "enter(paused)",
            "settle; where compute is not lost already `record_compute_lost`, and `revoke_credentials` where revoke_on_compute_lost=true",
        ),
    };
    Prose { when, to, effects }
}

/// As wide as the rules are for a terminal, whatever its width, so that pages can be compared.
const WIDTH: u16 = 160;

const COLUMNS: usize = 7;

const HEADER: [&str; COLUMNS] = ["#", "rule", "when", "to", "effects", "cells", "leads to"];

const LEGEND: &str = "\
The first rule that matches answers. A sighting stands for itself: `gone` is the sighting gone.

- `enter(S)`: the status becomes S; where it was not S already, the ledger gets the record of S (`record_running`, …).
- `settle`: `release_compute` where compute is held.
- `hold`: `hold_compute` where compute is not held.
- `doomed`: the status is destroying, or the quarantine elapsed.
- `cells`, `leads to`: counted from the table: how many of the 4704 cells the rule answers, and with which statuses.
";
