//! The measurements. Every check is decided once, then each measurement gets its share of the time.

mod answers;
mod bench;
mod decided;
mod plans;
mod run;

pub(crate) use bench::Bench;
