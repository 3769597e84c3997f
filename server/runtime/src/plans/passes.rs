//! Makes the plans of a tenant before checks ask for them (`docs/semantics.md`, section 2.11).

use portcullis_fairness::run_apart;
use portcullis_plan_cache::{NewPlan, Spare, WILDCARD, WarmedTenant};
use portcullis_storage::StoreError;
use tokio::runtime::Handle;
use tokio::time::Instant;

use super::error::PlanError;
use super::parts::{self, Wanted};
use super::warming::{MAX_REST, Pass};
use crate::plans::Plans;

/// From this number of outdated plans on, all records are read together. For fewer, only those that changed are read.
const MANY_OUTDATED: usize = 64;
/// A tenant rests this many times as long as its pass took, so that constant writes cost a tenth of a core.
const REST_FACTOR: u32 = 9;

impl Plans {
    /// Lets the plans of `tenant` be made before checks ask for them, if they never were or something changed since.
    pub(super) fn want_warm(&self, tenant: &str, now: Instant) {
        if self.cache.needs_warming(tenant) {
            self.warming.want(tenant, now);
        }
    }

    /// Makes the plans of every tenant that checks ask about, for as long as the process runs.
    pub(crate) async fn warm_for_ever(&self) {
        loop {
            self.warm().await;
            self.warming.added().await;
        }
    }

    /// Makes the plans of each tenant that waits for it, a part of every tenant in turn, until none waits.
    pub async fn warm(&self) {
        while let Some(mut pass) = self.warming.next() {
            let began = Instant::now();
            let outcome = self.warm_part(&mut pass).await;
            let now = Instant::now();
            pass.spent += now - began;
            match outcome {
                Ok(true) => self.warming.go_on(pass),
                Ok(false) => self.warming.end(&pass, REST_FACTOR * pass.spent, now),
                Err(error) => {
                    tracing::debug!(tenant = &*pass.tenant, %error, "cannot make plans before checks");
                    pass.warmed.as_ref().inspect(|warmed| warmed.abandon());
                    self.warming.end(&pass, MAX_REST, now);
                }
            }
        }
    }

    /// Makes the next plans of a pass. Returns whether there are more.
    async fn warm_part(&self, pass: &mut Pass) -> Result<bool, PlanError> {
        let tenant = &*pass.tenant;
        // All others share with the plan of `*`, which also knows the patterns.
        self.get(tenant, WILDCARD, 0).await?;
        let is_beginning = pass.warmed.is_none();
        let warmed = pass.warmed.get_or_insert_with(|| self.cache.begin_warming(tenant));
        // All were made once: only those that changes made outdated are made again.
        if is_beginning && !warmed.is_first() {
            let outdated = self.cache.outdated_resources(warmed);
            if outdated.len() < MANY_OUTDATED {
                for resource in outdated {
                    self.get(tenant, &resource, 0).await?;
                }
                return Ok(false);
            }
        }
        let part = parts::next(&self.store, tenant, &pass.after).await?;
        let mut wanted: Vec<Wanted> = Vec::new();
        for pattern in part.patterns {
            if self.cache.is_cold(warmed, &pattern)
                && let Some(broader) = self.broader(tenant, &pattern).await?
            {
                wanted.push((pattern, broader));
            }
        }
        if !wanted.is_empty() && !self.make_spare(tenant, warmed, &pass.after, wanted).await? {
            return Ok(false);
        }
        let is_more = part.last.is_some();
        pass.after = part.last.unwrap_or_default();
        Ok(is_more)
    }

    /// Makes and keeps plans, whose patterns follow `after`. Returns whether there is room for more.
    async fn make_spare(
        &self,
        tenant: &str,
        warmed: &WarmedTenant,
        after: &str,
        wanted: Vec<Wanted>,
    ) -> Result<bool, PlanError> {
        // Taken before the read, so that a commit during it does not look lost.
        let before = self.histories.last(tenant);
        let runtime = Handle::current();
        let reading = parts::read(self.store.clone(), tenant.to_owned(), after.to_owned(), wanted);
        let records =
            run_apart(move || runtime.block_on(reading)).await.map_err(StoreError::from)??;
        let position = records.position.clone();
        let continuity = self.histories.note_read(tenant, before.as_ref(), position);
        // What was read is of a history that the database lost.
        if self.follow(tenant, continuity).await?.is_some() {
            return Ok(false);
        }
        let (source, facts) = (records.source, self.facts.share(tenant, &records.facts));
        let plans = run_apart(move || records.compile(&facts)).await.map_err(StoreError::from)?;
        let made = plans.len();
        let kept = plans.into_iter().map(|plan| {
            self.over_budget.report(tenant, &plan);
            let resource = plan.resource().to_owned();
            self.cache.keep_spare(warmed, &resource, NewPlan::from(plan))
        });
        // It is lazy, so that nothing is kept behind the first plan without room.
        let kept: Vec<Spare> = kept.take_while(|kept| *kept != Spare::NoRoom).collect();
        let new = kept.iter().filter(|kept| **kept == Spare::Kept).count() as u64;
        self.metrics.loads.inc_by(new);
        self.metrics.sources.count(source, new);
        Ok(kept.len() == made)
    }
}

#[cfg(test)]
mod tests;
