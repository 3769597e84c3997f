//! Configuration: environment variables, read once at start (`docs/semantics.md`, section 9.2).
//!
//! The only module that reads the environment. A bad or missing value is one line that names it.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use http::header::AUTHORIZATION;
use http::{HeaderName, HeaderValue};
use portcullis_engine::operator::parse_network;
use reqwest::Certificate;
use url::Url;

use anyhow::Context;
use portcullis_auth::{Mode, OidcConfig};
use portcullis_egress::EgressConfig;
use portcullis_model::egress_rules::EgressRules;
use portcullis_model::provider::ClaimConfig;
use portcullis_resolvers::ResolverConfig;
use portcullis_storage::encryption::KeyRing;
use portcullis_storage::{OpenError, Store};
use portcullis_webhooks::WebhookConfig;

/// Everything that `serve` can be told.
#[derive(Debug)]
pub struct Config {
    pub listen: SocketAddr,
    pub database_url: String,
    pub mode: Mode,
    /// Encrypts secrets at rest.
    pub encryption_keys: KeyRing,
    /// Where requests of ours may go.
    pub egress: EgressConfig,
    /// Roles that make a token a manager's.
    pub manager_roles: Vec<String>,
    pub plan_cache_bytes: u64,
    /// How long checks go on while the store cannot be asked for changes.
    pub max_staleness: Duration,
    pub webhooks: WebhookConfig,
    pub resolvers: ResolverConfig,
}

/// Most calls of resolvers at once: each reserves address space, of which a process has 128 TiB.
const MAX_INSTANCES: u32 = 1_000;

/// Fewest characters of the admin key.
const MIN_ADMIN_KEY: usize = 32;

/// How log lines are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    Text,
    Json,
}

/// A value that is missing or cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{name}: expected {expected}{}", found.as_ref().map(|found| format!(", not `{found}`")).unwrap_or_default())]
pub struct ConfigError {
    name: &'static str,
    expected: String,
    /// Left out where the value may be a secret.
    found: Option<String>,
}

impl ConfigError {
    /// A `DATABASE_URL` that names no database that is supported.
    pub fn database_url(expected: String, found: String) -> Self {
        Self { name: "DATABASE_URL", expected, found: Some(found) }
    }
}

/// The variables: the environment, and a file whose entries it overrides.
#[derive(Debug)]
pub struct Variables(HashMap<String, String>);

