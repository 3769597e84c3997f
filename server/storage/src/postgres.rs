//! PostgreSQL: opens pools and begins transactions.

use std::str::FromStr;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{Connection, Executor, PgConnection, PgPool, Postgres, Transaction};

use crate::error::OpenError;
use crate::tx::EVERY_TENANT;
use crate::{changes, migrations, reachability, reserved, schema};

/// Connections of one replica.
const CONNECTIONS: u32 = 16;
/// The longest wait for a connection. After it, the store counts as down.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);

fn options(url: &str) -> Result<PgConnectOptions, OpenError> {
    PgConnectOptions::from_str(url)
        .map_err(|_| OpenError::Url("`postgres://<user>@<host>/<database>`".to_owned()))
}

fn pool() -> PgPoolOptions {
    PgPoolOptions::new().max_connections(CONNECTIONS).acquire_timeout(ACQUIRE_TIMEOUT)
}

/// Opens a pool. It waits for a database that is starting. The error says why nobody answers.
async fn connect(pool: PgPoolOptions, options: PgConnectOptions) -> Result<PgPool, OpenError> {
    let opened = match pool.connect_with(options.clone()).await {
        Err(error @ sqlx::Error::PoolTimedOut) => {
            Err(reachability::connect(&options).await.err().unwrap_or(error))
        }
        opened => opened,
    };
    opened.map_err(OpenError::Connect)
}

/// Opens the database and migrates it.
pub(crate) async fn open(url: &str) -> Result<PgPool, OpenError> {
    let options = options(url)?;
    let pool = connect(pool(), options).await?;
    // The transaction ends without a commit.
    let mut tx = begin_read(&pool, EVERY_TENANT).await.map_err(OpenError::Connect)?;
    reserved::check(sqlx::query_as(reserved::FIND).fetch_optional(&mut *tx).await)?;
    drop(tx);
    migrations::postgres().run(&pool).await.map_err(OpenError::Migrate)?;
    changes::forget_foreign_numbers(&pool).await.map_err(OpenError::Connect)?;
    Ok(pool)
}

/// Opens the database in sessions whose transactions only read.
pub(crate) async fn open_to_read(url: &str) -> Result<PgPool, OpenError> {
    let options = options(url)?;
    let pool = pool().after_connect(|connection, _| {
        Box::pin(async move {
            connection.execute("SET default_transaction_read_only = on").await.map(drop)
        })
    });
    let pool = connect(pool, options).await?;
    let applied = sqlx::query_as(schema::APPLIED).fetch_all(&pool).await;
    schema::check(&migrations::postgres(), applied)?;
    Ok(pool)
}

/// Tells whether the database has no table.
pub(crate) async fn is_empty(url: &str) -> Result<bool, OpenError> {
    let options = options(url)?;
    let connected = PgConnection::connect_with(&options).await;
    let mut connection = connected.map_err(OpenError::Connect)?;
    let tables = sqlx::query_scalar(
        "SELECT count(*) FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')",
    );
    let tables: i64 = tables.fetch_one(&mut connection).await.map_err(OpenError::Connect)?;
    connection.close().await.map_err(OpenError::Connect)?;
    Ok(tables == 0)
}

/// Returns whether some table with a column `tenant_id` has no row-level security for the role of this connection.
pub(crate) async fn bypasses_row_security(pool: &PgPool) -> Result<bool, sqlx::Error> {
    const SQL: &str = "SELECT EXISTS (SELECT 1 FROM pg_class c \
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id' \
        WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace \
        AND NOT row_security_active(c.oid))";
    sqlx::query_scalar(SQL).fetch_one(pool).await
}

/// Begins a transaction that reads one snapshot, behind the row-level security of `tenant`.
pub(crate) async fn begin_read(
    pool: &PgPool,
    tenant: &str,
) -> Result<Transaction<'static, Postgres>, sqlx::Error> {
    let mut tx = pool.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
    bind_to(&mut tx, tenant).await?;
    Ok(tx)
}

/// Begins a transaction that may write, behind the row-level security of `tenant`.
pub(crate) async fn begin_write(
    pool: &PgPool,
    tenant: &str,
) -> Result<Transaction<'static, Postgres>, sqlx::Error> {
    let mut tx = pool.begin().await?;
    bind_to(&mut tx, tenant).await?;
    Ok(tx)
}

/// Sets the tenant of row-level security until the end of the transaction: the connection goes back to the pool.
async fn bind_to(connection: &mut PgConnection, tenant: &str) -> Result<(), sqlx::Error> {
    const SQL: &str = "SELECT set_config('portcullis.tenant', $1, TRUE)";
    sqlx::query(SQL).bind(tenant).execute(connection).await.map(drop)
}
