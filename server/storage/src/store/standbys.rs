//! Reads of plans from servers that follow the primary (`docs/semantics.md`, section 2.9).
//!
//! The primary says which revision a read needs. A server that is at another one, or is not a copy of the same history,
//! serves nothing: the read goes on in the transaction that asked the primary.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use sqlx::PgPool;
use sqlx::postgres::PgPoolOptions;
use strum::{IntoStaticStr, VariantArray};
use tokio::time::{Instant, timeout};

use crate::databases::hosts::{self, Host, Target};
use crate::databases::{postgres, reachability};
use crate::tenancy::tenants;
use crate::transactions::error::{OpenError, StoreError};
use crate::transactions::history::HistoryPosition;
use crate::transactions::tx::{Inner, Tx};

/// Connections with each server. Loads of plans take turns, a few for each core.
const CONNECTIONS: u32 = 8;
/// Longest wait for a server. A plan of usual size is read from the primary in a tenth of it.
const PATIENCE: Duration = Duration::from_millis(100);
/// Time for which a server is not asked after it failed or was slow.
const REST: Duration = Duration::from_secs(5);

/// The servers of `DATABASE_READ_URL`.
#[derive(Debug)]
pub(crate) struct Standbys {
    servers: Vec<Arc<Server>>,
    next: AtomicUsize,
}

#[derive(Debug)]
struct Server {
    name: String,
    pool: PgPool,
    /// It is not asked before this instant.
    rests_until: Mutex<Option<Instant>>,
}

/// The place where the rows of a plan were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum ReadSource {
    /// The primary, because nothing else is configured.
    Primary,
    Standby,
    /// The primary, because the standby is at another revision.
    #[strum(serialize = "primary_standby_behind")]
    StandbyBehind,
    /// The primary, because every standby failed or was slow a short time ago.
    #[strum(serialize = "primary_standby_unavailable")]
    StandbyUnavailable,
}

/// Refuses a URL of servers that cannot follow the database at `primary`. Nothing is connected.
///
/// # Errors
/// [`OpenError::Url`]
pub fn must_follow(primary: &str, url: &str) -> Result<(), OpenError> {
    if primary.starts_with("sqlite:") {
        return Err(OpenError::Url("nothing, because the database is SQLite".to_owned()));
    }
    match url.split_once(':') {
        Some(("postgres" | "postgresql", _)) => hosts::parse(url, Target::Any).map(drop),
        _ => Err(OpenError::Url("`postgres://…`".to_owned())),
    }
}

impl Standbys {
    /// Reads the hosts of a URL. No connection is made before the first read.
    ///
    /// # Errors
    /// [`OpenError::Url`]
    pub(crate) fn parse(url: &str) -> Result<Self, OpenError> {
        let servers = hosts::parse(url, Target::Any)?.into_iter().map(Server::lazy).collect();
        Ok(Self { servers, next: AtomicUsize::new(0) })
    }

    /// Begins a transaction that reads one snapshot at the place `needed` of the history of `tenant`.
    ///
    /// # Errors
    /// The reason why the primary must serve.
    pub(crate) async fn begin(
        &self,
        tenant: &str,
        needed: &HistoryPosition,
    ) -> Result<(Tx, HistoryPosition), ReadSource> {
        let Some(server) = self.awake() else { return Err(ReadSource::StandbyUnavailable) };
        // In its own task: after a cancelled `begin` its connection would keep an old snapshot
        // (transact-rs/sqlx#4385).
        let beginning = tokio::spawn(begin_at(server.pool.clone(), tenant.to_owned()));
        let begun = match timeout(PATIENCE, beginning).await {
            Ok(Ok(Ok(begun))) => begun,
            Ok(Ok(Err(error))) => return Err(server.rest(&error.to_string())),
            Ok(Err(_)) | Err(_) => return Err(server.rest("it is slow")),
        };
        let (tx, found) = begun;
        // Whether a later place includes `needed` is not certain: ids of commits are forgotten. And the primary may not have
        // it: a standby can show a commit that the primary has not acknowledged.
        match found.revision == needed.revision && found.agrees_with(needed) {
            true => Ok((tx, found)),
            false => Err(ReadSource::StandbyBehind),
        }
    }

    /// Connects to each server. Returns the name and the fault of each that does not answer.
    pub(crate) async fn faults(&self) -> Vec<(String, String)> {
        let mut faults = Vec::new();
        for server in &self.servers {
            if let Err(fault) = reachability::connect(&server.pool.connect_options()).await {
                faults.push((server.name.clone(), fault.to_string()));
            }
        }
        faults
    }

    /// Returns the next server that does not rest.
    fn awake(&self) -> Option<&Arc<Server>> {
        let now = Instant::now();
        // Relaxed, because the number only spreads the reads over the servers.
        let first = self.next.fetch_add(1, Ordering::Relaxed);
        let count = self.servers.len();
        let mut turns =
            (0..count).filter_map(|turn| self.servers.get((first.wrapping_add(turn)) % count));
        turns.find(|server| server.rests_until.lock().is_none_or(|until| until <= now))
    }

    /// Waits for the connections in use and closes all.
    pub(crate) async fn close(&self) {
        for server in &self.servers {
            server.pool.close().await;
        }
    }
}

impl Server {
    /// Returns the server of `host`. The first read connects.
    fn lazy(host: Host) -> Arc<Self> {
        let pool = PgPoolOptions::new().max_connections(CONNECTIONS);
        let pool = pool.acquire_timeout(PATIENCE).connect_lazy_with(host.options);
        Arc::new(Self { name: host.name, pool, rests_until: Mutex::default() })
    }

    /// Asks the server no more for a while.
    fn rest(&self, reason: &str) -> ReadSource {
        *self.rests_until.lock() = Some(Instant::now() + REST);
        tracing::warn!(host = self.name, reason, "plans are read from the primary for a while");
        ReadSource::StandbyUnavailable
    }
}

async fn begin_at(pool: PgPool, tenant: String) -> Result<(Tx, HistoryPosition), StoreError> {
    let begun = postgres::begin_read(&pool, &tenant).await?;
    // It only reads, so that the limit of denials does not matter.
    let mut tx = Tx::new(&tenant, Inner::Postgres(begun), 0);
    let position = tenants::position(&mut tx).await?;
    Ok((tx, position))
}

#[cfg(test)]
mod tests;
