//! How does a row own the facts that the core borrows?

use lifecycle_core::{Machine, Timestamp};

/// The durable facts of one machine with texts of their own; see [`Machine`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    scope: String,
    marker: Option<String>,
    /// Everything but the texts, which are blank here.
    columns: Machine<'static>,
}

impl Facts {
    /// Takes over the facts of a machine.
    #[must_use]
    pub fn of(machine: &Machine<'_>) -> Self {
        Self {
            scope: machine.scope.to_owned(),
            marker: machine.marker.map(str::to_owned),
            columns: detached(*machine),
        }
    }

    /// Returns the facts as the core takes them.
    #[must_use]
    pub fn machine(&self) -> Machine<'_> {
        Machine {
            scope: &self.scope,
            marker: self.marker.as_deref(),
            ..self.columns
        }
    }

    /// Replaces the facts by what a change of them returns.
    pub fn update(&mut self, change: impl FnOnce(Machine<'_>) -> Machine<'_>) {
        let changed = Self::of(&change(self.machine()));
        *self = changed;
    }
}

impl serde::Serialize for Facts {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.machine().serialize(serializer)
    }
}

/// Copies everything but the texts.
fn detached(machine: Machine<'_>) -> Machine<'static> {
    let Machine {
        status,
        volume,
        compute,
        desired,
        generation,
        scope: _,
        marker: _,
        created_at,
        status_since,
        last_seen,
        observed_at,
        missing,
        quarantine,
        quarantines,
        compute_lost_at,
        busy_until,
        holds,
    } = machine;
    Machine {
        status,
        volume,
        compute,
        desired,
        generation,
        created_at,
        status_since,
        last_seen,
        observed_at,
        missing,
        quarantine,
        quarantines,
        compute_lost_at,
        busy_until,
        holds,
        ..Machine::new("", None, Timestamp::from_millis(0))
    }
}
