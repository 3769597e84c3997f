//! The settings of the decision log.

use std::path::PathBuf;

use url::Url;

use crate::error::ConfigError;
use crate::units::{SIZE_UNITS, parse_size};
use crate::variables::Variables;

/// The fewest bytes of the write-ahead files: two of them.
const LEAST_BUFFER: u64 = 128 << 20;
/// The most bytes of the write-ahead files, unless the operator says otherwise: some two million records.
const DEFAULT_BUFFER: u64 = 1 << 30;

/// The folder of the write-ahead files, unless the operator says otherwise.
const DEFAULT_FOLDER: &str = "decision-log";
/// The settings of the decision log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecisionLogConfig {
    /// The folder of finished files, which all processes share.
    pub folder: PathBuf,
    /// The folder of the write-ahead files, of this process alone.
    pub buffer: PathBuf,
    /// The most bytes of the write-ahead files.
    pub buffer_bytes: u64,
}

impl Variables {
    /// Returns the settings of the decision log; `None` if the operator keeps none.
    pub fn decision_log(&self) -> Result<Option<DecisionLogConfig>, ConfigError> {
        let least = LEAST_BUFFER >> 20;
        let size = format!("a size of at least `{least}MiB` {SIZE_UNITS}");
        let bytes = self.parsed("DECISION_LOG_BUFFER_BYTES", &size, |text| {
            parse_size(text).filter(|bytes| *bytes >= LEAST_BUFFER)
        })?;
        let expected = "a folder as a URL, such as `file:///var/lib/decisions`";
        let Some(folder) = self.parsed("DECISION_LOG_URL", expected, folder)? else {
            return Ok(None);
        };
        let buffer = PathBuf::from(self.get("DECISION_LOG_BUFFER").unwrap_or(DEFAULT_FOLDER));
        let buffer_bytes = bytes.unwrap_or(DEFAULT_BUFFER);
        Ok(Some(DecisionLogConfig { folder, buffer, buffer_bytes }))
    }
}

fn folder(text: &str) -> Option<PathBuf> {
    let url = Url::parse(text).ok().filter(|url| url.scheme() == "file")?;
    let is_plain = url.query().is_none() && url.fragment().is_none();
    url.to_file_path().ok().filter(|_| is_plain)
}
