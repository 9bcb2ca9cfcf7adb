//! Which choices select the table?

use crate::words::words;

words! {
    /// What becomes of a machine whose compute is gone while its volume is there.
    pub enum ComputeLost ("choice for lost compute") {
        /// It is kept as paused, with its compute lost.
        Keep = "keep",
        /// It ends; the volume stays.
        Destroy = "destroy",
    }
}

words! {
    /// What becomes of an owned volume after the quarantine; shared ones are never destroyed.
    pub enum VolumeAfterQuarantine ("choice for the volume after quarantine") {
        /// It is destroyed.
        Destroy = "destroy",
        /// It is kept.
        Retain = "retain",
    }
}

words! {
    /// What becomes of a machine that arrives after it was given up.
    pub enum LateArrival ("choice for a late arrival") {
        /// It is taken into use.
        Adopt = "adopt",
        /// It is destroyed.
        Destroy = "destroy",
    }
}

words! {
    /// What becomes of a machine that is seen alive after its row ended.
    pub enum Orphan ("choice for an orphan") {
        /// It is recorded.
        Report = "report",
        /// It is recorded and destroyed.
        Destroy = "destroy",
    }
}

words! {
    /// Whether credentials are revoked when compute is lost.
    pub enum RevokeOnComputeLost ("choice for credentials of lost compute") {
        /// They live on, for the recovery.
        No = "false",
        /// They are revoked.
        Yes = "true",
    }
}

/// The choices that select the table.
///
/// ```
/// use lifecycle_core::{Choices, ComputeLost};
///
/// let converge = Choices { compute_lost: ComputeLost::Destroy, ..Choices::DEFAULT };
/// assert_eq!(Choices::all().filter(|choices| *choices == converge).count(), 1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Choices {
    /// Compute is gone, the volume is there.
    pub compute_lost: ComputeLost,
    /// The quarantine is over and the volume is owned.
    pub volume_after_quarantine: VolumeAfterQuarantine,
    /// A failed machine is seen after all.
    pub late_arrival: LateArrival,
    /// A destroyed machine is seen alive.
    pub orphan: Orphan,
    /// Compute is lost: are credentials revoked?
    pub revoke_on_compute_lost: RevokeOnComputeLost,
}

impl Choices {
    /// The first of every choice.
    pub const DEFAULT: Self = Self {
        compute_lost: ComputeLost::Keep,
        volume_after_quarantine: VolumeAfterQuarantine::Destroy,
        late_arrival: LateArrival::Adopt,
        orphan: Orphan::Report,
        revoke_on_compute_lost: RevokeOnComputeLost::No,
    };

    /// How many sets of choices there are.
    pub const COUNT: usize = 32;

    /// Returns all 32 sets, the default first.
    pub fn all() -> impl Iterator<Item = Self> + Clone {
        (0..Self::COUNT).map(|set| Self {
            compute_lost: if set & 1 == 0 {
                ComputeLost::Keep
            } else {
                ComputeLost::Destroy
            },
            volume_after_quarantine: if set & 2 == 0 {
                VolumeAfterQuarantine::Destroy
            } else {
                VolumeAfterQuarantine::Retain
            },
            late_arrival: if set & 4 == 0 {
                LateArrival::Adopt
            } else {
                LateArrival::Destroy
            },
            orphan: if set & 8 == 0 {
                Orphan::Report
            } else {
                Orphan::Destroy
            },
            revoke_on_compute_lost: if set & 16 == 0 {
                RevokeOnComputeLost::No
            } else {
                RevokeOnComputeLost::Yes
            },
        })
    }

    /// Returns this set's place in [`Self::all`].
    #[must_use]
    pub const fn index(self) -> usize {
        let Self {
            compute_lost,
            volume_after_quarantine,
            late_arrival,
            orphan,
            revoke_on_compute_lost,
        } = self;
        (compute_lost as usize)
            | (volume_after_quarantine as usize) << 1
            | (late_arrival as usize) << 2
            | (orphan as usize) << 3
            | (revoke_on_compute_lost as usize) << 4
    }
}

impl Default for Choices {
    fn default() -> Self {
        Self::DEFAULT
    }
}
