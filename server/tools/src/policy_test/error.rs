//! The reasons why nothing is tested.

use std::io;

use portcullis_bundle::{BundleError, TENANT_FILE};
use portcullis_engine::Invalid;

/// The reason why nothing was tested.
#[derive(Debug, thiserror::Error)]
pub enum TestError {
    #[error(transparent)]
    Bundle(#[from] BundleError),
    #[error("{0}: cannot be read: {1}")]
    Path(String, io::Error),
    #[error(
        "{0}: expected a tenant folder or a folder of tenant folders, but there is no `{TENANT_FILE}`; \
         `portcullis init {0}` writes a first tenant"
    )]
    NoTenant(String),
    /// The file, and the folder that it is in.
    #[error("{0}: expected a folder, not a file; give its folder `{1}`")]
    File(String, String),
    #[error("no case found")]
    NoCase,
    #[error("no case found whose name contains `{0}`")]
    NoSuchCase(String),
    #[error("a check cannot be read: {0}")]
    Check(#[from] Invalid),
    /// The folder of the resolver, its namespace, and the cause.
    #[error("{folder}: the resolver `{namespace}` cannot be called: {error:#}")]
    Resolver { folder: String, namespace: String, error: anyhow::Error },
    #[error("{0:#}")]
    Host(anyhow::Error),
    #[error("{0}: cannot be written: {1}")]
    Report(String, io::Error),
    #[error("the results cannot be written: {0}")]
    Output(#[from] io::Error),
}
