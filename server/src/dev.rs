//! `portcullis dev`: runs the service on this machine with its own identity provider, for the tenants of a folder or for
//! the sample tenants, and prints everything that a first check needs.

mod banner;
mod cases;
mod changes;
mod directory;
mod examples;
mod files;
mod folders;
mod issuer;
mod loading;
mod reload;
mod report;
mod resolvers;
mod sign_in;
mod tenants;
mod watcher;

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;

use crate::front::{self, Front};
use crate::serve::{self, Delivery};
use examples::Examples;
use issuer::Issuer;
use portcullis_api::{self as api, RouteSet};
use portcullis_auth::{ConsoleConfig, Mode, OidcConfig};
use portcullis_bundle::{Bundle, TENANT_FILE};
use portcullis_config::{
    Config, DecisionLogConfig, EdgeConfig, TraceSettings, Variables, open_database, own_compiler,
};
use portcullis_decision_log::RecordPlace;
use portcullis_engine::CheckBody;
use portcullis_engine::rbac::WILDCARD;
use portcullis_http::listener::Listener;
use portcullis_http::{BodyBudget, only_loopback};
use portcullis_limits::LimitConfig;
use portcullis_model::audit::AuditRetention;
use portcullis_model::provider::ClaimConfig;
use portcullis_model::revision::HistoryRetention;
use portcullis_resolvers::{CompilerLimits, ResolverConfig};
use portcullis_runtime::app::App;
use portcullis_runtime::metrics::Metrics;
use portcullis_storage::StoreLimits;
use portcullis_storage::encryption::KeyRing;
use portcullis_webhooks::WebhookConfig;
use reload::Reloader;
use tenants::{ServedTenant, ServedTenants, Source};

/// The variables that `dev` reads. None of them can point it at a production system.
pub(crate) const VARIABLES: &[&str] = &["LISTEN_ADDR", "LOG_FORMAT", "RUST_LOG"];

/// The most bytes of the write-ahead files of the decision log.
const DECISION_BUFFER: u64 = 256 << 20;
const PLAN_CACHE_BYTES: u64 = 64 << 20;
/// The memory for entities.
const ENTITIES_BYTES: u64 = 64 << 20;
const MAX_STALENESS: Duration = Duration::from_secs(30);
/// The time of a session of the console.
const SESSION: Duration = Duration::from_secs(12 * 3_600);
const MANAGER_ROLE: &str = "admin";

/// Serves the tenants of the folder `dir`, or else the sample tenants, on `listen`. All data is in `data_dir`.
pub(crate) async fn run(
    dir: Option<&Path>,
    data_dir: &Path,
    listen: SocketAddr,
    variables: Variables,
) -> anyhow::Result<()> {
    let stop = serve::stop_signal(Duration::ZERO)?;
    // A folder with faults leaves no data directory behind.
    let tenants = ServedTenants::new(served(dir)?);
    files::create_dir(data_dir)?;
    let database = data_dir.join("portcullis.db");
    // Before anything of the directory is read. The lock is released when the process ends, however it ends.
    let _lock = files::lock_dir(data_dir, &database)?;
    let listener = bind(listen).await?;
    let base_url = format!("http://{}", listener.address());
    let issuer = Issuer::open(&data_dir.join("issuer-key.p8"), &base_url, tenants.clone())?;
    let mode = mode(oidc(&issuer)?, dir, &tenants);
    let config = Config {
        listen,
        database_url: format!("sqlite://{}", database.display()),
        database_read_url: None,
        allow_bypass_rls: false,
        mode,
        encryption_keys: encryption_keys(&data_dir.join("encryption-key"))?,
        egress: resolvers::egress(listener.address()),
        manager_roles: vec![MANAGER_ROLE.to_owned()],
        plan_cache_bytes: PLAN_CACHE_BYTES,
        entities_bytes: ENTITIES_BYTES,
        max_staleness: MAX_STALENESS,
        webhooks: WebhookConfig::default(),
        resolvers: ResolverConfig {
            code: Some(data_dir.join("portcullis-code")),
            compiler: own_compiler(CompilerLimits::default()),
            ..ResolverConfig::default()
        },
        audit: AuditRetention::default(),
        history: HistoryRetention::default(),
        decision_log: Some(DecisionLogConfig {
            place: RecordPlace::Folder(data_dir.join("decisions")),
            buffer: data_dir.join("decision-log"),
            buffer_bytes: DECISION_BUFFER,
        }),
        store_limits: StoreLimits::default(),
        edge: EdgeConfig { public_url: Some(base_url.clone()), ..EdgeConfig::default() },
        console: Some(ConsoleConfig {
            client: Some(issuer::console_client()),
            idle: SESSION,
            longest: SESSION,
            is_local: true,
        }),
        // The development issuer gives a token to everybody: nobody has to guess one.
        limits: LimitConfig { failures: None, ..LimitConfig::default() },
        traces: TraceSettings::default(),
        ignored_proxies: Vec::new(),
    };
    let limits = front::limits(&config.edge);
    let store = open_database(&config.database_url).await?;
    let metrics = Metrics::new();
    let edge = &config.edge;
    let bodies = BodyBudget::new(edge.body_memory, edge.apply_body, metrics.bodies.clone());
    let delivery = Delivery::wire(&store, &config, listener.address(), &metrics)?;
    let app = serve::wire(store, config, metrics)?;
    app.catch_up().await?;
    app.spawn_background_tasks();
    store_all(&app, &tenants, &base_url).await?;
    let examples = Examples { app: app.clone(), tenants, base_url };
    let routes = api::routes(app.clone(), RouteSet::Everything, portcullis_console::rows(&app))
        .merge(issuer.routes(app.clock.clone()))
        .merge(examples.clone().routes());
    let routes = api::with_link(routes, examples::LINK)
        .merge(directory::routes(resolvers::credentials(&Bundle::embedded()?))?);
    // Everybody gets a token here, so that a page on the internet must not reach it through the browser.
    let service = api::finish(app.clone(), only_loopback(routes), bodies);
    let front = Front { listener, service, limits };
    // The answers that are printed come from the running service: a check calls the directory, which it serves.
    until_stopped(
        tell(examples, dir, variables),
        serve::until_stopped(app, delivery, vec![front], stop),
    )
    .await
}

