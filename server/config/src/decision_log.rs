//! The settings of the decision log.

use std::path::PathBuf;

use crate::error::ConfigError;
use crate::units::{SIZE_UNITS, parse_size};
use crate::variables::Variables;

/// The fewest bytes of the write-ahead files: two of them.
const LEAST_BUFFER: u64 = 128 << 20;
/// The most bytes of the write-ahead files, unless the operator says otherwise: some two million records.
const DEFAULT_BUFFER: u64 = 1 << 30;

/// The settings of the decision log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecisionLogConfig {
    /// The folder of the write-ahead files, of this process alone.
    pub buffer: PathBuf,
    /// The most bytes of the write-ahead files.
    pub buffer_bytes: u64,
}

impl Variables {
    /// Returns the settings of the decision log; `None` if the operator keeps none.
    pub(crate) fn decision_log(&self) -> Result<Option<DecisionLogConfig>, ConfigError> {
        let least = LEAST_BUFFER >> 20;
        let size = format!("a size of at least `{least}MiB` {SIZE_UNITS}");
        let bytes = self.parsed("DECISION_LOG_BUFFER_BYTES", &size, |text| {
            parse_size(text).filter(|bytes| *bytes >= LEAST_BUFFER)
        })?;
        let Some(folder) = self.get("DECISION_LOG_BUFFER") else { return Ok(None) };
        let buffer_bytes = bytes.unwrap_or(DEFAULT_BUFFER);
        Ok(Some(DecisionLogConfig { buffer: PathBuf::from(folder), buffer_bytes }))
    }
}
