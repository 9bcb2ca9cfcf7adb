//! What does the caller ask for, and why may it not be done?

use crate::{facts::Force, words::words};

/// What the caller asks for, beside saying what was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Asked {
    /// A request of the machine's owner.
    pub request: Option<Request>,
    /// A deliberate override.
    pub force: Force,
}

impl Asked {
    /// Nothing is asked for.
    pub const NOTHING: Self = Self {
        request: None,
        force: Force::None,
    };

    /// The machine is to be deleted.
    pub const DELETE: Self = Self {
        request: Some(Request::Delete),
        force: Force::None,
    };

    /// The deletion is taken back.
    pub const RESTORE: Self = Self {
        request: Some(Request::Restore),
        force: Force::None,
    };

    /// The row is to end now.
    pub const FORCE_DESTROYED: Self = Self {
        request: None,
        force: Force::Destroyed,
    };
}

words! {
    /// What a caller may ask for.
    pub enum Request ("request") {
        /// The machine is to be deleted.
        Delete = "delete",
        /// The deletion is taken back.
        Restore = "restore",
    }
}

words! {
    /// Why a request was not done.
    pub enum Refusal ("refusal") {
        /// The machine is past the point at which it could be restored.
        PointOfNoReturn = "point_of_no_return",
    }
}
