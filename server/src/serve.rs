//! Wires the service from its configuration, runs it, and stops it.

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;

use portcullis_auth::sign_in::SignIns;
use portcullis_auth::{
    Authenticator, ClosedTenants, ConsoleConfig, FETCH_TIMEOUT, Mode, ServiceKeys,
};
use portcullis_config::{
    Config, DecisionLogConfig, TraceSettings, open_archive, open_served_database, with_standbys,
};
use portcullis_decision_log::{DecisionLog, LogConfig, Recorder};
use portcullis_egress::{Client, EgressConfig};
use portcullis_fairness::{Throttle, TurnQueue};
use portcullis_limits::CallerLimits;
use portcullis_model::audit::AuditRetention;
use portcullis_model::clock::Clock;
use portcullis_model::revision::HistoryRetention;
use portcullis_operations::datetimes_as_texts::count_datetimes_as_texts;
use portcullis_operations::drafts::shadow_plans;
use portcullis_operations::{audit, revisions, sessions};
use portcullis_runtime::app::{App, Console, Parts};
use portcullis_runtime::background::BackgroundTasks;
use portcullis_runtime::change_reader::ChangeReader;
use portcullis_runtime::entity_tables::EntityTables;
use portcullis_runtime::freshness::Freshness;
use portcullis_runtime::record_scans::RecordScans;
use portcullis_runtime::replays::Replays;
use portcullis_runtime::searches::Searches;
use portcullis_runtime::shadows::Shadows;
use portcullis_runtime::sign_in_notes::SignInNotes;

use crate::database_lock;
use crate::front::{Front, Listeners};
use crate::start_log::log_settings;
use crate::telemetry;
use portcullis_http::BodyBudget;
use portcullis_model::ids::Ids;
use portcullis_model::jitter::Jitter;
use portcullis_resolvers::{Registry, ResolverService};
use portcullis_runtime::machine::cores;
use portcullis_runtime::metrics::Metrics;
use portcullis_runtime::plans::Plans;
use portcullis_runtime::refusals::Refusals;
use portcullis_runtime::turns::WorkQueue;
use portcullis_storage::Store;
use portcullis_storage::encryption::KeyRing;
use portcullis_traces::{TraceMetrics, Traces};
use portcullis_webhooks::{
    DeliveryWorker, Dispatcher, Schedule, TRANSACTIONS, Webhooks, prune_for_ever,
};

/// Longest time from the start of a stop until the delivery of events is over. Requests have 10 s.
const DELIVERY_STOP: Duration = Duration::from_millis(10_100);
/// Longest time for closing the database, and for sending the last spans meanwhile.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(400);
/// Longest time from the signal and the delay to the end of the process, whatever still runs. An orderly stop takes at most 10.7
/// s.
const STOP_TIMEOUT: Duration = Duration::from_millis(10_900);

/// `portcullis serve`
pub(crate) async fn run(config: Config) -> anyhow::Result<()> {
    let delay = config.edge.shutdown_delay;
    let mut stop = pin!(stop_signal(delay)?);
    let hangups = signal(SignalKind::hangup())?;
    // Before the migration, which is not for a database that another process serves.
    let _lock = database_lock::lock_served(&config.database_url)?;
    let started = tokio::select! {
        biased;
        started = Box::pin(start(config, hangups)) => started?,
        // Nothing is served yet.
        () = &mut stop => return Ok(()),
    };
    let (app, delivery, fronts) = started;
    let stop = after_delay(app.clone(), stop, delay);
    until_stopped(app, delivery, fronts, stop).await;
    Ok(())
}

