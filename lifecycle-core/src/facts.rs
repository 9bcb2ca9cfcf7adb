//! Which columns may one decision look at?

use crate::words::words;

words! {
    /// What the row stores.
    pub enum Status ("status") {
        /// Asked for, not yet seen.
        Provisioning = "provisioning",
        /// In use.
        Running = "running",
        /// At rest, to be used again; with or without compute.
        Paused = "paused",
        /// To be deleted; held for the grace in which it can still be restored.
        Quarantined = "quarantined",
        /// Past the point of no return; compute, then the volume, are being destroyed.
        Destroying = "destroying",
        /// The end; never left again.
        Destroyed = "destroyed",
        /// Never arrived.
        Failed = "failed",
    }
}

words! {
    /// What the provider's evidence is worth for this machine.
    pub enum Sighting ("sighting") {
        /// It is starting.
        Booting = "booting",
        /// It runs.
        Running = "running",
        /// It is stopping.
        Stopping = "stopping",
        /// It is there and does not run.
        Stopped = "stopped",
        /// It was absent, and that is not yet believed.
        Missing = "missing",
        /// It was absent, and that is believed.
        Gone = "gone",
        /// Nothing can be said.
        Unknown = "unknown",
    }
}

words! {
    /// What is known of the machine's volume.
    pub enum Volume ("volume") {
        /// There is none.
        None = "none",
        /// There is one, and it is this machine's alone.
        Owned = "owned",
        /// There is one, and others use it too.
        Shared = "shared",
        /// It could not be read: treated as present, never wiped.
        Unknown = "unknown",
    }
}

words! {
    /// How far the deletion of the machine has come.
    pub enum Quarantine ("quarantine") {
        /// Nobody asked for deletion.
        Clear = "clear",
        /// A delete was asked for, or a retirement is due.
        Due = "due",
        /// The grace runs.
        Open = "open",
        /// The grace is over.
        Elapsed = "elapsed",
    }
}

words! {
    /// Whether capacity is reserved for the machine's compute.
    pub enum Compute ("compute") {
        /// Capacity is reserved.
        Held = "held",
        /// Capacity was given back.
        Released = "released",
        /// The compute went without being asked to, and the volume was kept.
        Lost = "lost",
    }
}

words! {
    /// A deliberate override of the mapping; a second member is a reviewed change.
    pub enum Force ("force") {
        /// The mapping decides.
        None = "none",
        /// The row ends now, whatever was seen.
        Destroyed = "destroyed",
    }
}

words! {
    /// What the machine's owner wants its power to be.
    pub enum Desired ("desired power") {
        /// Running.
        On = "on",
        /// At rest.
        Off = "off",
    }
}

impl Status {
    /// The statuses that are never left.
    pub const TERMINAL: &'static [Self] = &[Self::Destroyed];

    /// The statuses of a machine that is in use or may be again, and is not being deleted.
    pub const ACTIVE: &'static [Self] = &[
        Self::Provisioning,
        Self::Running,
        Self::Paused,
        Self::Failed,
    ];

    /// Tells whether the status is one of [`Self::ACTIVE`].
    #[must_use]
    pub const fn is_active(self) -> bool {
        match self {
            Self::Provisioning | Self::Running | Self::Paused | Self::Failed => true,
            Self::Quarantined | Self::Destroying | Self::Destroyed => false,
        }
    }
}
