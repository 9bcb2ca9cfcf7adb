//! How does a machine begin anew?

use lifecycle_core::{
    Compute, Desired, LastSeen, Machine, Missing, NotRecoverable, QuarantineStamp, SeenPower,
    Status, Timestamp, Volume,
};

#[test]
fn a_recovery_begins_the_next_generation_on_the_kept_volume() {
    let lost = lost();
    let next = lost.recovered(Some("new"), NOW).expect("recoverable");
    let expected = Machine {
        status: Status::Provisioning,
        volume: Volume::Owned,
        compute: Compute::Held,
        desired: Desired::Off,
        generation: 8,
        scope: "account-1/eu",
        marker: Some("new"),
        created_at: NOW,
        status_since: NOW,
        last_seen: None,
        observed_at: None,
        missing: None,
        quarantine: None,
        quarantines: 3,
        compute_lost_at: None,
        busy_until: None,
        holds: 5,
    };
    assert_eq!(next, expected);
    assert_eq!(lost.next_generation(Some("new"), NOW), expected);
}

#[test]
fn only_a_paused_machine_with_lost_compute_and_no_quarantine_can_be_recovered() {
    for status in Status::ALL {
        for compute in Compute::ALL {
            for quarantine in [None, Some(STAMP)] {
                let machine = Machine {
                    status: *status,
                    compute: *compute,
                    quarantine,
                    ..lost()
                };
                let expected = match (*status, *compute, quarantine) {
                    (Status::Paused, Compute::Lost, None) => Ok(8),
                    (Status::Paused, Compute::Lost, Some(_)) => Err(NotRecoverable::Quarantined),
                    (Status::Paused, _, _) => Err(NotRecoverable::ComputeNotLost),
                    (other, _, _) => Err(NotRecoverable::NotPaused(other)),
                };
                let recovered = machine.recovered(None, NOW);
                assert_eq!(recovered.map(|next| next.generation), expected);
            }
        }
    }
}

#[test]
fn a_refused_recovery_says_what_is_in_its_way() {
    let texts = [
        NotRecoverable::NotPaused(Status::Running),
        NotRecoverable::ComputeNotLost,
        NotRecoverable::Quarantined,
    ]
    .map(|refused| refused.to_string());
    assert_eq!(
        texts,
        [
            "only a paused machine can be recovered, this one is running",
            "only a machine whose compute is lost can be recovered",
            "a machine that is to be deleted must be restored first",
        ]
    );
}

#[test]
fn any_machine_can_be_replaced_and_the_next_generation_owes_nothing_of_the_last() {
    for status in Status::ALL {
        let next = Machine {
            status: *status,
            quarantine: Some(STAMP),
            ..lost()
        }
        .next_generation(None, NOW);
        assert_eq!(next.status, Status::Provisioning);
        assert_eq!((next.generation, next.holds, next.quarantine), (8, 5, None));
        assert_eq!(next.volume, Volume::Owned);
    }
}

#[test]
fn counts_end_at_the_largest_number_a_store_keeps() {
    let machine = Machine {
        generation: i64::MAX.unsigned_abs(),
        holds: u64::MAX,
        ..lost()
    };
    let next = machine.next_generation(None, NOW);
    assert_eq!(next.generation, i64::MAX.unsigned_abs());
    assert_eq!(next.holds, i64::MAX.unsigned_abs());
}

#[test]
fn a_new_machine_is_on_its_way_with_capacity_held() {
    let machine = Machine::new("account-1/eu", Some("m"), NOW);
    assert_eq!(machine.status, Status::Provisioning);
    assert_eq!((machine.generation, machine.holds), (1, 1));
    assert_eq!(machine.compute, Compute::Held);
    assert_eq!((machine.created_at, machine.status_since), (NOW, NOW));
}

fn lost() -> Machine<'static> {
    let earlier = Timestamp::from_millis(1_000);
    Machine {
        status: Status::Paused,
        volume: Volume::Owned,
        compute: Compute::Lost,
        desired: Desired::Off,
        generation: 7,
        last_seen: Some(LastSeen {
            power: SeenPower::Gone,
            at: earlier,
        }),
        observed_at: Some(earlier),
        missing: Some(Missing {
            since: earlier,
            count: 2,
        }),
        quarantines: 3,
        compute_lost_at: Some(earlier),
        busy_until: Some(earlier),
        holds: 4,
        ..Machine::new("account-1/eu", Some("old"), earlier)
    }
}

const NOW: Timestamp = Timestamp::from_millis(10_000_000);

const STAMP: QuarantineStamp = QuarantineStamp {
    id: 3,
    since: Timestamp::from_millis(1),
    destroy_at: Timestamp::from_millis(2),
};
