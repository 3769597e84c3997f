//! The settings of the service.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use portcullis_auth::{ConsoleConfig, Mode};
use portcullis_egress::EgressConfig;
use portcullis_limits::LimitConfig;
use portcullis_model::audit::AuditRetention;
use portcullis_model::revision::HistoryRetention;
use portcullis_resolvers::ResolverConfig;
use portcullis_storage::StoreLimits;
use portcullis_storage::encryption::KeyRing;
use portcullis_webhooks::{MAX_DENIALS_AT_ONCE, WebhookConfig};

use crate::compiler::own_compiler;
use crate::database::database_file;
use crate::decision_log::DecisionLogConfig;
use crate::edge::EdgeConfig;
use crate::error::ConfigError;
use crate::mode;
use crate::traces::TraceSettings;
use crate::units::{DURATION_UNITS, parse_duration};
use crate::variables::Variables;

/// The settings of `portcullis serve`.
#[derive(Debug)]
pub struct Config {
    pub listen: SocketAddr,
    pub database_url: String,
    /// The servers that plans may be read from, beside the database.
    pub database_read_url: Option<String>,
    /// Accepts a role of PostgreSQL that bypasses row-level security.
    pub allow_bypass_rls: bool,
    pub mode: Mode,
    /// The keys that encrypt secrets at rest.
    pub encryption_keys: KeyRing,
    /// The addresses that requests of tenants may reach.
    pub egress: EgressConfig,
    /// The roles that make the holder of a token a manager.
    pub manager_roles: Vec<String>,
    pub plan_cache_bytes: u64,
    pub entities_bytes: u64,
    /// Longest time for which checks continue while changes cannot be read from the database.
    pub max_staleness: Duration,
    pub webhooks: WebhookConfig,
    pub resolvers: ResolverConfig,
    pub audit: AuditRetention,
    pub history: HistoryRetention,
    /// `None` if the operator keeps no log of decisions.
    pub decision_log: Option<DecisionLogConfig>,
    /// The limits of what each tenant stores.
    pub store_limits: StoreLimits,
    pub edge: EdgeConfig,
    /// `None` if the console is off.
    pub console: Option<ConsoleConfig>,
    /// The limits of callers.
    pub limits: LimitConfig,
    pub traces: TraceSettings,
    /// The variables that name a proxy. The service uses none.
    pub ignored_proxies: Vec<&'static str>,
}

/// Most calls of resolvers at a time. Each reserves address space, and a process has 128 TiB.
const MAX_INSTANCES: u32 = 1_000;

impl Config {
    /// Reads every setting of `portcullis serve`.
    pub fn read(variables: &Variables) -> Result<Self, ConfigError> {
        Ok(Self {
            listen: variables.listen()?,
            database_url: variables.database_url()?,
            database_read_url: variables.database_read_url()?,
            allow_bypass_rls: variables.boolean("POSTGRES_ALLOW_BYPASS_RLS")?.unwrap_or(false),
            mode: mode::read(variables)?,
            encryption_keys: variables.encryption_keys()?,
            egress: variables.egress()?,
            manager_roles: variables.manager_roles()?,
            plan_cache_bytes: variables.plan_cache_bytes()?,
            entities_bytes: variables.entities_bytes()?,
            max_staleness: variables.duration("MAX_STALENESS", Duration::from_secs(30))?,
            webhooks: webhooks(variables)?,
            resolvers: resolvers(variables)?,
            audit: audit(variables)?,
            history: history(variables)?,
            decision_log: variables.decision_log()?,
            store_limits: variables.store_limits()?,
            edge: variables.edge()?,
            console: variables.console(variables.listen()?)?,
            limits: variables.limits()?,
            traces: variables.traces()?,
            ignored_proxies: ignored_proxies(variables),
        })
    }
}

impl Config {
    /// Returns whether the console has a client at the identity provider, but no address to which people come back from there.
    pub fn nobody_signs_in(&self) -> bool {
        let has_client = self.console.as_ref().is_some_and(|console| console.client.is_some());
        has_client && self.edge.public_url.is_none()
    }
}

