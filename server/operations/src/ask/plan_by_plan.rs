//! Decisions on many resources, plan by plan (`docs/semantics.md`, section 15.3). Only the cache keeps a plan after its
//! resource is decided, so that a report of large plans takes no more memory than checks do.

use std::time::Duration;

use portcullis_engine::{CheckKind, Plan};
use portcullis_runtime::entity_tables::EntityTables;
use portcullis_runtime::error::OperationError;
use portcullis_runtime::searches::{Awaited, PAGE_TIME};
use tokio::time::Instant;

use crate::decide::plan_source::PlanSource;
use crate::people::directory::NeededEntities;

/// The most rounds in which resources that changed meanwhile are decided again. After them the page ends before the first
/// that changed once more, so that a tenant that writes all the time gets shorter pages.
const MAX_ROUNDS: usize = 3;

/// The time after which no resource but the first is decided again. The page ends before the one that changed.
const MAX_TIME: Duration = PAGE_TIME.saturating_mul(3);

/// A report on resources of one tenant.
#[derive(Clone, Copy)]
pub(crate) struct PlanByPlan<'r> {
    pub(crate) plans: PlanSource<'r>,
    pub(crate) entities: &'r EntityTables,
    pub(crate) tenant: &'r str,
    /// Decides by rules of this revision or a later one.
    pub(crate) at_least: u64,
    /// Ends the report if nobody waits for it any more.
    pub(crate) awaited: &'r Awaited,
    /// The time at which the page began.
    pub(crate) began: Instant,
    /// The most bytes of a page. It ends before the resource that exceeds them.
    pub(crate) max_bytes: usize,
}

/// Something that is kept until its page is sent.
pub(crate) trait Weighed {
    /// Returns the bytes of its texts.
    fn weight(&self) -> usize;
}

/// The decisions about the first resources of a list.
#[derive(Debug)]
pub(crate) struct Decided<T> {
    /// One for each of the first resources: for at least one, unless there are none.
    pub(crate) of_resources: Vec<T>,
    /// The revision of the tenant that all reflect.
    pub(crate) revision: u64,
    /// The revision of the entities; `None` if no decision needed them.
    pub(crate) entities_revision: Option<u64>,
}

impl PlanByPlan<'_> {
    /// Decides `resources` by `decide`, each by its plan, until the page is full or its time over. All are decided by rules
    /// of one revision, and by one state of the directory.
    ///
    /// # Errors
    /// An error of `decide`; a plan or the directory cannot be had, or nobody waits for the report.
    pub(crate) async fn decide<T: Weighed>(
        &self,
        resources: &[&str],
        mut decide: impl FnMut(&str, &Plan, &NeededEntities) -> Result<T, OperationError>,
    ) -> Result<Decided<T>, OperationError> {
        let mut entities = NeededEntities::Unneeded;
        let (mut decided, mut revisions, mut bytes) = (Vec::new(), Vec::new(), 0);
        for resource in resources {
            if !decided.is_empty() && self.began.elapsed() >= PAGE_TIME {
                break;
            }
            let (one, revision) =
                self.decide_one(resource, self.at_least, &mut entities, &mut decide).await?;
            bytes += one.weight();
            if !decided.is_empty() && bytes > self.max_bytes {
                break;
            }
            decided.push(one);
            revisions.push(revision);
        }
        // The rules may have changed in between: what they affect is decided again, by the newest of them.
        for _ in 0..MAX_ROUNDS {
            let newest = revisions.iter().copied().max().unwrap_or_default();
            let (mut kept, mut bytes) = (0, 0);
            for ((resource, one), revision) in
                resources.iter().zip(&mut decided).zip(&mut revisions)
            {
                if !self.plans.is_unaffected(self.tenant, resource, *revision, newest) {
                    if kept > 0 && self.began.elapsed() >= MAX_TIME {
                        break;
                    }
                    (*one, *revision) =
                        self.decide_one(resource, newest, &mut entities, &mut decide).await?;
                }
                // What is decided again may be larger than before.
                bytes += one.weight();
                if kept > 0 && bytes > self.max_bytes {
                    break;
                }
                kept += 1;
            }
            decided.truncate(kept);
            revisions.truncate(kept);
        }
        let (agreed, revision) = agreed(self.plans, self.tenant, resources, &revisions);
        decided.truncate(agreed);
        // Without resources no plan has a revision.
        Ok(Decided {
            of_resources: decided,
            revision: revision.max(self.at_least),
            entities_revision: entities.revision(),
        })
    }

    /// Decides one resource. Returns the revision of its plan, too.
    async fn decide_one<T>(
        &self,
        resource: &str,
        at_least: u64,
        entities: &mut NeededEntities,
        decide: &mut impl FnMut(&str, &Plan, &NeededEntities) -> Result<T, OperationError>,
    ) -> Result<(T, u64), OperationError> {
        self.awaited.check()?;
        let cached = self.plans.find(self.tenant, resource, at_least).await?;
        let plan = cached.plan();
        entities.load_if_needed(self.entities, self.tenant, plan, CheckKind::Combined).await?;
        Ok((decide(resource, plan, entities)?, cached.revision()))
    }
}

/// Returns how many of the first resources, decided at `revisions`, reflect one revision, and that revision.
fn agreed(
    plans: PlanSource<'_>,
    tenant: &str,
    resources: &[&str],
    revisions: &[u64],
) -> (usize, u64) {
    let mut common = 0;
    for (place, revision) in revisions.iter().enumerate() {
        let newest = common.max(*revision);
        // Those before are known to hold at the common revision.
        let first = if newest == common { place } else { 0 };
        let mut open = resources.iter().zip(revisions).take(place + 1).skip(first);
        if !open.all(|(resource, own)| plans.is_unaffected(tenant, resource, *own, newest)) {
            return (place, common);
        }
        common = newest;
    }
    (revisions.len(), common)
}

#[cfg(test)]
mod tests;
