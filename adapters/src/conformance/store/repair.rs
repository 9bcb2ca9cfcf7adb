//! Is what was left undone found, counted and mended once?

use lifecycle_core::{Compute, Effect, Effects, LastSeen, Machine, SeenPower, Status, Timestamp};

use super::{
    StoreHarness,
    adoption::plain,
    trial::{Trial, WHILE, answered, fact, id, stamp, work},
};
use crate::{
    id::MachineId,
    outbox::{Settlement, WorkState},
    row::Row,
    store::{Adopted, Change, RepairMode, Repaired},
};

/// What is as it should be is not touched, however it came about.
pub async fn a_store_that_is_whole_needs_no_repair(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    for status in [Status::Provisioning, Status::Running, Status::Paused] {
        let row = trial.registered(status.word()).await;
        trial.enter(&row.id, status).await;
    }
    answered(trial.store.adopt(&whole(&trial).await).await);
    // Work counts whatever became of it.
    for (name, state) in [
        ("done", WorkState::Done),
        ("dead", WorkState::Dead),
        ("dropped", WorkState::Dropped),
        ("cancelled", WorkState::Cancelled),
    ] {
        let row = trial.settled(name).await;
        for effect in [Effect::RevokeCredentials, Effect::DestroyCompute] {
            trial.bring(&row.id, effect, state).await;
        }
        trial.enter(&row.id, Status::Destroying).await;
    }
    for mode in [RepairMode::DryRun, RepairMode::Mend] {
        assert_eq!(
            answered(trial.store.repair(mode).await),
            Repaired::default(),
            "a store that is whole needs no repair"
        );
    }
}

/// A dry run tells the same numbers as a repair, and leaves everything as it is.
pub async fn a_dry_run_counts_and_changes_nothing(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let (broken, expected) = broken(&trial).await;
    let mut before = Vec::new();
    for id in &broken {
        before.push((
            trial.row(id).await,
            trial.ledger(id).await,
            trial.all_work(id).await,
        ));
    }
    for _ in 0..2 {
        assert_eq!(
            answered(trial.store.repair(RepairMode::DryRun).await),
            expected,
            "a dry run counts what is undone"
        );
    }
    for (id, before) in broken.iter().zip(before) {
        let after = (
            trial.row(id).await,
            trial.ledger(id).await,
            trial.all_work(id).await,
        );
        assert_eq!(after, before, "a dry run changes nothing");
    }
}

/// Each number is what was mended, and a second repair finds nothing.
pub async fn a_repair_mends_everything_once(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let (broken, expected) = broken(&trial).await;
    let held = trial.row(&id("destroyed, all undone")).await;
    assert_eq!(
        answered(trial.store.repair(RepairMode::Mend).await),
        expected,
        "a repair counts what it mends"
    );
    assert_eq!(
        answered(trial.store.repair(RepairMode::Mend).await),
        Repaired::default(),
        "a second repair finds nothing"
    );

    for id in &broken {
        let row = trial.row(id).await;
        let status = row.facts.machine().status;
        if matches!(status, Status::Destroyed) {
            let facts = trial.ledger(id).await;
            let destroyed: Vec<_> = facts
                .iter()
                .map(|fact| (fact.generation, fact.fact, fact.occurrence))
                .collect();
            assert_eq!(
                destroyed,
                [(1, Effect::RecordDestroyed, 0)],
                "a destroyed row has one destroyed fact after a repair"
            );
            assert!(
                !matches!(row.facts.machine().compute, Compute::Held),
                "a destroyed row holds no compute after a repair"
            );
        }
        let revocation = trial.work(id, Effect::RevokeCredentials).await;
        assert!(
            matches!(revocation.state, WorkState::Pending | WorkState::Done),
            "a row that admits nobody has a revocation after a repair"
        );
    }
    let release = trial.work(&held.id, Effect::ReleaseCompute).await;
    assert_eq!(
        (release.state, release.work.key.holds),
        (WorkState::Pending, held.facts.machine().holds),
        "a repair queues the release of the reservation that was still held"
    );
    let freed = trial.row(&held.id).await;
    assert_eq!(
        freed.facts.machine(),
        Machine {
            compute: Compute::Released,
            ..held.facts.machine()
        },
        "a repair releases compute that a destroyed row still holds, and changes nothing else of it"
    );
    assert!(
        freed.revision > held.revision,
        "a repair that changes what decisions look at counts as a commit"
    );
    for name in ["destroying, all undone", "destroying, seen running"] {
        assert_eq!(
            trial.state(&id(name), Effect::DestroyCompute).await,
            WorkState::Pending,
            "a repair queues the destroy of compute that a destroying row owes"
        );
    }
    assert!(
        trial
            .all_work(&id("destroying, seen gone"))
            .await
            .iter()
            .all(|row| !matches!(row.work.key.effect, Effect::DestroyCompute)),
        "a row that was last seen gone owes no destroy of compute"
    );
}

