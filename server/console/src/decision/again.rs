//! The way from a recorded decision to the same question now.

use askama::Template;
use portcullis_model::decision::{DecisionRecord, HASHED};
use serde_json::Value;

use super::copies::attributes_of;
use crate::next::with_query;
use crate::visit::Visit;

#[derive(Template)]
#[template(path = "decision_again.html")]
pub(super) struct Again {
    /// The address of the question; `None` if the record lacks a part of it.
    link: Option<String>,
    /// The part that it lacks.
    lacks: &'static str,
}

impl Again {
    pub(super) fn of(visit: &Visit, record: &DecisionRecord) -> Self {
        let attributes = attributes_of(record);
        match lack(record, &attributes) {
            Some(lacks) => Self { link: None, lacks },
            None => {
                let attributes = match attributes.as_object().is_none_or(|it| it.is_empty()) {
                    true => String::new(),
                    false => attributes.to_string(),
                };
                let question = [
                    ("subject", &*record.subject),
                    ("action", &*record.action),
                    ("resource", &*record.resource),
                    ("domain", &*record.domain),
                    ("attributes", &*attributes),
                ];
                Self { link: Some(with_query(&visit.page("ask"), &question)), lacks: "" }
            }
        }
    }
}

/// Returns what a record lacks of its question; `None` if it has all.
fn lack(record: &DecisionRecord, attributes: &Value) -> Option<&'static str> {
    if !record.dropped.is_empty() {
        return Some("attributes were left out of the record");
    }
    if has_hash(attributes) {
        return Some("attributes are hashed in the record");
    }
    if record.assumed.is_some() {
        return Some("tuples were assumed");
    }
    record.token.is_some().then_some("policies read claims of the token")
}

/// Returns whether a value of an attribute is hashed.
fn has_hash(attributes: &Value) -> bool {
    let kinds = attributes.as_object().into_iter().flatten();
    let mut values = kinds.filter_map(|(_, members)| members.as_object()).flatten();
    values.any(|(_, value)| value.get(HASHED).is_some())
}
