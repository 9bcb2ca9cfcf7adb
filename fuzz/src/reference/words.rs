//! Which words exist, and in which order?

/// A closed list of words.
pub trait Word: Copy + 'static {
    /// Every member, in the order of the specification.
    const ALL: &'static [Self];

    /// The text form.
    fn word(self) -> &'static str;

    /// Finds the member with this text form.
    fn parse(text: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|member| member.word() == text)
    }
}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $(#[doc = concat!("`", $word, "`")] $variant,)+
        }

        impl Word for $name {
            const ALL: &'static [Self] = &[$(Self::$variant),+];

            fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }
    };
}

words! {
    /// What the row stores.
    Status {
        Provisioning = "provisioning",
        Running = "running",
        Paused = "paused",
        Quarantined = "quarantined",
        Destroying = "destroying",
        Destroyed = "destroyed",
        Failed = "failed",
    }
}

words! {
    /// What the provider's evidence is worth for this machine.
    Sighting {
        Booting = "booting",
        Running = "running",
        Stopping = "stopping",
        Stopped = "stopped",
        Missing = "missing",
        Gone = "gone",
        Unknown = "unknown",
    }
}

words! {
    /// The volume of the machine.
    Volume {
        None = "none",
        Owned = "owned",
        Shared = "shared",
        Unknown = "unknown",
    }
}

words! {
    /// How far the quarantine is.
    QuarantineColumn {
        Clear = "clear",
        Due = "due",
        Open = "open",
        Elapsed = "elapsed",
    }
}

words! {
    /// Whether capacity is still reserved.
    Compute {
        Held = "held",
        Released = "released",
        Lost = "lost",
    }
}

words! {
    /// A deliberate override of the table.
    Force {
        None = "none",
        Destroyed = "destroyed",
    }
}

words! {
    /// What becomes of a row whose compute is gone while its volume is kept.
    ComputeLost { Keep = "keep", Destroy = "destroy" }
}

words! {
    /// What becomes of an owned volume after its quarantine.
    VolumeAfterQuarantine { Destroy = "destroy", Retain = "retain" }
}

words! {
    /// What becomes of a machine that shows up after its row has failed.
    LateArrival { Adopt = "adopt", Destroy = "destroy" }
}

words! {
    /// What becomes of a machine that is seen alive after its row was destroyed.
    Orphan { Report = "report", Destroy = "destroy" }
}

words! {
    /// Whether losing the compute revokes credentials.
    RevokeOnComputeLost { False = "false", True = "true" }
}

words! {
    /// The power that a present machine is in.
    Power {
        Booting = "booting",
        Running = "running",
        Stopping = "stopping",
        Off = "off",
        Suspended = "suspended",
        Unrecognized = "unrecognized",
    }
}

words! {
    /// The power that was last seen: that of a present machine, or gone. A power that was
    /// not recognized is no evidence, so it is never stored.
    SeenPower {
        Booting = "booting",
        Running = "running",
        Stopping = "stopping",
        Off = "off",
        Suspended = "suspended",
        Gone = "gone",
    }
}

words! {
    /// What an absence rests on. The order of strength is that of `judge`, not of this list.
    Proof {
        PartialList = "partial_list",
        StaleList = "stale_list",
        UntypedNotFound = "untyped_not_found",
        CompleteList = "complete_list",
        TypedNotFound = "typed_not_found",
        Superseded = "superseded",
        Tombstone = "tombstone",
        DeleteConfirmed = "delete_confirmed",
    }
}

words! {
    /// Why the provider could not be asked.
    Cause {
        Unauthorized = "unauthorized",
        Forbidden = "forbidden",
        RateLimited = "rate_limited",
        ServerError = "server_error",
        Timeout = "timeout",
        Transport = "transport",
        Malformed = "malformed",
        Unsupported = "unsupported",
    }
}

words! {
    /// Which path noticed. It never changes the answer.
    Source {
        StatusRead = "status_read",
        Access = "access",
        Stats = "stats",
        Sweep = "sweep",
        User = "user",
        AccountDeletion = "account_deletion",
        BaseReopen = "base_reopen",
        Relay = "relay",
    }
}

words! {
    /// What the owner wants the power to be.
    Desired { On = "on", Off = "off" }
}

words! {
    /// What was asked for together with the decision.
    Request { Delete = "delete", Restore = "restore" }
}
