//! Opens the database that the configuration names.

use anyhow::Context;
use portcullis_storage::{OpenError, Store};

use crate::error::ConfigError;

/// Opens the database at `url` and migrates it. Creates a SQLite file that is missing. The error names the setting and
/// the URL without its password.
pub async fn open_database(url: &str) -> anyhow::Result<Store> {
    named(url, Store::open(url).await)
}

/// Opens the database at `url` as [`open_database`] does, but creates no SQLite file.
pub async fn open_existing_database(url: &str) -> anyhow::Result<Store> {
    named(url, Store::open_existing(url).await)
}

/// Returns the store with the servers at `url`, which plans may be read from. Nothing is connected yet: a server that is
/// down does not prevent the start.
pub fn with_standbys(store: Store, url: &str) -> Result<Store, ConfigError> {
    store.with_standbys(url).map_err(|error| {
        let expected = match error {
            OpenError::Url(expected) => expected,
            other => other.to_string(),
        };
        ConfigError::new("DATABASE_READ_URL", expected).not(without_password(url))
    })
}

/// Adds the name of the setting and the URL to an error.
fn named(url: &str, opened: Result<Store, OpenError>) -> anyhow::Result<Store> {
    let shown = without_password(url);
    match opened {
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
    let expected = "a role that is not a superuser, has no BYPASSRLS and owns the tables with forced row-level security; \
                    or POSTGRES_ALLOW_BYPASS_RLS=true";
    Err(ConfigError::new("DATABASE_URL", expected).into())
}

/// Returns `url` without its passwords, for messages and the log. It need not be a valid URL: everything between the user
/// and the last `@` counts as the password.
pub fn without_password(url: &str) -> String {
    let (url, query) = match url.split_once('?') {
        Some((url, query)) if !query.contains('@') => (url, Some(query)),
        _ => (url, None),
    };
    let mut shown = without_user_password(url);
    if let Some(query) = query {
        let parameters = query.split('&').map(without_secret_value).collect::<Vec<_>>();
        shown.push('?');
        shown.push_str(&parameters.join("&"));
    }
    shown
}

fn without_user_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        let place = url.rsplit_once('@').map(|(_, place)| format!("***@{place}"));
        return place.unwrap_or_else(|| url.to_owned());
    };
    let Some((credentials, place)) = rest.rsplit_once('@') else { return url.to_owned() };
    match credentials.split_once(':') {
        Some((user, _)) => format!("{scheme}://{user}:***@{place}"),
        None => url.to_owned(),
    }
}

/// Returns a parameter of a query, such as `sslmode=require`, without its value if that is a password.
fn without_secret_value(parameter: &str) -> String {
    match parameter.split_once('=') {
        Some((name, _)) if name.to_lowercase().contains("pass") => format!("{name}=***"),
        _ => parameter.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_shown_without_its_password() {
        for (url, expected) in [
            ("sqlite://portcullis.db", "sqlite://portcullis.db"),
            ("sqlite:///var/lib/p.db?mode=rwc", "sqlite:///var/lib/p.db?mode=rwc"),
            ("sqlite::memory:", "sqlite::memory:"),
            ("postgres://ann@db/acme", "postgres://ann@db/acme"),
            ("postgres://ann:hunter2@db:5432/acme", "postgres://ann:***@db:5432/acme"),
            ("postgres://ann:hun@ter/#2@db/acme", "postgres://ann:***@db/acme"),
            ("postgres://ann:hunter?2@db/acme", "postgres://ann:***@db/acme"),
            ("postgres://:hunter2@db", "postgres://:***@db"),
            (
                "postgres://db/acme?user=ann&password=hunter2&sslmode=require",
                "postgres://db/acme?user=ann&password=***&sslmode=require",
            ),
            ("portcullis.db", "portcullis.db"),
        ] {
            assert_eq!(without_password(url), expected);
        }
    }
}
