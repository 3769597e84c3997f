//! Makes types, tuples and checks from the fuzzer's seed. The graph must answer each check as the oracle of
//! `engine/directory/tests` does.

#![no_main]

#[expect(dead_code, reason = "the tests of lists and explanations use more of it")]
#[path = "../../directory/tests/oracle/checks.rs"]
mod checks;
#[path = "../../directory/tests/oracle/naive.rs"]
mod naive;
#[expect(dead_code, reason = "the tests of lists and explanations use more of it")]
#[path = "../../directory/tests/oracle/world.rs"]
mod world;

use libfuzzer_sys::fuzz_target;
use portcullis_directory::GraphBuffer;

fuzz_target!(|seed: u64| {
    let mut random = fastrand::Rng::with_seed(seed);
    checks::compare_world(&mut random, &mut GraphBuffer::default());
});
