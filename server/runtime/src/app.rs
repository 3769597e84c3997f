//! The wired service, which every use case takes.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::background::BackgroundTasks;
use crate::change_reader::ChangeReader;
use crate::entity_tables::EntityTables;
use crate::erasure;
use crate::error::OperationError;
use crate::freshness::Freshness;
use crate::gates::{self, GateVerdict};
use crate::metrics::Metrics;
use crate::plans::Plans;
use crate::record_scans::RecordScans;
use crate::refusals::Refusals;
use crate::replays::Replays;
use crate::searches::Searches;
use crate::shadows::Shadows;
use crate::sign_in_notes::SignInNotes;
use crate::turns::WorkQueue;
use portcullis_auth::sign_in::SignIns;
use portcullis_auth::{
    AuthError, Authenticator, ClosedTenants, ConsoleConfig, Manager, Mode, ServiceKeys, TokenHolder,
};
use portcullis_decision_log::{DecisionLog, Recorder};
use portcullis_egress::EgressConfig;
use portcullis_fairness::Throttle;
use portcullis_limits::CallerLimits;
use portcullis_model::Authorship;
use portcullis_model::clock::Clock;
use portcullis_model::ids::Ids;
use portcullis_resolvers::ResolverService;
use portcullis_storage::encryption::KeyRing;
use portcullis_storage::{Notice, Store, StoreError, Tx, WriteTurn};
use portcullis_traces::Traces;
use portcullis_webhooks::Webhooks;

/// The pause before the next attempt to listen for changes.
const LISTEN_PAUSE: Duration = Duration::from_secs(1);

/// The wired service. Cheap to clone.
#[derive(Clone, Debug)]
pub struct App(Arc<Parts>);

/// The parts of an [`App`].
#[derive(Debug)]
pub struct Parts {
    pub store: Store,
    pub plans: Plans,
    pub entities: EntityTables,
    pub mode: Mode,
    pub authenticator: Authenticator,
    pub service_keys: ServiceKeys,
    pub closed_tenants: ClosedTenants,
    /// Proves that the closed tenants, the identity providers and the service keys in memory are up to date.
    pub tenant_freshness: Freshness,
    /// Reads the changes of other processes.
    pub changes: ChangeReader,
    /// Keeps the refused credentials for the audit records.
    pub refusals: Refusals,
    /// The console; `None` if it is off.
    pub console: Option<Console>,
    pub manager_roles: Vec<String>,
    /// The address by which clients reach the service, without a slash at the end; it is never taken from a request.
    pub public_url: Option<String>,
    /// Encrypts secrets at rest.
    pub keys: KeyRing,
    /// Limits the addresses of outgoing requests.
    pub egress: EgressConfig,
    pub webhooks: Webhooks,
    pub resolvers: ResolverService,
    pub uploads: WorkQueue,
    /// The compilations of policies.
    pub compilations: WorkQueue,
    /// The checks that look at many relations.
    pub walks: WorkQueue,
    pub limits: CallerLimits,
    pub metrics: Metrics,
    pub searches: Searches,
    /// The scans of the record of decisions.
    pub record_scans: RecordScans,
    /// Records decisions; `None` if the operator keeps no log.
    pub recorder: Option<Recorder>,
    /// The replays of recorded decisions.
    pub replays: Replays,
    /// The comparisons of checks with drafts.
    pub shadows: Shadows,
    pub exports: WorkQueue,
    /// The judgements of changes by the cases of tenants.
    pub judgements: WorkQueue,
    /// Limits the log lines of readiness probes that find no database.
    pub probe_log: Throttle,
    pub background: BackgroundTasks,
    /// Makes the spans of requests.
    pub traces: Traces,
    /// True from the signal to stop on: the readiness probe fails.
    pub stopping: AtomicBool,
    pub clock: Clock,
    pub ids: Ids,
}

/// The parts of the console.
#[derive(Debug)]
pub struct Console {
    pub config: ConsoleConfig,
    /// Makes the requests of sign-ins.
    pub sign_ins: SignIns,
    /// Counts the sign-ins and sign-outs that get an audit record.
    pub notes: SignInNotes,
}

impl App {
    pub fn new(parts: Parts) -> Self {
        Self(Arc::new(parts))
    }

    /// Returns the authorship of a change that `actor` makes now.
    pub fn authored_by(&self, actor: &str) -> Authorship {
        Authorship { actor: actor.to_owned(), at: self.clock.now().into() }
    }

    /// Lets `tx` pass the gates of its tenant, commits it, and returns the tenant's revision. Every check that begins
    /// after the return sees the change, and the delivery of its events has begun.
    ///
    /// # Errors
    /// A gate refuses the change, or needs a judgement on it, which `GatedWrite` makes; the tenant would have more than a
    /// quota allows, or the database failed.
    pub async fn commit(&self, tx: Tx) -> Result<u64, OperationError> {
        self.commit_with(tx, GateVerdict::default()).await
    }

