//! The attributes that were known when a decision was made, and the ways to ask again.

use askama::Template;
use portcullis_model::decision::{DecisionRecord, HASHED};
use serde_json::Value;

use super::copies::{AsApi, Copy, Question, attributes_of};
use crate::address::Address;

#[derive(Template)]
#[template(path = "decision_known.html")]
pub(crate) struct Known {
    known: Vec<KnownAttribute>,
    copies: [Copy; 3],
    /// The call that shows a record.
    api: Option<AsApi>,
}

struct KnownAttribute {
    attribute: String,
    value: String,
    source: String,
}

impl Known {
    /// Returns what the rules read, and what was sent beside it.
    pub(super) fn explained(
        address: &Address,
        record: &DecisionRecord,
        attributes: &[Value],
    ) -> Self {
        let mut known = read(attributes);
        for sent in sent(record) {
            // The value that the rules read counts, which may be another one than was sent.
            if !known.iter().any(|one| one.attribute == sent.attribute) {
                known.push(sent);
            }
        }
        Self::new(address, record, known)
    }

    /// Returns what the rules read of a question that is not on record.
    pub(crate) fn asked(address: &Address, question: &Question<'_>, attributes: &[Value]) -> Self {
        Self { known: read(attributes), copies: question.copies(address), api: None }
    }

    /// Returns what was sent.
    pub(super) fn sent(address: &Address, record: &DecisionRecord) -> Self {
        Self::new(address, record, sent(record))
    }

    fn new(address: &Address, record: &DecisionRecord, mut known: Vec<KnownAttribute>) -> Self {
        known.extend(record.dropped.iter().map(|name| KnownAttribute {
            attribute: name.clone(),
            value: "left out of the record".to_owned(),
            source: "request".to_owned(),
        }));
        let copies = Question::of(record, &attributes_of(record)).copies(address);
        let api = AsApi::get(address, "/api/v1/decisions/{id}", "").at(&[("{id}", record.id)]);
        Self { known, copies, api: Some(api) }
    }
}

/// Returns the attributes that an explanation has.
fn read(attributes: &[Value]) -> Vec<KnownAttribute> {
    let read = attributes.iter().map(|one| {
        let value = match one.get("value") {
            Some(value) => shown(value),
            None if one.get("because").is_some() => text_of(one, "because"),
            None => text_of(one, "words"),
        };
        let value = if value.is_empty() { "absent".to_owned() } else { value };
        KnownAttribute {
            attribute: text_of(one, "attribute"),
            value,
            source: text_of(one, "source"),
        }
    });
    read.collect()
}

/// Returns the attributes of the request as the record has them.
fn sent(record: &DecisionRecord) -> Vec<KnownAttribute> {
    let attributes = attributes_of(record);
    let kinds = attributes.as_object().into_iter().flatten();
    let all = kinds.flat_map(|(kind, members)| {
        let members = members.as_object().into_iter().flatten();
        members.map(move |(name, value)| KnownAttribute {
            attribute: format!("{kind}.{name}"),
            value: shown(value),
            source: "request".to_owned(),
        })
    });
    all.collect()
}

/// Returns the text of a member; empty without one.
pub(super) fn text_of(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_default().to_owned()
}

/// Returns a value as a page shows it.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(members) if members.contains_key(HASHED) => "hashed in the record".to_owned(),
        value => value.to_string(),
    }
}
