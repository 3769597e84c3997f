//! The replays of recorded decisions that run, and the reports of those that ended (`docs/semantics.md`, section 18.1).

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use portcullis_fairness::{Turn, TurnLimits, TurnQueue};
use portcullis_model::replay::ReplayReport;
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;
use uuid::Uuid;

use crate::error::OperationError;
use crate::machine::cores;
use crate::searches::Awaited;
use crate::turns::WorkQueue;

/// The time for which the report of an ended replay is kept.
const KEPT: Duration = Duration::from_secs(600);
/// The most replays of one tenant, ended ones included.
const MAX_OF_TENANT: usize = 16;
/// The most replays of one tenant that run.
const MAX_RUNNING: usize = 4;
/// The most replays of all tenants. Each has a report of some 200 KiB.
const MAX: usize = 256;
/// The most replays that work at the same time, one of a tenant: rules are in memory for those alone.
const MAX_WORKING: usize = 8;

/// The replays of this process.
#[derive(Debug)]
pub struct Replays {
    known: Mutex<HashMap<Uuid, Known>>,
    /// The turns in which parts of replays are decided.
    pub queue: WorkQueue,
    working: TurnQueue,
}

#[derive(Debug)]
struct Known {
    tenant: Box<str>,
    progress: watch::Receiver<ReplayProgress>,
    /// The replay ends when they are dropped.
    _wanted: (Arc<()>, oneshot::Sender<()>),
}

/// The outcome of a replay so far.
#[derive(Clone, Debug)]
pub struct ReplayProgress {
    pub report: ReplayReport,
    /// The instant at which it ended, complete or not.
    pub ended: Option<Instant>,
    /// The reason why it could not be completed.
    pub failure: Option<String>,
    /// The number of the tenant's ended erasures at the begin: the report is outdated when there is another one.
    pub erasures: i64,
}

/// The side of a replay that is watched.
#[derive(Debug)]
pub struct RunningReplay {
    pub id: Uuid,
    pub progress: watch::Sender<ReplayProgress>,
    /// Whether the outcome is still wanted.
    pub awaited: Awaited,
    /// Ends when the outcome is not wanted any more.
    pub deleted: oneshot::Receiver<()>,
}

impl Default for Replays {
    fn default() -> Self {
        let limits = TurnLimits { at_once: MAX_WORKING, per_tenant: 1, ..TurnLimits::NONE };
        let (known, queue) = (Mutex::default(), WorkQueue::for_replays(cores()));
        Self { known, queue, working: TurnQueue::new(limits) }
    }
}

impl Replays {
    /// Begins the replay `id` of `tenant`, whose ended erasures have the number `erasures`. Forgets the reports that are not kept
    /// any more.
    ///
    /// # Errors
    /// Too many replays of the tenant, or of all tenants, run.
    pub fn begin(
        &self,
        tenant: &str,
        (id, erasures): (Uuid, i64),
        report: ReplayReport,
    ) -> Result<RunningReplay, OperationError> {
        let mut known = self.known.lock();
        known.retain(|_, one| !one.is_old());
        if known.values().filter(|one| *one.tenant == *tenant && one.ended().is_none()).count()
            >= MAX_RUNNING
        {
            let what = "four replays of this tenant run already; wait for one, or delete it";
            return Err(OperationError::NotNow(what.to_owned()));
        }
        let own = known.values().filter(|one| *one.tenant == *tenant).count();
        // Fewer than these run, so that one of them has ended.
        if own >= MAX_OF_TENANT
            && let Some(old) = oldest_ended(&known, Some(tenant))
        {
            known.remove(&old);
        }
        if known.len() >= MAX {
            let Some(old) = oldest_ended(&known, None) else {
                let what = "too many replays run already; try again later";
                return Err(OperationError::NotNow(what.to_owned()));
            };
            known.remove(&old);
        }
        let (progress, seen) =
            watch::channel(ReplayProgress { report, ended: None, failure: None, erasures });
        let wanted = Arc::new(());
        let awaited = Awaited::while_held(&wanted);
        let (sender, deleted) = oneshot::channel();
        let one = Known { tenant: tenant.into(), progress: seen, _wanted: (wanted, sender) };
        known.insert(id, one);
        Ok(RunningReplay { id, progress, awaited, deleted })
    }

