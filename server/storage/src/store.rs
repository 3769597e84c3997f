//! The store: opens the database and begins transactions.

pub(crate) mod lost_commits;
pub(crate) mod recent_reads;
pub(crate) mod standbys;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use portcullis_fairness::TurnQueue;
use portcullis_model::Timestamp;
use portcullis_model::quota::Quotas;

use crate::databases::database::Database;
use crate::databases::notices::{self, Notices};
use crate::databases::schema::Migrates;
use crate::databases::sqlite_pools::SqlitePools;
use crate::databases::{postgres, sqlite};
use crate::store::standbys::Standbys;
use crate::tenancy::tenants;
use crate::transactions::error::{OpenError, StoreError};
use crate::transactions::newest_commit::NewestCommit;
use crate::transactions::tx::{EVERY_TENANT, Inner, Tx};
use crate::transactions::write_fault::WriteFault;
use crate::transactions::write_turn::{WRITES, WriteTurn};

/// The form of a URL that [`Store::open`] accepts.
const SUPPORTED_URLS: &str = "`sqlite://<file>` or `postgres://…`";
/// The most times that a transaction is repeated after a conflict. Another transaction went on for each conflict, so that
/// a second one in a row is rare.
const MAX_REPEATS: usize = 8;

/// The limits of what tenants may store.
#[derive(Clone, Copy, Debug)]
pub struct StoreLimits {
    pub quotas: Quotas,
    /// The most denied checks that wait for one webhook (`docs/semantics.md`, section 7.4). The oldest are dropped.
    pub waiting_denials: u32,
}

impl Default for StoreLimits {
    /// No quotas: a command line of the operator has none.
    fn default() -> Self {
        // At some 600 bytes for each denial, 50 webhooks keep 300 MB, and as much of those that are over.
        Self { quotas: Quotas::NONE, waiting_denials: 10_000 }
    }
}

/// The store. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Store {
    pub(crate) database: Database,
    pub(crate) standbys: Option<Arc<Standbys>>,
    turns: TurnQueue,
    limits: StoreLimits,
    /// Counts the conflicts of repeated transactions.
    conflicts: Arc<AtomicU64>,
    write_fault: WriteFault,
}

impl Store {
    pub(crate) fn new(database: Database) -> Self {
        let (turns, limits) = (TurnQueue::new(WRITES), StoreLimits::default());
        Self {
            database,
            standbys: None,
            turns,
            limits,
            conflicts: Arc::default(),
            write_fault: WriteFault::default(),
        }
    }

    /// Opens the database at `url` and migrates it. Creates a SQLite file that is missing.
    ///
    /// # Errors
    /// The URL is not supported, the database cannot be opened, or a migration failed.
    pub async fn open(url: &str) -> Result<Self, OpenError> {
        Self::open_as(url, Migrates::Everything).await
    }

    async fn open_as(url: &str, migrates: Migrates) -> Result<Self, OpenError> {
        match url.split_once(':') {
            Some(("sqlite", _)) => {
                let store =
                    Self::new(Database::Sqlite(Arc::new(SqlitePools::open(url, migrates).await?)));
                // Noted only: checks need no write, and the next write tries again first.
                if let Err(error) = store.database.try_to_write().await {
                    tracing::warn!(%error, "the database cannot be written");
                    store.write_fault.note(&error);
                }
                store.settle_history().await.map_err(OpenError::History)?;
                Ok(store)
            }
            Some(("postgres" | "postgresql", _)) => {
                Ok(Self::new(Database::Postgres(Arc::new(postgres::open(url, migrates).await?))))
            }
            _ => Err(OpenError::Url(SUPPORTED_URLS.to_owned())),
        }
    }

    /// Opens the database at `url` as [`Store::open`] does, but migrates it only if it is empty.
    ///
    /// # Errors
    /// The errors of [`Store::open`], or the schema is that of an older version.
    pub async fn open_or_create(url: &str) -> Result<Self, OpenError> {
        Self::open_as(url, Migrates::Empty).await
    }

    /// Opens the database at `url` as [`Store::open`] does, but creates and migrates nothing.
    ///
    /// # Errors
    /// The errors of [`Store::open`], or the file or the schema is missing, or the schema is that of an older version.
    pub async fn open_existing(url: &str) -> Result<Self, OpenError> {
        if url.starts_with("sqlite:") {
            sqlite::must_exist(url)?;
        }
        Self::open_as(url, Migrates::Nothing).await
    }

