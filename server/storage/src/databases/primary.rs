//! The pool of connections to the primary, which may move from host to host.
//!
//! A frozen host answers nothing, so a transaction that does not begin soon makes this process look at all hosts.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, RwLock};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{Connection, PgConnection, PgPool, Row};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use crate::databases::hosts::Host;
use crate::databases::reachability::{Reachability, timed_out};
use crate::transactions::error::{OpenError, StoreError};

/// Time after which a transaction that has not begun makes the process look at all hosts.
const SLOW: Duration = Duration::from_millis(500);
/// Longest time for the answer of one host.
const ANSWER: Duration = Duration::from_secs(1);
/// Shortest time between two looks: they cost every host a connection.
const PAUSE: Duration = Duration::from_millis(500);
/// Time between two looks while everything works. It bounds the time for which a process stays with an old primary that
/// answers beside a new one.
const ROUTINE: Duration = Duration::from_secs(30);
/// Longest time for which an opening waits for a primary that is starting.
const OPENING: Duration = Duration::from_secs(5);

/// The primary of a list of hosts.
#[derive(Debug)]
pub(crate) struct Primary {
    hosts: Vec<Host>,
    make: fn(PgConnectOptions) -> PgPool,
    current: RwLock<Current>,
    /// The last look at all hosts.
    looked: tokio::sync::Mutex<Instant>,
    routine: Mutex<Instant>,
    reachability: Reachability,
}

/// The pool in use.
#[derive(Clone, Debug)]
struct Current {
    /// The index of its host.
    host: usize,
    pool: PgPool,
}

/// The answer of a host to the question for its role.
#[derive(Debug)]
enum Role {
    /// It accepts writes on this timeline, which every promotion raises.
    Primary {
        timeline: String,
    },
    Standby,
    /// It gives no answer.
    Unknown {
        reason: String,
        may_be_starting: bool,
    },
}

impl Primary {
    /// Finds the primary of `hosts`, and opens a pool on it. It waits for a primary that is starting.
    ///
    /// # Errors
    /// [`OpenError::NoPrimary`] or [`OpenError::NoAnswer`] says what each host answers.
    pub(crate) async fn open(
        hosts: Vec<Host>,
        make: fn(PgConnectOptions) -> PgPool,
    ) -> Result<Self, OpenError> {
        let deadline = Instant::now() + OPENING;
        let (host, options) = loop {
            let roles = ask_all(&hosts).await;
            if let Some((index, host)) =
                newest(&roles).and_then(|index| Some((index, hosts.get(index)?)))
            {
                break (index, host.options.clone());
            }
            if Instant::now() >= deadline || !roles.iter().any(Role::may_change_soon) {
                return Err(not_opened(&hosts, &roles));
            }
            tokio::time::sleep(PAUSE).await;
        };
        Ok(Self::at(hosts, host, make, make(options)))
    }

    /// Returns the primary of one pool, which stays.
    pub(crate) fn fixed(pool: PgPool) -> Self {
        // Without hosts nothing ever makes another pool.
        Self::at(Vec::new(), 0, |options| PgPoolOptions::new().connect_lazy_with(options), pool)
    }

    fn at(
        hosts: Vec<Host>,
        host: usize,
        make: fn(PgConnectOptions) -> PgPool,
        pool: PgPool,
    ) -> Self {
        let now = Instant::now();
        Self {
            hosts,
            make,
            current: RwLock::new(Current { host, pool }),
            looked: tokio::sync::Mutex::new(now),
            routine: Mutex::new(now),
            reachability: Reachability::default(),
        }
    }

    /// Returns the pool in use.
    pub(crate) fn pool(&self) -> PgPool {
        self.current.read().pool.clone()
    }

    /// Begins something by `begin` on the primary. Moves to another host if the present one is no longer a primary or
    /// does not answer, and another one is the primary.
    pub(crate) async fn begin<T, F>(
        self: &Arc<Self>,
        begin: impl Fn(PgPool) -> F,
    ) -> Result<T, StoreError>
    where
        F: Future<Output = Result<T, sqlx::Error>>,
    {
        let pool = self.pool();
        // A fixed pool has no host in the list. Neither it nor a single host has another one to move to.
        if self.hosts.len() < 2 {
            return self.explained(&pool, begin(pool.clone()).await).await;
        }
        self.look_as_routine();
        // One attempt outlives all looks: a host that is only slow still completes it.
        let mut begun = pin!(begin(pool.clone()));
        let failed = loop {
            tokio::select! {
                begun = &mut begun => match begun {
                    Ok(begun) => return Ok(begun),
                    Err(error) => {
                        self.look().await;
                        break error;
                    }
                },
                // A pool that is closed goes on trying its old host.
                () = pool.close_event() => break sqlx::Error::PoolClosed,
                () = tokio::time::sleep(SLOW) => self.look().await,
            }
        };
        if self.is_current(&pool) {
            return self.explained(&pool, Err(failed)).await;
        }
        let moved = self.pool();
        self.explained(&moved, begin(moved.clone()).await).await
    }

    async fn explained<T>(
        &self,
        pool: &PgPool,
        begun: Result<T, sqlx::Error>,
    ) -> Result<T, StoreError> {
        match begun {
            Ok(begun) => Ok(begun),
            Err(error) => Err(self.reachability.explain(pool, error).await),
        }
    }

    /// Returns whether `pool` is the one in use, or all are closed because the service stops.
    fn is_current(&self, pool: &PgPool) -> bool {
        let current = self.current.read();
        !pool.is_closed() || current.pool.is_closed()
    }

