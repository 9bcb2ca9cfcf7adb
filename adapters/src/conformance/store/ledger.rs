//! Is a fact written once, for good, in its order?

use lifecycle_core::{Effect, Rule, Source, Timestamp, Volume};

use super::{
    StoreHarness,
    trial::{Trial, fact},
};
use crate::{ledger::Fact, store::Change};

/// A fact of a key that is there already is left as it is; the rest of the commit is written.
pub async fn a_fact_is_written_once_and_never_changed(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let row = trial.registered("a").await;
    let now = trial.now().await;
    let first = fact(&row, Effect::RecordDestroyed, 0, now);
    let second = Fact {
        at: now.saturating_add(core::time::Duration::from_secs(1)),
        source: Source::User,
        rule: Some(Rule::ForcedDestroyed),
        was_sighted: true,
        volume: Volume::Owned,
        volume_id: Some("v".to_owned()),
        ..first.clone()
    };
    let change = Change {
        facts: vec![first.clone(), second.clone()],
        ..Change::of(row)
    };
    let row = trial.won(&change).await;
    assert_eq!(
        trial.ledger(&row.id).await,
        core::slice::from_ref(&first),
        "a fact is written once, the first time that it is said"
    );

    let orphan = fact(&row, Effect::RecordOrphan, 0, now);
    let change = Change {
        facts: vec![second, orphan.clone()],
        ..Change::of(row)
    };
    let row = trial.won(&change).await;
    assert_eq!(
        trial.ledger(&row.id).await,
        [first, orphan],
        "a fact that is there already is left as it is, and the rest of its commit is written"
    );
}

/// Facts differ by machine, generation, fact and occurrence, and by each of them alone.
pub async fn facts_of_different_keys_are_all_kept(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let other = trial.registered("b").await;
    let row = trial.registered("a").await;
    let at = trial.now().await;
    let paused = fact(&row, Effect::RecordPaused, 3, at);
    let facts = vec![
        paused.clone(),
        Fact {
            occurrence: 4,
            ..paused.clone()
        },
        Fact {
            generation: 2,
            ..paused.clone()
        },
        Fact {
            fact: Effect::RecordRunning,
            ..paused
        },
    ];
    let change = Change {
        facts: facts.clone(),
        ..Change::of(row)
    };
    let row = trial.won(&change).await;
    let elsewhere = fact(&other, Effect::RecordPaused, 3, at);
    let change = Change {
        facts: vec![elsewhere.clone()],
        ..Change::of(other)
    };
    let other = trial.won(&change).await;
    assert_eq!(
        trial.ledger(&row.id).await,
        facts,
        "facts of different generations, kinds or occurrences are all kept"
    );
    assert_eq!(
        trial.ledger(&other.id).await,
        [elsewhere],
        "facts of different machines are all kept"
    );
}

/// Facts come back in the order of writing, whatever they say.
pub async fn the_ledger_keeps_the_order_of_writing(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let mut row = trial.registered("a").await;
    let mut written = Vec::new();
    for (effect, occurrence, generation, at) in [
        (Effect::RecordRunning, 9, 2, 500),
        (Effect::RecordOrphan, 0, 3, 100),
        (Effect::RecordPaused, 1, 1, 900),
        (Effect::RecordDestroyed, 0, 1, 0),
    ] {
        let one = Fact {
            generation,
            ..fact(&row, effect, occurrence, Timestamp::from_millis(at))
        };
        written.push(one.clone());
        let change = Change {
            facts: vec![one],
            ..Change::of(row)
        };
        row = trial.won(&change).await;
    }
    assert_eq!(
        trial.ledger(&row.id).await,
        written,
        "the ledger keeps the order of writing"
    );
}
