//! The destination of an import: a folder, a running service, or standard output.

use std::path::PathBuf;

use portcullis_config::Variables;
use portcullis_tools::as_code::{Import, owner};
use url::Url;

use crate::api::Target;

/// The arguments that all imports share.
#[derive(Debug, clap::Args)]
pub(crate) struct Destination {
    /// Write the files into this folder instead of printing them.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
    /// Replace files that are there already.
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
    /// Apply what was imported to the Portcullis service at this URL, with the service key in SERVICE_API_KEY or the
    /// manager's token in TOKEN: all of it or nothing.
    #[arg(long, value_name = "URL", conflicts_with = "out")]
    url: Option<Url>,
    /// Read the service key from this file instead of SERVICE_API_KEY.
    #[arg(long, value_name = "FILE", requires = "url")]
    key_file: Option<PathBuf>,
    /// The owner of what was imported in the service; by default the name of the other system. What an earlier import of
    /// this owner made, and this one does not, is deleted.
    #[arg(long, requires = "url", value_parser = owner)]
    owner: Option<String>,
    /// Let the import delete more objects, and more tuples, than the tenant allows.
    #[arg(long, requires = "url")]
    allow_deletes: bool,
}

impl Destination {
    /// Returns the service that the arguments name. `system` owns what it gets, if the arguments name no owner.
    ///
    /// # Errors
    /// There is no key for the service.
    pub(crate) fn target<'d>(
        &'d self,
        system: &'d str,
        variables: &Variables,
    ) -> anyhow::Result<Option<Target<'d>>> {
        let Some(base) = &self.url else { return Ok(None) };
        let owner = self.owner.as_deref().unwrap_or(system);
        let import = Import { owner, allow_deletes: self.allow_deletes };
        Target::new(base, self.key_file.as_deref(), import, variables).map(Some)
    }
}
