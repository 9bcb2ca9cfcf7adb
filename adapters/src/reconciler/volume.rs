//! What does a reading of the volume change?
//!
//! `owned` comes only from registration; a reading may only protect more. That there is none needs
//! our acknowledged destroy, or typed absence, confirmed as for compute.

use lifecycle_core::{Missing, Policy, Proof, Timestamp, Volume};

use crate::{provider::VolumeReading, row::Row};

/// What is known of the volume after a reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KnownVolume {
    pub(super) volume: Volume,
    pub(super) missing: Option<Missing>,
}

pub(super) fn read(
    row: &Row,
    reading: VolumeReading,
    begun_at: Timestamp,
    policy: &Policy<'_>,
) -> KnownVolume {
    let known = row.facts.machine().volume;
    // Once shared, it stays protected: whoever shared it may be away just now.
    let present = match (known, row.registered_volume) {
        (Volume::None, _) => Volume::None,
        (Volume::Shared, _) | (_, Volume::Shared) => Volume::Shared,
        (Volume::Owned | Volume::Unknown, Volume::Owned) => Volume::Owned,
        (Volume::Owned | Volume::Unknown, Volume::None | Volume::Unknown) => Volume::Unknown,
    };
    match reading {
        VolumeReading::Exclusive => KnownVolume {
            volume: present,
            missing: None,
        },
        VolumeReading::Shared => KnownVolume {
            volume: Volume::Shared,
            missing: None,
        },
        VolumeReading::Unknown(_) => KnownVolume {
            volume: match present {
                Volume::Shared => Volume::Shared,
                Volume::None | Volume::Owned | Volume::Unknown => Volume::Unknown,
            },
            missing: row.volume_missing,
        },
        VolumeReading::Absent(proof) => absent(row, proof, begun_at, policy),
    }
}

fn absent(row: &Row, proof: Proof, begun_at: Timestamp, policy: &Policy<'_>) -> KnownVolume {
    // Not seen, and not believed gone: treated as present, never wiped.
    let unread = match row.facts.machine().volume {
        Volume::Shared => Volume::Shared,
        Volume::None | Volume::Owned | Volume::Unknown => Volume::Unknown,
    };
    if !proof.is_typed() {
        return KnownVolume {
            volume: unread,
            missing: row.volume_missing,
        };
    }
    let needed = policy.thresholds().typed;
    let fresh_for = policy.thresholds().fresh_for;
    let missing = match row.volume_missing {
        Some(run) if run.since <= begun_at && begun_at <= run.since.saturating_add(fresh_for) => {
            Missing {
                since: run.since,
                count: run.count.saturating_add(1),
            }
        }
        Some(_) | None => Missing {
            since: begun_at,
            count: 1,
        },
    };
    let is_believed = proof.is_final()
        || (missing.count >= needed.count && begun_at >= missing.since.saturating_add(needed.span));
    KnownVolume {
        volume: if is_believed { Volume::None } else { unread },
        missing: Some(missing),
    }
}
