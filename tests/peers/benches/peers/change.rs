//! Removes or adds one rule of 10,000, and decides the next request that it matches. The benchmark of the plan cache
//! measures our bar 6.

use anyhow::Result;
use portcullis_workloads::measure::{Variant, compare};
use portcullis_workloads::plain_request::PlainRequest;
use portcullis_workloads::report::Group;
use portcullis_workloads::w2;

use crate::PEERS;

pub(crate) fn change(group: &mut Group<'_>) -> Result<()> {
    let workload = w2(10_000);
    let (request, rule) = workload.request_of_one_rule()?;
    let text = request.text();
    let request = &PlainRequest::parse(&text)?;
    let mut variants = Vec::new();
    for (name, load) in PEERS {
        let (mut peer, mut present) = (load(&workload)?, true);
        let change_and_decide = move |_| {
            present = !present;
            peer.change(rule, present)?;
            peer.allows(request)
        };
        // Verifies one removal and one addition; the timed changes continue from there.
        variants.push(Variant::checked(name, [false, true], change_and_decide)?);
    }
    group.times("change to decision", &compare(variants));
    Ok(())
}
