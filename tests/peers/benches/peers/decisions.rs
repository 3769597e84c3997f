//! Decisions: W1 to W5.

use std::time::Duration;

use anyhow::Result;
use portcullis_peers::{Cedar, Peer, Slice};
use portcullis_workloads::limit::Limit;
use portcullis_workloads::measure::{Samples, Variant, compare};
use portcullis_workloads::plain_request::{PlainRequest, read_all};
use portcullis_workloads::report::{Bar, Group};
use portcullis_workloads::{W2_SIZES, W3_SIZES, Workload, w1, w2, w3, w4};

use crate::PEERS;
use crate::ours::{Plans, bodies};

/// The maximum time for verifying a peer's decisions. A slow peer is timed on fewer requests.
const CHECKING: Duration = Duration::from_millis(300);

type Named = (&'static str, Box<dyn Peer>);

pub(crate) fn rules(group: &mut Group<'_>) -> Result<()> {
    for workload in [w1()].into_iter().chain(W2_SIZES.map(w2)) {
        let samples = from_strings(&workload, load_all(&workload)?)?;
        let name = &workload.name;
        group.times(name, &samples);
        ratio(group, name, &samples, "regorus interpreted", Bar::Shown);
        ratio(group, name, &samples, "regorus compiled", Bar::AtLeast(20.0));
        ratio(group, name, &samples, "Cedar", Bar::Shown);
        ratio(group, name, &samples, "casbin", Bar::Shown);
        ratio(group, name, &samples, "casbin cached hit", Bar::AtLeast(1.0));
    }
    Ok(())
}

pub(crate) fn policies(group: &mut Group<'_>) -> Result<()> {
    for workload in W3_SIZES.map(w3) {
        let mut peers = load_all(&workload)?;
        let sliced = Cedar::load(&workload, Slice::Department)?;
        peers.push(("Cedar sliced by department", Box::new(sliced)));
        let samples = from_strings(&workload, peers)?;
        let name = &workload.name;
        group.times(name, &samples);
        let bar = |least| match workload.policies.len() {
            10_000 => Bar::AtLeast(least),
            _ => Bar::Shown,
        };
        ratio(group, name, &samples, "regorus interpreted", Bar::Shown);
        ratio(group, name, &samples, "regorus compiled", bar(40.0));
        ratio(group, name, &samples, "Cedar", bar(6_000.0));
        ratio(group, name, &samples, "Cedar sliced by department", Bar::Shown);
        ratio(group, name, &samples, "casbin", Bar::Shown);
        ratio(group, name, &samples, "casbin cached hit", Bar::Shown);
    }
    Ok(())
}

pub(crate) fn both(group: &mut Group<'_>) -> Result<()> {
    let workload = w4();
    let samples = from_strings(&workload, load_all(&workload)?)?;
    group.times(&workload.name, &samples);
    for (peer, _) in PEERS {
        ratio(group, &workload.name, &samples, peer, Bar::Shown);
    }
    Ok(())
}

/// W5: peers take the result of the bare parse, which is their fastest way.
pub(crate) fn texts(group: &mut Group<'_>) -> Result<()> {
    for workload in [w4(), w2(10_000)] {
        let (plans, limit, texts) =
            (Plans::compile(&workload)?, Limit::new(&workload), workload.texts());
        let limit = |request: &PlainRequest<'_>| Ok(limit.allows(request));
        let parsed = |index: usize| PlainRequest::parse(&texts[index]);
        let mut peers = load_all(&workload)?;
        let mut variants = vec![
            Variant::checked("ours", workload.right(), |index| plans.allows_text(&texts[index]))?,
            Variant::checked("limit", workload.right(), |index| limit(&parsed(index)?))?,
        ];
        for (name, peer) in &mut peers {
            let allows = |index: usize| peer.allows(&parsed(index)?);
            variants.push(Variant::checked_within(CHECKING, *name, workload.right(), allows)?);
        }
        let samples = compare(variants);
        let name = format!("texts of {}", workload.name);
        group.times(&name, &samples);
        for (peer, _) in PEERS {
            ratio(group, &name, &samples, peer, Bar::Shown);
        }
    }
    Ok(())
}

fn load_all(workload: &Workload) -> Result<Vec<Named>> {
    PEERS.into_iter().map(|(name, load)| Ok((name, load(workload)?))).collect()
}

/// Times all engines on the strings of the workload's requests.
fn from_strings(workload: &Workload, mut peers: Vec<Named>) -> Result<Vec<Samples>> {
    let (plans, bodies) = (Plans::compile(workload)?, bodies(workload)?);
    let (limit, texts) = (Limit::new(workload), workload.texts());
    let plain_requests = read_all(&texts)?;
    let mut variants = vec![
        Variant::checked("ours", workload.right(), |index| Ok(plans.allows(bodies[index])))?,
        Variant::checked("limit", workload.right(), |index| {
            Ok(limit.allows(&plain_requests[index]))
        })?,
    ];
    for (name, peer) in &mut peers {
        let allows = |index: usize| peer.allows(&plain_requests[index]);
        variants.push(Variant::checked_within(CHECKING, *name, workload.right(), allows)?);
    }
    Ok(compare(variants))
}

/// Returns the time of `peer` relative to ours.
fn ratio(group: &mut Group<'_>, workload: &str, samples: &[Samples], peer: &str, bar: Bar) {
    if let Some(sample) = samples.iter().find(|sample| sample.name == peer) {
        group.measurement(format!("{workload}: {peer} / ours"), sample.ratio(&samples[0]), "", bar);
    }
}
