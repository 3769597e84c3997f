//! Bar 6: one change among 10,000 rules, and the next correct decision.

use std::cell::Cell;

use anyhow::{Result, ensure};
use portcullis_engine::{CheckBody, Plan};
use portcullis_workloads::measure::{Variant, compare};
use portcullis_workloads::report::{Bar, Group};
use portcullis_workloads::{DOMAIN, Workload, w2};

use crate::lookups::{Cache, cached};
use crate::ours::{Source, allows, bodies, pattern, sources};

/// A tenant whose plans are cached: one resource that changes, and other resources.
struct Tenant {
    cache: Cache,
    resource: String,
    /// The resource's rules with and without the one that allows the request.
    versions: [Source; 2],
    body: CheckBody<'static>,
    others: Vec<(String, Source)>,
    revision: Cell<u64>,
}

impl Tenant {
    fn new(workload: &Workload, others: usize) -> Result<Self> {
        let mut sources = sources(workload)?;
        let allowed =
            workload.requests.iter().position(|request| request.allow).unwrap_or_default();
        let body = bodies(workload)?[allowed];
        let resource = body.resource.to_owned();
        let with = sources.remove(&resource).unwrap_or_default();
        let mut without = with.clone();
        let roles = &workload.requests[allowed].roles;
        let action = body.action.text();
        without.rules.retain(|rule| !(rule.tuple.act == action && roles.contains(&rule.tuple.sub)));
        let mut others: Vec<_> = sources.into_iter().take(others).collect();
        others.sort_by(|a, b| a.0.cmp(&b.0));
        let tenant = Self {
            cache: Cache::new(u64::MAX),
            resource,
            versions: [with, without],
            body,
            others,
            revision: Cell::new(0),
        };
        // Loaded before the changes, so that a later load is due to one of these.
        tenant.look_others_up();
        Ok(tenant)
    }

    /// Removes or adds the rule of the request, and decides the request.
    fn change_and_decide(&self) -> bool {
        let revision = self.revision.get() + 1;
        self.revision.set(revision);
        let touched = pattern(&self.resource).into_iter().map(Into::into).collect();
        self.cache.publish(DOMAIN, revision, touched);
        self.decide()
    }

    fn decide(&self) -> bool {
        let revision = self.revision.get();
        // Even revisions have the rule.
        let load = || self.versions[revision as usize % 2].compile(&self.resource, revision);
        allows(cached(&self.cache, DOMAIN, &self.resource, load).plan(), self.body)
    }

    /// Looks up the plans of the other resources. Returns the number of loads.
    fn look_others_up(&self) -> usize {
        let loads = Cell::new(0);
        for (resource, source) in &self.others {
            let load = || -> Plan {
                loads.set(loads.get() + 1);
                source.compile(resource, self.revision.get())
            };
            cached(&self.cache, DOMAIN, resource, load);
        }
        loads.get()
    }
}

pub(crate) fn change(group: &mut Group<'_>) -> Result<()> {
    let workload = w2(10_000);
    let [few, many] = [Tenant::new(&workload, 1)?, Tenant::new(&workload, 1_000)?];
    for tenant in [&few, &many] {
        for _ in 0..100 {
            let changed = tenant.change_and_decide();
            let right = tenant.revision.get() % 2 == 0;
            ensure!(changed == right, "the decision after a change must be {right}");
        }
        let what = format!("{} other plans: loaded anew after 100 changes", tenant.others.len());
        group.measurement(what, tenant.look_others_up() as f64, "", Bar::AtMost(0.0));
    }
    let samples = compare(vec![
        Variant::new("one decision, plan looked up", 1, |_| many.decide()),
        Variant::new("change to decision, 1 other plan", 1, |_| few.change_and_decide()),
        Variant::new("change to decision, 999 other plans", 1, |_| many.change_and_decide()),
    ]);
    group.times("10 rules of 10,000", &samples);
    let ratio = samples[2].ratio(&samples[0]);
    group.measurement("change to decision / one decision", ratio, "", Bar::AtMost(20.0));
    let ratio = samples[2].ratio(&samples[1]);
    group.measurement("change to decision, 999 / 1 other plans", ratio, "", Bar::AtMost(1.3));
    Ok(())
}
