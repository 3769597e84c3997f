//! `portcullis console`: a way into the console without an identity provider.

use std::io::Write;

use anyhow::{Context, bail};
use portcullis_config::Variables;
use portcullis_model::ids::Ids;
use portcullis_operations::sessions::links;

use crate::operator::OfflineOperator;

/// Longest subject and role, in characters, as in checks.
const MAX_NAME: usize = 256;

/// The arguments of `portcullis console link`.
#[derive(Debug, clap::Args)]
pub struct LinkArguments {
    /// The tenant's id, or in `saas` mode its slug.
    #[arg(long)]
    tenant: String,
    /// The person, as decisions and audit records name it.
    #[arg(long = "as", value_name = "SUBJECT")]
    subject: String,
    /// The roles of the person [default: the first of MANAGER_ROLES].
    #[arg(long, value_name = "ROLE,…", value_delimiter = ',')]
    roles: Vec<String>,
}

/// Makes a link and prints it. The tenant must exist.
pub async fn link(variables: &Variables, arguments: &LinkArguments) -> anyhow::Result<()> {
    let roles = match &*arguments.roles {
        [] => variables.manager_roles()?.into_iter().take(1).collect(),
        roles => roles.to_vec(),
    };
    for name in roles.iter().chain([&arguments.subject]) {
        let length = name.chars().count();
        if length == 0 || length > MAX_NAME || name.contains(char::is_control) {
            bail!(
                "--as, --roles: expected 1 to {MAX_NAME} characters without control characters, not `{}`",
                name.escape_debug()
            );
        }
    }
    let address = variables.console_address()?;
    let operator = OfflineOperator::open(variables).await?;
    operator.must_serve(&arguments.tenant).context("--tenant")?;
    let tenant = operator.tenant(&arguments.tenant).await.context("--tenant")?;
    let OfflineOperator { store, origin, by, .. } = &operator;
    let person = (&*arguments.subject, roles);
    let secret = links::create(store, &tenant, person, (origin, by), &Ids::new()).await?;
    store.close().await;
    writeln!(std::io::stdout(), "{address}/console/-/link/{secret}")?;
    Ok(())
}
