//! PostgreSQL: how it is opened, how its transactions begin, and how replicas hear of each other's
//! changes.

use std::str::FromStr;
use std::time::Duration;

use portcullis_engine::ResourcePattern;
use serde::{Deserialize, Serialize};
use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use sqlx::{Connection, Executor, PgConnection, PgPool, Postgres, Transaction};

use super::{OpenError, Store, StoreError, Wrote, schema};

/// Connections of one replica.
const CONNECTIONS: u32 = 16;
/// How long a request waits for a connection before the store counts as down.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);
/// The channel of changes.
const CHANGES: &str = "portcullis_changes";
/// The channel of webhooks that were written.
const WEBHOOKS: &str = "portcullis_webhooks";
/// The channel of deliveries that were written.
const DELIVERIES: &str = "portcullis_deliveries";
/// A notification may hold 8,000 bytes; a longer one says that everything is touched.
const MAX_PAYLOAD: usize = 7_900;

static MIGRATIONS: sqlx::migrate::Migrator = sqlx::migrate!("migrations/postgres");

pub(super) async fn open(url: &str) -> Result<Store, OpenError> {
    let options = PgConnectOptions::from_str(url)
        .map_err(|_| OpenError::Url("`postgres://<user>@<host>/<database>`".to_owned()))?;
    let pool = PgPoolOptions::new()
        .max_connections(CONNECTIONS)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .connect_with(options)
        .await
        .map_err(OpenError::Connect)?;
    MIGRATIONS.run(&pool).await.map_err(OpenError::Migrate)?;
    Ok(Store::Postgres(pool))
}

/// Opens it in sessions whose transactions only read.
pub(super) async fn open_to_read(url: &str) -> Result<Store, OpenError> {
    let options = PgConnectOptions::from_str(url)
        .map_err(|_| OpenError::Url("`postgres://<user>@<host>/<database>`".to_owned()))?;
    let pool = PgPoolOptions::new()
        .max_connections(CONNECTIONS)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .after_connect(|connection, _| {
            Box::pin(async move {
                connection.execute("SET default_transaction_read_only = on").await.map(drop)
            })
        })
        .connect_with(options)
        .await
        .map_err(OpenError::Connect)?;
    let applied = sqlx::query_as(schema::APPLIED).fetch_all(&pool).await;
    schema::check(&MIGRATIONS, applied)?;
    Ok(Store::Postgres(pool))
}

/// Whether the database has no table.
pub(super) async fn is_empty(url: &str) -> Result<bool, OpenError> {
    let options = PgConnectOptions::from_str(url)
        .map_err(|_| OpenError::Url("`postgres://<user>@<host>/<database>`".to_owned()))?;
    let connected = PgConnection::connect_with(&options).await;
    let mut connection = connected.map_err(OpenError::Connect)?;
    let tables = sqlx::query_scalar(
        "SELECT count(*) FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')",
    );
    let tables: i64 = tables.fetch_one(&mut connection).await.map_err(OpenError::Connect)?;
    connection.close().await.map_err(OpenError::Connect)?;
    Ok(tables == 0)
}

/// Begins a transaction that reads one snapshot, behind the row-level security of `tenant`.
pub(super) async fn begin_read(
    pool: &PgPool,
    tenant: &str,
) -> Result<Transaction<'static, Postgres>, sqlx::Error> {
    let mut tx = pool.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
    bind_to(&mut tx, tenant).await?;
    Ok(tx)
}

/// Begins a transaction that may write, behind the row-level security of `tenant`.
pub(super) async fn begin_write(
    pool: &PgPool,
    tenant: &str,
) -> Result<Transaction<'static, Postgres>, sqlx::Error> {
    let mut tx = pool.begin().await?;
    bind_to(&mut tx, tenant).await?;
    Ok(tx)
}

/// Until the end of the transaction, and no longer: the connection goes back to the pool.
async fn bind_to(connection: &mut PgConnection, tenant: &str) -> Result<(), sqlx::Error> {
    const SQL: &str = "SELECT set_config('portcullis.tenant', $1, TRUE)";
    sqlx::query(SQL).bind(tenant).execute(connection).await.map(drop)
}

/// What a notification says.
#[derive(Debug)]
pub enum Notice {
    /// What decisions depend on changed.
    Change(Change),
    /// Some tenant's webhooks changed.
    Webhooks,
    /// There is something to deliver.
    Deliveries,
}

/// A committed change of what decisions depend on.
#[derive(Debug, Serialize, Deserialize)]
pub struct Change {
    pub tenant: String,
    pub revision: u64,
    touched: Vec<String>,
}

impl Change {
    /// The resources that the change touched.
    pub fn touched(&self) -> Vec<ResourcePattern> {
        let parse = |text: &String| ResourcePattern::parse(text).unwrap_or(ResourcePattern::Any);
        self.touched.iter().map(parse).collect()
    }
}

/// Tells the other replicas of a change; PostgreSQL delivers it if and when the transaction commits.
pub(super) async fn notify(
    connection: &mut PgConnection,
    tenant: &str,
    revision: u64,
    touched: &[ResourcePattern],
) -> Result<(), sqlx::Error> {
    let touched = touched.iter().map(ToString::to_string).collect();
    let mut change = Change { tenant: tenant.to_owned(), revision, touched };
    let mut payload = serde_json::json!(change).to_string();
    if payload.len() > MAX_PAYLOAD {
        change.touched = vec![ResourcePattern::Any.to_string()];
        payload = serde_json::json!(change).to_string();
    }
    send(connection, CHANGES, &payload).await
}

/// Tells them what else was written.
pub(super) async fn notify_of(
    connection: &mut PgConnection,
    wrote: Wrote,
) -> Result<(), sqlx::Error> {
    for (channel, written) in [(WEBHOOKS, wrote.webhooks), (DELIVERIES, wrote.deliveries)] {
        if written {
            send(connection, channel, "").await?;
        }
    }
    Ok(())
}

async fn send(
    connection: &mut PgConnection,
    channel: &str,
    payload: &str,
) -> Result<(), sqlx::Error> {
    let notify = sqlx::query("SELECT pg_notify($1, $2)").bind(channel).bind(payload);
    notify.execute(connection).await.map(drop)
}

/// The notices of every replica, as they are committed.
#[derive(Debug)]
pub struct Notices(PgListener);

impl Notices {
    pub(super) async fn listen(pool: &PgPool) -> Result<Self, StoreError> {
        let mut listener = PgListener::connect_with(pool).await?;
        listener.listen_all([CHANGES, WEBHOOKS, DELIVERIES]).await?;
        Ok(Self(listener))
    }

    /// The next notice; `None` when some may have been missed.
    pub async fn next(&mut self) -> Result<Option<Notice>, StoreError> {
        let heard = self.0.try_recv().await?;
        Ok(heard.and_then(|heard| match heard.channel() {
            WEBHOOKS => Some(Notice::Webhooks),
            DELIVERIES => Some(Notice::Deliveries),
            _ => serde_json::from_str(heard.payload()).ok().map(Notice::Change),
        }))
    }
}
