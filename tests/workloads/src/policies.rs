//! W3 and W4: policies with conditions.

use fastrand::Rng;

use crate::REQUESTS;
use crate::model::{Conditions, SampleAttribute, SamplePolicy, SampleRequest, Workload};
use crate::rbac::{request, rule};
use crate::reference::Reference;

const REGIONS: usize = 10;
const CLEARANCES: usize = 10;

/// W3: `policies` allowing policies of one priority on one resource, for up to 100 departments.
///
/// A policy requires one department, a clearance, and one of five regions out of ten. Policies come by descending
/// clearance, and requests have a low clearance or, in a fifth of them, none. So 0.1 % of the policies match a request,
/// and most others come before the first match: a linear search is long.
pub fn w3(policies: usize) -> Workload {
    let mut rng = Rng::with_seed(3);
    let departments = policies.min(100);
    let all = (0..policies)
        .map(|index| {
            let conditions = Conditions {
                department: department_name(index % departments),
                clearance: 1 + ((policies - 1 - index) * CLEARANCES / policies) as i64,
                regions: some_regions(&mut rng),
            };
            policy(index, 0, true, 0, conditions)
        })
        .collect();
    let requests = (0..REQUESTS)
        .map(|_| {
            let request = request(rng.usize(..100), 10, 0, "read");
            with_attributes(request, &mut rng, departments, 0..=4)
        })
        .collect();
    let name = format!("W3 {policies}");
    Reference::settle(Workload { name, rules: Vec::new(), policies: all, requests })
}

/// W4: 50 rules and 50 policies for each of 100 resources. The policies have 10 priorities; a fifth of them denies.
pub fn w4() -> Workload {
    w4_over(100)
}

/// Makes [`w4`] with this many resources.
pub fn w4_over(resources: usize) -> Workload {
    const EACH: usize = 50;
    const ROLES: usize = 50;
    const DEPARTMENTS: usize = 10;
    let actions = ["read", "write"];
    let mut rng = Rng::with_seed(4);
    let places = || (0..resources).flat_map(|resource| (0..EACH).map(move |nth| (resource, nth)));
    let rules = places()
        .enumerate()
        .map(|(index, (resource, nth))| {
            let allow = rng.u8(..5) > 0;
            rule(index, nth, resource, actions[rng.usize(..2)], allow)
        })
        .collect();
    let policies = places()
        .enumerate()
        .map(|(index, (resource, _))| {
            let conditions = Conditions {
                department: department_name(rng.usize(..DEPARTMENTS)),
                clearance: rng.i64(1..=CLEARANCES as i64),
                regions: some_regions(&mut rng),
            };
            let allow = rng.u8(..5) > 0;
            policy(index, resource, allow, rng.i32(1..=10), conditions)
        })
        .collect();
    let requests = (0..REQUESTS)
        .map(|_| {
            let action = actions[rng.usize(..2)];
            let request = request(rng.usize(..100), ROLES, rng.usize(..resources), action);
            with_attributes(request, &mut rng, DEPARTMENTS, 1..=CLEARANCES as i64)
        })
        .collect();
    Reference::settle(Workload { name: "W4".to_owned(), rules, policies, requests })
}

fn policy(
    index: usize,
    resource: usize,
    allow: bool,
    priority: i32,
    conditions: Conditions,
) -> SamplePolicy {
    SamplePolicy {
        id: index as u128 + 1_000_001,
        name: format!("policy {index} for {}", conditions.department),
        resource: request(0, 1, resource, "").resource,
        allow,
        priority,
        conditions,
    }
}

fn with_attributes(
    request: SampleRequest,
    rng: &mut Rng,
    departments: usize,
    clearances: std::ops::RangeInclusive<i64>,
) -> SampleRequest {
    let department = SampleAttribute::Text(department_name(rng.usize(..departments)));
    let clearance = SampleAttribute::Number(rng.i64(clearances));
    let region = SampleAttribute::Text(region_name(rng.usize(..REGIONS)));
    SampleRequest {
        user: vec![("department".to_owned(), department), ("clearance".to_owned(), clearance)],
        object: vec![("region".to_owned(), region)],
        ..request
    }
}

fn some_regions(rng: &mut Rng) -> Vec<String> {
    let mut regions: Vec<usize> = (0..REGIONS).collect();
    rng.shuffle(&mut regions);
    regions.into_iter().take(REGIONS / 2).map(region_name).collect()
}

fn department_name(department: usize) -> String {
    format!("department-{department:03}")
}

fn region_name(region: usize) -> String {
    format!("region-{region}")
}
