//! Is everything listed that is there, and nothing else?

use std::collections::BTreeSet;

use lifecycle_core::{Answer, Power, Proof};

use super::{Cannot, Equipment, ProviderHarness, trial::Trial};
use crate::provider::{Listed, Listing, Target};

/// What was made is listed, what vanished is not, and what was there before still is.
pub async fn a_complete_listing_has_exactly_what_is_there(
    harness: &dyn ProviderHarness,
) -> Result<(), Cannot> {
    let trial = Trial::begin(harness);
    let before = ids(&trial.listing().await);
    let mut made = Vec::new();
    for equipment in [Equipment::Bare, Equipment::Volume, Equipment::Bare] {
        made.push(trial.running(equipment).await);
    }
    harness.vanish(&made[2]).await;
    trial
        .until_gone(&made[2], "a machine that vanished is absent")
        .await;
    let listing = trial.listing().await;
    let mut expected = before.clone();
    for target in &made[..2] {
        assert!(
            !before.contains(&target.provider_id),
            "an id is not given to a new machine while another is listed under it: {target:?}"
        );
        expected.insert(target.provider_id.clone());
    }
    let mut found = ids(&listing);
    if is_tombstone(&listing, &made[2]) {
        found.remove(&made[2].provider_id);
    }
    assert_eq!(
        found, expected,
        "a complete listing has exactly what is there"
    );
    assert_eq!(
        found.len(),
        listing.machines.len() - usize::from(is_tombstone(&listing, &made[2])),
        "a listing has each machine once"
    );
    for target in &made[..2] {
        assert_eq!(
            listed(&listing, target).map(|one| one.answer),
            Some(Answer::Present(Power::Running)),
            "a machine is listed as it is observed"
        );
    }
    Ok(())
}

/// A listing is believed only in the scope that it names, and for the markers that it shows.
pub async fn a_listing_names_the_scope_and_the_markers(
    harness: &dyn ProviderHarness,
) -> Result<(), Cannot> {
    let trial = Trial::begin(harness);
    let targets = [
        trial.running(Equipment::Bare).await,
        trial.running(Equipment::Volume).await,
    ];
    let listing = trial.listing().await;
    for target in &targets {
        assert_eq!(listing.scope, target.scope, "a listing names where we are");
        let marker = listed(&listing, target).map(|one| one.marker.clone());
        assert_eq!(
            marker,
            Some(target.marker.clone()),
            "a listing shows whose each machine is"
        );
    }
    Ok(())
}

/// A listing of what runs only would make every stopped machine absent.
pub async fn a_stopped_machine_stays_listed(harness: &dyn ProviderHarness) -> Result<(), Cannot> {
    let trial = Trial::begin(harness);
    let target = trial.running(Equipment::Volume).await;
    trial.stop(&target).await;
    trial
        .until_stopped(&target, "a machine that was stopped is off, or ended")
        .await;
    let seen = trial.provider.observe(&target).await;
    let listing = trial.listing().await;
    if matches!(seen.answer, Answer::Present(_)) {
        assert_eq!(
            listed(&listing, &target).map(|one| one.answer),
            Some(seen.answer),
            "a machine that is off is listed, and as it is observed"
        );
    }
    Ok(())
}

/// What ended is never listed as something that is there.
pub async fn an_ended_machine_is_a_tombstone_or_not_listed(
    harness: &dyn ProviderHarness,
) -> Result<(), Cannot> {
    let trial = Trial::begin(harness);
    let target = trial.running(Equipment::Bare).await;
    trial.destroy(&target).await;
    trial
        .until_gone(&target, "a machine that was destroyed is absent")
        .await;
    let listing = trial.listing().await;
    match listed(&listing, &target).map(|one| one.answer) {
        None | Some(Answer::Absent(Proof::Tombstone)) => Ok(()),
        Some(answer) => {
            panic!("an ended machine is not listed, or as a tombstone, but as {answer:?}")
        }
    }
}

fn ids(listing: &Listing) -> BTreeSet<String> {
    let ids = listing.machines.iter().map(|one| one.provider_id.clone());
    ids.collect()
}

fn listed<'l>(listing: &'l Listing, target: &Target) -> Option<&'l Listed> {
    let mut machines = listing.machines.iter();
    machines.find(|one| one.provider_id == target.provider_id)
}

fn is_tombstone(listing: &Listing, target: &Target) -> bool {
    listed(listing, target).is_some_and(|one| one.answer == Answer::Absent(Proof::Tombstone))
}
