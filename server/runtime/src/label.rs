//! The label of a series of metrics.

/// The name and the value of the only label of a series.
pub(crate) type Label = [(&'static str, &'static str); 1];
