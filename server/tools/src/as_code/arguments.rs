//! The arguments that several commands have.

use portcullis_model::owner::is_owner;

use crate::report::{ReportArguments, ShownActions};
use crate::service::ServiceArguments;

/// The service, and what an apply of a folder means.
#[derive(Debug, clap::Args)]
pub(super) struct ContentArguments {
    #[command(flatten)]
    pub(super) service: ServiceArguments,
    /// The owner of the objects, such as `git:github.com/acme/authz` (default: `files:` and the tenant's id).
    #[arg(long, value_parser = owner)]
    pub(super) owner: Option<String>,
    /// Leave the owner's objects that the folder does not have, instead of deleting them.
    #[arg(long)]
    pub(super) no_prune: bool,
    /// Take over objects of other owners. It needs the permission `policies:force`.
    #[arg(long)]
    pub(super) force: bool,
    /// Delete any number of objects. It needs the permission `policies:force`.
    #[arg(long)]
    pub(super) allow_deletes: bool,
    /// The actions to show: the verb of each resource and those that a rule or policy on it names, or all.
    #[arg(long, value_enum, default_value_t)]
    pub(super) actions: ShownActions,
    #[command(flatten)]
    pub(super) report: ReportArguments,
}

/// The origin of a change, for its audit records.
#[derive(Debug, Default, clap::Args)]
pub(super) struct SourceArguments {
    /// The commit that the folder is of.
    #[arg(long, value_name = "ID")]
    pub(super) commit: Option<String>,
    /// The branch or tag that the folder is of.
    #[arg(long = "ref", value_name = "NAME")]
    pub(super) reference: Option<String>,
    /// A page about the change, such as the page of the commit.
    #[arg(long, value_name = "URL")]
    pub(super) source_url: Option<String>,
    /// The reason for the change.
    #[arg(long, value_name = "TEXT")]
    pub(super) message: Option<String>,
}

/// Reads the name of an owner.
///
/// # Errors
/// The rule that the name breaks.
pub fn owner(text: &str) -> Result<String, &'static str> {
    let expected = "expected 1 to 256 printable characters without white space, such as `git:github.com/acme/authz`";
    is_owner(text).then(|| text.to_owned()).ok_or(expected)
}
