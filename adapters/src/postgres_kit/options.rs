//! What may a test choose about its server?

/// What a committed transaction survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Only an orderly stop: the fastest, and what the shared server does.
    OrderlyStop,
    /// `kill -9` of the server, not the loss of the machine.
    #[default]
    Kill,
    /// The loss of the machine, as in production: for measurements.
    PowerLoss,
}

/// How a private server differs from the default.
#[derive(Clone, Debug, Default)]
pub struct Options {
    durability: Durability,
    settings: Vec<(String, String)>,
}

impl Options {
    /// Chooses what a commit survives.
    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Sets a parameter of the server, as in `postgresql.conf`; the last one wins.
    #[must_use]
    pub fn setting(mut self, name: &str, value: &str) -> Self {
        self.settings.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Returns the settings in the order in which they count.
    pub(super) fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        let durability: &[(&str, &str)] = match self.durability {
            Durability::OrderlyStop => &[
                ("fsync", "off"),
                ("full_page_writes", "off"),
                ("synchronous_commit", "off"),
            ],
            // Full pages stay on: a kill can tear a page on its way to the kernel.
            Durability::Kill => &[("fsync", "off")],
            Durability::PowerLoss => &[],
        };
        let chosen = self.settings.iter();
        let chosen = chosen.map(|(name, value)| (name.as_str(), value.as_str()));
        durability.iter().copied().chain(chosen)
    }
}
