//! Bars 1 and 2: RBAC rules, from strings to the decision.

use anyhow::Result;
use portcullis_workloads::limit::Limit;
use portcullis_workloads::measure::{Variant, allocations, compare};
use portcullis_workloads::plain_request::read_all;
use portcullis_workloads::report::{Bar, Group};
use portcullis_workloads::{W2_SIZES, Workload, w1, w2};

use crate::ours::{Plans, bodies};

pub(crate) fn against_the_limit(group: &mut Group<'_>) -> Result<()> {
    for workload in [w1()].into_iter().chain(W2_SIZES.map(w2)) {
        hold_against_limit(group, &workload)?;
    }
    Ok(())
}

/// Times the engine and the limit on `workload`. The engine may take three times as long, without an allocation.
pub(crate) fn hold_against_limit(group: &mut Group<'_>, workload: &Workload) -> Result<()> {
    let name = &workload.name;
    let (plans, bodies) = (Plans::compile(workload)?, bodies(workload)?);
    let allocated = allocations(|| {
        bodies.iter().for_each(|body| {
            std::hint::black_box(plans.allows(*body));
        })
    });
    let limit = Limit::new(workload);
    let texts = workload.texts();
    let plain_requests = read_all(&texts)?;
    let samples = compare(vec![
        Variant::checked("ours", workload.right(), |index| Ok(plans.allows(bodies[index])))?,
        Variant::checked("limit", workload.right(), |index| {
            Ok(limit.allows(&plain_requests[index]))
        })?,
    ]);
    group.times(name, &samples);
    group.measurement(
        format!("{name}: ours / limit"),
        samples[0].ratio(&samples[1]),
        "",
        Bar::AtMost(3.0),
    );
    let each = allocated as f64 / bodies.len() as f64;
    group.measurement(format!("{name}: allocations per decision"), each, "", Bar::AtMost(0.0));
    Ok(())
}

pub(crate) fn flat(group: &mut Group<'_>) -> Result<()> {
    let (small, large) = (w1(), w2(100_000));
    let plans = [Plans::compile(&small)?, Plans::compile(&large)?];
    let bodies = [bodies(&small)?, bodies(&large)?];
    let allows = |nth: usize| {
        let (plans, bodies) = (&plans[nth], &bodies[nth]);
        move |index: usize| Ok(plans.allows(bodies[index]))
    };
    let samples = compare(vec![
        Variant::checked("100 rules", small.right(), allows(0))?,
        Variant::checked("100,000 rules", large.right(), allows(1))?,
    ]);
    group.times("ours", &samples);
    group.measurement(
        "100,000 rules / 100 rules",
        samples[1].ratio(&samples[0]),
        "",
        Bar::AtMost(1.3),
    );
    Ok(())
}
