//! The queues of work that costs much CPU time or memory: how much of it runs at once, and how much waits.

use std::time::Duration;

use bytes::Bytes;
use portcullis_fairness::{Turn, TurnLimits, TurnQueue, TurnRefusal, run_apart};

use crate::error::OperationError;

/// The longest wait for most kinds of work. A client that has waited for so long tries again.
const WAIT: Option<Duration> = Some(Duration::from_secs(5));

/// A queue of one kind of work. Its errors say what waits. Cheap to clone.
#[derive(Clone, Debug)]
pub struct WorkQueue {
    turns: TurnQueue,
    refusal: fn(TurnRefusal) -> &'static str,
}

impl WorkQueue {
    /// Returns the queue of the compilation of policies, which leaves half of the cores to everything else. A policy takes at
    /// most 80 ms, and a body of at most 1 MiB while it waits.
    pub fn for_compilations(cores: usize) -> Self {
        let limits = TurnLimits { per_tenant: 1, pending_per_tenant: 16, ..half_of(cores) };
        Self::new(
            limits,
            |_| "too many policies of this tenant are being compiled, and nothing was written; try again later",
        )
    }

    /// Returns the queue of large bodies, whose trees leave half of the cores to everything else. A body of 8 MiB takes up to
    /// half a second. The memory for bodies bounds how many wait.
    pub fn for_large_bodies(cores: usize) -> Self {
        let limits = TurnLimits { pending_per_tenant: 1_024, ..half_of(cores) };
        Self::new(
            limits,
            |_| "too many large bodies of this tenant wait, and nothing was written; try again later",
        )
    }

    /// Returns the queue of searches and reports. While others leave cores unused, a tenant gets more turns than its part. One
    /// tenant never has every turn, so that others begin at once. A page takes up to a second, and a body of up to 8 MiB
    /// while it waits.
    pub fn for_searches(cores: usize) -> Self {
        let half = half_of(cores);
        // Half of two cores is one turn, which one tenant would have alone.
        let at_once = half.at_once.max(2.min(cores));
        let limits = TurnLimits { at_once, lent_below: cores, pending_per_tenant: 16, ..half };
        Self::new(limits, |_| "too many searches of this tenant run already; try again later")
    }

    /// Returns the queue of checks that look at thousands of edges of relations, which leave half of the cores to everything
    /// else. One takes some 20 ms. The memory for bodies bounds how many wait.
    pub fn for_walks(cores: usize) -> Self {
        let limits = TurnLimits { pending_per_tenant: 1_024, ..half_of(cores) };
        Self::new(
            limits,
            |_| "too many checks of this tenant that look at many relations wait; try again later",
        )
    }

    /// Returns the queue of scans of the record of decisions, which read many files of a tenant. A scan ends after
    /// [`SCAN_TIME`](crate::searches::SCAN_TIME). One tenant never has every turn, so that others wait for none of its scans.
    pub fn for_record_scans(cores: usize) -> Self {
        let limits = TurnLimits {
            at_once: (cores / 2).max(2),
            pending_per_tenant: 16,
            wait: Some(Duration::from_secs(15)),
            ..half_of(cores)
        };
        Self::new(
            limits,
            |_| "too many questions for recorded decisions of this tenant run already; try again later",
        )
    }

    /// Returns the queue of the scans of each member: one at a time, and three that wait.
    pub fn for_scans_of_member() -> Self {
        let limits =
            TurnLimits { per_tenant: 1, pending_per_tenant: 4, wait: WAIT, ..TurnLimits::NONE };
        Self::new(
            limits,
            |_| "too many of your questions for recorded decisions run already; try again later",
        )
    }

    /// Returns the queue of the scans of all members of each tenant, of which one has a turn of the tenant.
    pub fn for_scans_of_members() -> Self {
        let limits =
            TurnLimits { per_tenant: 1, pending_per_tenant: 16, wait: WAIT, ..TurnLimits::NONE };
        Self::new(
            limits,
            |_| "too many questions of members for recorded decisions run already; try again later",
        )
    }

