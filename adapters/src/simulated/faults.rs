//! What goes wrong in the simulated fleet, and when?

use core::time::Duration;
use std::collections::{BTreeMap, VecDeque};

use lifecycle_core::Cause;

/// What can be asked of the fleet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// One machine is asked about.
    Observe,
    /// All are listed.
    List,
    /// A volume is read.
    ReadVolume,
    /// A machine is stopped.
    StopCompute,
    /// A machine is destroyed.
    DestroyCompute,
    /// A volume is destroyed.
    DestroyVolume,
}

/// What can go wrong with one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is refused, and nothing is done.
    Refused(Cause),
    /// It is done, and the answer is lost.
    AnswerLost,
    /// It takes this long.
    Slow(Duration),
    /// A listing has only half of what there is, and says so.
    Partial,
    /// What is there is not shown: a wrong answer in good faith.
    Invisible,
    /// The answer comes from another account, where nothing of ours is.
    OtherScope(String),
}

/// The faults to come.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    once: BTreeMap<Operation, VecDeque<Option<Fault>>>,
    always: BTreeMap<Operation, Fault>,
    random: Option<Random>,
}

#[derive(Clone, Debug)]
struct Random {
    state: u64,
    percent: u64,
}

impl Faults {
    /// Makes the next call of a kind go wrong; several queue up.
    pub fn once(&mut self, operation: Operation, fault: Fault) {
        self.once
            .entry(operation)
            .or_default()
            .push_back(Some(fault));
    }

    /// Makes every call of a kind go wrong until [`Self::clear`].
    pub fn always(&mut self, operation: Operation, fault: Fault) {
        self.always.insert(operation, fault);
    }

    /// Makes this share of all calls go wrong, in a way that the seed decides.
    pub fn random(&mut self, seed: u64, percent: u64) {
        self.random = Some(Random {
            state: seed,
            percent,
        });
    }

    /// Makes everything go right.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    pub(super) fn draw(&mut self, operation: Operation) -> Option<Fault> {
        if let Some(planned) = self.once.get_mut(&operation).and_then(VecDeque::pop_front) {
            return planned;
        }
        if let Some(fault) = self.always.get(&operation) {
            return Some(fault.clone());
        }
        self.random.as_mut().and_then(Random::draw)
    }
}

impl Random {
    fn draw(&mut self) -> Option<Fault> {
        if self.next() % 100 >= self.percent {
            return None;
        }
        Some(match self.next() % 8 {
            0 => Fault::Refused(Cause::ServerError),
            1 => Fault::Refused(Cause::Transport),
            2 => Fault::Refused(Cause::RateLimited),
            3 | 4 => Fault::AnswerLost,
            5 => Fault::Partial,
            6 => Fault::Slow(Duration::from_millis(self.next() % 3_000)),
            _ => Fault::Refused(Cause::Timeout),
        })
    }

    /// `SplitMix64`: small, seedable, and the same everywhere.
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