    /// Waits until a replay of `tenant` may work: the others of the tenant wait for it.
    pub async fn turn(&self, tenant: &str) -> Turn {
        self.working.begin_patiently(tenant).await
    }

    /// Returns the progress of the replay `id` of `tenant`; `None` if this process does not know it (any more).
    pub fn find(&self, tenant: &str, id: Uuid) -> Option<watch::Receiver<ReplayProgress>> {
        let mut known = self.known.lock();
        known.retain(|_, one| !one.is_old());
        // Another tenant that knows the id learns nothing by it.
        known.get(&id).filter(|one| *one.tenant == *tenant).map(|one| one.progress.clone())
    }

    /// Ends the replay `id` of `tenant`, and forgets it. Returns whether there was one.
    pub fn remove(&self, tenant: &str, id: Uuid) -> bool {
        let mut known = self.known.lock();
        let is_own = known.get(&id).is_some_and(|one| *one.tenant == *tenant);
        is_own && known.remove(&id).is_some()
    }

    /// Returns the number of replays that are known.
    pub fn count(&self) -> usize {
        self.known.lock().len()
    }
}

impl Known {
    /// Returns the instant at which it ended; `None` while it runs.
    fn ended(&self) -> Option<Instant> {
        self.progress.borrow().ended
    }

    fn is_old(&self) -> bool {
        self.ended().is_some_and(|ended| ended.elapsed() >= KEPT)
    }
}

/// Returns the replay of `tenant`, or of any tenant, that ended first.
fn oldest_ended(known: &HashMap<Uuid, Known>, tenant: Option<&str>) -> Option<Uuid> {
    let all = known.iter().filter(|(_, one)| tenant.is_none_or(|tenant| *one.tenant == *tenant));
    let ended = all.filter_map(|(id, one)| Some((one.ended()?, *id)));
    ended.min().map(|(_, id)| id)
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use tokio::sync::oneshot::error::TryRecvError;

    use super::*;

    #[tokio::test]
    async fn one_replay_of_a_tenant_works_at_a_time() {
        let replays = Replays::default();
        let first = replays.turn("acme").await;
        assert!(replays.turn("acme").now_or_never().is_none());
        let others: Vec<_> = (1..MAX_WORKING)
            .filter_map(|number| replays.turn(&format!("other-{number}")).now_or_never())
            .collect();
        assert_eq!(others.len(), MAX_WORKING - 1);
        assert!(replays.turn("one-more").now_or_never().is_none(), "all have their bound");
        drop(first);
        assert!(replays.turn("acme").now_or_never().is_some());
    }

    fn end(running: &RunningReplay) {
        running.progress.send_modify(|progress| progress.ended = Some(Instant::now()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_tenant_has_a_few_running_replays_and_a_few_ended_ones() {
        let (replays, mut ids) = (Replays::default(), (1..).map(Uuid::from_u128));
        let mut begin = |tenant| {
            let id = ids.next().expect("endless");
            replays.begin(tenant, (id, 0), ReplayReport::default())
        };
        let (mut first, second) = (begin("acme").expect("one"), begin("acme").expect("two"));
        let others = [begin("acme").expect("three"), begin("acme").expect("four")];
        assert!(begin("acme").is_err(), "four run");
        begin("other").expect("of another tenant");
        assert!(replays.find("other", first.id).is_none(), "of another tenant");
        assert!(!replays.remove("other", first.id) && first.awaited.check().is_ok());
        assert!(first.deleted.try_recv().is_err_and(|error| error == TryRecvError::Empty));
        assert!(replays.remove("acme", first.id), "it runs");
        assert!(first.awaited.check().is_err(), "nobody waits for a deleted one");
        assert!(first.deleted.await.is_err(), "it is told");
        others.iter().for_each(end);
        end(&second);
        for _ in 0..MAX_OF_TENANT {
            tokio::time::advance(Duration::from_millis(1)).await;
            end(&begin("acme").expect("none runs"));
        }
        assert!(replays.find("acme", second.id).is_none(), "the oldest one went");
        assert_eq!(replays.count(), MAX_OF_TENANT + 1);
        tokio::time::advance(KEPT).await;
        assert!(replays.find("acme", second.id).is_none());
        assert_eq!(replays.count(), 1, "the one that runs stays");
    }
}
