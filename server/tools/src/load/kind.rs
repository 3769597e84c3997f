//! The kinds of records that are loaded, and their routes.

use http::Method;

/// The kind of the records of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loaded {
    Relations,
    Entities,
}

impl Loaded {
    /// Returns the route of the list, which is also the member of a part of a sync.
    pub(super) fn list(self) -> &'static str {
        match self {
            Self::Relations => "relations",
            Self::Entities => "entities",
        }
    }

    /// Returns the route of a sync.
    pub(super) fn sync(self) -> &'static str {
        match self {
            Self::Relations => "relations/sync",
            Self::Entities => "entities/sync",
        }
    }

    /// Returns the method and the member of a call that only writes.
    pub(super) fn write(self) -> (Method, &'static str) {
        match self {
            Self::Relations => (Method::POST, "write"),
            Self::Entities => (Method::PUT, "entities"),
        }
    }
}
