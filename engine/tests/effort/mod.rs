//! Runs of the property tests, and their effort.

use proptest::prelude::*;
use proptest::test_runner::{TestCaseResult, TestRunner};

/// Runs this many cases, times `CASES_FACTOR`. A failure prints the smallest case and stores nothing. All generated data is
/// valid, so a refused input is a failure as well.
pub(crate) fn run<S: Strategy>(
    cases: u32,
    strategy: &S,
    test: impl Fn(S::Value) -> TestCaseResult,
) {
    run_with(ProptestConfig::default(), cases, strategy, test);
}

/// Runs this many seeds, times `CASES_FACTOR`. Seeds do not shrink: `judge` reduces what it finds.
pub(crate) fn run_seeds(cases: u32, judge: impl Fn(u64) -> Result<(), String>) {
    let config = ProptestConfig { max_shrink_iters: 0, ..ProptestConfig::default() };
    run_with(config, cases, &any::<u64>(), |seed| judge(seed).map_err(TestCaseError::fail));
}

fn run_with<S: Strategy>(
    config: ProptestConfig,
    cases: u32,
    strategy: &S,
    test: impl Fn(S::Value) -> TestCaseResult,
) {
    let config = ProptestConfig { cases: cases * factor(), failure_persistence: None, ..config };
    let outcome = TestRunner::new(config).run(strategy, test);
    assert!(outcome.is_ok(), "{}", outcome.expect_err("just seen"));
}

/// Returns how many times the usual number of cases a property tries: the environment variable `CASES_FACTOR`, or 1.
#[expect(
    clippy::disallowed_methods,
    reason = "the effort of a test is not a setting of the service"
)]
pub(crate) fn factor() -> u32 {
    std::env::var("CASES_FACTOR").ok().and_then(|factor| factor.parse().ok()).unwrap_or(1)
}