    /// Opens the database at `url` to read only, without creating or migrating anything. A write gets an error.
    ///
    /// # Errors
    /// The errors of [`Store::open`], or the schema is not the one of this version.
    pub async fn open_to_read(url: &str) -> Result<Self, OpenError> {
        match url.split_once(':') {
            Some(("sqlite", _)) => {
                let readers = sqlite::open_to_read(url).await?;
                // The connections refuse writes themselves.
                let pools = SqlitePools::fixed(readers.clone(), readers);
                Ok(Self::new(Database::Sqlite(Arc::new(pools))))
            }
            Some(("postgres" | "postgresql", _)) => {
                Ok(Self::new(Database::Postgres(Arc::new(postgres::open_to_read(url).await?))))
            }
            _ => Err(OpenError::Url(SUPPORTED_URLS.to_owned())),
        }
    }

    /// Opens the database at `url` as [`Store::open_to_read`] does, and refuses what [`Store::open`] refuses.
    /// Returns `None` if the file of SQLite is missing, which [`Store::open`] creates.
    ///
    /// # Errors
    /// The errors of [`Store::open_to_read`], or the server or the role is not suitable.
    pub async fn examine(url: &str) -> Result<Option<Self>, OpenError> {
        if url.starts_with("sqlite:") && !sqlite::exists(url)? {
            return Ok(None);
        }
        if url.starts_with("postgres") {
            postgres::suits(url).await?;
        }
        let opened = Self::open_to_read(url).await;
        if matches!(opened, Err(OpenError::NoSchema)) && url.starts_with("postgres") {
            postgres::must_create(url).await?;
        }
        opened.map(Some)
    }

    /// Opens the database at `url` as [`Store::open`] does, but refuses one that has a table.
    pub async fn open_empty(url: &str) -> Result<Self, OpenError> {
        let empty = match url.split_once(':') {
            Some(("sqlite", _)) => sqlite::is_empty(url).await?,
            Some(("postgres" | "postgresql", _)) => postgres::is_empty(url).await?,
            _ => true,
        };
        if empty { Self::open(url).await } else { Err(OpenError::InUse) }
    }

    /// Returns the store with these limits.
    pub fn with_limits(self, limits: StoreLimits) -> Self {
        Self { limits, ..self }
    }

    /// Begins a transaction that may write, for `tenant`. The first write of a tenant creates it. Writes of one
    /// tenant run one after the other, and quotas hold for them.
    ///
    /// # Errors
    /// [`StoreError::TenantClosed`] if the tenant is suspended or being deleted, [`StoreError::Busy`] if too many writes
    /// of the tenant wait; else the database failed.
    pub async fn write(&self, tenant: &str, now: i64) -> Result<Tx, StoreError> {
        let turn = self.turn(tenant).await?;
        self.write_in(turn, now).await
    }

    /// Waits for the turn of `tenant` to write. A request that needs much memory takes its turn before it uses the
    /// memory.
    ///
    /// # Errors
    /// [`StoreError::Busy`]
    pub async fn turn(&self, tenant: &str) -> Result<WriteTurn, StoreError> {
        self.turns.begin(tenant).await.map_err(|_| StoreError::Busy)
    }

    /// Waits for the turn of `tenant` to write, however long the wait is. For tasks of the service, of which each
    /// tenant has at most one.
    pub async fn patient_turn(&self, tenant: &str) -> WriteTurn {
        self.turns.begin_patiently(tenant).await
    }

    /// Returns the number of tenants with writes that run or wait.
    pub fn writers(&self) -> usize {
        self.turns.tenants()
    }

    /// Begins the transaction of [`Store::write`] in a turn. The end of the transaction ends the turn.
    pub async fn write_in(&self, turn: WriteTurn, now: i64) -> Result<Tx, StoreError> {
        // Only the turn takes a connection: writes that wait for theirs hold none of the pool.
        let mut tx = self.write_as(turn.tenant()).await?;
        tx.quotas = self.limits.quotas;
        tx.turn = Some(turn);
        tx.at = Timestamp::from_millis(now);
        // The transaction has the turn already: if the lock fails, the transaction ends first and the turn last.
        tenants::lock(&mut tx, now).await?;
        Ok(tx)
    }

    /// Runs `transaction`, and runs it again while the database undoes it because it conflicts with another one, at most 8
    /// times. For work of the service itself: a caller whose request fails repeats it.
    ///
    /// # Errors
    /// The error of the last run.
    pub async fn repeated<T, F>(&self, transaction: impl Fn() -> F) -> Result<T, StoreError>
    where
        F: Future<Output = Result<T, StoreError>>,
    {
        for _ in 0..MAX_REPEATS {
            match transaction().await {
                Err(error) if error.is_conflict() => {
                    self.conflicts.fetch_add(1, Ordering::Relaxed);
                    tracing::debug!(%error, "a transaction is repeated");
                }
                outcome => return outcome,
            }
        }
        // The error of this run is final, also a conflict.
        transaction().await
    }

