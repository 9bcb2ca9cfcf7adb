//! When does the fleet guard hold, and when does it let go?

use core::time::Duration;

use lifecycle_core::{
    Answer, Asked, FleetGuard, Ground, GuardVerdict, Judgement, LastSeen, Machine, Missing,
    Observation, Policy, Proof, QuarantineStamp, ScopeWindow, SeenPower, Sighting, Source, Status,
    Timestamp, Volume, conclude, judge,
};

#[test]
fn the_defaults_are_five_rows_and_a_fifth_within_ten_minutes_held_for_fifteen() {
    let FleetGuard {
        count,
        share_percent,
        window,
        hold,
    } = FleetGuard::default();
    assert_eq!((count, share_percent), (5, 20));
    assert_eq!(
        (window, hold),
        (Duration::from_secs(600), Duration::from_secs(900))
    );
}

#[test]
fn a_hold_begins_once_both_the_count_and_the_share_are_reached() {
    for (newly_gone, active, begins) in [
        (4, 5, false),
        (5, 5, true),
        (5, 25, true),
        (5, 26, false),
        (6, 30, true),
        (6, 31, false),
        (0, 0, false),
        (5, 0, true),
        (u64::MAX, u64::MAX, true),
    ] {
        let window = ScopeWindow {
            newly_gone,
            active,
            ..ScopeWindow::default()
        };
        let verdict = examine(&running(), Proof::CompleteList, window);
        assert_eq!(
            matches!(verdict, GuardVerdict::HoldBegins(_)),
            begins,
            "{newly_gone} of {active}: {verdict:?}"
        );
        assert!(begins || verdict == GuardVerdict::Counted);
    }
}

#[test]
fn what_is_held_is_concluded_as_missing_with_last_seen_as_before() {
    let machine = running();
    let judged = judged(&machine, Proof::CompleteList);
    assert_eq!(judged.sighting, Sighting::Gone);
    let GuardVerdict::HoldBegins(held) = examine(&machine, Proof::CompleteList, OUTAGE) else {
        panic!("the hold begins");
    };
    assert_eq!(held.sighting, Sighting::Missing);
    assert_eq!(held.ground, Ground::FleetGuard);
    assert_eq!(held.observed.last_seen, machine.last_seen);
    assert_eq!(held.observed.observed_at, judged.observed.observed_at);
    assert_eq!(held.observed.missing, judged.observed.missing);

    let decision = conclude(&machine, held, Asked::NOTHING, NOW, &Policy::IMMEDIATE);
    assert_eq!(decision.next.status, Status::Running);
    assert!(decision.transition.effects.is_empty());
}

#[test]
fn one_alert_is_raised_by_the_row_with_which_the_hold_begins() {
    let before = examine(&running(), Proof::CompleteList, OUTAGE);
    assert!(matches!(before, GuardVerdict::HoldBegins(_)));
    let after = examine(&running(), Proof::CompleteList, HELD);
    assert!(matches!(after, GuardVerdict::Held(_)));
}

#[test]
fn a_held_scope_holds_further_rows_even_where_the_window_has_emptied() {
    let window = ScopeWindow {
        newly_gone: 0,
        ..HELD
    };
    let verdict = examine(&running(), Proof::CompleteList, window);
    assert!(matches!(verdict, GuardVerdict::Held(_)));
}

#[test]
fn rows_that_are_being_deleted_never_count_and_are_never_held() {
    let stamped = Machine {
        quarantine: Some(QuarantineStamp {
            id: 1,
            since: NOW,
            destroy_at: NOW,
        }),
        ..running()
    };
    assert_eq!(
        examine(&stamped, Proof::CompleteList, OUTAGE),
        GuardVerdict::Passed
    );
    for status in [Status::Quarantined, Status::Destroying, Status::Destroyed] {
        let machine = Machine {
            status,
            ..running()
        };
        assert_eq!(
            examine(&machine, Proof::CompleteList, OUTAGE),
            GuardVerdict::Passed
        );
    }
    for asked in [Asked::DELETE, Asked::FORCE_DESTROYED] {
        let machine = running();
        let verdict = FleetGuard::DEFAULT.examine(
            &machine,
            judged(&machine, Proof::CompleteList),
            asked,
            OUTAGE,
            NOW,
        );
        assert_eq!(verdict, GuardVerdict::Passed, "{asked:?}");
    }
}

#[test]
fn a_row_that_was_gone_before_is_not_newly_gone() {
    let machine = Machine {
        last_seen: Some(LastSeen {
            power: SeenPower::Gone,
            at: EARLIER,
        }),
        ..running()
    };
    assert_eq!(
        examine(&machine, Proof::CompleteList, OUTAGE),
        GuardVerdict::Passed
    );
}