    /// Returns the queue of judgements, which leave half of the cores to everything else. A judgement decides up to 1,000
    /// cases on all content of a tenant, for 10 s at most. A tenant judges one change at a time, and waits for
    /// changes of others while its request may.
    pub fn for_judgements(cores: usize) -> Self {
        let wait = Some(Duration::from_secs(10));
        let limits = TurnLimits { per_tenant: 1, pending_per_tenant: 64, wait, ..half_of(cores) };
        Self::new(limits, |_| {
            "too many changes of this tenant wait for the judgement of its cases, and nothing was written; try again \
             later"
        })
    }

    /// Returns the queue of exports, which read while their clients take them. They use at most half of the connections that
    /// read SQLite.
    pub fn for_exports() -> Self {
        let limits = TurnLimits {
            at_once: 2,
            per_tenant: 1,
            pending_per_tenant: 32,
            wait: Some(Duration::from_secs(20)),
            ..TurnLimits::NONE
        };
        Self::new(limits, |_| "too many exports run already; try again later")
    }

    /// Returns the queue of uploads. An upload takes up to 34 MiB while its form is read, and up to 16 MiB until its module is
    /// compiled, so that all take at most 136 MiB. Two modules compile at a time, so that more uploads would only wait. An
    /// upload waits for uploads of other tenants, and not for its own tenant's. One that waits holds a connection; its
    /// body is not read.
    pub fn for_uploads() -> Self {
        let limits = TurnLimits {
            at_once: 4,
            per_tenant: 2,
            pending_per_tenant: 2,
            waiting: 64,
            wait: Some(Duration::from_secs(10)),
            ..TurnLimits::NONE
        };
        Self::new(limits, |refusal| match refusal {
            TurnRefusal::TenantFull => {
                "too many bundles or modules of this tenant are being read, and nothing was written; try again later"
            }
            TurnRefusal::Full | TurnRefusal::Late => {
                "too many bundles or modules in all are being read, and nothing was written; try again later"
            }
        })
    }

    /// Returns the queue of replays, which may use every core while nobody else has a turn. A part takes some 20 ms, and the
    /// number of replays bounds how many wait.
    pub fn for_replays(cores: usize) -> Self {
        let limits = TurnLimits { at_once: cores, per_tenant: cores.max(2), ..TurnLimits::NONE };
        Self::new(limits, |_| "too many replays of this tenant run already; try again later")
    }

    fn new(limits: TurnLimits, refusal: fn(TurnRefusal) -> &'static str) -> Self {
        Self { turns: TurnQueue::new(limits), refusal }
    }

    /// Waits for a turn of `tenant`.
    ///
    /// # Errors
    /// Too much work of the tenant waits, or the wait takes too long.
    pub async fn begin(&self, tenant: &str) -> Result<Turn, OperationError> {
        let turn = self.turns.begin(tenant).await;
        turn.map_err(|refusal| OperationError::NotNow((self.refusal)(refusal).to_owned()))
    }

    /// Runs `work` of `tenant` on a thread that serves no requests, when it is its turn. The turn lasts until the work is
    /// done, even if the caller goes away.
    ///
    /// # Errors
    /// The errors of [`WorkQueue::begin`], or the process stops.
    pub async fn run<T: Send + 'static>(
        &self,
        tenant: &str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, OperationError> {
        let turn = self.begin(tenant).await?;
        let done = run_apart(move || {
            let _turn = turn;
            work()
        });
        Ok(done.await?)
    }

    /// Returns the number of tenants with work that runs or waits.
    pub fn tenants(&self) -> usize {
        self.turns.tenants()
    }
}

/// Returns the limits of work that takes at most half of the cores, and for one tenant a quarter.
fn half_of(cores: usize) -> TurnLimits {
    let (at_once, per_tenant) = ((cores / 2).max(1), (cores / 4).max(1));
    TurnLimits { at_once, per_tenant, wait: WAIT, ..TurnLimits::NONE }
}