impl Variables {
    /// The environment of the process, over the entries of `env_file`.
    pub fn load(env_file: Option<&Path>) -> Result<Self, ConfigError> {
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
    pub fn only(self, names: &[&str]) -> Self {
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

    fn boolean(&self, name: &'static str) -> Result<Option<bool>, ConfigError> {
        self.parsed(name, "`true` or `false`", |text| text.parse().ok())
    }

    fn duration(&self, name: &'static str, default: Duration) -> Result<Duration, ConfigError> {
        let duration = self.parsed(name, "a duration such as `30s`", parse_duration)?;
        Ok(duration.unwrap_or(default))
    }

    /// How to log, which is needed before anything else can be said.
    pub fn log_format(&self) -> Result<LogFormat, ConfigError> {
        let format = self.parsed("LOG_FORMAT", "`text` or `json`", |text| match text {
            "text" => Some(LogFormat::Text),
            "json" => Some(LogFormat::Json),
            _ => None,
        })?;
        Ok(format.unwrap_or(LogFormat::Text))
    }

    /// The filter of log lines, in the syntax of `tracing_subscriber`.
    pub fn log_filter(&self) -> Result<tracing_subscriber::EnvFilter, ConfigError> {
        let read = |text: &str| tracing_subscriber::EnvFilter::try_new(text).ok();
        let filter = self.parsed("RUST_LOG", "a filter such as `info,portcullis=debug`", read)?;
        Ok(filter.unwrap_or_else(|| tracing_subscriber::EnvFilter::new("info")))
    }

    /// The address to listen on.
    pub fn listen(&self) -> Result<SocketAddr, ConfigError> {
        let read = |text: &str| text.parse().ok();
        let listen = self.parsed("LISTEN_ADDR", "an address such as `127.0.0.1:8080`", read)?;
        Ok(listen.unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 8080))))
    }

    /// Whether `MODE` is `saas`.
    pub fn is_saas(&self) -> Result<bool, ConfigError> {
        let saas = self.parsed("MODE", "`saas` or `selfhost`", |text| match text {
            "saas" => Some(true),
            "selfhost" => Some(false),
            _ => None,
        })?;
        Ok(saas.unwrap_or(false))
    }

    /// The database.
    pub fn database_url(&self) -> String {
        self.get("DATABASE_URL").unwrap_or("sqlite://portcullis.db").to_owned()
    }

    /// Most bytes of plans in memory.
    pub fn plan_cache_bytes(&self) -> Result<u64, ConfigError> {
        let bytes = self.parsed("PLAN_CACHE_BYTES", "a size such as `256MiB`", parse_size)?;
        Ok(bytes.unwrap_or(256 << 20))
    }

    /// The service key with which `import` calls another Portcullis.
    pub fn service_api_key(&self) -> Result<&str, ConfigError> {
        self.required("SERVICE_API_KEY", "a service key with `policies:write`")
    }

    /// The header with which `resolver push` calls a running Portcullis.
    pub fn credential(&self) -> Result<(HeaderName, HeaderValue), ConfigError> {
        let expected = "a service key with `resolvers:write`; or in TOKEN, a manager's token";
        let (name, header, text) = match self.get("TOKEN") {
            Some(token) if self.get("SERVICE_API_KEY").is_none() => {
                ("TOKEN", AUTHORIZATION, format!("Bearer {token}"))
            }
            _ => {
                let key = self.required("SERVICE_API_KEY", expected)?;
                ("SERVICE_API_KEY", HeaderName::from_static("x-service-api-key"), key.to_owned())
            }
        };
        // Never with the secret in the message.
        let fault = |_| ConfigError {
            name,
            expected: "characters that a header can have".to_owned(),
            found: None,
        };
        let mut value = HeaderValue::try_from(text).map_err(fault)?;
        value.set_sensitive(true);
        Ok((header, value))
    }

    /// Where cargo keeps what it downloads.
    pub fn cargo_home(&self) -> Option<String> {
        let home = || self.get("HOME").map(|home| format!("{home}/.cargo"));
        self.get("CARGO_HOME").map(str::to_owned).or_else(home)
    }

    /// Where requests of ours may go.
    pub fn egress(&self) -> Result<EgressConfig, ConfigError> {
        egress(self)
    }

    /// The loopback address for `dev`.
    pub fn loopback_listen(&self) -> Result<SocketAddr, ConfigError> {
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
    pub fn read(variables: &Variables) -> Result<Self, ConfigError> {
        let manager_roles = variables.get("MANAGER_ROLES").unwrap_or("admin");
        Ok(Self {
            listen: variables.listen()?,
            database_url: variables.database_url(),
            mode: mode(variables)?,
            encryption_keys: encryption_keys(variables)?,
            egress: egress(variables)?,
            manager_roles: manager_roles.split(',').map(|role| role.trim().to_owned()).collect(),
            plan_cache_bytes: variables.plan_cache_bytes()?,
            max_staleness: variables.duration("MAX_STALENESS", Duration::from_secs(30))?,
            webhooks: webhooks(variables)?,
            resolvers: resolvers(variables)?,
        })
    }
}

/// Reads the mode and what it needs.
fn mode(variables: &Variables) -> Result<Mode, ConfigError> {
    if !variables.is_saas()? {
        return oidc(variables).map(Mode::Selfhost);
    }
    let expected = format!("at least {MIN_ADMIN_KEY} characters");
    let admin_key = variables.required("ADMIN_API_KEY", &expected)?;
    if admin_key.chars().count() < MIN_ADMIN_KEY {
        return Err(ConfigError { name: "ADMIN_API_KEY", expected, found: None });
    }
    Ok(Mode::Saas { admin_key: admin_key.to_owned() })
}

fn encryption_keys(variables: &Variables) -> Result<KeyRing, ConfigError> {
    let text = variables.required("ENCRYPTION_KEY", "32 bytes in base64")?;
    let fault = |expected| ConfigError { name: "ENCRYPTION_KEY", expected, found: None };
    KeyRing::parse(text).map_err(fault)
}

