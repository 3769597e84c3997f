//! The example models of Casbin's reference implementation in Go, with the decisions that its own tests expect.

mod attributes;
mod example;
mod patterns;
mod refused;
mod roles;

use attributes::ATTRIBUTES;
use patterns::PATTERNS;
use refused::REFUSED;
use roles::ROLES;

use super::super::requests::Decider;
use super::super::{conversion, lines};

/// The least number of example models that are imported.
const LEAST: usize = 28;

#[test]
fn the_examples_decide_as_casbins_tests_expect() {
    let (mut models, mut allowed, mut asked) = (0, 0, 0);
    for example in ATTRIBUTES.iter().chain(&PATTERNS).chain(&ROLES) {
        models += 1;
        let model = example.parse().unwrap_or_else(|fault| panic!("{}: {fault}", example.name));
        let converted = conversion::convert(&model, lines::read(example.policy));
        assert_eq!(converted.faults, [], "{}", example.name);
        let decider = Decider::new(&converted).expect("records");
        for (expected, requests) in [(true, example.allowed), (false, example.denied)] {
            for request in requests.split(", ").filter(|request| !request.is_empty()) {
                let decided = example.allows(&model, &decider, request);
                assert_eq!(decided, expected, "{}: {request}\n{converted:#?}", example.name);
                allowed += usize::from(expected);
                asked += 1;
            }
        }
        let (rules, policies) = (converted.rules.len(), converted.policies.len());
        println!("| `{}` | {rules} rules, {policies} policies |", example.name);
    }
    println!("{} models imported; {allowed} of {asked} requests are allowed", models);
    assert!(models >= LEAST && allowed > 100 && asked > allowed + 100);
}

#[test]
fn the_other_examples_are_refused_with_a_reason() {
    for (example, reason) in &REFUSED {
        let fault = match example.parse() {
            Err(fault) => fault,
            Ok(model) => {
                let faults = conversion::convert(&model, lines::read(example.policy)).faults;
                assert!(!faults.is_empty(), "{}", example.name);
                faults[0].reason.clone()
            }
        };
        println!("| `{}` | {fault} |", example.name);
        assert!(fault.contains(reason), "{}: {fault}", example.name);
    }
}
