//! Is what an older system left taken over as it is?

use lifecycle_core::{
    Compute, Effect, Effects, LastSeen, Machine, SeenPower, Source, Status, Volume,
};

use super::{
    StoreHarness,
    trial::{Trial, answered, fact, facts, id, new_machine, stamp},
};
use crate::{
    facts::Facts,
    ledger::Fact,
    outbox::WorkState,
    row::{NewMachine, Row},
    store::{Adopted, Change, Registered},
};

/// An adopted machine has the facts that were handed in, and is looked at like any other.
pub async fn an_adopted_machine_is_as_the_older_system_says(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let now = trial.now().await;
    let mut batch = Vec::new();
    for status in Status::ALL {
        let mut adopted = plain(&trial, status.word(), *status).await;
        adopted.new = NewMachine {
            volume: Volume::Owned,
            volume_id: Some("v".to_owned()),
            policy: Some("converge".to_owned()),
            ..adopted.new
        };
        adopted.facts = Facts::of(&Machine {
            generation: 4,
            scope: "the scope of the facts",
            marker: Some("the marker of the facts"),
            last_seen: Some(LastSeen {
                power: SeenPower::Off,
                at: now,
            }),
            volume: Volume::Shared,
            quarantine: Some(stamp(2, now)),
            quarantines: 2,
            holds: 5,
            ..adopted.facts.machine()
        });
        batch.push(adopted);
    }
    let registered = answered(trial.store.adopt(&batch).await);
    assert_eq!(
        registered.len(),
        batch.len(),
        "every machine of a batch is answered"
    );
    for (adopted, registered) in batch.iter().zip(registered) {
        let row = trial.row(&adopted.new.id).await;
        assert_eq!(
            registered,
            Registered::Created(row.clone()),
            "an adopted machine is answered as it is stored, in its place"
        );
        assert_eq!(
            row.facts, adopted.facts,
            "an adopted machine has the facts of the older system, its scope and marker too"
        );
        let told = (
            &row.provider_id,
            &row.volume_id,
            row.registered_volume,
            &row.policy,
        );
        assert_eq!(
            told,
            (
                &adopted.new.provider_id,
                &adopted.new.volume_id,
                Volume::Owned,
                &adopted.new.policy
            ),
            "an adopted machine has what registration would have said"
        );
        assert!(
            row.was_sighted,
            "an adopted machine whose facts say that it was seen was seen"
        );
        assert_eq!(row.claim, None, "nothing of an adopted machine is claimed");
        if !matches!(row.facts.machine().status, Status::Destroyed) {
            assert!(
                row.look_again_at.is_some(),
                "a machine that has not ended is looked at again"
            );
        }
        assert_eq!(
            (trial.ledger(&row.id).await, trial.all_work(&row.id).await),
            (Vec::new(), Vec::new()),
            "an adoption records and owes nothing of its own"
        );
        let row = trial.won(&Change::of(row)).await;
        assert_eq!(
            row.facts, adopted.facts,
            "an adopted machine can be changed"
        );
    }
}

/// What was recorded is not recorded again, and what was delivered is not delivered again.
pub async fn what_the_older_system_recorded_and_delivered_is_taken_over(
    harness: &dyn StoreHarness,
) {
    let trial = Trial::begin(harness).await;
    let adopted = recorded_and_delivered(&trial, "a").await;
    answered(trial.store.adopt(core::slice::from_ref(&adopted)).await);
    let row = trial.row(&adopted.new.id).await;
    assert_eq!(
        trial.ledger(&row.id).await,
        adopted.recorded,
        "what an older system had recorded is taken over, in its order"
    );
    for (effect, holds) in [
        (Effect::HoldCompute, 5),
        (Effect::ReleaseCompute, 5),
        (Effect::RevokeCredentials, 0),
    ] {
        let stored = trial.work(&row.id, effect).await;
        assert_eq!(
            (
                stored.state,
                stored.work.key.generation,
                stored.work.key.holds
            ),
            (WorkState::Done, 4, holds),
            "what an older system had delivered of an incarnation is kept as done"
        );
    }
    assert_eq!(
        trial.all_work(&row.id).await.len(),
        3,
        "what an older system had not delivered is not kept as done, and facts are no work"
    );

    let again = Fact {
        source: Source::Sweep,
        ..adopted.recorded[1].clone()
    };
    let now = trial.now().await;
    let change = Change {
        facts: vec![again],
        work: vec![super::trial::work(&row, Effect::ReleaseCompute, now)],
        ..Change::of(row)
    };
    let row = trial.won(&change).await;
    assert_eq!(
        trial.ledger(&row.id).await,
        adopted.recorded,
        "what an older system had recorded is not recorded again"
    );
    trial
        .claim_exactly(
            &[],
            "what an older system had released is not released again",
        )
        .await;
}

