//! Configuration: environment variables, read once at start (semantics.md section 9).
//!
//! The only module that reads the environment. A bad or missing value is one line that names it.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::Path;

use url::Url;

/// Everything that `serve` can be told.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) listen: SocketAddr,
    pub(crate) database_url: String,
    /// `None` when `OIDC_ENABLED` is false: bearer tokens are refused.
    pub(crate) oidc: Option<OidcConfig>,
    /// Roles that make a token a manager's.
    pub(crate) manager_roles: Vec<String>,
    pub(crate) plan_cache_bytes: u64,
}

/// The one identity provider of `selfhost` mode.
#[derive(Clone, Debug)]
pub(crate) struct OidcConfig {
    /// What every token's `iss` must equal.
    pub(crate) issuer: String,
    /// `None`: from the issuer's discovery document.
    pub(crate) jwks_uri: Option<Url>,
    /// What `aud` must hold, when set.
    pub(crate) audience: Option<String>,
    pub(crate) roles_claim: String,
    pub(crate) domain_claim: String,
    pub(crate) admin_domain_claim: String,
}

/// How log lines are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogFormat {
    Text,
    Json,
}

/// A value that is missing or cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{name}: expected {expected}{}", found.as_ref().map(|found| format!(", not `{found}`")).unwrap_or_default())]
pub(crate) struct ConfigError {
    name: &'static str,
    expected: String,
    /// Left out where the value may be a secret.
    found: Option<String>,
}

/// The variables: the environment, and a file whose entries it overrides.
#[derive(Debug)]
pub(crate) struct Variables(HashMap<String, String>);

impl Variables {
    /// The environment of the process, over the entries of `env_file`.
    pub(crate) fn load(env_file: Option<&Path>) -> Result<Self, ConfigError> {
        let mut variables = HashMap::new();
        if let Some(path) = env_file {
            let fault = |error: dotenvy::Error| ConfigError {
                name: "--env-file",
                expected: format!("a readable file of NAME=value lines, but {error}"),
                found: Some(path.display().to_string()),
            };
            for entry in dotenvy::from_path_iter(path).map_err(fault)? {
                let (name, value) = entry.map_err(fault)?;
                variables.insert(name, value);
            }
        }
        variables.extend(std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        }));
        Ok(Self(variables))
    }

    /// For `dev`, which takes only the variables that it names.
    pub(crate) fn only(self, names: &[&str]) -> Self {
        let kept = self.0.into_iter().filter(|(name, _)| names.contains(&&**name));
        Self(kept.collect())
    }

    /// The value of `name`; an empty one is an absent one.
    fn get(&self, name: &'static str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The value of `name` as `read` understands it.
    fn parsed<T>(
        &self,
        name: &'static str,
        expected: &str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, ConfigError> {
        let Some(text) = self.get(name) else { return Ok(None) };
        let fault =
            || ConfigError { name, expected: expected.to_owned(), found: Some(text.to_owned()) };
        read(text).map(Some).ok_or_else(fault)
    }

    fn required(&self, name: &'static str, expected: &str) -> Result<&str, ConfigError> {
        self.get(name).ok_or_else(|| ConfigError {
            name,
            expected: format!("{expected}, but it is not set"),
            found: None,
        })
    }

    /// How to log, which is needed before anything else can be said.
    pub(crate) fn log_format(&self) -> Result<LogFormat, ConfigError> {
        let format = self.parsed("LOG_FORMAT", "`text` or `json`", |text| match text {
            "text" => Some(LogFormat::Text),
            "json" => Some(LogFormat::Json),
            _ => None,
        })?;
        Ok(format.unwrap_or(LogFormat::Text))
    }

    /// The filter of log lines, in the syntax of `tracing_subscriber`.
    pub(crate) fn log_filter(&self) -> Result<tracing_subscriber::EnvFilter, ConfigError> {
        let read = |text: &str| tracing_subscriber::EnvFilter::try_new(text).ok();
        let filter = self.parsed("RUST_LOG", "a filter such as `info,portcullis=debug`", read)?;
        Ok(filter.unwrap_or_else(|| tracing_subscriber::EnvFilter::new("info")))
    }

    /// The address to listen on.
    pub(crate) fn listen(&self) -> Result<SocketAddr, ConfigError> {
        let read = |text: &str| text.parse().ok();
        let listen = self.parsed("LISTEN_ADDR", "an address such as `127.0.0.1:8080`", read)?;
        Ok(listen.unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 8080))))
    }

    /// The database.
    pub(crate) fn database_url(&self) -> String {
        self.get("DATABASE_URL").unwrap_or("sqlite://portcullis.db").to_owned()
    }

    /// The loopback address for `dev`.
    pub(crate) fn loopback_listen(&self) -> Result<SocketAddr, ConfigError> {
        let listen = self.listen()?;
        if listen.ip().is_loopback() {
            return Ok(listen);
        }
        Err(ConfigError {
            name: "LISTEN_ADDR",
            expected: "a loopback address: `dev` is not for production".to_owned(),
            found: Some(listen.to_string()),
        })
    }
}

