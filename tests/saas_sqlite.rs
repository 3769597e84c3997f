//! The black-box tests in `saas` mode on SQLite.

/// The set-up of this binary.
mod setup {
    pub(crate) const SAAS: bool = true;
    pub(crate) const POSTGRES: bool = false;
}

#[path = "everywhere.rs"]
mod everywhere;
mod saas;

use everywhere::support;
