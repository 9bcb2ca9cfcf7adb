//! Does the chain of rules keep the laws that speak of one cell?
//!
//! They hold over every cell of all thirty-two tables.

use std::collections::BTreeSet;

use lifecycle_fuzz::reference::table::{Answer, Cell, Choices, all_choices, answer, cells};
use lifecycle_fuzz::reference::words::{
    Compute, ComputeLost, Force, QuarantineColumn, Sighting, Status, Volume, Word,
};

#[test]
fn there_are_4704_cells_thirty_two_tables_and_twenty_rules() {
    let words: BTreeSet<_> = cells().map(Cell::words).collect();
    assert_eq!(words.len(), 4704);
    assert_eq!(cells().count(), 4704);
    let choices: BTreeSet<_> = all_choices().map(Choices::words).collect();
    assert_eq!(choices.len(), 32);
    let mut rules = BTreeSet::new();
    check(|_, _, answer| {
        rules.insert(answer.rule);
        true
    });
    assert_eq!(rules.len(), 20);
}

#[test]
fn destroyed_absorbs() {
    check(|cell, _, answer| cell.status != Status::Destroyed || answer.to == Status::Destroyed);
}

#[test]
fn a_status_is_recorded_exactly_where_it_is_entered() {
    check(|cell, _, answer| {
        Status::ALL.iter().all(|status| {
            let entered = cell.status != *status && answer.to == *status;
            entered == answer.has(&format!("record_{}", status.word()))
        })
    });
}

#[test]
fn no_evidence_changes_no_active_or_destroyed_row() {
    check(|cell, _, answer| {
        let blind = cell.sighting == Sighting::Unknown || cell.sighting == Sighting::Missing;
        let row = is_active(cell.status) || cell.status == Status::Destroyed;
        let left_alone = cell.quarantine == QuarantineColumn::Clear && cell.force == Force::None;
        !(blind && row && left_alone) || answer.to == cell.status && answer.effects.is_empty()
    });
}

#[test]
fn an_active_row_with_a_volume_outlives_its_compute() {
    check(|cell, choices, answer| {
        let kept = is_active(cell.status)
            && cell.volume != Volume::None
            && choices.compute_lost == ComputeLost::Keep
            && cell.quarantine == QuarantineColumn::Clear
            && cell.force == Force::None;
        !kept || answer.to != Status::Destroyed
    });
}

#[test]
fn a_volume_is_destroyed_only_where_it_is_ours_and_doomed() {
    check(|cell, _, answer| {
        let allowed = cell.volume == Volume::Owned
            && cell.sighting == Sighting::Gone
            && cell.force == Force::None
            && (cell.status == Status::Destroying || cell.quarantine == QuarantineColumn::Elapsed);
        allowed || !answer.has("destroy_volume")
    });
}

#[test]
fn leaving_the_living_revokes_credentials() {
    check(|cell, _, answer| {
        let entered = cell.status != answer.to;
        let living = is_active(answer.to) && answer.to != Status::Failed;
        !entered || living || answer.has("revoke_credentials")
    });
}

#[test]
fn entering_destroyed_gives_the_compute_back_and_destroys_it_unless_gone() {
    check(|cell, _, answer| {
        let entered = cell.status != answer.to && answer.to == Status::Destroyed;
        let given_back = cell.compute != Compute::Held || answer.has("release_compute");
        let destroyed = cell.sighting == Sighting::Gone || answer.has("destroy_compute");
        !entered || given_back && destroyed
    });
}

#[test]
fn a_destroying_row_destroys_and_a_quarantined_one_stops_what_still_runs() {
    check(|cell, _, answer| {
        let gone = cell.sighting == Sighting::Gone;
        let runs = cell.sighting == Sighting::Running || cell.sighting == Sighting::Booting;
        let destroying = answer.to == Status::Destroying && !gone;
        let quarantined = answer.to == Status::Quarantined && runs;
        (!destroying || answer.has("destroy_compute"))
            && (!quarantined || answer.has("stop_compute"))
    });
}

fn check(mut law: impl FnMut(Cell, Choices, &Answer) -> bool) {
    for choices in all_choices() {
        for cell in cells() {
            let answer = answer(cell, choices);
            assert!(
                law(cell, choices, &answer),
                "{cell:?} {choices:?} {answer:?}"
            );
        }
    }
}

fn is_active(status: Status) -> bool {
    match status {
        Status::Provisioning | Status::Running | Status::Paused | Status::Failed => true,
        Status::Quarantined | Status::Destroying | Status::Destroyed => false,
    }
}
