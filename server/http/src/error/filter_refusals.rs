//! The answers to plans that cannot be made (`docs/semantics.md`, section 14).

use http::StatusCode;
use portcullis_runtime::filter_refusal::FilterRefusal;
use serde_json::{Value, json};

/// Most policies in `details`, so that an error has at most 64 KiB.
const MAX_POLICIES: usize = 32;

/// Returns status and code.
pub(super) fn status(refusal: &FilterRefusal) -> (StatusCode, &'static str) {
    let code = match refusal {
        FilterRefusal::NotExact(_) | FilterRefusal::NotExactFor(_) => "NOT_EXACT",
        FilterRefusal::TooLarge | FilterRefusal::TooManyObjects(_) => "PLAN_TOO_LARGE",
    };
    (StatusCode::UNPROCESSABLE_ENTITY, code)
}

/// Returns the text for the client.
pub(super) fn message(refusal: &FilterRefusal) -> String {
    match refusal {
        FilterRefusal::NotExact(policies) => {
            let first = policies.first().map(|first| {
                let reason = first.reasons.first().map(|reason| format!(": {reason}"));
                format!("policy `{}`{}", first.name, reason.unwrap_or_default())
            });
            not_exact(&first.unwrap_or_default())
        }
        FilterRefusal::NotExactFor(reasons) => {
            not_exact(reasons.first().map(String::as_str).unwrap_or_default())
        }
        FilterRefusal::TooLarge => {
            "the condition is larger than an answer may be; send more attributes, or search instead"
                .to_owned()
        }
        FilterRefusal::TooManyObjects(reason) => format!(
            "{reason}; search instead, or send `residual` as `check` and check the rows that it selects"
        ),
    }
}

fn not_exact(why: &str) -> String {
    format!(
        "the condition cannot be exact: {why}; declare what is missing, or send `residual` as `check` and check the rows that it \
         selects"
    )
}

/// Returns the facts for a program.
pub(super) fn details(refusal: &FilterRefusal) -> Value {
    match refusal {
        FilterRefusal::NotExact(policies) => {
            let shown: Vec<Value> = policies
                .iter()
                .take(MAX_POLICIES)
                .map(|policy| {
                    let reasons: Vec<&String> = policy.reasons.iter().take(4).collect();
                    json!({"id": policy.id, "name": policy.name, "reasons": reasons})
                })
                .collect();
            json!({"policies": shown})
        }
        FilterRefusal::NotExactFor(reasons) => {
            json!({"reasons": reasons.iter().take(4 * MAX_POLICIES).collect::<Vec<_>>()})
        }
        FilterRefusal::TooLarge | FilterRefusal::TooManyObjects(_) => json!({}),
    }
}