    /// Commits `tx` as [`App::commit`] does, with the facts about its verdict.
    ///
    /// # Errors
    /// The errors of [`App::commit`].
    pub async fn commit_with(
        &self,
        mut tx: Tx,
        verdict: GateVerdict,
    ) -> Result<u64, OperationError> {
        gates::pass(&mut tx, verdict).await?;
        Ok(self.finish(tx).await?)
    }

    /// Commits a change that the operator makes by files or on the command line. No gate of a tenant binds the operator.
    ///
    /// # Errors
    /// The database failed.
    pub async fn commit_as_operator(&self, mut tx: Tx) -> Result<u64, StoreError> {
        tx.pass_gates();
        self.finish(tx).await
    }

    async fn finish(&self, tx: Tx) -> Result<u64, StoreError> {
        let committed = self.plans.commit(tx).await.inspect_err(|error| {
            if let StoreError::Quota(excess) = error {
                self.metrics.quotas.refused(excess.quota);
            }
        })?;
        // A check that begins after the answer must not find a table from before this commit.
        if let Some(position) = &committed.entities {
            self.entities.committed(&committed.tenant, position).await;
        }
        for key in &committed.revoked_keys {
            self.service_keys.forget(*key);
        }
        self.webhooks.committed(&committed.tenant, committed.writes);
        Ok(committed.position.revision)
    }

    /// Waits for the turn of the caller's tenant to write. The body of a large call is parsed after that, so that many calls
    /// of one tenant need the memory of one.
    ///
    /// # Errors
    /// Too many writes of the tenant wait.
    pub async fn turn(&self, caller: &Manager) -> Result<WriteTurn, OperationError> {
        Ok(self.store.turn(caller.tenant()).await?)
    }

    /// Runs `work` as [`Store::read`] does.
    ///
    /// # Errors
    /// The error of `work`, or the store failed.
    pub async fn read<T, E: From<StoreError>>(
        &self,
        tenant: &str,
        work: impl AsyncFnOnce(&mut Tx) -> Result<T, E>,
    ) -> Result<T, OperationError>
    where
        OperationError: From<E>,
    {
        Ok(self.store.read(tenant, work).await?)
    }

    /// Makes `change` in a transaction in which `caller` changes its tenant, and commits it.
    ///
    /// # Errors
    /// The error of `change`, or an error of [`App::commit`].
    pub async fn change<T>(
        &self,
        caller: &Manager,
        change: impl AsyncFnOnce(&mut Tx, &Authorship) -> Result<T, OperationError>,
    ) -> Result<T, OperationError> {
        let by = self.authored_by(caller.actor());
        let mut tx = self.write(caller, &by).await?;
        let changed = change(&mut tx, &by).await?;
        self.commit(tx).await?;
        Ok(changed)
    }

    /// Begins a transaction in which `caller` changes its tenant.
    pub async fn write(&self, caller: &Manager, by: &Authorship) -> Result<Tx, StoreError> {
        let mut tx = self.store.write(caller.tenant(), by.at.millis()).await?;
        tx.attribute_to(caller.origin(), by.at);
        Ok(tx)
    }

    /// Begins the transaction of [`App::write`] in a turn.
    pub async fn write_in(
        &self,
        turn: WriteTurn,
        caller: &Manager,
        by: &Authorship,
    ) -> Result<Tx, StoreError> {
        let mut tx = self.store.write_in(turn, by.at.millis()).await?;
        tx.attribute_to(caller.origin(), by.at);
        Ok(tx)
    }

    /// Writes the metrics of the process, as `GET /metrics` shows them.
    ///
    /// # Errors
    /// Writing to `text` fails.
    pub fn render_metrics(&self, text: &mut impl fmt::Write) -> fmt::Result {
        let (providers, key_sets) = self.authenticator.providers();
        let names = self.egress.names.measure();
        let (shadows, shadow_plans, shadow_bytes) = self.shadows.measure();
        self.metrics.shadows.plan_bytes.set(i64::try_from(shadow_bytes).unwrap_or(i64::MAX));
        self.metrics.names.show(&names);
        let own = [
            ("names", names.names),
            ("slow_names", names.slow_names),
            ("uploads", self.uploads.tenants()),
            ("exports", self.exports.tenants()),
            ("compilation_tenants", self.compilations.tenants()),
            ("walk_tenants", self.walks.tenants()),
            ("write_turns", self.store.writers()),
            ("service_keys", self.service_keys.len()),
            ("tokens", self.authenticator.remembered()),
            ("providers", providers),
            ("key_sets", key_sets),
            ("entity_tables", self.entities.count()),
            ("entity_load_tenants", self.entities.loads()),
            ("judgement_tenants", self.judgements.tenants()),
            ("replays", self.replays.count()),
            ("shadows", shadows),
            ("shadow_plans", shadow_plans),
            ("signed_in_people", self.console.as_ref().map_or(0, |console| console.notes.people())),
            ("recording_terms", self.recorder.as_ref().map_or(0, Recorder::entries)),
        ];
        let maps = self.plans.measure().into_iter().chain(self.resolvers.entries());
        let maps = maps.chain(self.limits.entries()).chain(self.webhooks.entries());
        for (map, entries) in maps.chain(own) {
            self.metrics.set_entries(map, entries);
        }
        // The store counts them itself, and a counter of the registry cannot be set.
        self.metrics.conflicts.inner().store(self.store.conflicts(), Ordering::Relaxed);
        self.metrics.entity_bytes.set(i64::try_from(self.entities.weight()).unwrap_or(i64::MAX));
        self.metrics.render(text)
    }

