//! Which rule answers a cell, and with what?
//!
//! The twenty rules stand here as a chain of `if`s; the first that matches returns.

use super::draft::Draft;
use super::words::{
    Compute, ComputeLost, Force, LateArrival, Orphan, QuarantineColumn, RevokeOnComputeLost,
    Sighting, Status, Volume, VolumeAfterQuarantine, Word,
};

/// One cell: a value of each of the six columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are the columns, named as they are")]
pub struct Cell {
    pub status: Status,
    pub sighting: Sighting,
    pub volume: Volume,
    pub quarantine: QuarantineColumn,
    pub compute: Compute,
    pub force: Force,
}

/// The five choices that select a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are the choices, named as they are")]
pub struct Choices {
    pub compute_lost: ComputeLost,
    pub volume_after_quarantine: VolumeAfterQuarantine,
    pub late_arrival: LateArrival,
    pub orphan: Orphan,
    pub revoke_on_compute_lost: RevokeOnComputeLost,
}

/// What the table says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status from now on.
    pub to: Status,
    /// What must be seen done, in the order of [`EFFECTS`].
    pub effects: Vec<&'static str>,
    /// The name of the rule that answered.
    pub rule: &'static str,
}

impl Answer {
    /// Whether this effect is among those that must be seen done.
    #[must_use]
    pub fn has(&self, effect: &str) -> bool {
        self.effects.contains(&effect)
    }
}

/// Answers a cell.
#[must_use]
pub fn answer(cell: Cell, choices: Choices) -> Answer {
    let Cell {
        status,
        sighting,
        volume,
        quarantine,
        compute,
        force,
    } = cell;

    let running = sighting == Sighting::Running;
    let stopped = sighting == Sighting::Stopped;
    let gone = sighting == Sighting::Gone;
    let booting = sighting == Sighting::Booting;
    let stopping = sighting == Sighting::Stopping;
    let no_volume = volume == Volume::None;
    let doomed = status == Status::Destroying || quarantine == QuarantineColumn::Elapsed;
    let pending = quarantine == QuarantineColumn::Due || quarantine == QuarantineColumn::Open;

    let row = Draft::of(status, compute);

    if status == Status::Destroyed {
        let alive = booting || running || stopping || stopped;
        return row
            .with_if(alive, "record_orphan")
            .with_if(
                alive && choices.orphan == Orphan::Destroy,
                "destroy_compute",
            )
            .by("terminal");
    }
    if force == Force::Destroyed {
        return row
            .enter(Status::Destroyed)
            .with("revoke_credentials")
            .settle()
            .with_if(!gone, "destroy_compute")
            .by("forced_destroyed");
    }
    if doomed && gone {
        let retain = choices.volume_after_quarantine == VolumeAfterQuarantine::Retain;
        if no_volume || volume == Volume::Shared || retain {
            return row
                .enter(Status::Destroyed)
                .with("revoke_credentials")
                .settle()
                .by("quarantine_over");
        }
        let row = row.enter(Status::Destroying).settle();
        let entered = row.entered();
        let row = row.with_if(entered, "revoke_credentials");
        if volume == Volume::Owned {
            return row.with("destroy_volume").by("volume_due");
        }
        return row.by("volume_unreadable");
    }
    if doomed {
        let row = row.enter(Status::Destroying).with("destroy_compute");
        let entered = row.entered();
        return row
            .settle_if(stopped)
            .with_if(entered, "revoke_credentials")
            .by("compute_due");
    }
    if pending && gone && no_volume {
        return row
            .enter(Status::Destroyed)
            .with("revoke_credentials")
            .settle()
            .by("nothing_left_to_hold");
    }
    if pending {
        let row = row.enter(Status::Quarantined);
        let entered = row.entered();
        let may_still_run = !stopped && !gone;
        let came_back = booting || running;
        return row
            .with_if(entered, "revoke_credentials")
            .with_if(entered && may_still_run, "stop_compute")
            .with_if(!entered && came_back, "stop_compute")
            .settle_if(stopped || gone)
            .by("quarantine_held");
    }
    // From here on the quarantine is clear, and the row is neither destroying nor destroyed.
    if status == Status::Quarantined && !running && !gone {
        return row.enter(Status::Paused).by("restored");
    }
    if sighting == Sighting::Unknown {
        return row.by("no_evidence");
    }
    if sighting == Sighting::Missing {
        return row.by("absence_unconfirmed");
    }
    if booting || stopping {
        return row.by("transitional");
    }
    if status == Status::Failed && !gone {
        return late_arrival(row, stopped, no_volume, choices);
    }
    if running {
        return row.enter(Status::Running).hold().by("seen_running");
    }
    if stopped {
        return row.enter(Status::Paused).by("seen_stopped");
    }
    // From here on the machine is sighted gone.
    if status == Status::Provisioning {
        return row
            .enter(Status::Failed)
            .with("revoke_credentials")
            .settle()
            .by("never_arrived");
    }
    if status == Status::Failed {
        return row.settle().by("still_failed");
    }
    if no_volume {
        return row
            .enter(Status::Destroyed)
            .with("revoke_credentials")
            .settle()
            .by("gone_without_volume");
    }
    if choices.compute_lost == ComputeLost::Destroy {
        return row
            .enter(Status::Destroyed)
            .with("revoke_credentials")
            .settle()
            .by("gone_despite_volume");
    }
    let newly_lost = compute != Compute::Lost;
    let revoke = choices.revoke_on_compute_lost == RevokeOnComputeLost::True;
    row.enter(Status::Paused)
        .settle()
        .with_if(newly_lost, "record_compute_lost")
        .with_if(newly_lost && revoke, "revoke_credentials")
        .by("volume_outlives_compute")
}

