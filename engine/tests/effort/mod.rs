//! The effort of a run of the property tests.

/// Returns how many times the usual number of cases a property tries: the environment variable `CASES_FACTOR`, or 1.
#[expect(
    clippy::disallowed_methods,
    reason = "the effort of a test is not a setting of the service"
)]
pub(crate) fn factor() -> u32 {
    std::env::var("CASES_FACTOR").ok().and_then(|factor| factor.parse().ok()).unwrap_or(1)
}
