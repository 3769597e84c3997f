//! The use cases: a handler, a command and the development mode call the same function.

pub mod app;
pub mod checks;
pub mod error;
pub mod metrics;
pub mod plans;
pub mod registration;
pub mod uploads;

#[cfg(test)]
mod tests;