/// A run that broke off is simply repeated.
pub async fn adopting_again_changes_nothing(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let first = recorded_and_delivered(&trial, "a").await;
    let second = plain(&trial, "b", Status::Running).await;
    answered(trial.store.adopt(core::slice::from_ref(&first)).await);
    let before = trial.row(&first.new.id).await;
    let ledger = trial.ledger(&first.new.id).await;
    let work = trial.all_work(&first.new.id).await;

    let mut changed = first.clone();
    changed.facts.update(|machine| Machine {
        status: Status::Failed,
        ..machine
    });
    changed.recorded.clear();
    changed.delivered = Effects::NONE.with(Effect::DestroyCompute);
    let again = answered(
        trial
            .store
            .adopt(&[second.clone(), changed, second.clone()])
            .await,
    );
    let outcomes: Vec<bool> = again
        .iter()
        .map(|one| matches!(one, Registered::Created(_)))
        .collect();
    assert_eq!(
        outcomes,
        [true, false, false],
        "each machine is adopted once, and a batch is answered in its order"
    );
    assert_eq!(
        again[1],
        Registered::Existing(before.clone()),
        "a machine that was adopted before is answered as it is"
    );
    assert_eq!(
        (trial.row(&before.id).await, trial.ledger(&before.id).await),
        (before.clone(), ledger),
        "adopting again changes no row and no fact"
    );
    assert_eq!(
        trial.all_work(&before.id).await,
        work,
        "adopting again changes no work"
    );
}

/// A machine that is registered here already is not overwritten by what an older system knows.
pub async fn a_machine_that_is_there_is_left_as_it_is(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let row = trial.registered("a").await;
    let (journal, work) = (trial.journal(&row.id).await, trial.all_work(&row.id).await);
    let adopted = recorded_and_delivered(&trial, "a").await;
    assert_eq!(
        answered(trial.store.adopt(&[adopted]).await),
        [Registered::Existing(row.clone())],
        "a machine that is there is left as it is"
    );
    assert_eq!(
        (trial.row(&row.id).await, trial.ledger(&row.id).await),
        (row.clone(), Vec::new()),
        "a machine that is there is left as it is"
    );
    assert_eq!(
        (trial.journal(&row.id).await, trial.all_work(&row.id).await),
        (journal, work),
        "a machine that is there is left as it is"
    );
    let registered = answered(trial.store.register(&new_machine("a")).await);
    assert_eq!(
        registered,
        Registered::Existing(row),
        "a machine that is there is left as it is"
    );
}

pub(super) async fn plain(trial: &Trial<'_>, name: &str, status: Status) -> Adopted {
    let now = trial.now().await;
    Adopted {
        new: new_machine(name),
        facts: facts(name, now, |machine| Machine { status, ..machine }),
        recorded: Vec::new(),
        delivered: Effects::NONE,
    }
}

async fn recorded_and_delivered(trial: &Trial<'_>, name: &str) -> Adopted {
    let now = trial.now().await;
    let mut adopted = plain(trial, name, Status::Destroyed).await;
    adopted.facts.update(|machine| Machine {
        compute: Compute::Released,
        generation: 4,
        holds: 5,
        ..machine
    });
    let row = Row {
        id: id(name),
        facts: adopted.facts.clone(),
        provider_id: None,
        volume_id: None,
        registered_volume: Volume::None,
        volume_missing: None,
        policy: None,
        revision: 0,
        checked_at: now,
        look_again_at: None,
        was_sighted: true,
        destroy_accepted_at: None,
        claim: None,
    };
    adopted.recorded = vec![
        Fact {
            rule: None,
            generation: 3,
            ..fact(&row, Effect::RecordDestroyed, 0, now)
        },
        Fact {
            rule: None,
            source: Source::AccountDeletion,
            ..fact(&row, Effect::RecordDestroyed, 0, now)
        },
    ];
    adopted.delivered = [
        Effect::HoldCompute,
        Effect::ReleaseCompute,
        Effect::RevokeCredentials,
        Effect::RecordDestroyed,
    ]
    .into_iter()
    .collect();
    adopted
}
