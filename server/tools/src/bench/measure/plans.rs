//! Measures plans: the time to compile them, and their memory.

use std::hint::black_box;
use std::time::Instant;

use hdrhistogram::Histogram;
use portcullis_engine::Plan;

use super::bench::{Bench, COMPILING, Question, since, times};
use crate::bench::report::{Latency, Memory, PlanSize, Report};

/// The number of times that are kept of each plan. Their median is reported.
const ENOUGH: usize = 101;

impl Bench<'_> {
    /// Compiles every plan at least once, from rules in memory.
    pub(super) fn compile(
        &self,
        first_of_plan: &[&Question<'_>],
        clock: u64,
        report: &mut Report,
    ) -> anyhow::Result<()> {
        let step = self.progress.step("compiling plans", self.share(COMPILING));
        let (mut all, mut own) = (times()?, vec![Vec::new(); first_of_plan.len()]);
        for round in 0.. {
            for (question, own) in first_of_plan.iter().zip(&mut own) {
                let resource = question.check.resource;
                let (rules, policies) = question.tenant.deciding(resource);
                let (rule_count, policy_count) = (rules.len(), policies.len());
                let start = Instant::now();
                let plan = black_box(Plan::compile(resource, 0, &rules, policies));
                let time = since(start, clock);
                all.record(time)?;
                if own.len() < ENOUGH {
                    own.push(time);
                }
                if round == 0 {
                    report.plans.push(PlanSize {
                        tenant: question.tenant.id.clone(),
                        resource: resource.to_owned(),
                        rules: rule_count,
                        policies: policy_count,
                        bytes: plan.weight() as u64,
                        compile_ns: 0,
                    });
                }
            }
            if !step.goes_on() {
                break;
            }
        }
        for (plan, mut own) in report.plans.iter_mut().zip(own) {
            own.sort_unstable();
            plan.compile_ns = own.get(own.len() / 2).copied().unwrap_or_default();
        }
        report.compile = Latency::from(&all);
        report.memory = memory(&report.plans, self.cache_bytes)?;
        // The largest first.
        report
            .plans
            .sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.resource.cmp(&b.resource)));
        Ok(())
    }
}

fn memory(plans: &[PlanSize], cache_bytes: u64) -> anyhow::Result<Memory> {
    let mut bytes: Histogram<u64> = times()?;
    for plan in plans {
        bytes.record(plan.bytes)?;
    }
    Ok(Memory {
        total_bytes: plans.iter().map(|plan| plan.bytes).sum(),
        p50_bytes: bytes.value_at_percentile(50.0),
        p99_bytes: bytes.value_at_percentile(99.0),
        max_bytes: plans.iter().map(|plan| plan.bytes).max().unwrap_or_default(),
        cache_bytes,
    })
}
