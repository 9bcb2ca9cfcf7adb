//! What did the provider say, and with what evidence?

use crate::{
    facts::Sighting,
    machine::{Machine, SeenPower},
    time::Timestamp,
    words::words,
};

words! {
    /// The power a provider showed for a machine that it has.
    pub enum Power ("power") {
        /// It is starting.
        Booting = "booting",
        /// It runs.
        Running = "running",
        /// It is stopping.
        Stopping = "stopping",
        /// It is off.
        Off = "off",
        /// It is frozen, its memory kept.
        Suspended = "suspended",
        /// The provider used a word the adapter does not know: no evidence.
        Unrecognized = "unrecognized",
    }
}

words! {
    /// What an absence rests on, weakest first.
    pub enum Proof ("proof of absence") {
        /// One page of a listing did not have it.
        PartialList = "partial_list",
        /// A cached listing did not have it.
        StaleList = "stale_list",
        /// A 404 without the provider's own code; it may mean "no permission".
        UntypedNotFound = "untyped_not_found",
        /// A complete listing did not have it.
        CompleteList = "complete_list",
        /// A 404 with the provider's own code, or a 410.
        TypedNotFound = "typed_not_found",
        /// The id now carries another machine's marker. As strong as a typed 404.
        Superseded = "superseded",
        /// The provider lists it as terminated.
        Tombstone = "tombstone",
        /// Our own delete was confirmed.
        DeleteConfirmed = "delete_confirmed",
    }
}

words! {
    /// Why the provider could not be asked. "I could not ask" is never "it is gone".
    pub enum Cause ("cause") {
        /// Our credentials were not accepted.
        Unauthorized = "unauthorized",
        /// Our credentials may not look.
        Forbidden = "forbidden",
        /// We asked too often.
        RateLimited = "rate_limited",
        /// The provider failed.
        ServerError = "server_error",
        /// No answer came in time.
        Timeout = "timeout",
        /// The provider could not be reached.
        Transport = "transport",
        /// The answer could not be read.
        Malformed = "malformed",
        /// The provider cannot answer this.
        Unsupported = "unsupported",
    }
}

words! {
    /// Which path noticed. It never changes the answer.
    pub enum Source ("source") {
        /// The regular look at every machine.
        Sweep = "sweep",
        /// A status read.
        StatusRead = "status_read",
        /// An access check.
        Access = "access",
        /// A read of statistics.
        Stats = "stats",
        /// A user's request.
        User = "user",
        /// The deletion of an account.
        AccountDeletion = "account_deletion",
        /// The reopening of a base.
        BaseReopen = "base_reopen",
        /// The answer to a delivered effect.
        Relay = "relay",
    }
}

/// What the provider answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// It has the machine, in this power.
    Present(Power),
    /// It does not have the machine; the proof says how sure that is.
    Absent(Proof),
    /// It could not be asked.
    Unknown(Cause),
}

/// The marker seen on the provider's machine: whose it says it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SeenMarker<'a> {
    /// The adapter did not look.
    NotRead,
    /// The adapter looked, and there was none.
    Blank,
    /// This one.
    Is(&'a str),
}

/// What one question to the provider brought, with all that its worth depends on.
///
/// ```
/// use lifecycle_core::{Answer, Machine, Observation, Proof, Source, Timestamp};
///
/// let now = Timestamp::from_millis(10_000_000);
/// let machine = Machine::new("account-1/eu", None, now);
/// let seen = Observation::of(&machine, Answer::Absent(Proof::TypedNotFound), now, Source::Sweep);
/// assert_eq!(seen.generation, 1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Observation<'a> {
    /// What was answered.
    pub answer: Answer,
    /// The incarnation that was asked about.
    pub generation: u64,
    /// Where the provider says we were logged in when we asked.
    pub scope: &'a str,
    /// Whose machine the answer is about.
    pub marker: SeenMarker<'a>,
    /// When the question was sent: the answer proves nothing newer.
    pub begun_at: Timestamp,
    /// Which path noticed.
    pub source: Source,
}

impl<'a> Observation<'a> {
    /// Makes an observation of this machine: its generation, its scope, the marker not read.
    #[must_use]
    pub const fn of(
        machine: &Machine<'a>,
        answer: Answer,
        begun_at: Timestamp,
        source: Source,
    ) -> Self {
        Self {
            answer,
            generation: machine.generation,
            scope: machine.scope,
            marker: SeenMarker::NotRead,
            begun_at,
            source,
        }
    }
}

impl Power {
    /// Returns what this power is worth as a sighting; none where the word was not recognized.
    #[must_use]
    pub const fn sighting(self) -> Option<Sighting> {
        match self {
            Self::Booting => Some(Sighting::Booting),
            Self::Running => Some(Sighting::Running),
            Self::Stopping => Some(Sighting::Stopping),
            Self::Off | Self::Suspended => Some(Sighting::Stopped),
            Self::Unrecognized => None,
        }
    }
}

impl Power {
    /// Returns this power as one that was seen; none where the word was not recognized.
    #[must_use]
    pub const fn seen(self) -> Option<SeenPower> {
        match self {
            Self::Booting => Some(SeenPower::Booting),
            Self::Running => Some(SeenPower::Running),
            Self::Stopping => Some(SeenPower::Stopping),
            Self::Off => Some(SeenPower::Off),
            Self::Suspended => Some(SeenPower::Suspended),
            Self::Unrecognized => None,
        }
    }
}

impl Proof {
    /// Returns the place in the order of strength; equal for [`Self::TypedNotFound`] and
    /// [`Self::Superseded`].
    #[must_use]
    pub const fn strength(self) -> u8 {
        match self {
            Self::PartialList => 0,
            Self::StaleList => 1,
            Self::UntypedNotFound => 2,
            Self::CompleteList => 3,
            Self::TypedNotFound | Self::Superseded => 4,
            Self::Tombstone => 5,
            Self::DeleteConfirmed => 6,
        }
    }

    /// Tells whether the proof needs no second look: the provider itself says that it ended.
    #[must_use]
    pub const fn is_final(self) -> bool {
        match self {
            Self::Tombstone | Self::DeleteConfirmed => true,
            Self::PartialList
            | Self::StaleList
            | Self::UntypedNotFound
            | Self::CompleteList
            | Self::TypedNotFound
            | Self::Superseded => false,
        }
    }

    /// Tells whether the proof is about this very machine rather than about a listing.
    #[must_use]
    pub const fn is_typed(self) -> bool {
        self.strength() >= Self::TypedNotFound.strength()
    }
}
