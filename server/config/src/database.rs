//! Opens the database that the configuration names.

use std::path::Path;

use anyhow::Context;
use percent_encoding::percent_decode_str;
use portcullis_storage::{OpenError, Store, is_secret_parameter, must_follow};

use crate::error::ConfigError;
use crate::variables::Variables;

/// Opens the database at `url` and migrates it. Creates a SQLite file that is missing. The error names the setting and
/// the URL without its password.
pub async fn open_database(url: &str) -> anyhow::Result<Store> {
    named(url, Store::open(url).await)
}

/// Opens the database at `url` as [`open_database`] does, but refuses one with the schema of an older version.
pub async fn open_or_create_database(url: &str) -> anyhow::Result<Store> {
    named(url, Store::open_or_create(url).await)
}

/// Opens the database at `url` as [`open_database`] does, but creates and migrates nothing.
pub async fn open_existing_database(url: &str) -> anyhow::Result<Store> {
    named(url, Store::open_existing(url).await)
}

/// Returns the store with the servers at `url`, which plans may be read from. Nothing is connected yet: a server that is
/// down does not prevent the start.
pub fn with_standbys(store: Store, url: &str) -> Result<Store, ConfigError> {
    store.with_standbys(url).map_err(|error| not_followed(error, url))
}

impl Variables {
    /// Returns the URL of the servers that plans may be read from, beside the database.
    pub(crate) fn database_read_url(&self) -> Result<Option<String>, ConfigError> {
        let url = self.secret("DATABASE_READ_URL")?;
        if let Some(url) = &url {
            let follows = must_follow(&self.database_url()?, url);
            follows.map_err(|error| not_followed(error, url))?;
        }
        Ok(url)
    }
}

fn not_followed(error: OpenError, url: &str) -> ConfigError {
    let expected = match error {
        OpenError::Url(expected) => expected,
        other => other.to_string(),
    };
    ConfigError::new("DATABASE_READ_URL", expected).not(without_password(url))
}

/// Adds the name of the setting and the URL to an error.
fn named<T>(url: &str, opened: Result<T, OpenError>) -> anyhow::Result<T> {
    let shown = without_password(url);
    match opened {
        Err(OpenError::Url(expected)) => Err(ConfigError::database_url(expected, shown).into()),
        opened => opened.with_context(|| format!("DATABASE_URL `{shown}`")),
    }
}

/// Opens the database at `url` as [`open_database`] does, for the service. Unless `allow_bypass`, it refuses a role that
/// bypasses row-level security, before the tables belong to it.
pub async fn open_served_database(url: &str, allow_bypass: bool) -> anyhow::Result<Store> {
    if allow_bypass {
        return open_database(url).await;
    }
    refuse_bypassing_role(url).await?;
    let store = open_database(url).await?;
    refuse_bypass(&store).await?;
    Ok(store)
}

/// Refuses a role of PostgreSQL that bypasses the row-level security of every table.
pub async fn refuse_bypassing_role(url: &str) -> anyhow::Result<()> {
    refuse_if(named(url, Store::role_bypasses_row_security(url).await)?)
}

/// Refuses a role of PostgreSQL that bypasses the row-level security of some table: then one forgotten condition in a
/// statement shows a tenant the rows of others.
pub async fn refuse_bypass(store: &Store) -> anyhow::Result<()> {
    refuse_if(store.bypasses_row_security().await?)
}

fn refuse_if(bypasses: bool) -> anyhow::Result<()> {
    if !bypasses {
        return Ok(());
    }
    let expected = "a role that is not a superuser, has no BYPASSRLS and owns the tables with forced row-level security; \
                    or POSTGRES_ALLOW_BYPASS_RLS=true";
    Err(ConfigError::new("DATABASE_URL", expected).into())
}

/// Returns the file of the database at `url`, if it is a file.
pub fn database_file(url: &str) -> Option<&Path> {
    let file = url.strip_prefix("sqlite:")?;
    let file = file.strip_prefix("//").unwrap_or(file);
    let (file, query) = file.split_once('?').unwrap_or((file, ""));
    let is_in_memory = file.is_empty() || file == ":memory:" || query.contains("mode=memory");
    (!is_in_memory).then(|| Path::new(file))
}

