//! `portcullis bench`: measures the cost of decisions on a tenant's own rules.
//!
//! Tenants come from folders or a database, checks from a file or from the rules themselves. Every check is decided once
//! before the measurement, so that a report shows the decisions and the rules that made them.

mod checks;
mod command;
mod generate;
mod html;
mod measure;
mod plot;
mod progress;
mod report;
mod source;
mod table;
mod tenant;
mod unusable;

pub use command::{BenchArguments, run};
pub use unusable::is_usage;
