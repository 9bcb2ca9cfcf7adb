//! Does everything come back as it was written?

use lifecycle_core::{
    Compute, Desired, Effect, LastSeen, Machine, Missing, QuarantineStamp, Rule, SeenPower, Source,
    Status, Timestamp, Volume,
};

use super::{
    StoreHarness,
    trial::{Trial, entry, fact, id, new_machine, with, work},
};
use crate::{
    facts::Facts,
    journal::Entry,
    ledger::Fact,
    outbox::{Enqueue, WorkKey},
    row::{NewMachine, Row},
    store::Change,
};

/// The most that a count or instant can be.
const MOST: u64 = i64::MAX.unsigned_abs();

/// Texts that stores stumble over.
fn texts() -> Vec<String> {
    vec![
        String::new(),
        " ".to_owned(),
        "it's \"quoted\"; DROP TABLE machines; -- \\ %_ $1 ? {} NULL".to_owned(),
        "\u{e9}e\u{301} \u{6f22}\u{5b57} \u{1f680} \u{202e} \u{10ffff}".to_owned(),
        "tab\tline\r\nend".to_owned(),
        "long ".repeat(400),
    ]
}

/// Every column of a row comes back as it was committed.
pub async fn every_column_of_a_row_is_kept(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let mut row = trial.registered("a").await;
    for sample in samples(&row) {
        let next = Row {
            revision: row.revision,
            ..sample
        };
        row = trial.won(&Change::of(next.clone())).await;
        let expected = Row {
            revision: next.revision + 1,
            ..next
        };
        assert_eq!(row, expected, "a won commit answers with what it was given");
        assert_eq!(
            trial.row(&row.id).await,
            expected,
            "every column of a row is kept"
        );
    }
}

