//! Is the whole table still the one that was reviewed?
//!
//! Every cell is in a snapshot: cells with the same answer are merged into blocks, a block says for
//! each column which values it covers (`*`: all of them), and the blocks are proved to cover every
//! cell once. A change of the table is a change of these files, to be read line by line:
//! `INSTA_UPDATE=always cargo test --test table` writes them anew.

mod blocks;

use std::collections::BTreeMap;

use blocks::{blocks, rendered};
use lifecycle_core::{
    Cell, Choices, ComputeLost, LateArrival, Orphan, RevokeOnComputeLost, Rule, Status, Table,
    Transition, VolumeAfterQuarantine,
};

#[test]
fn the_default_table_is_the_reviewed_one() {
    for status in Status::ALL {
        let cells = Cell::all().filter(|cell| cell.status == *status);
        let merged = blocks(cells.map(|cell| (cell, answered(Table::DEFAULT.answer(cell)))));
        insta::assert_snapshot!(format!("default_{status}"), rendered(&merged));
    }
}

#[test]
fn each_choice_changes_what_was_reviewed_and_nothing_else() {
    for (name, choices) in single_changes() {
        let changed = Table::new(choices);
        let differing = Cell::all().filter_map(|cell| {
            let (before, after) = (Table::DEFAULT.answer(cell), changed.answer(cell));
            (before != after).then(|| {
                (
                    cell,
                    format!("{}\n   instead of {}", answered(after), answered(before)),
                )
            })
        });
        insta::assert_snapshot!(format!("choice_{name}"), rendered(&blocks(differing)));
    }
}

#[test]
fn the_blocks_cover_every_cell_once_with_its_answer() {
    for choices in Choices::all() {
        let table = Table::new(choices);
        let merged = blocks(Cell::all().map(|cell| (cell, answered(table.answer(cell)))));
        let mut covered: BTreeMap<usize, &str> = BTreeMap::new();
        for block in &merged {
            for place in block.places() {
                assert_eq!(covered.insert(place, &block.answer), None, "{block:?}");
            }
        }
        assert_eq!(covered.len(), Cell::COUNT);
        for (place, answer) in covered {
            assert_eq!(answer, answered(table.answer(Cell::nth(place))));
        }
    }
}

#[test]
fn a_cell_is_found_at_its_place_and_places_count_round() {
    for (place, cell) in Cell::all().enumerate() {
        assert_eq!(Cell::nth(place), cell);
        assert_eq!(Cell::nth(place + Cell::COUNT), cell);
    }
    assert_eq!(Cell::all().len(), 4704);
}

#[test]
fn every_rule_answers_somewhere_in_every_table_that_can_reach_it() {
    for choices in Choices::all() {
        let table = Table::new(choices);
        let silent: Vec<_> = Rule::ALL
            .iter()
            .filter(|rule| !Cell::all().any(|cell| table.answer(cell).rule == **rule))
            .collect();
        let expected: &[Rule] = match (choices.compute_lost, choices.volume_after_quarantine) {
            (ComputeLost::Keep, VolumeAfterQuarantine::Destroy) => &[Rule::GoneDespiteVolume],
            (ComputeLost::Destroy, VolumeAfterQuarantine::Destroy) => {
                &[Rule::VolumeOutlivesCompute]
            }
            (ComputeLost::Keep, VolumeAfterQuarantine::Retain) => &[
                Rule::VolumeDue,
                Rule::VolumeUnreadable,
                Rule::GoneDespiteVolume,
            ],
            (ComputeLost::Destroy, VolumeAfterQuarantine::Retain) => &[
                Rule::VolumeDue,
                Rule::VolumeUnreadable,
                Rule::VolumeOutlivesCompute,
            ],
        };
        assert_eq!(silent, expected.iter().collect::<Vec<_>>(), "{choices:?}");
    }
}

#[test]
fn sets_of_choices_are_numbered_without_a_gap() {
    for (place, choices) in Choices::all().enumerate() {
        assert_eq!(choices.index(), place);
        assert_eq!(Table::new(choices).choices(), choices);
    }
    assert_eq!(Choices::all().count(), Choices::COUNT);
    assert_eq!(Choices::all().next(), Some(Choices::default()));
}

fn answered(transition: Transition) -> String {
    let Transition { to, effects, rule } = transition;
    let effects = if effects.is_empty() {
        "nothing".to_owned()
    } else {
        effects.to_string()
    };
    format!("{to}, {effects} ({rule})")
}

fn single_changes() -> [(&'static str, Choices); 5] {
    let default = Choices::DEFAULT;
    [
        (
            "compute_lost_destroy",
            Choices {
                compute_lost: ComputeLost::Destroy,
                ..default
            },
        ),
        (
            "volume_after_quarantine_retain",
            Choices {
                volume_after_quarantine: VolumeAfterQuarantine::Retain,
                ..default
            },
        ),
        (
            "late_arrival_destroy",
            Choices {
                late_arrival: LateArrival::Destroy,
                ..default
            },
        ),
        (
            "orphan_destroy",
            Choices {
                orphan: Orphan::Destroy,
                ..default
            },
        ),
        (
            "revoke_on_compute_lost_true",
            Choices {
                revoke_on_compute_lost: RevokeOnComputeLost::Yes,
                ..default
            },
        ),
    ]
}