    /// Refuses the credential of a tenant that the service does not serve, because it has a single tenant.
    ///
    /// # Errors
    /// [`AuthError::CredentialRefused`]
    pub fn must_serve(&self, tenant: &str) -> Result<(), AuthError> {
        if self.mode.serves(tenant) {
            return Ok(());
        }
        let why = "the service key belongs to another tenant than the one of SINGLE_TENANT";
        Err(AuthError::CredentialRefused(why.to_owned()))
    }

    /// Returns the caller that `token` proves now.
    ///
    /// # Errors
    /// The token is refused, its tenant is closed, its key set cannot be had, or the closed tenants were not read within
    /// `MAX_STALENESS`.
    pub async fn token_holder(&self, token: &str) -> Result<Arc<TokenHolder>, AuthError> {
        let holder = self.authenticator.verify(token, self.clock.now()).await?;
        // Asked after the verification, which may wait for a key set.
        if !self.tenant_freshness.is_proved() {
            return Err(AuthError::TenantsUnknown);
        }
        self.closed_tenants.must_be_open(holder.tenant())?;
        Ok(holder)
    }

    /// Starts the tasks that keep this process up to date with the writes of others.
    pub fn spawn_background_tasks(&self) {
        let tasks = &self.background;
        let app = self.clone();
        tasks.spawn(async move { app.follow_changes().await });
        let app = self.clone();
        tasks.spawn(async move { app.follow_provider_uses().await });
        let app = self.clone();
        tasks.spawn(async move { app.plans.warm_for_ever().await });
        let app = self.clone();
        tasks.spawn(async move { app.entities.poll().await });
        let app = self.clone();
        tasks.spawn(async move { app.resolvers.reconcile().await });
        let app = self.clone();
        tasks.spawn(async move { app.resolvers.watch_operator_resolvers().await });
        let app = self.clone();
        tasks.spawn(async move { app.listen().await });
        tasks.spawn(erasure::erase_for_ever(self.store.clone(), self.clock.clone()));
        let app = self.clone();
        tasks.spawn(async move { app.follow_shadows().await });
        let app = self.clone();
        tasks.spawn(async move { app.refusals.write_for_ever(&app.store, &app.ids).await });
    }

    /// Handles the notifications of other replicas. Ends at once on SQLite, which has no replicas.
    async fn listen(&self) {
        loop {
            match self.listen_once().await {
                Ok(()) => return,
                Err(error) => tracing::warn!(%error, "cannot listen for changes"),
            }
            // What others wrote while nobody listened has no notification any more.
            self.changes.distrust();
            tokio::time::sleep(LISTEN_PAUSE).await;
        }
    }

    async fn listen_once(&self) -> Result<(), StoreError> {
        let log = self.recorder.as_ref().map(|recorder| recorder.log().clone());
        let number = log.as_ref().and_then(DecisionLog::number);
        let Some(mut notices) = self.store.notices(number).await? else { return Ok(()) };
        loop {
            match notices.next().await? {
                Some(Notice::Revision(notice)) => self.plans.publish(&notice).await?,
                Some(Notice::Access) => self.changes.wake(),
                Some(Notice::Deliveries) => self.webhooks.wake(),
                Some(Notice::RevokedKey(key)) => self.service_keys.forget(key),
                Some(Notice::Entities(notice)) => self.entities.publish(&notice).await,
                Some(Notice::Question(question)) => {
                    if let Some(log) = log.clone() {
                        // In its own task: the notices behind this one do not wait for the answer.
                        self.background.spawn(async move { log.answer(&question).await });
                    }
                }
                Some(Notice::Answer(question, replica)) => {
                    if let Some(log) = &log {
                        log.hear(question, replica);
                    }
                }
                // The connection was lost, and the database with it, perhaps: another one may have taken its place.
                None => self.changes.distrust(),
            }
        }
    }
}

impl Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}