fn egress(variables: &Variables) -> Result<EgressConfig, ConfigError> {
    let allow_http = variables.boolean("EGRESS_ALLOW_HTTP")?.unwrap_or(false);
    let networks = "networks such as `10.0.0.0/8,192.168.1.7`, with host bits zero";
    let allow = variables.parsed("EGRESS_ALLOW_CIDRS", networks, |text| {
        text.split(',').map(|network| parse_network(network.trim())).collect()
    })?;
    let certificates = variables.parsed("EGRESS_CA_FILE", "a readable file in PEM", |path| {
        let certificates = Certificate::from_pem_bundle(&std::fs::read(path).ok()?).ok()?;
        (!certificates.is_empty()).then_some(certificates)
    })?;
    let rules = EgressRules { allow_http, allow: allow.unwrap_or_default() };
    Ok(EgressConfig { rules, certificates: certificates.unwrap_or_default() })
}

fn webhooks(variables: &Variables) -> Result<WebhookConfig, ConfigError> {
    let default = WebhookConfig::default();
    let waits = "durations such as `10s,1m`";
    let backoff = variables.parsed("WEBHOOK_BACKOFF", waits, |text| {
        text.split(',').map(|wait| parse_duration(wait.trim())).collect()
    })?;
    let failures = variables.parsed("WEBHOOK_MAX_FAILURES", "a number from 1 on", |text| {
        text.parse().ok().filter(|failures| *failures > 0)
    })?;
    let positive = |name, default| {
        let read = |text: &str| parse_duration(text).filter(|duration| !duration.is_zero());
        let duration = variables.parsed(name, "a duration such as `10s`", read)?;
        Ok(duration.unwrap_or(default))
    };
    Ok(WebhookConfig {
        backoff: backoff.unwrap_or(default.backoff),
        max_failures: failures.unwrap_or(default.max_failures),
        timeout: positive("WEBHOOK_TIMEOUT", default.timeout)?,
        retention: positive("WEBHOOK_RETENTION", default.retention)?,
    })
}

fn resolvers(variables: &Variables) -> Result<ResolverConfig, ConfigError> {
    let default = ResolverConfig::default();
    let number = format!("a number from 1 to {MAX_INSTANCES}");
    let instances = variables.parsed("RESOLVER_INSTANCES", &number, |text| {
        text.parse().ok().filter(|instances| (1..=MAX_INSTANCES).contains(instances))
    })?;
    let cache_bytes =
        variables.parsed("RESOLVER_CACHE_BYTES", "a size such as `64MiB`", parse_size)?;
    let directory = variables.parsed("RESOLVERS_DIR", "a directory that can be read", |path| {
        std::fs::read_dir(path).is_ok().then(|| PathBuf::from(path))
    })?;
    let code = variables.get("RESOLVER_CODE_DIR").map(PathBuf::from);
    Ok(ResolverConfig {
        instances: instances.unwrap_or(default.instances),
        cache_bytes: cache_bytes.unwrap_or(default.cache_bytes),
        directory,
        code: code.or_else(|| code_directory(&variables.database_url())),
    })
}

/// Where compiled code is kept unless something else is said: beside the file of the database, if it is one.
fn code_directory(database_url: &str) -> Option<PathBuf> {
    let file = database_url.strip_prefix("sqlite:")?;
    let file = file.strip_prefix("//").unwrap_or(file);
    let file = file.split('?').next().filter(|file| !file.is_empty() && *file != ":memory:")?;
    Some(Path::new(file).with_file_name("portcullis-code"))
}

/// Reads the identity provider of `selfhost` mode; `None` when bearer tokens are off.
fn oidc(variables: &Variables) -> Result<Option<OidcConfig>, ConfigError> {
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
    let text = |name, default| variables.get(name).map_or(default, str::to_owned);
    let default = ClaimConfig::default();
    Ok(Some(OidcConfig {
        issuer: issuer.to_owned(),
        jwks_uri: variables.parsed("JWKS_URI", "an http or https URL", http_url)?,
        audience: variables.get("OIDC_AUDIENCE").map(str::to_owned),
        claims: ClaimConfig {
            roles_claim: text("ROLES_CLAIM", default.roles_claim),
            domain_claim: text("DOMAIN_CLAIM", default.domain_claim),
            admin_domain_claim: text("ADMIN_DOMAIN_CLAIM", default.admin_domain_claim),
        },
    }))
}