async fn bind(address: SocketAddr) -> anyhow::Result<Listener> {
    Listener::bind(address).await.with_context(|| {
        format!("cannot listen on `{address}`; give another port with --port N, or a free one with --port 0")
    })
}

/// Returns the settings with which the service trusts the issuer.
fn oidc(issuer: &Issuer) -> anyhow::Result<OidcConfig> {
    Ok(OidcConfig {
        issuer: issuer.url().to_owned(),
        jwks_uri: Some(issuer.jwks_uri().parse()?),
        audience: None,
        claims: ClaimConfig::default(),
    })
}

/// Returns the mode: a folder whose rules or cases name domains is served as the only tenant, which leaves domains free.
fn mode(oidc: OidcConfig, dir: Option<&Path>, tenants: &ServedTenants) -> Mode {
    let is_tenant = dir.is_some_and(|dir| dir.join(TENANT_FILE).is_file());
    match &*tenants.all() {
        [only] if is_tenant && names_domains(&only.bundle) => {
            Mode::SingleTenant { tenant: only.bundle.tenant.clone(), oidc: Some(oidc) }
        }
        _ => Mode::Selfhost(Some(oidc)),
    }
}

/// Returns whether a rule or a case is about another domain than the tenant's.
fn names_domains(bundle: &Bundle) -> bool {
    let of_rules = bundle.rules.iter().map(|rule| &*rule.tuple.dom);
    let bodies = bundle.cases.iter().filter_map(|case| CheckBody::parse(&case.check).ok());
    let mut domains = of_rules.chain(bodies.filter_map(|body| body.domain));
    domains.any(|domain| domain != bundle.tenant && domain != WILDCARD)
}

/// Serves until the stop, or until what is printed fails.
async fn until_stopped(
    told: impl Future<Output = anyhow::Result<()>>,
    served: impl Future<Output = ()>,
) -> anyhow::Result<()> {
    tokio::pin!(served);
    tokio::select! {
        told = told => told?,
        () = &mut served => return Ok(()),
    }
    served.await;
    Ok(())
}

/// Stores the tenants.
async fn store_all(app: &App, tenants: &ServedTenants, base_url: &str) -> anyhow::Result<()> {
    for tenant in tenants.all() {
        let stored = match tenant.source {
            Source::Embedded => loading::store_sample(app, &tenant, base_url).await,
            // The folder wins over what an earlier start has stored.
            Source::Folder(_) => loading::make_equal(app, &tenant, base_url).await.map(|_| ()),
        };
        stored.with_context(|| format!("tenant `{}`", tenant.bundle.tenant))?;
    }
    Ok(())
}

/// Reads the tenants to serve.
///
/// # Errors
/// The faults of the folder.
fn served(dir: Option<&Path>) -> anyhow::Result<Vec<Arc<ServedTenant>>> {
    let Some(dir) = dir else {
        let samples = Bundle::embedded()?
            .into_iter()
            .map(|bundle| Arc::new(ServedTenant { bundle, source: Source::Embedded }));
        return Ok(samples.collect());
    };
    let read = reload::read_all(dir);
    read.map_err(|faults| anyhow::anyhow!("the folder cannot be served\n{}", faults.join("\n")))
}

/// Prints the banner, and then what each change of the folder does. Returns if there is no folder to follow.
async fn tell(examples: Examples, dir: Option<&Path>, variables: Variables) -> anyhow::Result<()> {
    let banner = banner::banner(&examples, dir).await?;
    let Some(dir) = dir else {
        return Ok(std::io::stdout().write_all(banner.as_bytes())?);
    };
    // The watch begins before the banner, so that no change after it is missed.
    let reloader = Reloader::new(examples, dir, variables)?;
    std::io::stdout().write_all(banner.as_bytes())?;
    reloader.follow().await
}

/// Returns the key for secrets at rest. Its file has the format of `ENCRYPTION_KEY`.
fn encryption_keys(path: &Path) -> anyhow::Result<KeyRing> {
    let text = files::read_or_make(path, || Ok(KeyRing::generate_key()?.into_bytes()))?;
    KeyRing::parse(&String::from_utf8_lossy(&text))
        .map_err(|expected| anyhow::anyhow!("`{}`: expected {expected}", path.display()))
}
