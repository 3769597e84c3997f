//! The settings of the service.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use portcullis_auth::{Mode, OidcConfig};
use portcullis_egress::EgressConfig;
use portcullis_limits::LimitConfig;
use portcullis_model::provider::ClaimConfig;
use portcullis_resolvers::ResolverConfig;
use portcullis_storage::StoreLimits;
use portcullis_storage::encryption::KeyRing;
use portcullis_webhooks::WebhookConfig;
use url::Url;

use crate::compiler::own_compiler;
use crate::edge::EdgeConfig;
use crate::error::ConfigError;
use crate::units::{parse_duration, parse_size};
use crate::variables::Variables;

/// The settings of `portcullis serve`.
#[derive(Debug)]
pub struct Config {
    pub listen: SocketAddr,
    pub database_url: String,
    pub mode: Mode,
    /// The keys that encrypt secrets at rest.
    pub encryption_keys: KeyRing,
    /// The addresses that requests of tenants may reach.
    pub egress: EgressConfig,
    /// The roles that make the holder of a token a manager.
    pub manager_roles: Vec<String>,
    pub plan_cache_bytes: u64,
    /// Longest time for which checks continue while changes cannot be read from the database.
    pub max_staleness: Duration,
    pub webhooks: WebhookConfig,
    pub resolvers: ResolverConfig,
    /// The limits of what each tenant stores.
    pub store_limits: StoreLimits,
    pub edge: EdgeConfig,
    /// The limits of callers.
    pub limits: LimitConfig,
}

/// Most calls of resolvers at a time. Each reserves address space, and a process has 128 TiB.
const MAX_INSTANCES: u32 = 1_000;

/// Fewest characters of the admin key.
const MIN_ADMIN_KEY: usize = 32;

impl Config {
    /// Reads every setting of `portcullis serve`.
    pub fn read(variables: &Variables) -> Result<Self, ConfigError> {
        let manager_roles = variables.get("MANAGER_ROLES").unwrap_or("admin");
        Ok(Self {
            listen: variables.listen()?,
            database_url: variables.database_url(),
            mode: mode(variables)?,
            encryption_keys: encryption_keys(variables)?,
            egress: variables.egress()?,
            manager_roles: manager_roles.split(',').map(|role| role.trim().to_owned()).collect(),
            plan_cache_bytes: variables.plan_cache_bytes()?,
            max_staleness: variables.duration("MAX_STALENESS", Duration::from_secs(30))?,
            webhooks: webhooks(variables)?,
            resolvers: resolvers(variables)?,
            store_limits: variables.store_limits()?,
            edge: variables.edge()?,
            limits: variables.limits()?,
        })
    }
}

/// Reads the mode and its settings.
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

fn webhooks(variables: &Variables) -> Result<WebhookConfig, ConfigError> {
    let default = WebhookConfig::default();
    let waits = "durations such as `10s,1m`";
    let backoff = variables.parsed("WEBHOOK_BACKOFF", waits, |text| {
        text.split(',').map(|wait| parse_duration(wait.trim())).collect()
    })?;
    let failures = variables.parsed("WEBHOOK_MAX_FAILURES", "a number of at least 1", |text| {
        text.parse().ok().filter(|failures| *failures > 0)
    })?;
    Ok(WebhookConfig {
        backoff: backoff.unwrap_or(default.backoff),
        max_failures: failures.unwrap_or(default.max_failures),
        timeout: variables.positive_duration("WEBHOOK_TIMEOUT", default.timeout)?,
        retention: variables.positive_duration("WEBHOOK_RETENTION", default.retention)?,
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
        compiler: own_compiler(variables.compiler_limits()?),
    })
}

/// Returns the default directory for compiled code: beside the file of the database, if the database is a file.
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
    let default = ClaimConfig::default();
    Ok(Some(OidcConfig {
        issuer: issuer.to_owned(),
        jwks_uri: variables.parsed("JWKS_URI", "an http or https URL", http_url)?,
        audience: variables.get("OIDC_AUDIENCE").map(str::to_owned),
        claims: ClaimConfig {
            roles_claim: variables.text("ROLES_CLAIM", default.roles_claim),
            domain_claim: variables.text("DOMAIN_CLAIM", default.domain_claim),
            admin_domain_claim: variables.text("ADMIN_DOMAIN_CLAIM", default.admin_domain_claim),
        },
    }))
}

fn http_url(text: &str) -> Option<Url> {
    Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https"))
}