fn samples(row: &Row) -> Vec<Row> {
    let least = Timestamp::from_millis(0);
    let mut samples = vec![
        extreme(row, 1, 0, least),
        extreme(row, MOST, MOST, Timestamp::MAX),
    ];
    for text in texts() {
        samples.push(Row {
            facts: Facts::of(&Machine::new(
                &format!(">{text}"),
                Some(&format!(">{text}")),
                least,
            )),
            provider_id: Some(text.clone()),
            volume_id: Some(text.clone()),
            policy: Some(text.clone()),
            ..row.clone()
        });
    }
    samples.push(Row {
        facts: Facts::of(&Machine::new("s", None, least)),
        provider_id: None,
        volume_id: None,
        policy: None,
        look_again_at: None,
        ..row.clone()
    });
    let word = |change: &dyn Fn(Machine<'_>) -> Machine<'_>| with(row.clone(), change);
    samples.extend(Status::ALL.iter().map(|status| {
        word(&|machine| Machine {
            status: *status,
            ..machine
        })
    }));
    samples.extend(Compute::ALL.iter().map(|compute| {
        word(&|machine| Machine {
            compute: *compute,
            ..machine
        })
    }));
    samples.extend(Desired::ALL.iter().map(|desired| {
        word(&|machine| Machine {
            desired: *desired,
            ..machine
        })
    }));
    samples.extend(Volume::ALL.iter().map(|volume| Row {
        registered_volume: *volume,
        ..word(&|machine| Machine {
            volume: *volume,
            ..machine
        })
    }));
    samples.extend(SeenPower::ALL.iter().map(|power| {
        let last_seen = Some(LastSeen {
            power: *power,
            at: least,
        });
        word(&|machine| Machine {
            last_seen,
            ..machine
        })
    }));
    samples
}

/// A row whose every count and instant is at one end; `first` is for counts that begin at one.
fn extreme(row: &Row, first: u64, count: u64, at: Timestamp) -> Row {
    let missing = Some(Missing { since: at, count });
    Row {
        facts: Facts::of(&Machine {
            status: Status::Paused,
            volume: Volume::Shared,
            compute: Compute::Lost,
            desired: Desired::Off,
            generation: first,
            scope: "account-2/us",
            marker: None,
            created_at: at,
            status_since: at,
            last_seen: Some(LastSeen {
                power: SeenPower::Suspended,
                at,
            }),
            observed_at: Some(at),
            missing,
            quarantine: Some(QuarantineStamp {
                id: first,
                since: at,
                destroy_at: at,
            }),
            quarantines: count,
            compute_lost_at: Some(at),
            busy_until: Some(at),
            holds: count,
        }),
        registered_volume: Volume::Unknown,
        volume_missing: missing,
        checked_at: at,
        look_again_at: Some(at),
        was_sighted: true,
        destroy_accepted_at: Some(at),
        ..row.clone()
    }
}

/// Ids that differ in any character name different machines.
pub async fn machines_are_told_apart_by_every_character(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let long = "x".repeat(199);
    let ids = [
        "a".to_owned(),
        "A".to_owned(),
        "a ".to_owned(),
        " a".to_owned(),
        "\u{e9}".to_owned(),
        "e\u{301}".to_owned(),
        "it's; --".to_owned(),
        "%".to_owned(),
        format!("{long}y"),
        format!("{long}\u{1f680}"),
    ];
    for (place, text) in ids.iter().enumerate() {
        let scope = format!("scope {place}");
        trial
            .registered_as(&NewMachine {
                scope,
                ..new_machine(text)
            })
            .await;
    }
    for (place, text) in ids.iter().enumerate() {
        let row = trial.row(&id(text)).await;
        assert_eq!(
            (row.id.as_str(), row.facts.machine().scope),
            (text.as_str(), format!("scope {place}").as_str()),
            "ids that differ in any character name different machines"
        );
    }
}

/// Every column of a fact comes back as it was written.
pub async fn every_column_of_a_fact_is_kept(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let row = trial.registered("a").await;
    let mut facts = Vec::new();
    let mut occurrence = 0;
    let mut next = |change: &dyn Fn(&mut Fact)| {
        occurrence += 1;
        let mut one = fact(
            &row,
            Effect::RecordPaused,
            occurrence,
            Timestamp::from_millis(0),
        );
        change(&mut one);
        facts.push(one);
    };
    for effect in Effect::ALL
        .iter()
        .filter(|effect| effect.word().starts_with("record_"))
    {
        next(&|one| one.fact = *effect);
    }
    for source in Source::ALL {
        next(&|one| one.source = *source);
    }
    next(&|one| one.rule = None);
    for rule in Rule::ALL {
        next(&|one| one.rule = Some(*rule));
    }
    for volume in Volume::ALL {
        next(&|one| one.volume = *volume);
    }
    for text in texts() {
        next(&|one| one.volume_id = Some(text.clone()));
    }
    next(&|one| one.was_sighted = true);
    next(&|one| {
        one.generation = MOST;
        one.occurrence = MOST;
        one.at = Timestamp::MAX;
    });
    next(&|one| one.occurrence = 0);
    let change = Change {
        facts: facts.clone(),
        ..Change::of(row.clone())
    };
    trial.won(&change).await;
    assert_eq!(
        trial.ledger(&row.id).await,
        facts,
        "every column of a fact is kept, and facts of one commit keep their order"
    );
}

/// Every column of queued work comes back as it was queued, but for the time of its commit.
pub async fn every_column_of_work_is_kept(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let row = trial.settled("a").await;
    let now = trial.now().await;
    let mut queued = Vec::new();
    let mut generation = 100;
    let mut next = |change: &dyn Fn(&mut Enqueue)| {
        generation += 1;
        let mut one = work(&row, Effect::DestroyCompute, now);
        one.key.generation = generation;
        change(&mut one);
        queued.push(one);
    };
    next(&|_| {});
    for effect in [
        Effect::StopCompute,
        Effect::HoldCompute,
        Effect::ReleaseCompute,
        Effect::RevokeCredentials,
        Effect::DestroyCompute,
        Effect::DestroyVolume,
    ] {
        next(&|one| one.key.effect = effect);
    }
    for text in texts() {
        next(&|one| {
            one.provider_id = Some(text.clone());
            one.marker = Some(format!(">{text}"));
            one.scope = format!(">{text}");
            one.volume_id = Some(text.clone());
        });
    }
    next(&|one| {
        one.provider_id = None;
        one.marker = None;
        one.volume_id = None;
    });
    for quarantine_id in [1, MOST] {
        next(&|one| one.quarantine_id = Some(quarantine_id));
    }
    next(&|one| one.was_sighted = true);
    next(&|one| {
        one.key = WorkKey {
            generation: MOST,
            holds: MOST,
            effect: Effect::HoldCompute,
            ..one.key.clone()
        };
    });
    let change = Change {
        work: queued.clone(),
        ..Change::of(row.clone())
    };
    trial.won(&change).await;

    let found = trial.all_work(&row.id).await;
    for expected in queued {
        let Some(stored) = found.iter().find(|row| row.work.key == expected.key) else {
            panic!(
                "all work of one commit is queued, but {:?} was not",
                expected.key
            );
        };
        let kept = Enqueue {
            committed_at: expected.committed_at,
            ..stored.work.clone()
        };
        assert_eq!(kept, expected, "every column of work is kept");
    }
}

/// Every column of a decision comes back as it was written.
pub async fn every_column_of_a_decision_is_kept(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let mut row = trial.registered("a").await;
    let mut expected = trial.journal(&row.id).await;
    let at = Timestamp::from_millis(0);
    let plain = |row: &Row| entry(row, "plain", at);
    let mut entries: Vec<Entry> = Vec::new();
    entries.extend(Source::ALL.iter().map(|source| Entry {
        source: *source,
        ..plain(&row)
    }));
    entries.extend(Rule::ALL.iter().map(|rule| Entry {
        rule: Some(*rule),
        ..plain(&row)
    }));
    entries.extend(texts().into_iter().map(|text| Entry {
        input: text.clone(),
        why: text,
        rule: None,
        ..plain(&row)
    }));
    entries.push(Entry {
        at: Timestamp::MAX,
        input: "long ".repeat(50_000),
        ..plain(&row)
    });
    for mut written in entries {
        written.revision = row.revision + 1;
        expected.push(written.clone());
        row = trial
            .won(&Change {
                journal: Some(written),
                ..Change::of(row)
            })
            .await;
    }
    assert_eq!(
        trial.journal(&row.id).await,
        expected,
        "every column of a decision is kept, and decisions keep their order"
    );
}
