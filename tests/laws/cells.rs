//! Does every cell of every table keep the laws that speak of cells?

use lifecycle_core::{
    Cell, Choices, Compute, Effect, Effects, Force, Law, Quarantine, Sighting, Status, Table,
    Transition, Volume,
};

use crate::promises::{Lookup, PROMISES};

#[test]
fn no_table_breaks_a_law_of_the_core() {
    for choices in Choices::all() {
        assert_eq!(Law::first_broken(&Table::new(choices)), None, "{choices:?}");
    }
}

#[test]
fn no_table_breaks_a_promise_that_was_written_a_second_time() {
    for choices in Choices::all() {
        let table = Table::new(choices);
        for cell in Cell::all() {
            let found = Lookup::of(cell, choices, table.answer(cell));
            for (law, is_kept) in PROMISES {
                assert!(is_kept(&found), "{law} is broken by {found:?}");
            }
        }
    }
}

/// Beyond law 2: every status has its record, and each is written exactly on entry.
#[test]
fn a_status_is_recorded_exactly_where_it_is_entered() {
    for choices in Choices::all() {
        let table = Table::new(choices);
        for cell in Cell::all() {
            let Transition { to, effects, .. } = table.answer(cell);
            for status in Status::ALL {
                let Some(record) = Effect::record_of(*status) else {
                    assert_eq!(*status, Status::Provisioning);
                    assert!(to != *status || cell.status == *status);
                    continue;
                };
                let is_entered = to == *status && cell.status != *status;
                assert_eq!(effects.contains(record), is_entered, "{cell:?} {choices:?}");
            }
        }
    }
}

/// Capacity is an account: what is held is released once, what is not is held once.
#[test]
fn capacity_is_never_released_twice_nor_held_twice() {
    for choices in Choices::all() {
        let table = Table::new(choices);
        for cell in Cell::all() {
            let transition = table.answer(cell);
            let releases = transition.effects.contains(Effect::ReleaseCompute);
            let holds = transition.effects.contains(Effect::HoldCompute);
            let was_held = cell.compute == Compute::Held;
            let is_held = transition.next_compute(cell) == Compute::Held;
            assert!(!releases || was_held, "{cell:?} {choices:?}");
            assert!(!holds || !was_held, "{cell:?} {choices:?}");
            assert_eq!(
                is_held,
                (was_held || holds) && !releases,
                "{cell:?} {choices:?}"
            );
        }
    }
}

#[test]
fn a_record_of_lost_compute_comes_with_a_kept_volume_and_lost_compute_only() {
    for choices in Choices::all() {
        let table = Table::new(choices);
        for cell in Cell::all() {
            let transition = table.answer(cell);
            if transition.effects.contains(Effect::RecordComputeLost) {
                assert_eq!(transition.to, Status::Paused);
                assert_eq!(transition.next_compute(cell), Compute::Lost);
                assert_ne!(cell.compute, Compute::Lost);
            }
        }
    }
}

/// Law 9, over cells: sightings change at will, time only takes a quarantine further, and the
/// volume may be read or wiped.
#[test]
fn destroyed_is_reachable_from_every_quarantined_and_destroying_cell() {
    for choices in Choices::all() {
        let table = Table::new(choices);
        let mut reaching: Vec<bool> = Cell::all()
            .map(|cell| table.answer(cell).to == Status::Destroyed)
            .collect();
        let mut grew = true;
        while grew {
            grew = false;
            for place in 0..Cell::COUNT {
                let cell = Cell::nth(place);
                if !reaching[place]
                    && successors(cell, table.answer(cell)).any(|next| reaching[place_of(next)])
                {
                    reaching[place] = true;
                    grew = true;
                }
            }
        }
        for (cell, is_reaching) in Cell::all().zip(reaching) {
            let is_deleted = cell.force == Force::None
                && match cell.status {
                    Status::Destroying => true,
                    // A quarantined row whose column is clear was just restored.
                    Status::Quarantined => cell.quarantine != Quarantine::Clear,
                    Status::Provisioning
                    | Status::Running
                    | Status::Paused
                    | Status::Destroyed
                    | Status::Failed => false,
                };
            assert!(!is_deleted || is_reaching, "{cell:?} {choices:?}");
        }
    }
}

/// The cells that one step leads to, without a force and without a request.
fn successors(cell: Cell, transition: Transition) -> impl Iterator<Item = Cell> {
    let quarantines: &[Quarantine] = match cell.quarantine {
        Quarantine::Clear => &[Quarantine::Clear],
        Quarantine::Due | Quarantine::Open => &[Quarantine::Open, Quarantine::Elapsed],
        Quarantine::Elapsed => &[Quarantine::Elapsed],
    };
    let wipes = transition.effects.contains(Effect::DestroyVolume);
    let volumes = Volume::ALL.iter().filter(move |volume| {
        let is_read = cell.volume == Volume::Unknown;
        let is_wiped = wipes && **volume == Volume::None;
        **volume == cell.volume || is_read || is_wiped
    });
    volumes.flat_map(move |volume| {
        quarantines.iter().flat_map(move |quarantine| {
            Sighting::ALL.iter().map(move |sighting| Cell {
                status: transition.to,
                sighting: *sighting,
                volume: *volume,
                quarantine: *quarantine,
                compute: transition.next_compute(cell),
                force: Force::None,
            })
        })
    })
}

fn place_of(cell: Cell) -> usize {
    let Cell {
        status,
        sighting,
        volume,
        quarantine,
        compute,
        force,
    } = cell;
    (((((status as usize * 7) + sighting as usize) * 4 + volume as usize) * 4
        + quarantine as usize)
        * 3
        + compute as usize)
        * 2
        + force as usize
}

/// Law 6, over cells: what the transition leaves behind brings nothing new.
#[test]
fn asking_the_table_again_is_idle() {
    for choices in Choices::all() {
        let table = Table::new(choices);
        for cell in Cell::all().filter(|cell| cell.force == Force::None) {
            let transition = table.answer(cell);
            let opened = transition.to == Status::Quarantined;
            let next = Cell {
                status: transition.to,
                compute: transition.next_compute(cell),
                quarantine: match cell.quarantine {
                    Quarantine::Due if opened => Quarantine::Open,
                    Quarantine::Due => Quarantine::Clear,
                    kept @ (Quarantine::Clear | Quarantine::Open | Quarantine::Elapsed) => kept,
                },
                ..cell
            };
            let again = table.answer(next);
            assert_eq!(again.to, transition.to, "{cell:?} {choices:?}");
            let repeated: Vec<_> = again
                .effects
                .iter()
                .filter(|effect| !REPEATABLE.contains(*effect))
                .collect();
            assert_eq!(repeated, [], "{cell:?} {choices:?}");
        }
    }
}

/// What may be wanted as often as it is asked for: deliveries that are idempotent, and orphans.
const REPEATABLE: Effects = Effects::NONE
    .with(Effect::StopCompute)
    .with(Effect::RevokeCredentials)
    .with(Effect::DestroyCompute)
    .with(Effect::DestroyVolume)
    .with(Effect::RecordOrphan);
