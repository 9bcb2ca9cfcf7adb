//! What do people read of a decision and of a machine?

use std::collections::BTreeMap;

use lifecycle_adapters::wire;
use lifecycle_core::{
    Answer, Asked, Compute, Effect, Effects, FleetGuard, GuardVerdict, LastSeen, Machine,
    Observation, Policy, Proof, QuarantineStamp, Report, Rule, ScopeWindow, SeenPower, Source,
    Status, Timestamp, Volume, conclude, judge,
};
use serde_json::Value;

#[test]
fn every_case_says_why_in_one_sentence_and_shows_the_machine_in_another() {
    let mut text = String::new();
    let mut rules: BTreeMap<String, u32> = BTreeMap::new();
    for line in include_str!("../cases/seeds.jsonl")
        .lines()
        .chain(include_str!("../cases/field.jsonl").lines())
        .chain(include_str!("more.jsonl").lines())
    {
        let Some(Ok(answer)) = wire::decide_line(line, 1) else {
            panic!("not answered: {line}");
        };
        let said = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        text.push_str(&format!(
            "{}\n  why    {}\n  detail {}\n",
            said(&answer["id"]),
            said(&answer["why"]),
            said(&answer["report"]["detail"]),
        ));
        *rules.entry(said(&answer["rule"])).or_default() += 1;
    }
    for rule in Rule::ALL {
        assert!(rules.contains_key(rule.word()), "no case shows {rule}");
    }
    insta::assert_snapshot!("why", text);
}

#[test]
fn a_row_that_is_held_says_so() {
    let machine = Machine {
        status: Status::Running,
        ..Machine::new("account-1/eu", None, Timestamp::from_millis(0))
    };
    let absent = Observation::of(
        &machine,
        Answer::Absent(Proof::CompleteList),
        NOW,
        Source::Sweep,
    );
    let judgement = judge(&machine, Some(&absent), NOW, &Policy::IMMEDIATE);
    let scope = ScopeWindow {
        newly_gone: 5,
        active: 5,
        ..ScopeWindow::default()
    };
    let verdict = FleetGuard::DEFAULT.examine(&machine, judgement, Asked::NOTHING, scope, NOW);
    let GuardVerdict::HoldBegins(held) = verdict else {
        panic!("the hold begins");
    };
    let decision = conclude(&machine, held, Asked::NOTHING, NOW, &Policy::IMMEDIATE);
    assert_eq!(
        decision.why().to_string(),
        "absence_unconfirmed: absent, held by the fleet guard: too many went at once; \
         status running, volume none, quarantine clear, compute held; \
         believed gone, it would be destroyed"
    );
}

#[test]
fn every_phase_is_shown_in_a_sentence() {
    let seen = |power, ago: i64| {
        Some(LastSeen {
            power,
            at: Timestamp::from_millis(NOW.as_millis() - ago),
        })
    };
    let stamp = |left: i64| {
        Some(QuarantineStamp {
            id: 1,
            since: NOW,
            destroy_at: Timestamp::from_millis(NOW.as_millis() + left),
        })
    };
    let base = Machine::new("account-1/eu", None, Timestamp::from_millis(0));
    let owed = Effects::NONE
        .with(Effect::RevokeCredentials)
        .with(Effect::DestroyCompute);
    let mut text = String::new();
    let mut show = |status, compute, last_seen, quarantine, owed| {
        let machine = Machine {
            status,
            compute,
            volume: Volume::Owned,
            last_seen,
            quarantine,
            ..base
        };
        let report = Report::of(&machine, NOW, &Policy::CAUTIOUS, owed);
        text.push_str(&format!("{}\n", report.detail));
    };
    let (held, lost, none) = (Compute::Held, Compute::Lost, Effects::NONE);
    show(Status::Provisioning, held, None, None, none);
    show(
        Status::Running,
        held,
        seen(SeenPower::Running, 1_000),
        None,
        none,
    );
    show(
        Status::Running,
        held,
        seen(SeenPower::Running, 600_001),
        None,
        none,
    );
    show(
        Status::Running,
        held,
        seen(SeenPower::Running, -2_001),
        None,
        none,
    );
    show(
        Status::Paused,
        held,
        seen(SeenPower::Suspended, 0),
        None,
        none,
    );
    show(Status::Paused, lost, seen(SeenPower::Gone, 0), None, none);
    show(
        Status::Quarantined,
        held,
        seen(SeenPower::Off, 0),
        stamp(299_000),
        none,
    );
    show(
        Status::Quarantined,
        held,
        seen(SeenPower::Off, 0),
        stamp(250),
        owed,
    );
    show(Status::Quarantined, held, None, stamp(90_000_000), none);
    show(Status::Quarantined, held, None, stamp(7_260_000), none);
    show(Status::Quarantined, held, None, stamp(59_000), none);
    show(Status::Quarantined, held, None, stamp(0), none);
    show(Status::Quarantined, held, None, None, none);
    show(
        Status::Destroying,
        held,
        seen(SeenPower::Stopping, 0),
        stamp(-1),
        owed,
    );
    show(
        Status::Destroyed,
        held,
        seen(SeenPower::Gone, 0),
        stamp(-1),
        none,
    );
    show(
        Status::Destroyed,
        held,
        seen(SeenPower::Gone, 0),
        None,
        owed,
    );
    show(Status::Failed, held, None, None, none);
    insta::assert_snapshot!("details", text);
}

const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);
