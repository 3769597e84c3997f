//! The settings of the decision log.

use std::path::PathBuf;

use anyhow::Context;
use percent_encoding::percent_decode_str;
use portcullis_decision_log::{Archive, RecordPlace};
use portcullis_storage::Store;
use portcullis_storage::encryption::KeyRing;
use url::Url;

use crate::bucket;
use crate::error::ConfigError;
use crate::variables::Variables;

/// The minimum size of the write-ahead log: room for two files.
const LEAST_BUFFER: u64 = 128 << 20;
/// The most bytes of the write-ahead files, unless the operator says otherwise: some two million records.
const DEFAULT_BUFFER: u64 = 1 << 30;

/// The folder of the write-ahead files, unless the operator says otherwise.
const DEFAULT_FOLDER: &str = "decision-log";

/// The settings of the decision log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecisionLogConfig {
    /// The place of finished files, which all processes share.
    pub place: RecordPlace,
    /// The folder of the write-ahead files, of this process alone.
    pub buffer: PathBuf,
    /// The most bytes of the write-ahead files.
    pub buffer_bytes: u64,
}

impl Variables {
    /// Returns the settings of the decision log; `None` if the operator keeps none.
    pub fn decision_log(&self) -> Result<Option<DecisionLogConfig>, ConfigError> {
        let bytes = self.size_from("DECISION_LOG_BUFFER_BYTES", LEAST_BUFFER)?;
        let expected = "a folder as a URL, such as `file:///var/lib/decisions`, or a bucket, such as \
                        `s3://bucket/prefix`";
        let Some(url) = self.parsed("DECISION_LOG_URL", expected, place)? else {
            return Ok(None);
        };
        let place = match url {
            Place::Folder(folder) => RecordPlace::Folder(folder),
            Place::Bucket { bucket, prefix } => {
                RecordPlace::Bucket(bucket::with_variables(self, bucket, prefix)?)
            }
        };
        let buffer = PathBuf::from(self.get("DECISION_LOG_BUFFER").unwrap_or(DEFAULT_FOLDER));
        let buffer_bytes = bytes.unwrap_or(DEFAULT_BUFFER);
        Ok(Some(DecisionLogConfig { place, buffer, buffer_bytes }))
    }
}

/// Opens the sealed files of the decision log, with the manifest in `store`.
///
/// # Errors
/// The folder cannot be made, or a variable of the bucket cannot be used.
pub fn open_archive(
    config: &DecisionLogConfig,
    store: &Store,
    keys: &KeyRing,
) -> anyhow::Result<Archive> {
    Archive::open(&config.place, store.clone(), keys.clone())
        .context("DECISION_LOG_URL: cannot open the place of the record of decisions")
}

/// The place that a URL names.
enum Place {
    Folder(PathBuf),
    Bucket { bucket: String, prefix: String },
}

fn place(text: &str) -> Option<Place> {
    let url = Url::parse(text).ok()?;
    let has_more = url.query().is_some()
        || url.fragment().is_some()
        || url.port().is_some()
        || !url.username().is_empty();
    match url.scheme() {
        _ if has_more => None,
        "file" => url.to_file_path().ok().map(Place::Folder),
        "s3" => {
            let bucket = url.host_str().filter(|host| !host.is_empty())?.to_owned();
            // The store encodes the prefix once, in its requests.
            let prefix = percent_decode_str(url.path().trim_matches('/')).decode_utf8().ok()?;
            Some(Place::Bucket { bucket, prefix: prefix.into_owned() })
        }
        _ => None,
    }
}