    /// Looks at all hosts in the background if the last such look is long ago.
    fn look_as_routine(self: &Arc<Self>) {
        let now = Instant::now();
        let mut last = self.routine.lock();
        if now.duration_since(*last) < ROUTINE {
            return;
        }
        *last = now;
        drop(last);
        let primary = Arc::clone(self);
        tokio::spawn(async move { primary.look().await });
    }

    /// Asks all hosts for their role, unless somebody just did, and moves to the newest primary.
    async fn look(&self) {
        let mut looked = self.looked.lock().await;
        if looked.elapsed() < PAUSE {
            return;
        }
        let roles = ask_all(&self.hosts).await;
        match newest(&roles) {
            Some(host) => self.move_to(host),
            None => tracing::warn!(
                hosts = describe(&self.hosts, &roles),
                "no host of the database is a primary"
            ),
        }
        // The end counts, not the beginning: a look at frozen hosts is longer than the pause, and all who wait would look again.
        *looked = Instant::now();
    }

    /// Moves to a host, unless its pool is in use already. Whoever waits for the old pool gets an error at once.
    fn move_to(&self, index: usize) {
        let Some(host) = self.hosts.get(index) else { return };
        let mut current = self.current.write();
        // A closed pool in use means that the service stops: no new one is opened.
        if current.host == index || current.pool.is_closed() {
            return;
        }
        let pool = (self.make)(host.options.clone());
        let old = std::mem::replace(&mut *current, Current { host: index, pool });
        drop(current);
        tracing::warn!(host = host.name, "the primary of the database is another host now");
        // The call closes the pool. Nobody waits for its last connections, whose host may be frozen.
        drop(old.pool.close());
    }

    /// Waits for the connections in use and closes all.
    pub(crate) async fn close(&self) {
        self.pool().close().await;
    }
}

/// Asks all hosts for their role, at the same time.
async fn ask_all(hosts: &[Host]) -> Vec<Role> {
    let mut asked = JoinSet::new();
    for (index, host) in hosts.iter().enumerate() {
        let options = host.options.clone();
        asked.spawn(async move { (index, ask(&options).await) });
    }
    let mut roles = asked.join_all().await;
    // Answers come in any order, and `newest` returns an index into the hosts.
    roles.sort_by_key(|(index, _)| *index);
    roles.into_iter().map(|(_, role)| role).collect()
}

async fn ask(options: &PgConnectOptions) -> Role {
    let answered = timeout(ANSWER, role(options)).await;
    match answered.unwrap_or_else(|late| Err(timed_out(late))) {
        Ok(Some(timeline)) => Role::Primary { timeline },
        Ok(None) => Role::Standby,
        Err(error) => {
            let may_be_starting = match &error {
                sqlx::Error::Io(error) => error.kind() != io::ErrorKind::NotFound,
                sqlx::Error::Database(error) => error.is_transient_in_connect_phase(),
                _ => false,
            };
            Role::Unknown { reason: reason(&error), may_be_starting }
        }
    }
}

/// Returns the words of an error without the line of the server's source that an error of the server has at its end.
fn reason(error: &sqlx::Error) -> String {
    match error {
        sqlx::Error::Database(error) => error.message().to_owned(),
        error => error.to_string(),
    }
}

impl Role {
    fn may_change_soon(&self) -> bool {
        match self {
            Self::Primary { .. } | Self::Standby => false,
            Self::Unknown { may_be_starting, .. } => *may_be_starting,
        }
    }
}

/// Reads the timeline of a primary, in eight hexadecimal digits; `None` on a standby. A file name of the log begins with
/// the timeline, and unlike the control data every role may read it.
async fn role(options: &PgConnectOptions) -> Result<Option<String>, sqlx::Error> {
    const SQL: &str = "SELECT CASE WHEN pg_is_in_recovery() THEN NULL \
        ELSE substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END";
    let mut connection = PgConnection::connect_with(options).await?;
    // Without a prepared statement, which would stay in a session that a pooler shares out.
    let timeline = sqlx::raw_sql(SQL).fetch_one(&mut connection).await?.try_get(0)?;
    connection.close().await?;
    Ok(timeline)
}

/// Returns the index of the primary with the highest timeline, the first of several. An old primary that comes back
/// beside the promoted one has a lower timeline.
fn newest(roles: &[Role]) -> Option<usize> {
    let timelines = roles.iter().enumerate().filter_map(|(index, role)| match role {
        Role::Primary { timeline } => Some((timeline, std::cmp::Reverse(index))),
        Role::Standby | Role::Unknown { .. } => None,
    });
    // Texts of eight upper-case hexadecimal digits have the order of their numbers.
    timelines.max().map(|(_, std::cmp::Reverse(index))| index)
}

/// Returns the error of hosts of which none is a primary. Of a single host that is not known to be a standby it says no more than
/// its answer: a database or a role may be missing there.
fn not_opened(hosts: &[Host], roles: &[Role]) -> OpenError {
    let answers = describe(hosts, roles);
    match roles {
        [Role::Unknown { .. }] => OpenError::NoAnswer(answers),
        _ => OpenError::NoPrimary(answers),
    }
}

/// Says what each host answers. Errors of a connection hold no password.
fn describe(hosts: &[Host], roles: &[Role]) -> String {
    let answers = hosts.iter().zip(roles).map(|(host, role)| match role {
        Role::Primary { .. } => format!("`{}` is a primary", host.name),
        Role::Standby => format!("`{}` is a standby", host.name),
        Role::Unknown { reason, .. } => format!("`{}`: {reason}", host.name),
    });
    answers.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests;