/// Starts the service, up to the listeners. `hangups` are the signals to read the certificate again.
async fn start(config: Config, hangups: Signal) -> anyhow::Result<(App, Delivery, Vec<Front>)> {
    let store = open_served_database(&config.database_url, config.allow_bypass_rls).await?;
    let store = store.with_limits(config.store_limits);
    let store = match &config.database_read_url {
        Some(url) => with_standbys(store, url)?,
        None => store,
    };
    // Before the rest is wired, because the address names the replica. Nobody is served yet.
    let listeners = Listeners::bind(config.listen, &config.edge, hangups).await?;
    let metrics = Metrics::new();
    metrics.quotas.show(&config.store_limits.quotas);
    let delivery = Delivery::wire(&store, &config, listeners.address(), &metrics)?;
    let edge = &config.edge;
    let bodies = BodyBudget::new(edge.body_memory, edge.apply_body, metrics.bodies.clone());
    log_settings(&config);
    let app = wire(store, config, metrics)?;
    app.catch_up().await?;
    // Once before the first check, which would not find an operator resolver otherwise.
    app.resolvers.refresh_operator_resolvers().await;
    app.spawn_background_tasks();
    app.background.spawn(count_datetimes_as_texts(app.clone()));
    let fronts = listeners.with_routes(&app, &bodies);
    Ok((app, delivery, fronts))
}

/// Resolves `delay` after `stop`. Until then the readiness probe fails and requests are served, so that a load balancer
/// sends new ones to other replicas.
async fn after_delay(app: App, stop: impl Future<Output = ()>, delay: Duration) {
    stop.await;
    app.stopping.store(true, Ordering::Relaxed);
    tokio::time::sleep(delay).await;
}

/// Serves and delivers events until `stop` is done, finishes what is under way, and closes the store. It ends less than
/// 11 s after `stop`.
pub(crate) async fn until_stopped(
    app: App,
    delivery: Delivery,
    fronts: Vec<Front>,
    stop: impl Future<Output = ()>,
) {
    let worker = Arc::new(delivery.worker);
    let dispatcher = Dispatcher::new(Arc::clone(&worker), delivery.replica, app.webhooks.waker());
    let dispatcher = tokio::spawn(dispatcher.run());
    let (store, clock) = (app.store.clone(), app.clock.clone());
    app.background.spawn(prune_for_ever(store.clone(), clock.clone(), delivery.retention));
    app.background.spawn(sessions::ended::delete_for_ever(store.clone(), clock.clone()));
    app.background.spawn(audit::prune_for_ever(store, clock, delivery.audit));
    app.background.spawn(revisions::prune_for_ever(app.clone(), delivery.history));
    app.background.spawn(shadow_plans::compile_for_ever(app.clone()));
    if let Some(recorder) = &app.recorder {
        app.background.spawn(recorder.log().clone().run_maintenance());
    }
    let (stopping, stopped) = watch::channel(false);
    let serving: JoinSet<()> = fronts
        .into_iter()
        .map(|front| front.serve(app.metrics.connections.clone(), stopped.clone()))
        .collect();
    stop.await;
    if let Some(recorder) = &app.recorder {
        // A feed of decisions would keep its request running for minutes.
        recorder.log().end_feeds();
    }
    let delivered_by = Instant::now() + DELIVERY_STOP;
    worker.stop();
    // The dispatcher may be waiting for events, and would not see the stop.
    app.webhooks.wake();
    stopping.send_replace(true);
    serving.join_all().await;
    // After the last request, because each of them may record decisions.
    let recorded = tokio::time::timeout_at(delivered_by, async {
        app.store_shadow_counts().await;
        close_log(&app).await;
    });
    let (delivered, recorded) =
        tokio::join!(tokio::time::timeout_at(delivered_by, dispatcher), recorded);
    match delivered {
        Ok(Ok(())) => {}
        Ok(Err(failed)) => tracing::error!(%failed, "the delivery of events failed"),
        Err(_) => tracing::warn!("stopped while events were still being delivered"),
    }
    if recorded.is_err() {
        tracing::warn!("stopped before the decision log was sealed: the next start goes on");
    }
    let closed = async {
        app.background.stop().await;
        tokio::join!(app.store.close(), app.traces.stop(CLOSE_TIMEOUT));
    };
    if tokio::time::timeout(CLOSE_TIMEOUT, closed).await.is_err() {
        tracing::warn!("stopped while the database was still in use");
    }
}