    /// Returns the number of conflicts after which [`Store::repeated`] repeated a transaction.
    pub fn conflicts(&self) -> u64 {
        self.conflicts.load(Ordering::Relaxed)
    }

    /// Runs `work` in a transaction that reads one snapshot, for `tenant`.
    ///
    /// # Errors
    /// The error of `work`, or the database failed.
    pub async fn read<T, E: From<StoreError>>(
        &self,
        tenant: &str,
        work: impl AsyncFnOnce(&mut Tx) -> Result<T, E>,
    ) -> Result<T, E> {
        read_in(self.begin_read(tenant).await?, work).await
    }

    /// Runs `work` in a transaction of the service itself, which sees every tenant, to read.
    ///
    /// # Errors
    /// The error of `work`, or the database failed.
    pub async fn read_all<T, E: From<StoreError>>(
        &self,
        work: impl AsyncFnOnce(&mut Tx) -> Result<T, E>,
    ) -> Result<T, E> {
        read_in(self.begin_read_all().await?, work).await
    }

    /// Begins the transaction of [`Store::read`], for work of several steps.
    pub async fn begin_read(&self, tenant: &str) -> Result<Tx, StoreError> {
        self.begin_settled_read(one_tenant(tenant)?).await
    }

    /// Begins the transaction of [`Store::read_all`], for work of several steps.
    pub async fn begin_read_all(&self) -> Result<Tx, StoreError> {
        self.begin_settled_read(EVERY_TENANT).await
    }

    async fn begin_settled_read(&self, tenant: &str) -> Result<Tx, StoreError> {
        loop {
            self.settle_history().await?;
            let tx = self.begin_read_now(tenant).await?;
            // Another file may have taken the place since.
            if self.is_settled() {
                return Ok(tx);
            }
        }
    }

    async fn begin_read_now(&self, tenant: &str) -> Result<Tx, StoreError> {
        Ok(self.tx(tenant, self.database.begin_read(tenant).await?))
    }

    /// Begins a transaction of the service itself, which sees every tenant, to write.
    pub async fn write_all(&self) -> Result<Tx, StoreError> {
        self.begin_write(EVERY_TENANT).await
    }

    /// Begins a transaction that may write, for a tenant that it neither locks nor creates. It waits for no turn, and
    /// no quota holds for it.
    pub async fn write_as(&self, tenant: &str) -> Result<Tx, StoreError> {
        self.begin_write(one_tenant(tenant)?).await
    }

    async fn begin_write(&self, tenant: &str) -> Result<Tx, StoreError> {
        loop {
            self.settle_history().await?;
            self.settle_write_fault().await?;
            let tx = self.begin_write_now(tenant).await?;
            // Another file may have taken the place since.
            if self.is_settled() {
                return Ok(tx);
            }
        }
    }

    async fn begin_write_now(&self, tenant: &str) -> Result<Tx, StoreError> {
        let begun = self.database.begin_write(tenant).await;
        Ok(self.tx(tenant, begun.inspect_err(|error| self.write_fault.note(error))?))
    }

    /// Begins an epoch of every tenant if somebody put an older file in the place of the one of SQLite. No transaction
    /// begins on that file before.
    async fn settle_history(&self) -> Result<(), StoreError> {
        let Database::Sqlite(pools) = &self.database else { return Ok(()) };
        pools.judge(async |newest| self.begin_epochs(newest).await).await
    }

    /// Returns whether somebody has looked if the database lacks commits.
    fn is_settled(&self) -> bool {
        match &self.database {
            Database::Sqlite(pools) => pools.is_judged(),
            Database::Postgres(_) => true,
        }
    }

    async fn begin_epochs(&self, newest: &NewestCommit) -> Result<(), StoreError> {
        // `begin_read` and `begin_write` would wait for this very judgement.
        let mut tx = self.begin_read_now(EVERY_TENANT).await?;
        let Some(lost) = lost_commits::lost(&mut tx, newest).await? else { return tx.end().await };
        let tenants = lost_commits::every_tenant(&mut tx).await?;
        tx.end().await?;
        tracing::warn!(
            tenants = tenants.len(),
            "the database lost changes; every tenant begins an epoch"
        );
        let mut begun = Vec::with_capacity(tenants.len());
        for tenant in tenants {
            let mut tx = self.begin_write_now(&tenant).await?;
            // Noted when every tenant has its epoch: whoever is interrupted before begins them all again.
            tx.newest = None;
            lost_commits::begin_epoch(&mut tx, lost).await?;
            begun.push(tx.commit().await?);
        }
        for committed in begun {
            newest.note(&committed.tenant, &committed.position, committed.entities.as_ref());
        }
        Ok(())
    }

    /// Tries whether the database can be written again, if the last write failed because it could not.
    async fn settle_write_fault(&self) -> Result<(), StoreError> {
        if self.write_fault.is_noted() {
            self.database.try_to_write().await?;
            self.write_fault.clear();
            tracing::info!("the database can be written again");
        }
        Ok(())
    }