fn http_url(text: &str) -> Option<Url> {
    Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https"))
}

/// A size: a number and `KiB`, `MiB` or `GiB` (`docs/semantics.md`, section 9.3).
fn parse_size(text: &str) -> Option<u64> {
    let units = [("KiB", 10), ("MiB", 20), ("GiB", 30)];
    let (number, shift) =
        units.iter().find_map(|(unit, shift)| Some((text.strip_suffix(unit)?, *shift)))?;
    number.parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// A duration: a number and `ms`, `s`, `m`, `h` or `d`.
fn parse_duration(text: &str) -> Option<Duration> {
    let units = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];
    units.iter().find_map(|(unit, millis)| {
        let number: u64 = text.strip_suffix(unit)?.parse().ok()?;
        number.checked_mul(*millis).map(Duration::from_millis)
    })
}

/// Opens the database, or says in one sentence why it cannot.
pub async fn open_database(url: &str) -> anyhow::Result<Store> {
    let shown = without_password(url);
    match Store::open(url).await {
        Err(OpenError::Url(expected)) => Err(ConfigError::database_url(expected, shown).into()),
        opened => opened.with_context(|| format!("DATABASE_URL `{shown}`")),
    }
}

/// `url` as it may be shown.
pub fn without_password(url: &str) -> String {
    match url::Url::parse(url) {
        Ok(mut parsed) if parsed.password().is_some() => {
            let _ = parsed.set_password(Some("***"));
            parsed.to_string()
        }
        _ => url.to_owned(),
    }
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
    fn a_key_or_a_token_is_a_credential() {
        let credential = |entries: &[(&str, &str)]| {
            variables(entries).credential().map(|(name, value)| {
                assert!(value.is_sensitive());
                (name.to_string(), value.to_str().expect("text").to_owned())
            })
        };
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let (key, token) = (("SERVICE_API_KEY", "pck_1"), ("TOKEN", "ey.J"));
        assert_eq!(credential(&[key]).ok(), Some(pair("x-service-api-key", "pck_1")));
        assert_eq!(credential(&[token]).ok(), Some(pair("authorization", "Bearer ey.J")));
        assert_eq!(credential(&[token, key]).ok(), Some(pair("x-service-api-key", "pck_1")));
        for entries in [&[][..], &[("TOKEN", "line\nbreak")]] {
            let error = credential(entries).expect_err("none").to_string();
            assert!(!error.contains("break"), "{error}");
        }
    }

    const KEY: (&str, &str) = ("ENCRYPTION_KEY", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=");
    const ISSUER: (&str, &str) = ("AUTH_SERVER_URL", "https://id.example");

    #[test]
    fn the_defaults_need_an_issuer_and_a_key() {
        let config = Config::read(&variables(&[ISSUER, KEY])).expect("valid");
        let Mode::Selfhost(Some(oidc)) = config.mode else { panic!("selfhost is the default") };
        assert_eq!(config.listen.to_string(), "127.0.0.1:8080");
        assert_eq!(config.plan_cache_bytes, 268_435_456);
        assert_eq!(config.max_staleness, Duration::from_secs(30));
        assert_eq!(config.manager_roles, ["admin"]);
        assert_eq!((config.resolvers.instances, config.resolvers.cache_bytes), (64, 67_108_864));
        assert_eq!(config.resolvers.directory, None);
        assert_eq!(oidc.claims, ClaimConfig::default());
    }

    #[test]
    fn a_bad_value_is_named_in_one_line() {
        refused(&[KEY], "AUTH_SERVER_URL: expected the issuer");
        refused(&[KEY, ("AUTH_SERVER_URL", "")], "it is not set");
        refused(&[KEY, ("AUTH_SERVER_URL", "ftp://x")], "AUTH_SERVER_URL: expected an http");
        refused(&[ISSUER], "ENCRYPTION_KEY: expected 32 bytes in base64, but it is not set");
        refused(&[ISSUER, ("ENCRYPTION_KEY", "AAAA")], "ENCRYPTION_KEY: expected");
        for (name, value, expected) in [
            ("MODE", "cloud", "MODE: expected `saas` or `selfhost`, not `cloud`"),
            ("LISTEN_ADDR", "8080", "LISTEN_ADDR: expected an address"),
            ("PLAN_CACHE_BYTES", "256MB", "PLAN_CACHE_BYTES: expected a size"),
            ("OIDC_ENABLED", "yes", "OIDC_ENABLED: expected `true` or `false`"),
            ("JWKS_URI", "keys.json", "JWKS_URI: expected an http"),
            ("MAX_STALENESS", "30", "MAX_STALENESS: expected a duration"),
            ("EGRESS_ALLOW_CIDRS", "10.0.0.1/8", "EGRESS_ALLOW_CIDRS: expected networks"),
            ("EGRESS_ALLOW_HTTP", "1", "EGRESS_ALLOW_HTTP: expected `true` or `false`"),
            ("EGRESS_CA_FILE", "/nowhere.pem", "EGRESS_CA_FILE: expected a readable file in PEM"),
            ("WEBHOOK_BACKOFF", "10s,,1m", "WEBHOOK_BACKOFF: expected durations"),
            ("WEBHOOK_MAX_FAILURES", "0", "WEBHOOK_MAX_FAILURES: expected a number"),
            ("WEBHOOK_TIMEOUT", "0s", "WEBHOOK_TIMEOUT: expected a duration"),
            ("WEBHOOK_RETENTION", "30", "WEBHOOK_RETENTION: expected a duration"),
            ("RESOLVER_INSTANCES", "0", "RESOLVER_INSTANCES: expected a number from 1 to 1000"),
            ("RESOLVER_CACHE_BYTES", "64", "RESOLVER_CACHE_BYTES: expected a size"),
            ("RESOLVERS_DIR", "/nowhere", "RESOLVERS_DIR: expected a directory that can be read"),
        ] {
            refused(&[ISSUER, KEY, (name, value)], expected);
        }
        let saas = ("MODE", "saas");
        refused(&[KEY, saas], "ADMIN_API_KEY: expected at least 32 characters, but it is not set");
        refused(&[KEY, saas, ("ADMIN_API_KEY", "short")], "ADMIN_API_KEY: expected at least 32");
    }

    #[test]
    fn secrets_are_never_shown() {
        let error = Config::read(&variables(&[ISSUER, ("ENCRYPTION_KEY", "c2VjcmV0")]));
        assert!(!error.expect_err("too short").to_string().contains("c2VjcmV0"));
        let key = "a-secret-of-the-operator-that-is-long";
        let config = Config::read(&variables(&[KEY, ("MODE", "saas"), ("ADMIN_API_KEY", key)]));
        assert!(!format!("{:?}", config.expect("valid").mode).contains("secret"));
    }

    #[test]
    fn without_oidc_no_issuer_is_needed() {
        let config = Config::read(&variables(&[KEY, ("OIDC_ENABLED", "false")])).expect("valid");
        assert!(matches!(config.mode, Mode::Selfhost(None)));
    }

    #[test]
    fn compiled_code_is_beside_the_file_of_the_database() {
        for (url, expected) in [
            ("sqlite://portcullis.db", Some("portcullis-code")),
            (
                "sqlite:///var/lib/portcullis/data.db?mode=rwc",
                Some("/var/lib/portcullis/portcullis-code"),
            ),
            ("sqlite:data/portcullis.db", Some("data/portcullis-code")),
            ("sqlite::memory:", None),
            ("postgres://db.example/portcullis", None),
        ] {
            let entries = [KEY, ISSUER, ("DATABASE_URL", url)];
            let config = Config::read(&variables(&entries)).expect("valid");
            assert_eq!(config.resolvers.code.as_deref(), expected.map(Path::new), "{url}");
        }
        let entries = [KEY, ISSUER, ("RESOLVER_CODE_DIR", "/var/cache/portcullis")];
        let config = Config::read(&variables(&entries)).expect("valid");
        assert_eq!(config.resolvers.code, Some(PathBuf::from("/var/cache/portcullis")));
    }

    #[test]
    fn durations_have_a_unit() {
        for (text, expected) in [
            ("250ms", Some(250)),
            ("10s", Some(10_000)),
            ("2m", Some(120_000)),
            ("1h", Some(3_600_000)),
            ("30d", Some(2_592_000_000)),
            ("1.5s", None),
            ("-1s", None),
            ("10", None),
            ("", None),
        ] {
            assert_eq!(parse_duration(text).map(|read| read.as_millis()), expected, "{text}");
        }
    }
}