impl Config {
    /// Reads everything that `serve` needs.
    pub(crate) fn read(variables: &Variables) -> Result<Self, ConfigError> {
        variables.parsed("MODE", "`selfhost`, the only mode of this version", |text| {
            (text == "selfhost").then_some(())
        })?;
        let manager_roles = variables.get("MANAGER_ROLES").unwrap_or("admin");
        let bytes = variables.parsed("PLAN_CACHE_BYTES", "a size such as `256MiB`", parse_size)?;
        Ok(Self {
            listen: variables.listen()?,
            database_url: variables.database_url(),
            oidc: OidcConfig::read(variables)?,
            manager_roles: manager_roles.split(',').map(|role| role.trim().to_owned()).collect(),
            plan_cache_bytes: bytes.unwrap_or(256 << 20),
        })
    }
}

impl OidcConfig {
    fn read(variables: &Variables) -> Result<Option<Self>, ConfigError> {
        let enabled =
            variables.parsed("OIDC_ENABLED", "`true` or `false`", |text| text.parse().ok())?;
        if enabled == Some(false) {
            return Ok(None);
        }
        let issuer = "the issuer of your tokens (or OIDC_ENABLED=false)";
        let issuer = variables.required("AUTH_SERVER_URL", issuer)?;
        http_url(issuer).ok_or_else(|| ConfigError {
            name: "AUTH_SERVER_URL",
            expected: "an http or https URL".to_owned(),
            found: Some(issuer.to_owned()),
        })?;
        let text = |name, default: &str| variables.get(name).unwrap_or(default).to_owned();
        Ok(Some(Self {
            issuer: issuer.to_owned(),
            jwks_uri: variables.parsed("JWKS_URI", "an http or https URL", http_url)?,
            audience: variables.get("OIDC_AUDIENCE").map(str::to_owned),
            roles_claim: text("ROLES_CLAIM", "realm_access.roles"),
            domain_claim: text("DOMAIN_CLAIM", "dom"),
            admin_domain_claim: text("ADMIN_DOMAIN_CLAIM", "adm"),
        }))
    }
}

fn http_url(text: &str) -> Option<Url> {
    Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https"))
}

/// A size: a number and `KiB`, `MiB` or `GiB` (semantics.md section 10, "Running").
fn parse_size(text: &str) -> Option<u64> {
    let units = [("KiB", 10), ("MiB", 20), ("GiB", 30)];
    let (number, shift) =
        units.iter().find_map(|(unit, shift)| Some((text.strip_suffix(unit)?, *shift)))?;
    number.parse::<u64>().ok()?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(entries: &[(&str, &str)]) -> Variables {
        Variables(
            entries.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect(),
        )
    }

    #[track_caller]
    fn refused(entries: &[(&str, &str)], expected: &str) {
        let error = Config::read(&variables(entries)).expect_err("must be refused").to_string();
        assert!(error.contains(expected), "{error}");
        assert!(!error.contains('\n'), "one line: {error}");
    }

    #[test]
    fn the_defaults_need_an_issuer_alone() {
        let config = Config::read(&variables(&[("AUTH_SERVER_URL", "https://id.example")]));
        let config = config.expect("valid");
        let oidc = config.oidc.expect("enabled");
        assert_eq!(config.listen.to_string(), "127.0.0.1:8080");
        assert_eq!(config.plan_cache_bytes, 268_435_456);
        assert_eq!(config.manager_roles, ["admin"]);
        assert_eq!((&*oidc.roles_claim, &*oidc.domain_claim), ("realm_access.roles", "dom"));
    }

    #[test]
    fn a_bad_value_is_named_in_one_line() {
        refused(&[], "AUTH_SERVER_URL: expected the issuer");
        refused(&[("AUTH_SERVER_URL", "")], "it is not set");
        refused(&[("AUTH_SERVER_URL", "ftp://x")], "AUTH_SERVER_URL: expected an http");
        let issuer = ("AUTH_SERVER_URL", "https://id.example");
        refused(&[issuer, ("MODE", "cloud")], "MODE: expected `selfhost`");
        refused(&[issuer, ("LISTEN_ADDR", "8080")], "LISTEN_ADDR: expected an address");
        refused(&[issuer, ("PLAN_CACHE_BYTES", "256MB")], "PLAN_CACHE_BYTES: expected a size");
        refused(&[issuer, ("OIDC_ENABLED", "yes")], "OIDC_ENABLED: expected `true` or `false`");
        refused(&[issuer, ("JWKS_URI", "keys.json")], "JWKS_URI: expected an http");
    }

    #[test]
    fn without_oidc_no_issuer_is_needed() {
        let config = Config::read(&variables(&[("OIDC_ENABLED", "false")])).expect("valid");
        assert!(config.oidc.is_none());
    }
}
