//! Bars 3 and 4: policies with conditions.

use anyhow::Result;
use portcullis_engine::CheckBody;
use portcullis_workloads::limit::{Closures, Limit, Tree};
use portcullis_workloads::measure::{Variant, compare};
use portcullis_workloads::plain_request::{PlainRequest, read_all};
use portcullis_workloads::report::{Bar, Group};
use portcullis_workloads::{W3_SIZES, Workload};

use crate::ours::{Plans, allows, bodies};
use crate::rules::hold_against_limit;

/// One size of W3, prepared for all variants.
struct Case {
    workload: Workload,
    plans: Plans,
    bodies: Vec<CheckBody<'static>>,
    closures: Closures,
    tree: Tree,
    limit: Limit,
    texts: Vec<String>,
}

impl Case {
    fn new(policies: usize) -> Result<Self> {
        let workload = portcullis_workloads::w3(policies);
        Ok(Self {
            plans: Plans::compile(&workload)?,
            bodies: bodies(&workload)?,
            closures: Closures::new(&workload.policies),
            tree: Tree::new(&workload.policies),
            limit: Limit::new(&workload),
            texts: workload.texts(),
            workload,
        })
    }

    fn variants<'c>(&'c self, plain_requests: &'c [PlainRequest<'c>]) -> Result<[Variant<'c>; 4]> {
        let right = || self.workload.right();
        // Like the closures, this looks no resource up.
        let plan = self.plans.only()?;
        Ok([
            Variant::checked("ours", right(), |index| Ok(allows(plan, self.bodies[index])))?,
            Variant::checked("closures", right(), |index| {
                Ok(self.closures.allows(&plain_requests[index]))
            })?,
            Variant::checked("enum tree", right(), |index| {
                Ok(self.tree.allows(&plain_requests[index]))
            })?,
            Variant::checked("indexed limit", right(), |index| {
                Ok(self.limit.allows(&plain_requests[index]))
            })?,
        ])
    }
}

pub(crate) fn w3(group: &mut Group<'_>) -> Result<()> {
    let cases = W3_SIZES.into_iter().map(Case::new).collect::<Result<Vec<_>>>()?;
    let plain_requests =
        cases.iter().map(|case| read_all(&case.texts)).collect::<Result<Vec<_>, _>>()?;
    let mut variants = Vec::new();
    for (case, plain_requests) in cases.iter().zip(&plain_requests) {
        variants.extend(case.variants(plain_requests)?);
    }
    let samples = compare(variants);
    for (case, samples) in cases.iter().zip(samples.chunks(4)) {
        let name = &case.workload.name;
        group.times(name, samples);
        let bar = if case.workload.policies.len() <= 100 { Bar::AtMost(2.0) } else { Bar::Shown };
        group.measurement(
            format!("{name}: ours / closures"),
            samples[0].ratio(&samples[1]),
            "",
            bar,
        );
    }
    let (first, last) = (&samples[0], &samples[samples.len() - 4]);
    group.measurement("10,000 policies / 1 policy", last.ratio(first), "", Bar::AtMost(20.0));
    Ok(())
}

pub(crate) fn w4(group: &mut Group<'_>) -> Result<()> {
    hold_against_limit(group, &portcullis_workloads::w4())
}
