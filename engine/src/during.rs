//! The operator `during`: weekdays and hours in the local time of a zone (`docs/semantics.md`, section 4.5).

mod text;
mod window;
mod zone;

pub use window::{TimeWindow, WEEKDAYS};
pub use zone::Zone;

#[cfg(test)]
mod tests;
