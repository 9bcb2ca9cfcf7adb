//! Tells the quarantine of a machine minute by minute: what is seen, decided, and shown.
//!
//! The agent shuts the guest down and releases its compute at once, the disk is held for the grace.
//! Every minute the report is read as the API would show it; a blank in it is a failure, and the
//! exit status is 1.
//!
//! ```sh
//! cargo run --example quarantine
//! ```

use std::process::ExitCode;

use lifecycle_core::{
    Answer, Asked, Cause, Decision, Delivery, Effect, Effects, Machine, Observation, Policy, Power,
    Proof, Report, SeenMarker, Source, Status, Timestamp, Volume, decide,
};

fn main() -> ExitCode {
    let mut story = Story::new();
    story.title("A machine is asked for, runs, and is deleted");
    story.minute("the agent builds it", Seen::Present(Power::Booting));
    story.minute("the guest is up", Seen::Present(Power::Running));
    story.asked("DELETE", Asked::DELETE, Seen::Present(Power::Running));
    story.minute(
        "the agent shuts the guest down",
        Seen::Present(Power::Stopping),
    );
    story.minute(
        "the guest is off, its compute released",
        Seen::Present(Power::Off),
    );
    let in_quarantine = story.clone();

    story.title("Its owner lets it go");
    story.minute("the agent is silent", Seen::Unknown(Cause::Timeout));
    story.minute(
        "the guest is back: someone started it",
        Seen::Present(Power::Running),
    );
    story.minute("the agent stopped it again", Seen::Present(Power::Off));
    story.minute("the deadline has passed", Seen::Present(Power::Off));
    story.asked(
        "RESTORE, too late",
        Asked::RESTORE,
        Seen::Present(Power::Off),
    );
    story.minute("compute is destroyed", Seen::Absent(Proof::DeleteConfirmed));
    story.wiped("the volume is wiped", Seen::Absent(Proof::DeleteConfirmed));
    story.minute("a last look", Seen::Absent(Proof::DeleteConfirmed));
    let ended = story.machine.status;

    let mut other = in_quarantine;
    other.title("The other ending: its owner wants it back in time");
    other.minute("the agent is silent", Seen::Unknown(Cause::Timeout));
    other.asked("RESTORE", Asked::RESTORE, Seen::Present(Power::Off));
    other.minute(
        "at rest, nothing starts it by itself",
        Seen::Present(Power::Off),
    );
    other.minute("its owner started it", Seen::Present(Power::Running));
    let restored = other.machine.status;

    let blanks = story.blanks + other.blanks;
    println!("\nblank fields: {blanks}; let go: {ended}; restored: {restored}");
    if blanks == 0 && ended == Status::Destroyed && restored == Status::Running {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// What the agent says this minute.
type Seen = Answer;

/// One machine and its own clock.
#[derive(Clone)]
struct Story {
    machine: Machine<'static>,
    now: Timestamp,
    blanks: usize,
}

impl Story {
    fn new() -> Self {
        Self {
            machine: Machine {
                volume: Volume::Owned,
                ..Machine::new("host-7", Some("vm-42"), START)
            },
            now: START,
            blanks: 0,
        }
    }

    fn title(&self, title: &str) {
        println!("\n{title}\n");
    }

    fn minute(&mut self, happened: &str, seen: Seen) {
        self.asked(happened, Asked::NOTHING, seen);
    }

    /// The volume is a fact of the row; acknowledged work changes it before the next decision.
    fn wiped(&mut self, happened: &str, seen: Seen) {
        self.machine.volume = Volume::None;
        self.minute(happened, seen);
    }

    fn asked(&mut self, happened: &str, asked: Asked, seen: Seen) {
        let observation = Observation {
            marker: SeenMarker::Is("vm-42"),
            ..Observation::of(&self.machine, seen, self.now, Source::StatusRead)
        };
        let decision = decide(
            &self.machine,
            Some(&observation),
            asked,
            self.now,
            &Policy::CAUTIOUS,
        );
        // What the agent has not been told yet is owed; a minute later it has been.
        let owed = decision.transition.effects.delivered(Delivery::Outbox);
        let report = Report::of(&decision.next, self.now, &Policy::CAUTIOUS, owed);
        tell(happened, seen, &decision, &report);
        self.blanks += blanks(&report, &decision.next, seen);
        self.machine = decision.next;
        self.now = self.now.saturating_add(MINUTE);
    }
}

fn tell(happened: &str, seen: Seen, decision: &Decision<'_>, report: &Report) {
    let said = match seen {
        Answer::Present(power) => format!("present: {power}"),
        Answer::Absent(proof) => format!("absent: {proof}"),
        Answer::Unknown(cause) => format!("unknown: {cause}"),
    };
    println!("{}  {happened}  [{said}]", clock(decision.now));
    let refused = decision
        .refused
        .map_or(String::new(), |refusal| format!(" (refused: {refusal})"));
    println!(
        "  rule     {}: {} -> {}{refused}",
        decision.transition.rule, decision.before.status, decision.next.status
    );
    println!("  effects  {}", listed(decision.transition.effects));
    println!(
        "  report   phase {}, desired {}, actual {}, as of {}, destroy at {}",
        report.phase,
        report.desired,
        report.actual,
        report.as_of.map_or("never".to_owned(), clock),
        report.destroy_at.map_or("none set".to_owned(), clock),
    );
    println!("           {}", report.detail);
}

/// Counts what a reader of the report would miss.
fn blanks(report: &Report, machine: &Machine<'_>, seen: Seen) -> usize {
    let has_been_seen = matches!(seen, Answer::Present(_)) || machine.last_seen.is_some();
    let is_held = matches!(machine.status, Status::Quarantined);
    [
        report.phase.word().is_empty(),
        report.desired.word().is_empty(),
        report.actual.word().is_empty(),
        report.detail.to_string().trim().is_empty(),
        has_been_seen && report.as_of.is_none(),
        is_held && report.destroy_at.is_none(),
    ]
    .into_iter()
    .filter(|is_blank| *is_blank)
    .count()
}

fn listed(effects: Effects) -> String {
    if effects.is_empty() {
        return "none".to_owned();
    }
    let words: Vec<_> = effects.iter().map(Effect::word).collect();
    words.join(", ")
}

/// Returns hours, minutes and seconds of an instant.
fn clock(at: Timestamp) -> String {
    at.to_string()
        .split(['T', 'Z'])
        .nth(1)
        .unwrap_or_default()
        .to_owned()
}

/// 2026-03-02T09:00:00Z
const START: Timestamp = Timestamp::from_millis(1_772_442_000_000);
const MINUTE: core::time::Duration = core::time::Duration::from_secs(60);
