//! Everything that is logged on this thread, by any crate and at any level.

use core::fmt::{self, Write as _};
use std::sync::{Arc, Mutex, PoisonError};

use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span,
    subscriber::DefaultGuard,
};

/// Listens until it is dropped.
pub(crate) struct Overheard {
    said: Arc<Mutex<String>>,
    _guard: DefaultGuard,
}

struct Listener(Arc<Mutex<String>>);

struct Words<'a>(&'a mut String);

impl Overheard {
    pub(crate) fn new() -> Self {
        let said = Arc::new(Mutex::new(String::new()));
        let guard = tracing::subscriber::set_default(Listener(Arc::clone(&said)));
        Self {
            said,
            _guard: guard,
        }
    }

    pub(crate) fn text(&self) -> String {
        self.said
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl Listener {
    fn write(&self, write: impl FnOnce(&mut Words<'_>)) {
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        write(&mut Words(&mut said));
    }
}

impl Visit for Words<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        writeln!(self.0, "{field}={value:?}").expect("a text");
    }
}

impl Subscriber for Listener {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &span::Attributes<'_>) -> span::Id {
        self.write(|words| span.record(words));
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, values: &span::Record<'_>) {
        self.write(|words| values.record(words));
    }

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        self.write(|words| event.record(words));
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}
