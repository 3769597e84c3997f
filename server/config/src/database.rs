//! Opens the database that the configuration names.

use anyhow::Context;
use portcullis_storage::{OpenError, Store};
use url::Url;

use crate::error::ConfigError;

/// Opens the database at `url` and migrates it. The error names the setting and the URL without its password.
pub async fn open_database(url: &str) -> anyhow::Result<Store> {
    let shown = without_password(url);
    match Store::open(url).await {
        Err(OpenError::Url(expected)) => Err(ConfigError::database_url(expected, shown).into()),
        opened => opened.with_context(|| format!("DATABASE_URL `{shown}`")),
    }
}

/// Refuses a role of PostgreSQL that bypasses row-level security: then one forgotten condition in a statement shows a
/// tenant the rows of others.
pub async fn refuse_bypass(store: &Store) -> anyhow::Result<()> {
    if !store.bypasses_row_security().await? {
        return Ok(());
    }
    let expected = "a role that is no superuser, has no BYPASSRLS and owns the tables with forced row-level security; \
                    or POSTGRES_ALLOW_BYPASS_RLS=true";
    Err(ConfigError { name: "DATABASE_URL", expected: expected.to_owned(), found: None }.into())
}

/// Returns `url` without its password, for messages.
pub fn without_password(url: &str) -> String {
    match Url::parse(url) {
        Ok(mut parsed) if parsed.password().is_some() => {
            let _ = parsed.set_password(Some("***"));
            parsed.to_string()
        }
        _ => url.to_owned(),
    }
}