/// A lost stamp costs a grace, not the machine: the row is looked at now, and gets a new one.
pub async fn a_quarantined_row_without_a_stamp_is_made_due(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    for (name, look_again_at) in [("never", None), ("last", Some(Timestamp::MAX))] {
        let row = quarantined(&trial, name, None, look_again_at).await;
        let now = trial.now().await;
        quarantined(
            &trial,
            &format!("{name}, stamped"),
            Some(stamp(1, now)),
            look_again_at,
        )
        .await;
        let expected = Repaired {
            stamps: 1,
            ..Repaired::default()
        };
        for mode in [RepairMode::DryRun, RepairMode::Mend] {
            assert_eq!(
                answered(trial.store.repair(mode).await),
                expected,
                "quarantined rows without a stamp are counted"
            );
        }
        assert_eq!(
            answered(trial.store.repair(RepairMode::Mend).await),
            Repaired::default(),
            "a row that is due already gets its stamp when it is looked at"
        );
        let mended = trial.row(&row.id).await;
        assert_eq!(
            mended.facts, row.facts,
            "a repair writes no stamp: the full grace begins when the row is looked at"
        );
        let taken = answered(trial.store.take_due(None, 100).await);
        let ids: Vec<&MachineId> = taken.iter().map(|one| &one.row.id).collect();
        assert_eq!(
            ids,
            [&row.id],
            "a quarantined row without a stamp is made due by a repair"
        );
        let row = trial.row(&row.id).await;
        trial
            .won(&Change::of(Row {
                facts: {
                    let mut facts = row.facts.clone();
                    facts.update(|machine| Machine {
                        quarantine: Some(stamp(1, now)),
                        ..machine
                    });
                    facts
                },
                look_again_at: None,
                ..row
            }))
            .await;
    }
}

async fn quarantined(
    trial: &Trial<'_>,
    name: &str,
    quarantine: Option<lifecycle_core::QuarantineStamp>,
    look_again_at: Option<Timestamp>,
) -> Row {
    let row = trial.settled(name).await;
    trial
        .bring(&row.id, Effect::RevokeCredentials, WorkState::Done)
        .await;
    let row = trial.row(&row.id).await;
    let mut facts = row.facts.clone();
    facts.update(|machine| Machine {
        status: Status::Quarantined,
        quarantine,
        ..machine
    });
    trial
        .won(&Change::of(Row {
            facts,
            look_again_at,
            ..row
        }))
        .await
}

/// Rows of an older system that did everything.
async fn whole(trial: &Trial<'_>) -> Vec<Adopted> {
    let now = trial.now().await;
    let mut batch = Vec::new();
    for (name, status, last_seen) in [
        ("destroyed, whole", Status::Destroyed, SeenPower::Gone),
        ("failed, whole", Status::Failed, SeenPower::Gone),
        ("quarantined, whole", Status::Quarantined, SeenPower::Off),
        ("destroying, seen gone", Status::Destroying, SeenPower::Gone),
    ] {
        let mut adopted = plain(trial, name, status).await;
        adopted.facts.update(|machine| Machine {
            compute: Compute::Released,
            quarantine: matches!(status, Status::Quarantined).then(|| stamp(1, now)),
            last_seen: Some(LastSeen {
                power: last_seen,
                at: now,
            }),
            ..machine
        });
        adopted.delivered = Effects::NONE.with(Effect::RevokeCredentials);
        if matches!(status, Status::Destroyed) {
            let row = Row {
                id: id(name),
                facts: adopted.facts.clone(),
                ..trial.row(&id("running")).await
            };
            adopted.recorded = vec![fact(&row, Effect::RecordDestroyed, 0, now)];
        }
        batch.push(adopted);
    }
    batch
}

/// Leaves a different number of rows undone in each way; returns them and the numbers.
async fn broken(trial: &Trial<'_>) -> (Vec<MachineId>, Repaired) {
    let running = trial.settled("running").await;
    trial.enter(&running.id, Status::Running).await;
    answered(trial.store.adopt(&whole(trial).await).await);
    let now = trial.now().await;
    let seen = |power| Some(LastSeen { power, at: now });
    let revoked = Effects::NONE.with(Effect::RevokeCredentials);
    let mut ids = Vec::new();
    let mut batch = Vec::new();
    for (name, status, compute, last_seen, delivered) in [
        (
            "destroyed, all undone",
            Status::Destroyed,
            Compute::Held,
            None,
            Effects::NONE,
        ),
        (
            "destroyed, no fact",
            Status::Destroyed,
            Compute::Released,
            None,
            revoked,
        ),
        (
            "destroyed, compute lost",
            Status::Destroyed,
            Compute::Lost,
            None,
            revoked,
        ),
        (
            "failed, not revoked",
            Status::Failed,
            Compute::Held,
            None,
            Effects::NONE,
        ),
        (
            "quarantined, not revoked",
            Status::Quarantined,
            Compute::Held,
            None,
            Effects::NONE,
        ),
        (
            "destroying, all undone",
            Status::Destroying,
            Compute::Held,
            None,
            Effects::NONE,
        ),
        (
            "destroying, seen running",
            Status::Destroying,
            Compute::Held,
            seen(SeenPower::Running),
            revoked,
        ),
    ] {
        let mut adopted = plain(trial, name, status).await;
        adopted.facts.update(|machine| Machine {
            compute,
            last_seen,
            holds: 3,
            quarantine: matches!(status, Status::Quarantined).then(|| stamp(1, now)),
            ..machine
        });
        adopted.delivered = delivered;
        ids.push(adopted.new.id.clone());
        batch.push(adopted);
    }
    answered(trial.store.adopt(&batch).await);
    // The revocation of an earlier incarnation is none of the present one.
    let reborn = trial.settled("reborn").await;
    let mut earlier = work(&reborn, Effect::RevokeCredentials, now);
    earlier.key.generation = 1;
    let mut facts = reborn.facts.clone();
    facts.update(|machine| Machine {
        status: Status::Failed,
        generation: 2,
        ..machine
    });
    let change = Change {
        work: vec![earlier],
        ..Change::of(Row { facts, ..reborn })
    };
    trial.won(&change).await;
    for claimed in trial.claim(100).await {
        trial.settle(&claimed, Settlement::Done).await;
    }
    trial.advance(WHILE).await;
    let numbers = Repaired {
        destroy_facts: 3,
        revocations: 5,
        releases: 1,
        stamps: 0,
        destructions: 5,
    };
    (ids, numbers)
}
