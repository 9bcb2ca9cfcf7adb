//! Would a transition that breaks a law be noticed?

use lifecycle_core::{
    Cell, Choices, Compute, Effect, Effects, Force, Law, Quarantine, Rule, Sighting, Status, Table,
    Transition, Volume,
};

use crate::promises::{Lookup, PROMISES};

/// For each law a cell and a wrong answer to it that breaks this law and no other.
#[test]
fn each_promise_notices_a_transition_made_to_break_it() {
    let running = Cell {
        status: Status::Running,
        sighting: Sighting::Gone,
        volume: Volume::Owned,
        quarantine: Quarantine::Clear,
        compute: Compute::Held,
        force: Force::None,
    };
    let destroying = Cell {
        status: Status::Destroying,
        sighting: Sighting::Stopped,
        ..running
    };
    let ended = END.with(Effect::ReleaseCompute);
    for (law, cell, to, effects) in [
        (
            Law::DestroyedAbsorbs,
            Cell {
                status: Status::Destroyed,
                sighting: Sighting::Running,
                ..running
            },
            Status::Running,
            Effects::NONE.with(Effect::RecordRunning),
        ),
        (
            Law::DestroyRecordedOnEntry,
            Cell {
                volume: Volume::None,
                ..running
            },
            Status::Destroyed,
            ended.without(Effect::RecordDestroyed),
        ),
        (
            Law::DestroyRecordedOnEntry,
            Cell {
                status: Status::Destroyed,
                ..running
            },
            Status::Destroyed,
            Effects::NONE.with(Effect::RecordDestroyed),
        ),
        (
            Law::IgnoranceChangesNothing,
            Cell {
                sighting: Sighting::Missing,
                ..running
            },
            Status::Paused,
            Effects::NONE.with(Effect::RecordPaused),
        ),
        (
            Law::IgnoranceChangesNothing,
            Cell {
                sighting: Sighting::Unknown,
                ..running
            },
            Status::Running,
            Effects::NONE.with(Effect::RevokeCredentials),
        ),
        (Law::VolumeKeepsMachine, running, Status::Destroyed, ended),
        (
            Law::VolumeDestroyedOnlyWhenDoomed,
            destroying,
            Status::Destroying,
            Effects::NONE
                .with(Effect::DestroyCompute)
                .with(Effect::DestroyVolume),
        ),
        (
            Law::VolumeDestroyedOnlyWhenDoomed,
            Cell {
                volume: Volume::Shared,
                sighting: Sighting::Gone,
                ..destroying
            },
            Status::Destroying,
            Effects::NONE.with(Effect::DestroyVolume),
        ),
        (
            Law::EndingRevokes,
            Cell {
                status: Status::Provisioning,
                ..running
            },
            Status::Failed,
            Effects::NONE
                .with(Effect::RecordFailed)
                .with(Effect::ReleaseCompute),
        ),
        (
            Law::DestroyedHoldsNothing,
            Cell {
                volume: Volume::None,
                ..running
            },
            Status::Destroyed,
            END,
        ),
        (
            Law::DestroyedHoldsNothing,
            Cell {
                sighting: Sighting::Running,
                force: Force::Destroyed,
                ..running
            },
            Status::Destroyed,
            ended,
        ),
        (
            Law::DeletionIsPursued,
            destroying,
            Status::Destroying,
            Effects::NONE.with(Effect::ReleaseCompute),
        ),
        (
            Law::DeletionIsPursued,
            Cell {
                status: Status::Quarantined,
                sighting: Sighting::Booting,
                quarantine: Quarantine::Open,
                ..running
            },
            Status::Quarantined,
            Effects::NONE,
        ),
    ] {
        let wrong = Transition {
            to,
            effects,
            rule: Table::DEFAULT.answer(cell).rule,
        };
        assert_eq!(broken_by(cell, wrong), [law], "{cell:?} {wrong:?}");
    }
}

/// No effect of ours starts anything, so law 8 can only be broken by a word that does.
#[test]
fn the_promise_that_nothing_is_started_notices_a_start() {
    let mut found = Lookup::of(
        Cell::nth(0),
        Choices::DEFAULT,
        Table::DEFAULT.answer(Cell::nth(0)),
    );
    found.effects.push("start_compute");
    let broken: Vec<_> = PROMISES
        .iter()
        .filter(|(_, is_kept)| !is_kept(&found))
        .map(|(law, _)| *law)
        .collect();
    assert_eq!(broken, [Law::NothingIsStarted]);
}

/// A slip in one effect or in the status is noticed wherever a law speaks of it.
#[test]
fn every_law_is_broken_by_some_slip_in_the_real_table() {
    let mut noticed: Vec<Law> = Vec::new();
    for cell in Cell::all() {
        let right = Table::DEFAULT.answer(cell);
        let statuses = Status::ALL.iter().map(|to| Transition { to: *to, ..right });
        let effects = Effect::ALL.iter().map(|effect| Transition {
            effects: if right.effects.contains(*effect) {
                right.effects.without(*effect)
            } else {
                right.effects.with(*effect)
            },
            ..right
        });
        for wrong in statuses.chain(effects) {
            noticed.extend(broken_by(cell, wrong));
        }
    }
    for (law, _) in PROMISES
        .iter()
        .filter(|(law, _)| *law != Law::NothingIsStarted)
    {
        let count = noticed.iter().filter(|found| *found == law).count();
        assert!(count >= 10, "{law} was broken by {count} slips");
    }
}

#[test]
fn the_rule_says_nothing_to_a_law() {
    let cell = Cell::nth(0);
    let right = Table::DEFAULT.answer(cell);
    for rule in Rule::ALL {
        assert_eq!(
            broken_by(
                cell,
                Transition {
                    rule: *rule,
                    ..right
                }
            ),
            []
        );
    }
}

fn broken_by(cell: Cell, transition: Transition) -> Vec<Law> {
    let found = Lookup::of(cell, Choices::DEFAULT, transition);
    PROMISES
        .iter()
        .filter(|(_, is_kept)| !is_kept(&found))
        .map(|(law, _)| *law)
        .collect()
}

const END: Effects = Effects::NONE
    .with(Effect::RevokeCredentials)
    .with(Effect::RecordDestroyed);
