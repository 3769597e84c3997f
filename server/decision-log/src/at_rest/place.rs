//! The place of the sealed files: a folder or a bucket of S3.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::local::LocalFileSystem;
use object_store::prefix::PrefixStore;
use object_store::{ClientOptions, ObjectStore, RetryConfig};

use super::objects::{ObjectError, Objects};
use crate::permissions;

/// The longest time of one request: a file has some 10 MiB.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The longest time until a connection is there.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// The begin of the names of the folders in the place.
const TENANT: &str = "tenant=";
/// The repetitions of a request that failed. Whoever seals files tries again for ever.
const REPEATS: usize = 2;

/// The place of the sealed files, which all replicas share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordPlace {
    /// A folder, which is made if it is missing.
    Folder(PathBuf),
    Bucket(BucketPlace),
}

/// A part of a bucket of S3.
#[derive(Clone, PartialEq, Eq)]
pub struct BucketPlace {
    pub bucket: String,
    /// The beginning of the names of objects, without slashes at its ends; may be empty.
    pub prefix: String,
    /// Variables of AWS, such as `AWS_REGION`, with their values.
    pub variables: Vec<(&'static str, String)>,
}

impl fmt::Debug for BucketPlace {
    /// Leaves the variables out: one is a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s3://{}/{}", self.bucket, self.prefix)
    }
}

impl fmt::Display for RecordPlace {
    /// Shows the place as a URL without secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) => write!(f, "file://{}", folder.display()),
            Self::Bucket(place) => write!(f, "{place:?}"),
        }
    }
}

impl RecordPlace {
    /// Opens the place. A bucket is not asked for anything yet: one that is down does not prevent the start.
    pub(crate) fn open(&self) -> Result<Objects, ObjectError> {
        match self {
            Self::Folder(folder) => {
                std::fs::create_dir_all(folder)
                    .map_err(|error| ObjectError::Folder(folder.clone(), error))?;
                permissions::withdraw_all(folder, |name| name.starts_with(TENANT));
                // A file and its name are on disk when a write returns.
                let store = LocalFileSystem::new_with_prefix(folder)?.with_fsync(true);
                Ok(Objects::new(Arc::new(store), Some(folder.clone())))
            }
            Self::Bucket(place) => Ok(Objects::new(place.open()?, None)),
        }
    }
}

impl RecordPlace {
    /// Asks the place for a file, which need not exist.
    ///
    /// # Errors
    /// The place cannot be opened, does not answer, or refuses the credentials.
    pub async fn reach(&self) -> Result<(), ObjectError> {
        self.open()?.get("reach").await.map(drop)
    }
}

impl BucketPlace {
    fn open(&self) -> Result<Arc<dyn ObjectStore>, ObjectError> {
        let client =
            ClientOptions::new().with_timeout(TIMEOUT).with_connect_timeout(CONNECT_TIMEOUT);
        let retry =
            RetryConfig { max_retries: REPEATS, retry_timeout: TIMEOUT, ..RetryConfig::default() };
        let mut builder = AmazonS3Builder::new()
            .with_bucket_name(&self.bucket)
            .with_client_options(client)
            .with_retry(retry);
        for (name, value) in &self.variables {
            let key: AmazonS3ConfigKey = name.to_ascii_lowercase().parse()?;
            builder = builder.with_config(key, value);
        }
        Ok(Arc::new(PrefixStore::new(builder.build()?, self.prefix.as_str())))
    }
}
