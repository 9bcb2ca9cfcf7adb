//! What can a decision want done, and who sees it done?

use core::fmt;

use crate::{facts::Status, words::words};

words! {
    /// One thing the winner of a commit must see done.
    pub enum Effect ("effect") {
        /// The guest is shut down; it can be started again.
        StopCompute = "stop_compute",
        /// Capacity is reserved for compute that was seen after it had been given up.
        HoldCompute = "hold_compute",
        /// Capacity is given back.
        ReleaseCompute = "release_compute",
        /// No credential of this machine works any more.
        RevokeCredentials = "revoke_credentials",
        /// The compute is destroyed; the volume must survive that.
        DestroyCompute = "destroy_compute",
        /// The volume is destroyed.
        DestroyVolume = "destroy_volume",
        /// The ledger says that the machine runs.
        RecordRunning = "record_running",
        /// The ledger says that the machine rests.
        RecordPaused = "record_paused",
        /// The ledger says that the machine is to be deleted.
        RecordQuarantined = "record_quarantined",
        /// The ledger says that the machine is being destroyed.
        RecordDestroying = "record_destroying",
        /// The ledger says that the machine ended.
        RecordDestroyed = "record_destroyed",
        /// The ledger says that the machine never arrived.
        RecordFailed = "record_failed",
        /// The ledger says that compute went and the volume stayed.
        RecordComputeLost = "record_compute_lost",
        /// The ledger says that a destroyed machine was seen alive.
        RecordOrphan = "record_orphan",
    }
}

words! {
    /// What an effect costs where it was wrong.
    pub enum EffectClass ("effect class") {
        /// It can be undone.
        Reversible = "reversible",
        /// It moves what is counted and billed.
        Accounting = "accounting",
        /// It takes access away.
        Security = "security",
        /// It cannot be undone.
        Destructive = "destructive",
    }
}

words! {
    /// Who sees to it that an effect happens.
    pub enum Delivery ("delivery") {
        /// It is written in the transaction of the commit.
        WithCommit = "with_commit",
        /// It is queued in the transaction of the commit and delivered after it.
        Outbox = "outbox",
    }
}

impl Effect {
    /// Returns what the effect costs where it was wrong.
    #[must_use]
    pub const fn class(self) -> EffectClass {
        match self {
            Self::StopCompute => EffectClass::Reversible,
            Self::HoldCompute
            | Self::ReleaseCompute
            | Self::RecordRunning
            | Self::RecordPaused
            | Self::RecordQuarantined
            | Self::RecordDestroying
            | Self::RecordDestroyed
            | Self::RecordFailed
            | Self::RecordComputeLost
            | Self::RecordOrphan => EffectClass::Accounting,
            Self::RevokeCredentials => EffectClass::Security,
            Self::DestroyCompute | Self::DestroyVolume => EffectClass::Destructive,
        }
    }

    /// Returns who sees to it that the effect happens.
    #[must_use]
    pub const fn delivery(self) -> Delivery {
        match self {
            Self::StopCompute
            | Self::HoldCompute
            | Self::ReleaseCompute
            | Self::RevokeCredentials
            | Self::DestroyCompute
            | Self::DestroyVolume => Delivery::Outbox,
            Self::RecordRunning
            | Self::RecordPaused
            | Self::RecordQuarantined
            | Self::RecordDestroying
            | Self::RecordDestroyed
            | Self::RecordFailed
            | Self::RecordComputeLost
            | Self::RecordOrphan => Delivery::WithCommit,
        }
    }

    /// Returns the ledger fact of entering a status; provisioning has none.
    #[must_use]
    pub const fn record_of(status: Status) -> Option<Self> {
        match status {
            Status::Provisioning => None,
            Status::Running => Some(Self::RecordRunning),
            Status::Paused => Some(Self::RecordPaused),
            Status::Quarantined => Some(Self::RecordQuarantined),
            Status::Destroying => Some(Self::RecordDestroying),
            Status::Destroyed => Some(Self::RecordDestroyed),
            Status::Failed => Some(Self::RecordFailed),
        }
    }

    const fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// A set of effects, iterated in the order of [`Effect::ALL`].
///
/// ```
/// use lifecycle_core::{Effect, Effects};
///
/// let effects = Effects::NONE.with(Effect::RecordPaused).with(Effect::ReleaseCompute);
/// assert_eq!(effects.to_string(), "release_compute+record_paused");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Effects(u16);

impl Effects {
    /// No effect.
    pub const NONE: Self = Self(0);

    /// Every effect.
    pub const ALL: Self = {
        let mut all = Self::NONE;
        let mut next = 1;
        while let Some(effect) = Effect::from_tag(next) {
            all = all.with(effect);
            next += 1;
        }
        all
    };

    /// Returns this set with one effect more.
    #[must_use]
    pub const fn with(self, effect: Effect) -> Self {
        Self(self.0 | effect.bit())
    }

    /// Returns this set without one effect.
    #[must_use]
    pub const fn without(self, effect: Effect) -> Self {
        Self(self.0 & !effect.bit())
    }

    /// Returns the effects that are in either set.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Tells whether the effect is in the set.
    #[must_use]
    pub const fn contains(self, effect: Effect) -> bool {
        self.0 & effect.bit() != 0
    }

    /// Tells whether the sets share an effect.
    #[must_use]
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Tells whether the set is empty.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the effects that are delivered in this way.
    #[must_use]
    pub fn delivered(self, delivery: Delivery) -> Self {
        self.iter()
            .filter(|effect| effect.delivery() == delivery)
            .collect()
    }

    /// Returns the effects in the order of [`Effect::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Effect> + Clone {
        Effect::ALL
            .iter()
            .copied()
            .filter(move |effect| self.contains(*effect))
    }
}

impl FromIterator<Effect> for Effects {
    fn from_iter<I: IntoIterator<Item = Effect>>(effects: I) -> Self {
        effects.into_iter().fold(Self::NONE, Self::with)
    }
}

impl fmt::Display for Effects {
    /// Writes the words joined by `+`; nothing where the set is empty.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, effect) in self.iter().enumerate() {
            if position > 0 {
                f.write_str("+")?;
            }
            f.write_str(effect.word())?;
        }
        Ok(())
    }
}

impl fmt::Debug for Effects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Effects {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}
