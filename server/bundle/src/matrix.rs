//! Decisions on roles × domains × resources × actions, and the change of these between two sets of rules
//! (`docs/semantics.md`, sections 2.12 and 2.13).

mod axes;
mod budget;
mod decision_set;
mod grid;
mod impact;
mod outcome;
mod roles_in;
mod table;

pub use decision_set::DecisionSet;
pub use impact::impact;
pub use outcome::cell_decision;
pub use roles_in::roles_in;
pub use table::{MatrixFilter, MatrixRow, MatrixTable, table, what_can, who_can};

#[cfg(test)]
mod tests;
