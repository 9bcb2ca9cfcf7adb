//! How does a decision say why it was made, and what would change it?

use core::fmt;

use crate::{
    asked::Request,
    decide::{Decision, Why},
    deletion::retirement_at,
    facts::{Force, Quarantine, Sighting, Status, Volume},
    judge::{Ground, Judgement},
    machine::Missing,
    observation::Answer,
    policy::Misses,
    time::{Spoken, millis},
    transition::{Cell, Rule},
};

impl fmt::Display for Why<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decision = self.decision;
        let Decision {
            cell,
            judgement,
            transition,
            refused,
            ..
        } = *decision;
        write!(f, "{}: ", transition.rule)?;
        if let Some(refusal) = refused {
            write!(f, "the restore was refused ({refusal}); ")?;
        }
        evidence(f, &judgement)?;
        write!(
            f,
            "; status {}, volume {}, quarantine {}, compute {}",
            cell.status, cell.volume, cell.quarantine, cell.compute
        )?;
        match cell.force {
            Force::None => {}
            Force::Destroyed => f.write_str(", forced destroyed")?,
        }
        f.write_str("; ")?;
        turning_point(f, decision)
    }
}

/// Says what the observation was worth.
fn evidence(f: &mut fmt::Formatter<'_>, judgement: &Judgement) -> fmt::Result {
    match (judgement.ground, judgement.answer) {
        (Ground::NotAsked, _) => f.write_str("the provider was not asked"),
        (Ground::OtherGeneration, _) => f.write_str("the answer is about another generation"),
        (Ground::OtherScope, _) => f.write_str("the answer is about another scope"),
        (Ground::BeforeStatus, _) => f.write_str("the question is older than the status"),
        (Ground::BeforeObserved, _) => f.write_str("a newer answer is known"),
        (Ground::TooOld, _) => f.write_str("the answer is too old"),
        (Ground::InFuture, _) => f.write_str("the question lies in the future"),
        (Ground::MarkerBlank, _) => f.write_str("the machine of that id carries no marker"),
        (Ground::CouldNotAsk, Some(Answer::Unknown(cause))) => {
            write!(f, "the provider could not be asked ({cause})")
        }
        (Ground::Seen, Some(Answer::Present(power))) => write!(f, "seen {power}"),
        (Ground::WeakProof, Some(Answer::Absent(proof))) => {
            write!(f, "absent, but {proof} is too weak to count")
        }
        (Ground::Busy, Some(Answer::Absent(proof))) => {
            write!(f, "absent ({proof}) while an operation holds the row")
        }
        (Ground::FinalProof, Some(Answer::Absent(proof))) => write!(f, "ended ({proof})"),
        (Ground::Young, Some(Answer::Absent(proof))) => {
            write!(f, "absent ({proof}), but too new to be missed")
        }
        (Ground::Unconfirmed | Ground::Confirmed, Some(Answer::Absent(proof))) => {
            let (count, needed) = counted(judgement);
            // Enough answers may still lie too close together.
            write!(f, "absent {} of {needed} ({proof})", count.min(needed))
        }
        (Ground::FleetGuard, _) => {
            f.write_str("absent, held by the fleet guard: too many went at once")
        }
        (Ground::Unrecognized, _) => f.write_str("the provider's word is not known"),
        (
            Ground::CouldNotAsk
            | Ground::Seen
            | Ground::WeakProof
            | Ground::Busy
            | Ground::FinalProof
            | Ground::Young
            | Ground::Unconfirmed
            | Ground::Confirmed,
            _,
        ) => write!(f, "{}", judgement.ground),
    }
}

fn counted(judgement: &Judgement) -> (u64, u64) {
    (
        judgement
            .observed
            .missing
            .map_or(0, |missing| missing.count),
        judgement.needed.map_or(0, |needed| needed.count),
    )
}

