//! PostgreSQL: opens pools and begins transactions.

use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{Executor, PgConnection, PgPool, Postgres, Transaction};

use crate::databases::hosts::{self, Host, Target};
use crate::databases::primary::Primary;
use crate::databases::schema::Migrates;
use crate::databases::{changes, migrations, reachability, schema, suitability};
use crate::transactions::error::OpenError;

/// Connections of one replica.
const CONNECTIONS: u32 = 16;
/// The longest wait for a connection. After it, the store counts as down.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);

fn pool() -> PgPoolOptions {
    PgPoolOptions::new().max_connections(CONNECTIONS).acquire_timeout(ACQUIRE_TIMEOUT)
}

/// Returns a pool of a primary. It accepts no connection to a standby, whose data may be old.
fn pool_of_primary(options: PgConnectOptions) -> PgPool {
    let pool = pool().after_connect(|connection, _| {
        Box::pin(async move {
            // For each connection, because a primary may become a standby.
            let standby = sqlx::query_scalar("SELECT pg_is_in_recovery()").fetch_one(connection);
            match standby.await? {
                false => Ok(()),
                true => Err(sqlx::Error::Configuration("the server is a standby".into())),
            }
        })
    });
    pool.connect_lazy_with(options)
}

/// Opens the database on the primary of the hosts, and migrates it as far as it may.
pub(crate) async fn open(url: &str, migrates: Migrates) -> Result<Primary, OpenError> {
    let primary = Primary::open(hosts::parse(url, Target::Primary)?, pool_of_primary).await?;
    let pool = primary.pool();
    suitability::check(&pool.connect_options(), CONNECTIONS).await?;
    let migrations = migrations::postgres();
    let applied = sqlx::query_as(schema::APPLIED).fetch_all(&pool).await;
    schema::check_before_migration(&migrations, applied, migrates)?;
    migrations.run(&pool).await.map_err(schema::not_migrated)?;
    // After the migrations, which create the function that it calls.
    changes::forget_foreign_numbers(&pool).await.map_err(OpenError::Connect)?;
    Ok(primary)
}

/// Returns a pool whose transactions only read.
fn pool_to_read(options: PgConnectOptions) -> PgPool {
    let pool = pool().after_connect(|connection, _| {
        Box::pin(async move {
            connection.execute("SET default_transaction_read_only = on").await.map(drop)
        })
    });
    pool.connect_lazy_with(options)
}

/// Refuses a server that [`open`] refuses, without a change of the database.
pub(crate) async fn suits(url: &str) -> Result<(), OpenError> {
    let primary = Primary::open(hosts::parse(url, Target::Primary)?, pool_of_primary).await?;
    let suits = suitability::check(&primary.pool().connect_options(), CONNECTIONS).await;
    primary.close().await;
    suits
}

/// Opens the database in sessions whose transactions only read: on the only host, or on the primary of several.
pub(crate) async fn open_to_read(url: &str) -> Result<Primary, OpenError> {
    let hosts = hosts::parse(url, Target::Primary)?;
    let primary = match hosts.as_slice() {
        [Host { options, .. }] => {
            reachability::connect(options).await.map_err(OpenError::Connect)?;
            Primary::fixed(pool_to_read(options.clone()))
        }
        _ => Primary::open(hosts, pool_to_read).await?,
    };
    let applied = sqlx::query_as(schema::APPLIED).fetch_all(&primary.pool()).await;
    schema::check(&migrations::postgres(), applied)?;
    Ok(primary)
}

/// Tells whether the database has no table.
pub(crate) async fn is_empty(url: &str) -> Result<bool, OpenError> {
    const SQL: &str = "SELECT count(*) FROM pg_tables \
        WHERE schemaname NOT IN ('pg_catalog', 'information_schema')";
    let primary = Primary::open(hosts::parse(url, Target::Primary)?, pool_of_primary).await?;
    let tables = sqlx::query_scalar(SQL).fetch_one(&primary.pool()).await;
    let tables: i64 = tables.map_err(OpenError::Connect)?;
    primary.close().await;
    Ok(tables == 0)
}

/// Returns whether the role of the URL bypasses row-level security on every table: as a superuser, or by `BYPASSRLS`.
pub(crate) async fn role_bypasses_row_security(url: &str) -> Result<bool, OpenError> {
    const SQL: &str = "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user";
    let primary = Primary::open(hosts::parse(url, Target::Primary)?, pool_of_primary).await?;
    let bypasses = sqlx::query_scalar(SQL).fetch_one(&primary.pool()).await;
    primary.close().await;
    bypasses.map_err(OpenError::Connect)
}

/// Refuses a role that may not make the tables of the first start.
pub(crate) async fn must_create(url: &str) -> Result<(), OpenError> {
    const SQL: &str = "SELECT current_user::TEXT, coalesce(current_schema()::TEXT, 'public'), \
        coalesce(has_schema_privilege(current_schema(), 'CREATE'), FALSE)";
    let primary = Primary::open(hosts::parse(url, Target::Primary)?, pool_of_primary).await?;
    let asked = sqlx::query_as(SQL).fetch_one(&primary.pool()).await;
    primary.close().await;
    let (role, schema, may): (String, String, bool) = asked.map_err(OpenError::Connect)?;
    if may {
        return Ok(());
    }
    Err(OpenError::Unsuitable(format!(
        "expected a role that may make tables, as the first start does, but `{role}` may not in the schema `{schema}`: make \
         it the owner of the database, or `GRANT CREATE, USAGE ON SCHEMA {schema} TO {role}`"
    )))
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
    // At the default level each statement reads a snapshot of its own.
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
