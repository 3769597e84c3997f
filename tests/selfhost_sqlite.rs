//! The black-box tests in `selfhost` mode on SQLite.

/// The set-up of this binary.
mod setup {
    pub(crate) const SAAS: bool = false;
    pub(crate) const POSTGRES: bool = false;
}

#[path = "everywhere.rs"]
mod everywhere;
#[path = "once.rs"]
mod once;
mod selfhost;

use everywhere::support;
