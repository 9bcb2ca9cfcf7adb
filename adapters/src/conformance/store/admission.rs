//! For which machines may credentials be minted?

use lifecycle_core::{Machine, Status};

use super::{
    StoreHarness,
    trial::{Trial, answered, with},
};
use crate::store::{Admission, Change};

/// Credentials are minted for a machine that is in use or will be, and for its present incarnation.
pub async fn credentials_are_admitted_for_live_machines_only(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    for status in Status::ALL {
        let row = trial.registered(status.word()).await;
        let next = with(row, |machine| Machine {
            status: *status,
            generation: 3,
            ..machine
        });
        let row = trial.won(&Change::of(next)).await;
        let expected = match status {
            Status::Provisioning | Status::Running | Status::Paused => {
                Admission::Live { generation: 3 }
            }
            Status::Quarantined | Status::Destroying | Status::Destroyed | Status::Failed => {
                Admission::Refused
            }
        };
        assert_eq!(
            answered(trial.store.admit(&row.id).await),
            expected,
            "credentials are admitted for provisioning, running and paused machines only, and for their \
             present incarnation; this one is {status}"
        );
    }
}
