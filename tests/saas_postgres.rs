//! The black-box tests in `saas` mode on PostgreSQL.

/// The set-up of this binary.
mod setup {
    pub(crate) const SAAS: bool = true;
    pub(crate) const POSTGRES: bool = true;
}

mod backups;
#[path = "everywhere.rs"]
mod everywhere;
mod replicas;
mod saas;
mod saas_replicas;

use everywhere::support;
