//! Wires the service from its configuration, runs it, and stops it.

use anyhow::Context;
use axum::Router;
use tokio::signal::unix::{SignalKind, signal};

use crate::app::{App, Parts};
use crate::auth::{Verifier, selfhost_verifier};
use crate::clock::Clock;
use crate::config::Config;
use crate::http;
use crate::ids::Ids;
use crate::listener::Listener;
use crate::plans::Plans;
use crate::storage::Store;

/// `portcullis serve`
pub(crate) async fn run(config: Config) -> anyhow::Result<()> {
    let store = open(&config.database_url).await?;
    let verifier = config.oidc.as_ref().map(selfhost_verifier).transpose()?;
    let listener = bind(config.listen).await?;
    let app = wire(store.clone(), verifier, config.manager_roles, config.plan_cache_bytes);
    tracing::info!("listening on http://{}", listener.address());
    run_until_stopped(listener, http::router(app), &store).await
}

/// Opens the database, or says in one sentence why it cannot.
pub(crate) async fn open(url: &str) -> anyhow::Result<Store> {
    Store::open(url).await.with_context(|| format!("DATABASE_URL `{}`", without_password(url)))
}

fn without_password(url: &str) -> String {
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
pub(crate) fn wire(
    store: Store,
    verifier: Option<Verifier>,
    manager_roles: Vec<String>,
    plan_cache_bytes: u64,
) -> App {
    let plans = Plans::new(store.clone(), plan_cache_bytes);
    let (clock, ids) = (Clock::system(), Ids::new());
    App::new(Parts { store, plans, verifier, manager_roles, clock, ids })
}

/// Serves until SIGINT or SIGTERM, then finishes what is in flight and closes the store.
pub(crate) async fn run_until_stopped(
    listener: Listener,
    router: Router,
    store: &Store,
) -> anyhow::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let stop = async {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::info!("stopping: finishing what is in flight");
    };
    listener.serve(router, stop).await;
    store.close().await;
    Ok(())
}
