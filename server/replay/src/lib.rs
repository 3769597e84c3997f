//! Decides recorded decisions again: from the record alone, on the rules that decided them and on others
//! (`docs/semantics.md`, section 18.1). No I/O and no clock.
//!
//! [`RecordedInputs`] is a record as a check again. A [`Side`] has the rules of one revision or candidate, and compiles each
//! plan once. [`compare`] decides a record on two sides, and a [`Tally`] counts what comes of it.

#![forbid(unsafe_code)]

mod comparison;
mod directory;
mod explained;
mod inputs;
mod known;
mod record_values;
mod side;
mod tally;

pub use comparison::{Compared, Difference, compare};
pub use directory::RecordedDirectory;
pub use explained::{Reproduction, explain};
pub use inputs::{RecordedInputs, Unreadable};
pub use side::Side;
pub use tally::Tally;

#[cfg(test)]
mod tests;