/// Seals the record of decisions.
async fn close_log(app: &App) {
    if let Some(recorder) = &app.recorder
        && let Err(error) = recorder.log().close().await
    {
        tracing::warn!(%error, "the decision log is not sealed: the next start goes on");
    }
}

/// The plans of drafts in shadow take at most this part of `PLAN_CACHE_BYTES`, beside those that decide.
const SHADOW_PART: u64 = 8;
/// The longest time that a connection to a receiver of events is kept without a request. Receivers close idle ones after
/// some seconds, and a request that meets that moment fails.
const MAX_IDLE: Duration = Duration::from_secs(1);

/// The parts that deliver events and remove old records and revisions.
pub(crate) struct Delivery {
    worker: DeliveryWorker,
    replica: String,
    retention: Duration,
    audit: AuditRetention,
    history: HistoryRetention,
}

impl Delivery {
    /// For a process that listens on `address`.
    pub(crate) fn wire(
        store: &Store,
        config: &Config,
        address: SocketAddr,
        metrics: &Metrics,
    ) -> anyhow::Result<Self> {
        let (clock, ids) = (Clock::system(), Ids::new());
        let replica = store.replica_name(address);
        let worker = DeliveryWorker {
            store: store.clone(),
            client: Client::guarded_that_keeps(&config.egress, config.webhooks.timeout, MAX_IDLE)?,
            timeout: config.webhooks.timeout,
            denials_at_once: config.webhooks.denials_at_once,
            keys: config.encryption_keys.clone(),
            schedule: Schedule::new(&config.webhooks, Jitter::system()),
            // New for each run: the leases of the run before are not this one's.
            holder: format!("{replica}{}", ids.next(clock.now().into())),
            clock,
            ids,
            transactions: TurnQueue::new(TRANSACTIONS),
            stopping: AtomicBool::new(false),
            metrics: metrics.attempts.clone(),
        };
        let (retention, audit) = (config.webhooks.retention, config.audit);
        Ok(Self { worker, replica, retention, audit, history: config.history })
    }
}

/// The service on top of an open store.
pub(crate) fn wire(store: Store, config: Config, metrics: Metrics) -> anyhow::Result<App> {
    let max_token = config.edge.max_token;
    let authenticator = match &config.mode {
        Mode::Selfhost(oidc) => Authenticator::one(oidc.as_ref(), None, max_token)?,
        Mode::SingleTenant { tenant, oidc } => {
            Authenticator::one(oidc.as_ref(), Some(tenant), max_token)?
        }
        Mode::Saas { .. } => {
            // Tenants choose the addresses of their providers.
            let client = Client::guarded(&config.egress, FETCH_TIMEOUT)?;
            Authenticator::saas(client, store.clone(), max_token)
        }
    };
    let console =
        config.console.map(|console| wired_console(console, &config.mode, &config.egress));
    let console = console.transpose()?;
    let clock = Clock::system();
    let resolver_metrics = metrics.resolvers.clone();
    let resolvers =
        Registry::new(&config.resolvers, &config.egress, resolver_metrics, clock.clone())?;
    let keys = config.encryption_keys.clone();
    let resolvers = ResolverService::new(resolvers, store.clone(), keys.clone(), clock.clone());
    let traces = traces(config.traces, metrics.traces.clone())?;
    let plans = Plans::new(
        store.clone(),
        config.plan_cache_bytes,
        config.max_staleness,
        clock.clone(),
        metrics.plans.clone(),
    );
    let shadows = Shadows::new(plans.cache_beside(config.plan_cache_bytes / SHADOW_PART));
    let limits = CallerLimits::new(config.limits, metrics.limits.clone());
    let one_tenant_per_domain = config.mode.has_a_tenant_per_domain();
    let recorder = match config.decision_log {
        Some(config) => Some(recorder(config, &store, &metrics, &clock, &keys)?),
        None => None,
    };
    Ok(App::new(Parts {
        plans,
        shadows,
        entities: EntityTables::new(
            store.clone(),
            config.entities_bytes,
            config.max_staleness,
            clock.clone(),
        ),
        webhooks: Webhooks::new(
            store.clone(),
            metrics.denials_lost.clone(),
            metrics.denials_dropped.clone(),
        ),
        resolvers,
        metrics,
        service_keys: ServiceKeys::new(store.clone(), one_tenant_per_domain),
        store,
        mode: config.mode,
        authenticator,
        closed_tenants: ClosedTenants::default(),
        tenant_freshness: Freshness::new(config.max_staleness),
        changes: ChangeReader::default(),
        refusals: Refusals::default(),
        console,
        manager_roles: config.manager_roles,
        public_url: config.edge.public_url,
        keys: config.encryption_keys,
        egress: config.egress,
        searches: Searches::default(),
        record_scans: RecordScans::default(),
        recorder,
        replays: Replays::default(),
        exports: WorkQueue::for_exports(),
        judgements: WorkQueue::for_judgements(cores()),
        compilations: WorkQueue::for_compilations(cores()),
        walks: WorkQueue::for_walks(cores()),
        uploads: WorkQueue::for_uploads(),
        limits,
        probe_log: Throttle::default(),
        background: BackgroundTasks::default(),
        traces,
        stopping: AtomicBool::new(false),
        clock,
        ids: Ids::new(),
    }))
}