/// A failed row whose machine is sighted running or stopped after all.
fn late_arrival(row: Draft, stopped: bool, no_volume: bool, choices: Choices) -> Answer {
    let rule = "late_arrival";
    if choices.late_arrival == LateArrival::Adopt {
        if stopped {
            return row.enter(Status::Paused).by(rule);
        }
        return row.enter(Status::Running).hold().by(rule);
    }
    // A volume is wiped only after a quarantine, so a row that has one stays failed.
    let row = if no_volume {
        row.enter(Status::Destroying)
    } else {
        row
    };
    row.with("destroy_compute")
        .with("revoke_credentials")
        .settle_if(stopped)
        .by(rule)
}

/// Every cell, the last column fastest.
pub fn cells() -> impl Iterator<Item = Cell> {
    let statuses = Status::ALL.iter().copied();
    statuses.flat_map(|status| {
        let sightings = Sighting::ALL.iter().copied();
        sightings.flat_map(move |sighting| {
            let volumes = Volume::ALL.iter().copied();
            volumes.flat_map(move |volume| {
                let quarantines = QuarantineColumn::ALL.iter().copied();
                quarantines.flat_map(move |quarantine| {
                    let computes = Compute::ALL.iter().copied();
                    computes.flat_map(move |compute| {
                        Force::ALL.iter().copied().map(move |force| Cell {
                            status,
                            sighting,
                            volume,
                            quarantine,
                            compute,
                            force,
                        })
                    })
                })
            })
        })
    })
}

/// Every set of choices, the last choice fastest; the first set is the default.
pub fn all_choices() -> impl Iterator<Item = Choices> {
    (0..32_usize).map(|number| Choices {
        compute_lost: ComputeLost::ALL[number >> 4 & 1],
        volume_after_quarantine: VolumeAfterQuarantine::ALL[number >> 3 & 1],
        late_arrival: LateArrival::ALL[number >> 2 & 1],
        orphan: Orphan::ALL[number >> 1 & 1],
        revoke_on_compute_lost: RevokeOnComputeLost::ALL[number & 1],
    })
}

impl Cell {
    /// The six columns in words, in the order of the fields.
    #[must_use]
    pub fn words(self) -> [&'static str; 6] {
        [
            self.status.word(),
            self.sighting.word(),
            self.volume.word(),
            self.quarantine.word(),
            self.compute.word(),
            self.force.word(),
        ]
    }
}

impl Choices {
    /// The five choices in words, in the order of the fields.
    #[must_use]
    pub fn words(self) -> [&'static str; 5] {
        [
            self.compute_lost.word(),
            self.volume_after_quarantine.word(),
            self.late_arrival.word(),
            self.orphan.word(),
            self.revoke_on_compute_lost.word(),
        ]
    }
}

/// Every effect, in the order in which a set of them is written.
pub const EFFECTS: [&str; 14] = [
    "stop_compute",
    "hold_compute",
    "release_compute",
    "revoke_credentials",
    "destroy_compute",
    "destroy_volume",
    "record_running",
    "record_paused",
    "record_quarantined",
    "record_destroying",
    "record_destroyed",
    "record_failed",
    "record_compute_lost",
    "record_orphan",
];