    fn tx(&self, tenant: &str, inner: Inner) -> Tx {
        let write_fault = self.write_fault.clone();
        let newest = match &self.database {
            Database::Sqlite(pools) => pools.newest().cloned(),
            Database::Postgres(_) => None,
        };
        Tx { write_fault, newest, ..Tx::new(tenant, inner, self.limits.waiting_denials) }
    }

    /// Returns a name of the replica that listens on `address`. No other replica of this database has the name, and
    /// a restart keeps it. It is empty on SQLite, which has one process.
    pub fn replica_name(&self, address: SocketAddr) -> String {
        match self.database {
            Database::Sqlite(_) => String::new(),
            Database::Postgres(_) => {
                let host = rustix::system::uname();
                // The blank at the end keeps port 80 from being the beginning of port 8080: queues are released by this prefix.
                format!("{} {address} ", host.nodename().to_string_lossy())
            }
        }
    }

    /// Returns whether other processes may serve the same database. SQLite has one.
    pub fn may_have_replicas(&self) -> bool {
        matches!(self.database, Database::Postgres(_))
    }

    /// Returns whether the role of the database at `url` bypasses row-level security on every table, also on those that a
    /// migration makes: as a superuser, or by `BYPASSRLS`. False on SQLite, which has none.
    ///
    /// # Errors
    /// The errors of [`Store::open`].
    pub async fn role_bypasses_row_security(url: &str) -> Result<bool, OpenError> {
        match url.split_once(':') {
            Some(("postgres" | "postgresql", _)) => postgres::role_bypasses_row_security(url).await,
            _ => Ok(false),
        }
    }

    /// Returns whether the role of the connection bypasses row-level security on some table of tenants: as a superuser,
    /// by `BYPASSRLS`, or as the owner of a table without forced row-level security. False on SQLite, which has none.
    pub async fn bypasses_row_security(&self) -> Result<bool, StoreError> {
        match &self.database {
            Database::Sqlite(_) => Ok(false),
            Database::Postgres(primary) => {
                Ok(postgres::bypasses_row_security(&primary.pool()).await?)
            }
        }
    }

    /// Asks each standby whether it answers. Returns the host and the fault of each that does not.
    pub async fn standby_faults(&self) -> Vec<(String, String)> {
        match &self.standbys {
            Some(standbys) => standbys.faults().await,
            None => Vec::new(),
        }
    }

    /// Makes one round trip to the database, and writes something that changes nothing if the last write failed because
    /// the database could not be written.
    pub async fn ping(&self) -> Result<(), StoreError> {
        self.settle_write_fault().await?;
        let mut tx = self.begin_read_all().await?;
        // A table is read: a constant would not need the file.
        tenants::revision(&mut tx).await?;
        tx.end().await
    }

    /// Waits for the connections in use and closes all.
    pub async fn close(&self) {
        if let Some(standbys) = &self.standbys {
            standbys.close().await;
        }
        self.database.close().await;
    }

    /// Asks the replicas that keep a record of decisions, apart from the one with the number `own`, and returns their
    /// numbers. None on SQLite, which has no replicas.
    pub async fn ask_replicas(&self, own: i32, question: &str) -> Result<Vec<i64>, StoreError> {
        match &self.database {
            Database::Sqlite(_) => Ok(Vec::new()),
            Database::Postgres(primary) => Ok(notices::ask(&primary.pool(), own, question).await?),
        }
    }

    /// Listens for the commits of other replicas. `None` on SQLite, which has no replicas. `recording` is the number of this
    /// replica, if it keeps a record of decisions: others then ask it.
    pub async fn notices(&self, recording: Option<i32>) -> Result<Option<Notices>, StoreError> {
        match &self.database {
            Database::Sqlite(_) => Ok(None),
            Database::Postgres(primary) => {
                let begun =
                    primary.begin(|pool| async move { Notices::listen(&pool, recording).await });
                Box::pin(begun).await.map(Some)
            }
        }
    }
}

async fn read_in<T, E: From<StoreError>>(
    mut tx: Tx,
    work: impl AsyncFnOnce(&mut Tx) -> Result<T, E>,
) -> Result<T, E> {
    // After an error of `work` the drop of the transaction rolls it back.
    let found = work(&mut tx).await?;
    tx.end().await?;
    Ok(found)
}

/// Returns the name of one tenant. Refuses the name that stands for every tenant: a caller who could choose it would see
/// the rows of all.
fn one_tenant(tenant: &str) -> Result<&str, StoreError> {
    if tenant == EVERY_TENANT { Err(StoreError::NotATenant) } else { Ok(tenant) }
}
