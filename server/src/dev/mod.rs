//! `portcullis dev`: runs the service on this machine with the sample tenants and its own identity provider, and prints
//! everything that a first check needs.

mod directory;
mod files;
mod home;
mod issuer;
mod resolvers;

use std::fmt::Write as _;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use portcullis_engine::{Check, CheckBody};

use crate::front::{self, Front};
use crate::serve::{self, Delivery};
use issuer::Issuer;
use portcullis_api::{self as http, BodyBudget, RouteSet};
use portcullis_auth::{Mode, OidcConfig};
use portcullis_bundle::{Bundle, Case};
use portcullis_config::{Config, EdgeConfig, open_database, own_compiler};
use portcullis_limits::LimitConfig;
use portcullis_model::audit::AuditRetention;
use portcullis_model::provider::ClaimConfig;
use portcullis_operations::app::App;
use portcullis_operations::checks::{self, CheckOptions};
use portcullis_operations::metrics::{CheckKind, Metrics};
use portcullis_resolvers::{CompilerLimits, ResolverConfig};
use portcullis_storage::encryption::KeyRing;
use portcullis_storage::{StoreLimits, tenants};
use portcullis_webhooks::WebhookConfig;

/// The variables that `dev` reads. None of them can point it at a production system.
pub(crate) const VARIABLES: &[&str] = &["LISTEN_ADDR", "LOG_FORMAT", "RUST_LOG"];

const PLAN_CACHE_BYTES: u64 = 64 << 20;
const MAX_STALENESS: Duration = Duration::from_secs(30);
const MANAGER_ROLE: &str = "admin";

/// Serves on `listen`. All data is in `data_dir`.
pub(crate) async fn run(data_dir: &Path, listen: SocketAddr) -> anyhow::Result<()> {
    let stop = serve::stop_signal()?;
    files::create_dir(data_dir)?;
    let bundles = Bundle::embedded()?;
    let listener = front::bind("LISTEN_ADDR", listen).await?;
    let base_url = format!("http://{}", listener.address());
    let issuer = Issuer::open(&data_dir.join("issuer-key.p8"), &base_url, &bundles)?;
    let oidc = OidcConfig {
        issuer: issuer.url().to_owned(),
        jwks_uri: Some(issuer.jwks_uri().parse()?),
        audience: None,
        claims: ClaimConfig::default(),
    };
    let config = Config {
        listen,
        database_url: format!("sqlite://{}", data_dir.join("portcullis.db").display()),
        allow_bypass_rls: false,
        mode: Mode::Selfhost(Some(oidc)),
        encryption_keys: encryption_keys(&data_dir.join("encryption-key"))?,
        egress: resolvers::egress(listener.address()),
        manager_roles: vec![MANAGER_ROLE.to_owned()],
        plan_cache_bytes: PLAN_CACHE_BYTES,
        max_staleness: MAX_STALENESS,
        webhooks: WebhookConfig::default(),
        resolvers: ResolverConfig {
            code: Some(data_dir.join("portcullis-code")),
            compiler: own_compiler(CompilerLimits::default()),
            ..ResolverConfig::default()
        },
        audit: AuditRetention::default(),
        store_limits: StoreLimits::default(),
        edge: EdgeConfig::default(),
        limits: LimitConfig::default(),
    };
    let limits = front::limits(&config.edge);
    let store = open_database(&config.database_url).await?;
    let metrics = Metrics::new();
    let bodies = BodyBudget::new(config.edge.body_memory, metrics.bodies.clone());
    let delivery = Delivery::wire(&store, &config, listener.address(), &metrics)?;
    let app = serve::wire(store, config, metrics)?;
    app.reload_tenants().await?;
    app.keep_up();
    for bundle in &bundles {
        let loaded = load(&app, bundle, &base_url).await;
        loaded.with_context(|| format!("tenant `{}`", bundle.tenant))?;
    }
    let routes = http::routes(app.clone(), RouteSet::Everything);
    let routes = http::with_samples(routes, home::samples(&bundles, issuer.token_url()))
        .merge(issuer.clone().routes(app.clock.clone()))
        .merge(directory::routes(resolvers::credentials(&bundles))?);
    // Everybody gets a token here, so that a page on the internet must not reach it through the browser.
    let router = http::finish(http::only_loopback(routes), bodies);
    let front = Front { listener, router, limits };
    // The answers that are printed come from the running service: a check calls the directory, which it serves.
    let told = {
        let app = app.clone();
        async move {
            let welcome = welcome(&app, &issuer, &bundles, &base_url).await?;
            Ok(std::io::stdout().write_all(welcome.as_bytes())?)
        }
    };
    let served = serve::until_stopped(app, delivery, vec![front], stop);
    let served = async {
        served.await;
        anyhow::Ok(())
    };
    tokio::try_join!(told, served)?;
    Ok(())
}

