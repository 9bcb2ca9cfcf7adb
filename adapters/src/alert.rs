//! What must a person be told?

use core::fmt;

use crate::id::MachineId;

/// Something that a person should look at.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Alert {
    /// Too many machines of a scope went at once; further absences there are not believed until an
    /// operator releases the scope, or each is confirmed long enough.
    FleetHeld {
        /// The scope.
        scope: String,
    },
    /// A row names a policy that nobody knows; it is decided under the cautious one.
    UnknownPolicy {
        /// The row.
        id: MachineId,
        /// The name.
        name: String,
    },
    /// Work was given up after many tries; it stays visible and can be retried.
    DeadLetter {
        /// The row.
        id: MachineId,
        /// The effect.
        effect: lifecycle_core::Effect,
        /// The last error.
        error: String,
    },
}

/// Takes alerts to a person.
pub trait Alerts: Send + Sync + fmt::Debug {
    /// Raises an alert. Never blocks.
    fn raise(&self, alert: Alert);
}

/// Writes alerts to the log.
#[derive(Clone, Copy, Debug, Default)]
pub struct LogAlerts;

impl Alerts for LogAlerts {
    fn raise(&self, alert: Alert) {
        match alert {
            Alert::FleetHeld { scope } => tracing::error!(scope, "fleet held"),
            Alert::UnknownPolicy { id, name } => tracing::error!(%id, name, "unknown policy"),
            Alert::DeadLetter { id, effect, error } => {
                tracing::error!(%id, %effect, error, "dead letter")
            }
        }
    }
}