/// Says what would change the answer, read off the same table that gave it.
fn turning_point(f: &mut fmt::Formatter<'_>, decision: &Decision<'_>) -> fmt::Result {
    let Decision {
        cell,
        transition,
        next,
        policy,
        ..
    } = *decision;
    let with = |sighting| policy.table().answer(Cell { sighting, ..cell }).to;
    match transition.rule {
        Rule::Terminal
        | Rule::ForcedDestroyed
        | Rule::QuarantineOver
        | Rule::NothingLeftToHold
        | Rule::GoneWithoutVolume
        | Rule::GoneDespiteVolume => {
            f.write_str("nothing changes a destroyed row; only a new generation begins anew")
        }
        Rule::VolumeDue => write!(
            f,
            "once the volume is none the row is {}",
            without_volume(decision)
        ),
        Rule::VolumeUnreadable => {
            f.write_str("a reading of the volume decides whether it is wiped")
        }
        Rule::ComputeDue => write!(
            f,
            "believed gone, the row would be {}",
            with(Sighting::Gone)
        ),
        Rule::QuarantineHeld => held(f, decision),
        Rule::AbsenceUnconfirmed => unconfirmed(f, decision),
        Rule::Restored
        | Rule::NoEvidence
        | Rule::Transitional
        | Rule::LateArrival
        | Rule::SeenRunning
        | Rule::SeenStopped
        | Rule::NeverArrived
        | Rule::StillFailed
        | Rule::VolumeOutlivesCompute => {
            let after = |sighting| {
                policy
                    .table()
                    .answer(Cell {
                        sighting,
                        status: next.status,
                        quarantine: Quarantine::Clear,
                        ..cell
                    })
                    .to
            };
            write!(
                f,
                "seen running it would be {}, stopped {}, believed gone {}",
                after(Sighting::Running),
                after(Sighting::Stopped),
                after(Sighting::Gone),
            )?;
            match retirement_at(&next, &policy) {
                Some(retirement) => write!(f, "; its retirement is due at {retirement}"),
                None => Ok(()),
            }
        }
    }
}

/// Says until when a restore takes a deletion back, and whether nobody but the policy asked for it.
fn held(f: &mut fmt::Formatter<'_>, decision: &Decision<'_>) -> fmt::Result {
    let Decision {
        before,
        next,
        request,
        policy,
        now,
        ..
    } = *decision;
    let is_retired = matches!(before.status, Status::Paused)
        && before.quarantine.is_none()
        && !matches!(request, Some(Request::Delete));
    if is_retired {
        f.write_str("its compute was lost for so long that it is retired; ")?;
    }
    f.write_str("a restore takes it back")?;
    match next.quarantine {
        Some(stamp) => {
            // Until then no clock that may be asked can hold the grace to be over.
            let over = stamp
                .destroy_at
                .saturating_add(policy.thresholds().clock_error);
            write!(
                f,
                " until {over}, {} from now",
                Spoken(over.millis_since(now))
            )
        }
        None => Ok(()),
    }
}

fn without_volume(decision: &Decision<'_>) -> Status {
    decision
        .policy
        .table()
        .answer(Cell {
            volume: Volume::None,
            ..decision.cell
        })
        .to
}

/// Says how many misses over how long a time are still needed.
fn unconfirmed(f: &mut fmt::Formatter<'_>, decision: &Decision<'_>) -> fmt::Result {
    let Decision {
        cell,
        judgement,
        policy,
        ..
    } = *decision;
    let retired = policy
        .table()
        .answer(Cell {
            sighting: Sighting::Gone,
            ..cell
        })
        .to;
    match (
        judgement.ground,
        judgement.observed.missing,
        judgement.needed,
    ) {
        (
            Ground::Unconfirmed,
            Some(Missing { since, count }),
            Some(Misses {
                count: needed,
                span,
            }),
        ) => {
            let more = needed.saturating_sub(count).max(1);
            let proof = match judgement.answer {
                Some(Answer::Absent(proof)) if proof.is_typed() => "typed",
                Some(_) | None => "listed",
            };
            let plural = if more == 1 { "" } else { "es" };
            write!(f, "{more} more {proof} miss{plural}")?;
            if millis(span) > 0 {
                write!(f, ", asked {} or later,", since.saturating_add(span))?;
            }
            write!(f, " would make it {retired}")
        }
        (_, _, _) => write!(f, "believed gone, it would be {retired}"),
    }
}