/// Bytes that hold a turn.
struct Held {
    bytes: Bytes,
    _turn: Turn,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Returns `bytes` as the owner of `turn`, which ends when the last copy of the bytes is dropped.
pub fn hold_turn(turn: Turn, bytes: Bytes) -> Bytes {
    Bytes::from_owner(Held { bytes, _turn: turn })
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;
    use tokio::time::timeout;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_refusal_says_whose_uploads_are_too_many() {
        let uploads = WorkQueue::for_uploads();
        let mut turns = Vec::new();
        for tenant in ["acme", "acme", "bolt", "cord"] {
            turns.push(uploads.begin(tenant).await.expect("free"));
        }
        for (tenant, whose) in [("acme", "of this tenant"), ("bolt", "in all")] {
            let Err(OperationError::NotNow(what)) = uploads.begin(tenant).await else {
                panic!("all turns are taken");
            };
            assert!(
                what.starts_with(&format!("too many bundles or modules {whose} are")),
                "{what}"
            );
        }
    }

    /// Takes turns of a tenant until none is free. Returns them.
    async fn take_all(queue: &WorkQueue, tenant: &str) -> Vec<Turn> {
        let mut turns = Vec::new();
        while let Ok(Ok(turn)) = timeout(Duration::ZERO, queue.begin(tenant)).await {
            turns.push(turn);
        }
        turns
    }

    #[tokio::test(start_paused = true)]
    async fn scans_of_one_tenant_leave_a_turn_to_others() {
        for cores in [1, 2, 8] {
            let scans = WorkQueue::for_record_scans(cores);
            let turns = take_all(&scans, "acme").await;
            assert!(!turns.is_empty());
            let other = timeout(Duration::ZERO, scans.begin("bolt")).await;
            other.expect("at once").expect("a turn");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn searches_of_one_tenant_use_every_core_until_another_tenant_searches() {
        for cores in [2, 4, 8] {
            let searches = WorkQueue::for_searches(cores);
            let mut turns = take_all(&searches, "acme").await;
            assert_eq!(turns.len(), cores);
            let others = take_all(&searches, "bolt").await;
            assert_eq!(others.len(), (cores / 4).max(1), "at once, its part");
            turns.truncate(cores - others.len());
            assert!(take_all(&searches, "acme").await.is_empty(), "what was lent is given back");
            drop(others);
            assert!(!take_all(&searches, "acme").await.is_empty());
        }
    }

    #[tokio::test]
    async fn a_turn_lasts_as_long_as_any_copy_of_the_bytes() {
        let uploads = WorkQueue::for_uploads();
        let turn = uploads.begin("acme").await.expect("free");
        let bytes = hold_turn(turn, Bytes::from_static(b"a module"));
        let part = bytes.slice(2..);
        assert_eq!(&*part, b"module");
        drop(bytes);
        assert_eq!(uploads.tenants(), 1);
        drop(part);
        assert_eq!(uploads.tenants(), 0);
    }

    #[tokio::test]
    async fn a_turn_lasts_until_the_work_is_done() {
        let queue = WorkQueue::for_compilations(1);
        let (release, released) = std::sync::mpsc::channel::<()>();
        let (begun, begins) = oneshot::channel();
        let work = move || {
            begun.send(()).expect("the test waits");
            released.recv()
        };
        // Its caller goes away when the work has begun.
        tokio::select! {
            _ = queue.run("acme", work) => panic!("it waits"),
            begun = begins => begun.expect("it begins"),
        }
        let next = queue.run("bolt", || 7);
        assert!(timeout(Duration::ZERO, next).await.is_err());
        release.send(()).expect("the work waits");
        assert!(matches!(queue.run("bolt", || 7).await, Ok(7)));
        assert_eq!(queue.tenants(), 0);
    }
}