/// Returns the console. Tenants choose the addresses of the providers in `saas` mode alone.
fn wired_console(
    config: ConsoleConfig,
    mode: &Mode,
    egress: &EgressConfig,
) -> anyhow::Result<Console> {
    let client = match mode {
        Mode::Saas { .. } => Client::guarded(egress, FETCH_TIMEOUT)?,
        Mode::Selfhost(_) | Mode::SingleTenant { .. } => Client::trusted(FETCH_TIMEOUT)?,
    };
    Ok(Console { config, sign_ins: SignIns::new(client), notes: SignInNotes::default() })
}

/// Opens the log of decisions.
fn recorder(
    config: DecisionLogConfig,
    store: &Store,
    metrics: &Metrics,
    clock: &Clock,
    keys: &KeyRing,
) -> anyhow::Result<Recorder> {
    let archive = open_archive(&config, store, keys)?;
    let DecisionLogConfig { buffer: folder, buffer_bytes: max_bytes, .. } = config;
    let config = LogConfig { folder, max_bytes, archive: Some(archive), clock: clock.clone() };
    let log = DecisionLog::open(config, metrics.decision_log.clone())
        .context("cannot open the decision log in DECISION_LOG_BUFFER")?;
    Ok(Recorder::new(log, keys))
}

/// Begins to send traces if the settings say where. Logs each setting that does not count.
fn traces(settings: TraceSettings, metrics: TraceMetrics) -> anyhow::Result<Traces> {
    for ignored in settings.ignored {
        tracing::warn!("a setting of traces does not count: {ignored}");
    }
    let Some(config) = settings.sent else { return Ok(Traces::default()) };
    Traces::start(&config, metrics)
}

/// Done when the process is told to stop, by SIGINT or SIGTERM. Listens for them from the call on, not from
/// the first poll: whoever reads that the service listens may stop it at once.
pub(crate) fn stop_signal(delay: Duration) -> anyhow::Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::info!("stopping: running requests may finish");
        end_after(delay + STOP_TIMEOUT);
    })
}

/// Ends the process after a time, as an orderly end does, if it has not ended by then. A separate thread does this, because the
/// timers of the runtime stand still while all its threads compute.
fn end_after(time: Duration) {
    let watch = std::thread::Builder::new().name("stop".to_owned()).spawn(move || {
        std::thread::sleep(time);
        tracing::error!("stopped without an orderly end: work was still running");
        telemetry::flush();
        std::process::exit(0);
    });
    if let Err(error) = watch {
        tracing::warn!(%error, "cannot limit the time of the stop");
    }
}
