//! The needs of this service that a server of PostgreSQL must meet. They are checked before anything else, because what is
//! missing shows itself later, in failures that do not name it.

use sqlx::postgres::{PgConnectOptions, PgRow};
use sqlx::{Connection, PgConnection, Row};

use crate::transactions::error::OpenError;

/// The encoding of a database. In every other one some texts could not be stored.
const ENCODING: &str = "UTF8";
/// Connections beside those of the pool: looks for the primary, and a command of the operator.
const SPARE_CONNECTIONS: u32 = 2;
/// The process of the server that answers. Every connection has its own, unless somebody shares them out.
const SESSION: &str = "SELECT pg_backend_pid()";
const POOLER: &str = "the server is behind a pooler in transaction mode, which shares sessions between connections: use \
                      session mode (`pool_mode = session` of pgbouncer), or connect to PostgreSQL itself";

/// Refuses a server that this service cannot work with. A replica has at most `connections` connections in its pool.
///
/// # Errors
/// [`OpenError::Unsuitable`] says what is wrong and what to do; else the server failed.
pub(crate) async fn check(options: &PgConnectOptions, connections: u32) -> Result<(), OpenError> {
    let mut connection = PgConnection::connect_with(options).await.map_err(OpenError::Connect)?;
    let fault = match is_shared(&mut connection, options).await.map_err(OpenError::Connect)? {
        true => Some(POOLER.to_owned()),
        false => fault(&mut connection, connections).await.map_err(OpenError::Connect)?,
    };
    connection.close().await.map_err(OpenError::Connect)?;
    fault.map_or(Ok(()), |fault| Err(OpenError::Unsuitable(fault)))
}

/// Returns whether another connection gets the session of `connection`, which is idle. A pooler in transaction mode gives
/// it the session that was used last.
async fn is_shared(
    connection: &mut PgConnection,
    options: &PgConnectOptions,
) -> Result<bool, sqlx::Error> {
    let own: i32 = ask(connection, SESSION).await?.try_get(0)?;
    let mut other = PgConnection::connect_with(options).await?;
    let others: i32 = ask(&mut other, SESSION).await?.try_get(0)?;
    other.close().await?;
    // The other connection may have taken the session of the first, which then gets another one.
    let still: i32 = ask(connection, SESSION).await?.try_get(0)?;
    Ok(own == others || own != still)
}

/// Asks without a prepared statement, which a pooler may give to another connection.
async fn ask(connection: &mut PgConnection, question: &'static str) -> Result<PgRow, sqlx::Error> {
    sqlx::raw_sql(question).fetch_one(connection).await
}

/// Returns what is wrong with the encoding of the database or the number of connections that it allows.
async fn fault(
    connection: &mut PgConnection,
    connections: u32,
) -> Result<Option<String>, sqlx::Error> {
    // The limits of roles and databases do not hold for superusers.
    const SQL: &str = "SELECT current_setting('server_encoding'), least( \
        CAST(current_setting('max_connections') AS INTEGER) \
            - CAST(current_setting('superuser_reserved_connections') AS INTEGER) \
            - coalesce(CAST(current_setting('reserved_connections', TRUE) AS INTEGER), 0), \
        (SELECT nullif(rolconnlimit, -1) FROM pg_roles WHERE rolname = current_user AND NOT rolsuper), \
        (SELECT nullif(datconnlimit, -1) FROM pg_database WHERE datname = current_database()))";
    let row = ask(connection, SQL).await?;
    let (encoding, allowed): (String, i32) = (row.try_get(0)?, row.try_get(1)?);
    if encoding != ENCODING {
        return Ok(Some(format!(
            "expected a database with the encoding `{ENCODING}`, but it has `{encoding}`: create one with \
             `createdb --encoding={ENCODING} --template=template0`"
        )));
    }
    let needed = connections + SPARE_CONNECTIONS;
    Ok((i64::from(allowed) < i64::from(needed)).then(|| {
        format!(
            "expected room for {needed} connections of one replica, but the server allows {allowed}: raise \
             `max_connections`, or the connection limit of the role or of the database"
        )
    }))
}

#[cfg(test)]
mod tests;
