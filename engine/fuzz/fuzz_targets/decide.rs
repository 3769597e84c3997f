//! Makes rules, policies of arbitrary trees and requests from the fuzzer's bytes. The plan must decide each request as
//! the oracle of `engine/tests` does.

#![no_main]

#[path = "../../tests/support/mod.rs"]
mod support;
#[expect(dead_code, reason = "the property test alone works out trees from the truths of leaves")]
#[path = "../../tests/worlds/mod.rs"]
mod worlds;

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;

use support::Scenario;
use worlds::choices::{Choices, Seeded};
use worlds::reduce::{differs, reduce};
use worlds::{Size, World};

/// Small, so that a case takes little time and few bytes; the seeded property test has the large ones.
const SIZE: Size = Size { values: 8, leaves: 12, trees: 16, requests: 8 };
const POLICIES: usize = 24;

fuzz_target!(|bytes: &[u8]| {
    let mut bytes = Unstructured::new(bytes);
    let seed = bytes.arbitrary().unwrap_or_default();
    let scenario = scenario(&mut Bytes { bytes, rest: Seeded(seed) });
    if differs(&scenario).is_some() {
        let smallest = reduce(scenario);
        panic!("{}: {smallest:?}", differs(&smallest).unwrap_or_default());
    }
});

fn scenario(choices: &mut Bytes<'_>) -> Scenario {
    let world = World::new(choices, &SIZE);
    let all: Vec<usize> = (0..world.trees.len()).collect();
    let count = choices.below(POLICIES) + 1;
    let policies = world.policies(choices, count, [&all, &all]);
    Scenario {
        policies: policies.into_iter().map(|(policy, _)| policy).collect(),
        rules: world.rules,
        requests: world.requests,
    }
}

/// The fuzzer's bytes as choices. After their end, a seed from their beginning continues, so that a short input is a
/// whole scenario.
struct Bytes<'b> {
    bytes: Unstructured<'b>,
    rest: Seeded,
}

impl Choices for Bytes<'_> {
    fn below(&mut self, bound: usize) -> usize {
        if self.bytes.is_empty() {
            return self.rest.below(bound);
        }
        self.bytes.int_in_range(0..=bound - 1).unwrap_or_default()
    }

    fn bits(&mut self) -> u64 {
        if self.bytes.is_empty() {
            return self.rest.bits();
        }
        self.bytes.arbitrary().unwrap_or_default()
    }
}
