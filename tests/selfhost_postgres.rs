//! The black-box tests in `selfhost` mode on PostgreSQL.

/// The set-up of this binary.
mod setup {
    pub(crate) const SAAS: bool = false;
    pub(crate) const POSTGRES: bool = true;
}

mod backups;
#[path = "everywhere.rs"]
mod everywhere;
mod faults;
mod replicas;
mod selfhost;

use everywhere::support;