/// Returns the key for secrets at rest. Its file has the format of `ENCRYPTION_KEY`.
fn encryption_keys(path: &Path) -> anyhow::Result<KeyRing> {
    let text = files::read_or_make(path, || Ok(KeyRing::generate_key()?.into_bytes()))?;
    KeyRing::parse(&String::from_utf8_lossy(&text))
        .map_err(|expected| anyhow::anyhow!("`{}`: expected {expected}", path.display()))
}

/// Stores a sample tenant, unless it already has data: the changes of a user stay.
async fn load(app: &App, bundle: &Bundle, base_url: &str) -> anyhow::Result<()> {
    let by = app.authored_by("portcullis dev");
    let mut tx = app.store.write(&bundle.tenant, by.at.millis()).await?;
    let is_new = tenants::revision(&mut tx).await? == 0;
    tx.end().await?;
    if !is_new {
        return resolvers::follow(app, &bundle.tenant, base_url, &by).await;
    }
    let ready = resolvers::prepare(app, bundle, base_url, &by).await?;
    let mut tx = app.store.write(&bundle.tenant, by.at.millis()).await?;
    resolvers::store(&mut tx, &ready).await?;
    portcullis_bundle::store(&mut tx, bundle, &by, &app.ids).await?;
    app.commit(tx).await?;
    resolvers::activate(app, ready);
    Ok(())
}

/// Returns the text for the terminal: the address, a token for each sample user, and checks to paste.
async fn welcome(
    app: &App,
    issuer: &Issuer,
    bundles: &[Bundle],
    base_url: &str,
) -> anyhow::Result<String> {
    let mut text = format!("Portcullis for development: {base_url} (not for production)\n");
    let now = app.clock.now();
    for bundle in bundles {
        let about = bundle.description.as_deref().unwrap_or_default().trim();
        writeln!(text, "\n== Tenant `{}`: {about}\n   Tokens, good for a day:", bundle.tenant)?;
        for user in &bundle.users {
            let about = user.description.as_deref().unwrap_or_default().trim();
            let roles = user.roles.join(", ");
            let token = issuer.token(user, now)?;
            writeln!(text, "\n{} ({roles}): {about}\n{token}", user.sub)?;
        }
    }
    for bundle in bundles {
        writeln!(text, "\n== Tenant `{}`: checks to paste", bundle.tenant)?;
        for case in bundle.demos() {
            let answer = answer(app, bundle, case).await?;
            let user = case.caller.as_deref().and_then(|sub| bundle.user(sub));
            let token = user.map(|user| issuer.token(user, now)).transpose()?.unwrap_or_default();
            let body = case.check.to_string().replace('\'', r"'\''");
            writeln!(text, "\n# {}\n# answers {answer}", case.name)?;
            writeln!(
                text,
                "curl -s {base_url}/api/v1/check -H 'Authorization: Bearer {token}' \
                 -H 'Content-Type: application/json' -d '{body}'"
            )?;
        }
    }
    writeln!(
        text,
        "\nAnother token: curl -s {} -d grant_type=password -d username=<user>",
        issuer.token_url()
    )?;
    writeln!(text, "Ctrl-C stops it; the data stays in the data directory.")?;
    Ok(text)
}

/// Returns the answer of the service to the check of `case`, from the stored rules.
async fn answer(app: &App, bundle: &Bundle, case: &Case) -> anyhow::Result<String> {
    let body = CheckBody::parse(&case.check)?;
    let caller = case.caller.as_deref().and_then(|sub| bundle.user(sub));
    let caller = caller.map(|user| user.caller());
    let check = Check::new(body, &bundle.tenant, caller, app.clock.now());
    let options =
        CheckOptions { kind: CheckKind::Combined, at_least: 0, explain: false, now: None };
    let decided = checks::decide(app, &bundle.tenant, check, options).await?;
    Ok(http::answer_text(decided.answer))
}
