//! The workloads have their documented sizes, and the hand-written code decides them like the slow reference.

use portcullis_workloads::limit::{Closures, Limit, Tree};
use portcullis_workloads::plain_request::PlainRequest;
use portcullis_workloads::{W3_SIZES, Workload, w1, w2, w3, w4};
use serde_json::Result;

#[track_caller]
fn decides_rightly(workload: &Workload, allows: impl Fn(&PlainRequest<'_>) -> bool) -> Result<()> {
    for (index, request) in workload.requests.iter().enumerate() {
        let text = request.text();
        let right = allows(&PlainRequest::parse(&text)?) == request.allow;
        assert!(right, "{}: request {index}: {text}", workload.name);
    }
    Ok(())
}

#[test]
fn the_limit_decides_rightly() -> Result<()> {
    for workload in [w1(), w2(10_000), w4()].into_iter().chain(W3_SIZES.map(w3)) {
        let limit = Limit::new(&workload);
        decides_rightly(&workload, |request| limit.allows(request))?;
    }
    Ok(())
}

#[test]
fn closures_and_trees_decide_rightly() -> Result<()> {
    for workload in W3_SIZES.map(w3) {
        let closures = Closures::new(&workload.policies);
        decides_rightly(&workload, |request| closures.allows(request))?;
        let tree = Tree::new(&workload.policies);
        decides_rightly(&workload, |request| tree.allows(request))?;
    }
    Ok(())
}

#[test]
fn a_workload_allows_some_and_denies_some() {
    for workload in [w1(), w2(10_000), w2(100_000), w4()].into_iter().chain(W3_SIZES.map(w3)) {
        let allowed = workload.requests.iter().filter(|request| request.allow).count();
        let share = allowed as f64 / workload.requests.len() as f64;
        assert!((0.05..0.95).contains(&share), "{}: {share}", workload.name);
    }
}

#[test]
fn a_workload_is_the_same_every_time() {
    assert_eq!(format!("{:?}", w4()), format!("{:?}", w4()));
    assert_eq!(format!("{:?}", w1()), format!("{:?}", w1()));
}

#[test]
fn rules_are_distinct() {
    for workload in [w1(), w2(10_000), w2(100_000), w4()] {
        let mut tuples: Vec<_> =
            workload.rules.iter().map(|rule| (&rule.sub, &rule.obj, &rule.act)).collect();
        tuples.sort_unstable();
        tuples.dedup();
        assert_eq!(tuples.len(), workload.rules.len(), "{}", workload.name);
    }
}

#[test]
fn about_a_thousandth_of_the_large_w3_matches() {
    let workload = w3(10_000);
    let alone: Vec<_> = workload.policies.chunks(1).map(Closures::new).collect();
    let requests = &workload.requests[..50];
    let matches = |text: String| {
        let request = PlainRequest::parse(&text).expect("sound");
        alone.iter().filter(|policy| policy.allows(&request)).count()
    };
    let all: usize = requests.iter().map(|request| matches(request.text())).sum();
    let share = all as f64 / (requests.len() * alone.len()) as f64;
    assert!((0.0007..0.0015).contains(&share), "{share}");
}
