//! Are volumes that nobody uses any more found?

use lifecycle_core::{Effect, Machine, Status, Volume};

use super::{
    StoreHarness,
    trial::{Trial, answered, fact, new_machine, with},
};
use crate::{
    row::{NewMachine, Row},
    store::{Change, KeptVolume},
};

/// Every machine that ended with a volume left is listed, as its destroyed fact says.
pub async fn volumes_that_outlived_their_machines_are_listed(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let mut expected = Vec::new();
    for volume in Volume::ALL {
        let row = with_volume(&trial, volume.word(), *volume).await;
        with_volume(&trial, &format!("alive with {volume}"), *volume).await;
        let row = ended(&trial, row).await;
        if !matches!(volume, Volume::None) {
            let at = trial.ledger(&row.id).await[0].at;
            expected.push(KeptVolume {
                machine: row.id.clone(),
                generation: 1,
                volume: *volume,
                volume_id: row.volume_id.clone(),
                at,
            });
        }
    }
    let mut listed = answered(trial.store.kept_volumes().await);
    listed.sort_by(|one, other| one.machine.cmp(&other.machine));
    expected.sort_by(|one, other| one.machine.cmp(&other.machine));
    assert_eq!(
        listed, expected,
        "the volumes that outlived their machines are listed, and no others"
    );
}

/// Whoever cleans up by the list must not lose a volume that is in use.
pub async fn a_volume_that_a_later_incarnation_uses_is_not_kept(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let row = with_volume(&trial, "a", Volume::Owned).await;
    let row = ended(&trial, row).await;
    let now = trial.now().await;
    let replaced = with(row, |machine| machine.next_generation(None, now));
    let row = trial.won(&Change::of(replaced)).await;
    assert_eq!(
        answered(trial.store.kept_volumes().await),
        [],
        "a volume on which the machine lives on is in use"
    );
    ended(&trial, row).await;
    let generations: Vec<u64> = answered(trial.store.kept_volumes().await)
        .iter()
        .map(|kept| kept.generation)
        .collect();
    assert_eq!(
        generations,
        [2],
        "a volume that several incarnations had is listed once, with the last of them"
    );
}

async fn with_volume(trial: &Trial<'_>, name: &str, volume: Volume) -> Row {
    let volume_id = (!matches!(volume, Volume::None)).then(|| format!("volume of {name}"));
    trial
        .registered_as(&NewMachine {
            volume,
            volume_id,
            ..new_machine(name)
        })
        .await
}

/// Ends a row, with its fact.
async fn ended(trial: &Trial<'_>, row: Row) -> Row {
    let at = trial.now().await;
    let next = with(row, |machine| Machine {
        status: Status::Destroyed,
        ..machine
    });
    trial
        .won(&Change {
            facts: vec![fact(&next, Effect::RecordDestroyed, 0, at)],
            ..Change::of(next)
        })
        .await
}