#[test]
fn anything_but_gone_passes() {
    let machine = running();
    for answer in [
        Answer::Present(lifecycle_core::Power::Off),
        Answer::Unknown(lifecycle_core::Cause::Timeout),
        Answer::Absent(Proof::PartialList),
    ] {
        let seen = Observation::of(&machine, answer, NOW, Source::Sweep);
        let judgement = judge(&machine, Some(&seen), NOW, &Policy::IMMEDIATE);
        let verdict = FleetGuard::DEFAULT.examine(&machine, judgement, Asked::NOTHING, OUTAGE, NOW);
        assert_eq!(verdict, GuardVerdict::Passed);
    }
}

#[test]
fn every_active_row_counts_whatever_its_volume() {
    for status in Status::ACTIVE {
        for volume in Volume::ALL {
            let machine = Machine {
                status: *status,
                volume: *volume,
                ..running()
            };
            let verdict = examine(&machine, Proof::CompleteList, QUIET);
            assert_eq!(verdict, GuardVerdict::Counted);
            let verdict = examine(&machine, Proof::CompleteList, OUTAGE);
            assert!(matches!(verdict, GuardVerdict::HoldBegins(_)));
        }
    }
}

#[test]
fn what_the_provider_itself_says_has_ended_is_never_held() {
    for proof in [Proof::Tombstone, Proof::DeleteConfirmed] {
        for window in [QUIET, OUTAGE, HELD] {
            assert_eq!(examine(&running(), proof, window), GuardVerdict::Counted);
        }
    }
}

#[test]
fn an_operators_release_lets_rows_go_for_the_length_of_the_window() {
    let window = FleetGuard::DEFAULT.window;
    for (released_at, is_released) in [
        (NOW, true),
        (NOW.saturating_sub(window - MILLI), true),
        (NOW.saturating_sub(window), false),
    ] {
        for scope in [OUTAGE, HELD] {
            let scope = ScopeWindow {
                released_at: Some(released_at),
                ..scope
            };
            let verdict = examine(&running(), Proof::CompleteList, scope);
            assert_eq!(verdict == GuardVerdict::Counted, is_released, "{verdict:?}");
        }
    }
}

#[test]
fn a_hold_ends_row_by_row_on_typed_proof_once_the_row_was_missing_all_through_it() {
    let hold = FleetGuard::DEFAULT.hold;
    let over = NOW.saturating_sub(hold);
    let not_over = NOW.saturating_sub(hold - MILLI);
    for (held_since, missing_since, proof, ends) in [
        (over, over, Proof::TypedNotFound, true),
        (over, over, Proof::Superseded, true),
        (over, over, Proof::CompleteList, false),
        (not_over, over, Proof::TypedNotFound, false),
        (over, not_over, Proof::TypedNotFound, false),
    ] {
        let machine = Machine {
            observed_at: Some(EARLIER),
            missing: Some(Missing {
                since: missing_since,
                count: 9,
            }),
            ..running()
        };
        let scope = ScopeWindow {
            held_since: Some(held_since),
            ..OUTAGE
        };
        let verdict = examine(&machine, proof, scope);
        assert_eq!(
            verdict == GuardVerdict::Counted,
            ends,
            "{proof}: {verdict:?}"
        );
        assert!(ends || matches!(verdict, GuardVerdict::Held(_)));
    }
}

fn examine(machine: &Machine<'_>, proof: Proof, scope: ScopeWindow) -> GuardVerdict {
    let judgement = judged(machine, proof);
    FleetGuard::DEFAULT.examine(machine, judgement, Asked::NOTHING, scope, NOW)
}

fn judged(machine: &Machine<'_>, proof: Proof) -> Judgement {
    let absent = Observation::of(machine, Answer::Absent(proof), NOW, Source::Sweep);
    judge(machine, Some(&absent), NOW, &Policy::IMMEDIATE)
}

fn running() -> Machine<'static> {
    Machine {
        status: Status::Running,
        last_seen: Some(LastSeen {
            power: SeenPower::Running,
            at: EARLIER,
        }),
        ..Machine::new("account-1/eu", None, Timestamp::from_millis(0))
    }
}

const NOW: Timestamp = Timestamp::from_millis(100_000_000);

const EARLIER: Timestamp = Timestamp::from_millis(99_700_000);

const MILLI: Duration = Duration::from_millis(1);

const QUIET: ScopeWindow = ScopeWindow {
    newly_gone: 4,
    active: 20,
    held_since: None,
    released_at: None,
};

const OUTAGE: ScopeWindow = ScopeWindow {
    newly_gone: 5,
    ..QUIET
};

const HELD: ScopeWindow = ScopeWindow {
    held_since: Some(EARLIER),
    ..OUTAGE
};
