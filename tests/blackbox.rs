//! The black-box tests of the built binary, in each set-up of mode and database (`setup.rs`).

mod setup;

mod backups;
#[path = "everywhere.rs"]
mod everywhere;
mod faults;
#[path = "once.rs"]
mod once;
mod replicas;
mod saas;
mod saas_replicas;
mod selfhost;
mod soak;

use everywhere::support;