/// Returns `url` without its passwords, for messages and the log. It need not be a valid URL: of one that does not say where a
/// password ends, only the scheme is shown.
pub fn without_password(url: &str) -> String {
    if url.starts_with("sqlite:") {
        return url.to_owned();
    }
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let scheme = if scheme.is_empty() { String::new() } else { format!("{scheme}://") };
    let (authority, place) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    // An `@` behind the host may end a password that has one of these characters.
    if place.contains('@') || (scheme.is_empty() && rest.contains('@')) {
        return format!("{scheme}***");
    }
    let authority = match authority.rsplit_once('@') {
        Some((credentials, host)) => match credentials.split_once(':') {
            Some((user, _)) => format!("{user}:***@{host}"),
            None => authority.to_owned(),
        },
        None => authority.to_owned(),
    };
    let Some((path, query)) = place.split_once('?') else {
        return format!("{scheme}{authority}{place}");
    };
    format!("{scheme}{authority}{path}?{}", without_secret_values(query))
}

/// Returns a query, such as `sslmode=require`, up to its first password: all behind it may be the rest of it. A parameter without
/// a name may be the rest of another one.
fn without_secret_values(query: &str) -> String {
    let mut shown = Vec::new();
    for parameter in query.split('&') {
        match parameter.split_once('=') {
            Some((name, _))
                if is_secret_parameter(&percent_decode_str(name).decode_utf8_lossy()) =>
            {
                shown.push(format!("{name}=***"));
                break;
            }
            Some(_) => shown.push(parameter.to_owned()),
            None => shown.push("***".to_owned()),
        }
    }
    shown.join("&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_a_url_is_found() {
        for (url, expected) in [
            ("sqlite://a.db", Some("a.db")),
            ("sqlite:a.db", Some("a.db")),
            ("sqlite:///var/a.db?mode=rwc", Some("/var/a.db")),
            ("sqlite://a.db?mode=memory", None),
            ("sqlite::memory:", None),
            ("sqlite://", None),
            ("postgres://db/acme", None),
        ] {
            assert_eq!(database_file(url), expected.map(Path::new), "{url}");
        }
    }

    #[test]
    fn a_url_is_shown_without_its_password() {
        for (url, expected) in [
            ("sqlite://portcullis.db", "sqlite://portcullis.db"),
            ("sqlite:///var/lib/p.db?mode=rwc", "sqlite:///var/lib/p.db?mode=rwc"),
            ("sqlite::memory:", "sqlite::memory:"),
            ("postgres://ann@db/acme", "postgres://ann@db/acme"),
            ("postgres://ann:hunter2@db:5432/acme", "postgres://ann:***@db:5432/acme"),
            ("postgres://ann:hun@ter@db/acme", "postgres://ann:***@db/acme"),
            ("postgres://ann:hun@ter/#2@db/acme", "postgres://***"),
            ("postgres://ann:hunter?2@db/acme", "postgres://***"),
            ("postgres://ann:1/2@db/acme", "postgres://***"),
            ("postgres://db/acme?user=ann&password=hun@ter", "postgres://***"),
            ("postgres://db/acme?password=hun&ter", "postgres://db/acme?password=***"),
            ("postgres://db/acme?password=hun&ter=2", "postgres://db/acme?password=***"),
            ("postgres://db/acme?p%61ssword=hunter", "postgres://db/acme?p%61ssword=***"),
            ("ann:hunter@db", "***"),
            ("postgres://:hunter2@db", "postgres://:***@db"),
            (
                "postgres://db/acme?user=ann&password=hunter2&sslmode=require",
                "postgres://db/acme?user=ann&password=***",
            ),
            ("portcullis.db", "portcullis.db"),
        ] {
            assert_eq!(without_password(url), expected);
        }
    }
}
