//! The cases that an error or an answer names (`docs/semantics.md`, section 10.9).

use portcullis_bundle::{CaseFailure, Expected};
use portcullis_engine::excerpt::excerpt;
use serde_json::{Value, json};

/// Most cases that an error names.
const MAX_CASES: usize = 100;
/// Most bytes of the cases that an error names. All of an error has 64 KiB (`docs/semantics.md`, section 8.4).
const MAX_BYTES: usize = 48 * 1024;
/// Longest text of a case, in bytes of JSON.
const MAX_TEXT: usize = 1_024;

/// Returns the details of an error about `count` failed cases: the first of `failed`, and the number of the others if there
/// are any.
pub fn details(failed: &[CaseFailure], count: usize) -> Value {
    let mut bytes = 0;
    let mut named = Vec::new();
    for failure in failed.iter().take(MAX_CASES) {
        let case = case(failure);
        bytes += case.to_string().len();
        if bytes > MAX_BYTES {
            break;
        }
        named.push(case);
    }
    match count.saturating_sub(named.len()) {
        0 => json!({"failed": named}),
        more => json!({"failed": named, "more_failed": more}),
    }
}

/// Returns a failed case as JSON.
pub fn case(failure: &CaseFailure) -> Value {
    let CaseFailure { case, expected, actual, reason } = failure;
    json!({
        "case": excerpt(case, MAX_TEXT),
        "expected": decision(expected),
        "actual": actual.as_ref().map(decision),
        "reason": excerpt(reason, MAX_TEXT),
    })
}

fn decision(expected: &Expected) -> Value {
    let rule = expected.rule.as_deref().map(|rule| excerpt(rule, MAX_TEXT));
    match rule {
        Some(rule) => json!({"decision": expected.decision, "rule": rule}),
        None => json!({"decision": expected.decision}),
    }
}

#[cfg(test)]
mod tests {
    use portcullis_engine::Effect;

    use super::*;

    #[test]
    fn an_error_names_few_cases_and_counts_the_others() {
        let failure = |name: &str| CaseFailure {
            case: name.to_owned(),
            expected: Expected { decision: Effect::Deny, rule: Some("r".repeat(5_000)) },
            actual: None,
            reason: "x".repeat(5_000),
        };
        let short = CaseFailure { reason: String::new(), ..failure("a") };
        let named = details(&vec![short; 3], 3);
        assert_eq!(named["failed"].as_array().map(Vec::len), Some(3));
        assert_eq!(named.get("more_failed"), None);
        assert_eq!(details(&[], 3), json!({"failed": [], "more_failed": 3}));
        let many = details(&vec![failure("b"); 200], 200);
        let count = many["failed"].as_array().map_or(0, Vec::len);
        assert!(count > 10 && many.to_string().len() < 64 * 1024, "{count}");
        assert_eq!(many["more_failed"], 200 - count);
    }
}
