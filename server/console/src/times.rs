//! Instants as pages show them.

use portcullis_model::Timestamp;

/// An instant, for machines and for people.
pub(crate) struct ShownTime {
    /// RFC 3339.
    pub(crate) machine: String,
    /// In UTC, to the second.
    pub(crate) shown: String,
}

impl ShownTime {
    pub(crate) fn of(instant: Timestamp) -> Self {
        let machine = instant.to_string();
        let shown = match machine.split_once('T') {
            Some((date, time)) => format!("{date} {}", time.get(..8).unwrap_or(time)),
            None => machine.clone(),
        };
        Self { machine, shown }
    }
}