impl Variables {
    /// Returns the roles that make the holder of a token a manager.
    pub fn manager_roles(&self) -> Result<Vec<String>, ConfigError> {
        let roles = self.parsed("MANAGER_ROLES", "roles with commas between them", |text| {
            let roles: Vec<_> = text.split(',').map(|role| role.trim().to_owned()).collect();
            roles.iter().all(|role| !role.is_empty()).then_some(roles)
        })?;
        Ok(roles.unwrap_or_else(|| vec!["admin".to_owned()]))
    }
}

/// Returns the variables that are set and name a proxy.
fn ignored_proxies(variables: &Variables) -> Vec<&'static str> {
    let names =
        ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];
    names.into_iter().filter(|name| variables.get(name).is_some()).collect()
}

fn audit(variables: &Variables) -> Result<AuditRetention, ConfigError> {
    let default = AuditRetention::default();
    let records = variables.positive("AUDIT_MAX_RECORDS")?;
    Ok(AuditRetention {
        age: variables.positive_duration("AUDIT_RETENTION", default.age)?,
        records: records.unwrap_or(default.records),
    })
}

fn history(variables: &Variables) -> Result<HistoryRetention, ConfigError> {
    let default = HistoryRetention::default();
    let expected = format!("`all`, or a duration above 0, such as `90d` {DURATION_UNITS}");
    let age = variables.parsed("HISTORY_RETENTION", &expected, |text| match text {
        "all" => Some(None),
        text => parse_duration(text).filter(|age| !age.is_zero()).map(Some),
    })?;
    let bytes = variables.size("HISTORY_BYTES", "256MiB")?;
    Ok(HistoryRetention { age: age.unwrap_or(default.age), bytes: bytes.unwrap_or(default.bytes) })
}

fn webhooks(variables: &Variables) -> Result<WebhookConfig, ConfigError> {
    let default = WebhookConfig::default();
    let waits = format!("durations such as `10s,1m` {DURATION_UNITS}");
    let backoff = variables.parsed("WEBHOOK_BACKOFF", &waits, |text| {
        text.split(',').map(|wait| parse_duration(wait.trim())).collect()
    })?;
    let failures = variables.positive("WEBHOOK_MAX_FAILURES")?;
    let at_once = variables.number("WEBHOOK_DENIALS_AT_ONCE", 1..=MAX_DENIALS_AT_ONCE)?;
    Ok(WebhookConfig {
        denials_at_once: at_once.unwrap_or(default.denials_at_once),
        backoff: backoff.unwrap_or(default.backoff),
        max_failures: failures.unwrap_or(default.max_failures),
        timeout: variables.positive_duration("WEBHOOK_TIMEOUT", default.timeout)?,
        retention: variables.positive_duration("WEBHOOK_RETENTION", default.retention)?,
    })
}

fn resolvers(variables: &Variables) -> Result<ResolverConfig, ConfigError> {
    let default = ResolverConfig::default();
    let instances = variables.number("RESOLVER_INSTANCES", 1..=MAX_INSTANCES)?;
    let cache_bytes = variables.size("RESOLVER_CACHE_BYTES", "64MiB")?;
    let directory = variables.parsed("RESOLVERS_DIR", "a directory that can be read", |path| {
        std::fs::read_dir(path).is_ok().then(|| PathBuf::from(path))
    })?;
    let database_url = variables.database_url()?;
    let code = variables.get("RESOLVER_CODE_DIR").map(PathBuf::from);
    Ok(ResolverConfig {
        instances: instances.unwrap_or(default.instances),
        cache_bytes: cache_bytes.unwrap_or(default.cache_bytes),
        directory,
        code: code.or_else(|| code_directory(&database_url)),
        compiler: own_compiler(variables.compiler_limits()?),
    })
}

/// Returns the default directory for compiled code: beside the file of the database, if the database is a file.
fn code_directory(database_url: &str) -> Option<PathBuf> {
    Some(database_file(database_url)?.with_file_name("portcullis-code"))
}
