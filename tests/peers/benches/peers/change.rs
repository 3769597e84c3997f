//! One rule of 10,000 taken away or given back, and the next decision of a request that it is about.
//! Bar 6, ours, is measured by the engine's own benchmarks.

use anyhow::Result;
use portcullis_workloads::ask::Ask;
use portcullis_workloads::measure::{Variant, compare};
use portcullis_workloads::report::Group;
use portcullis_workloads::w2;

use crate::PEERS;

pub(crate) fn change(group: &mut Group<'_>) -> Result<()> {
    let workload = w2(10_000);
    let (request, rule) = workload.request_of_one_rule()?;
    let text = request.text();
    let ask = &Ask::parse(&text)?;
    let mut variants = Vec::new();
    for (name, load) in PEERS {
        let (mut peer, mut present) = (load(&workload)?, true);
        let change_and_decide = move |_| {
            present = !present;
            peer.change(rule, present)?;
            peer.allows(ask)
        };
        // Checked on one change away and one back; the changes that are timed go on from there.
        variants.push(Variant::checked(name, [false, true], change_and_decide)?);
    }
    group.times("change to decision", &compare(variants));
    Ok(())
}
