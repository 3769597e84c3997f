//! Wires the service from its configuration, runs it, and stops it.

use anyhow::Context;
use tokio::signal::unix::{SignalKind, signal};

use crate::app::{App, Parts};
use crate::auth::{Authenticator, FETCH_TIMEOUT, Providers};
use crate::clock::Clock;
use crate::config::{Config, ConfigError, Mode};
use crate::egress::Client;
use crate::http;
use crate::ids::Ids;
use crate::listener::Listener;
use crate::plans::Plans;
use crate::storage::{OpenError, Store};

/// `portcullis serve`
pub(crate) async fn run(config: Config) -> anyhow::Result<()> {
    let stop = stop_signal()?;
    let store = open(&config.database_url).await?;
    let listener = bind(config.listen).await?;
    let app = wire(store.clone(), config)?;
    app.reload_providers().await?;
    app.keep_up();
    tracing::info!("listening on http://{}", listener.address());
    listener.serve(http::router(app), stop).await;
    store.close().await;
    Ok(())
}

/// Opens the database, or says in one sentence why it cannot.
pub(crate) async fn open(url: &str) -> anyhow::Result<Store> {
    let shown = without_password(url);
    match Store::open(url).await {
        Err(OpenError::Url(expected)) => Err(ConfigError::database_url(expected, shown).into()),
        opened => opened.with_context(|| format!("DATABASE_URL `{shown}`")),
    }
}

/// `url` as it may be shown.
pub(crate) fn without_password(url: &str) -> String {
    match url::Url::parse(url) {
        Ok(mut parsed) if parsed.password().is_some() => {
            let _ = parsed.set_password(Some("***"));
            parsed.to_string()
        }
        _ => url.to_owned(),
    }
}

/// Binds the address, or says in one sentence why it cannot.
pub(crate) async fn bind(address: std::net::SocketAddr) -> anyhow::Result<Listener> {
    Listener::bind(address)
        .await
        .with_context(|| format!("LISTEN_ADDR: cannot listen on {address}"))
}

/// The service on top of an open store.
pub(crate) fn wire(store: Store, config: Config) -> anyhow::Result<App> {
    let authenticator = match &config.mode {
        Mode::Selfhost(oidc) => Authenticator::selfhost(oidc.as_ref())?,
        Mode::Saas { .. } => {
            let client = Client::guarded(&config.egress, FETCH_TIMEOUT)?;
            Authenticator::Saas(Providers::new(client))
        }
    };
    Ok(App::new(Parts {
        plans: Plans::new(store.clone(), config.plan_cache_bytes, config.max_staleness),
        store,
        mode: config.mode,
        authenticator,
        manager_roles: config.manager_roles,
        keys: config.encryption_keys,
        egress: config.egress,
        clock: Clock::system(),
        ids: Ids::new(),
    }))
}

/// Done when the process is told to stop, by SIGINT or SIGTERM. Listens for them from the call on, not from
/// the first poll: whoever reads that the service listens may stop it at once.
pub(crate) fn stop_signal() -> anyhow::Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::info!("stopping: finishing what is in flight");
    })
}
