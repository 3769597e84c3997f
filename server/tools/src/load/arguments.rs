//! The arguments of a load.

use std::path::PathBuf;

use crate::service::ServiceArguments;

/// The arguments of a load.
#[derive(Debug, clap::Args)]
pub struct LoadArguments {
    /// The file, with one record in a line; `-` is standard input.
    pub(super) file: PathBuf,
    #[command(flatten)]
    pub(super) service: ServiceArguments,
    /// The job that keeps these records up to date. They get its name.
    #[arg(long, value_name = "NAME")]
    pub(super) source: Option<String>,
    /// At the end, delete what the source had before and the file does not have.
    #[arg(long, requires = "source")]
    pub(super) sync: bool,
    /// Let --sync delete more than the tenant allows.
    #[arg(long, requires = "sync")]
    pub(super) allow_deletes: bool,
    /// Write nothing: count what would change.
    #[arg(long)]
    pub(super) dry_run: bool,
}

impl LoadArguments {
    /// Returns the beginning of the error of a file that cannot be read, or has a line that is no record.
    pub(super) fn not_read(&self) -> String {
        format!("cannot read `{}`", self.file.display())
    }
}
