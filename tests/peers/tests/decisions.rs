//! Every peer decides every workload correctly, so that measurements compare the same work.

use anyhow::{Result, ensure};
use portcullis_peers::{Cached, Casbin, Cedar, Interpreted, Machine, Peer, Plain, Rego, Slice};
use portcullis_workloads::plain_request::PlainRequest;
use portcullis_workloads::{Workload, w1, w3, w4_over};

fn decides_rightly(workload: &Workload, mut peer: impl Peer) -> Result<()> {
    for request in workload.requests.iter().take(200) {
        let text = request.text();
        let allowed = peer.allows(&PlainRequest::parse(&text)?)?;
        ensure!(allowed == request.allow, "{}: wrong for {text}", workload.name);
    }
    Ok(())
}

fn workloads() -> [Workload; 5] {
    [w1(), w3(1), w3(10), w3(100), w4_over(3)]
}

#[test]
fn cedar() -> Result<()> {
    for workload in workloads() {
        decides_rightly(&workload, Cedar::load(&workload, Slice::Resource)?)?;
    }
    decides_rightly(&w3(100), Cedar::load(&w3(100), Slice::Department)?)
}

#[test]
fn regorus() -> Result<()> {
    for workload in workloads() {
        decides_rightly(&workload, Rego::<Interpreted>::load(&workload)?)?;
        decides_rightly(&workload, Rego::<Machine>::load(&workload)?)?;
    }
    Ok(())
}

#[test]
fn casbin() -> Result<()> {
    for workload in workloads() {
        decides_rightly(&workload, Casbin::<Plain>::load(&workload)?)?;
        decides_rightly(&workload, Casbin::<Cached>::load(&workload)?)?;
    }
    Ok(())
}

#[test]
fn a_change_is_seen() -> Result<()> {
    let workload = w1();
    sees_change(&workload, Cedar::load(&workload, Slice::Resource)?)?;
    sees_change(&workload, Rego::<Interpreted>::load(&workload)?)?;
    sees_change(&workload, Rego::<Machine>::load(&workload)?)?;
    sees_change(&workload, Casbin::<Plain>::load(&workload)?)?;
    sees_change(&workload, Casbin::<Cached>::load(&workload)?)
}

fn sees_change(workload: &Workload, mut peer: impl Peer) -> Result<()> {
    let (request, rule) = workload.request_of_one_rule()?;
    let text = request.text();
    let request = PlainRequest::parse(&text)?;
    for present in [false, true, false, true] {
        peer.change(rule, present)?;
        ensure!(peer.allows(&request)? == present, "the change must be seen");
    }
    Ok(())
}
