//! Recorded decisions: the decision log as a caller sees it, and replays.

pub mod decisions;
mod record_views;
mod recorded_sides;
pub mod replays;
