//! Asks what one answer of a provider means for one machine.
//!
//! ```sh
//! cargo run --example ten_lines
//! ```

use lifecycle_core::{
    Answer, Asked, Machine, Observation, Policy, Proof, Source, Status, Timestamp, Volume, decide,
};

fn main() {
    let (now, policy) = (Timestamp::from_millis(1_772_442_000_000), Policy::IMMEDIATE);
    let mut machine = Machine::new("account-1/eu", None, Timestamp::from_millis(0));
    machine.status = Status::Running;
    machine.volume = Volume::Owned;

    let gone = Answer::Absent(Proof::TypedNotFound);
    let seen = Observation::of(&machine, gone, now, Source::StatusRead);
    let decision = decide(&machine, Some(&seen), Asked::NOTHING, now, &policy);
    println!("{} -> {}", machine.status, decision.next.status);
    println!("effects: {}", decision.transition.effects);
    println!("{}", decision.why());
}
