//! Does every cell of every table get the same answer from the implementation and the reference?

use lifecycle_core::{Cell, Choices, Table, Transition, answer};
use lifecycle_fuzz::reference::{
    table::{self, Answer},
    words::Word,
};

#[test]
fn every_cell_of_all_thirty_two_tables_is_answered_as_the_reference_answers_it() {
    let mut compared = 0;
    for choices in Choices::all() {
        let looked_up = Table::new(choices);
        for cell in Cell::all() {
            let modelled = table::answer(modelled_cell(cell), modelled_choices(choices));
            for transition in [looked_up.answer(cell), answer(cell, choices)] {
                assert_eq!(words(transition), modelled, "{cell:?} {choices:?}");
            }
            compared += 1;
        }
    }
    assert_eq!(compared, 32 * 4704);
}

#[test]
fn both_number_the_cells_alike() {
    let own: Vec<_> = Cell::all().map(modelled_cell).collect();
    assert_eq!(own, table::cells().collect::<Vec<_>>());
}

fn modelled_cell(cell: Cell) -> table::Cell {
    let Cell {
        status,
        sighting,
        volume,
        quarantine,
        compute,
        force,
    } = cell;
    table::Cell {
        status: word(status.word()),
        sighting: word(sighting.word()),
        volume: word(volume.word()),
        quarantine: word(quarantine.word()),
        compute: word(compute.word()),
        force: word(force.word()),
    }
}

fn modelled_choices(choices: Choices) -> table::Choices {
    let Choices {
        compute_lost,
        volume_after_quarantine,
        late_arrival,
        orphan,
        revoke_on_compute_lost,
    } = choices;
    table::Choices {
        compute_lost: word(compute_lost.word()),
        volume_after_quarantine: word(volume_after_quarantine.word()),
        late_arrival: word(late_arrival.word()),
        orphan: word(orphan.word()),
        revoke_on_compute_lost: word(revoke_on_compute_lost.word()),
    }
}

fn words(transition: Transition) -> Answer {
    Answer {
        to: word(transition.to.word()),
        effects: transition
            .effects
            .iter()
            .map(|effect| effect.word())
            .collect(),
        rule: transition.rule.word(),
    }
}

fn word<W: Word>(text: &str) -> W {
    W::parse(text).unwrap_or_else(|| panic!("the reference does not know {text}"))
}
