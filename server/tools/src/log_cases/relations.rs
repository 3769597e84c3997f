//! The tuples of a case that is made from a record, which has relations alone.

use chrono::{DateTime, Utc};
use portcullis_bundle::Rulebook;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::relation::RELATION;
use portcullis_engine::{AttributeAnswer, AttributeAnswers, Check, CheckBody, Json, json};
use portcullis_model::decision::ABSENT;
use portcullis_model::relation::NewTuple;
use portcullis_model::types::{TypeRecord, declared_types};
use serde_json::{Value, json};

/// Makes a rulebook that has the relations of these types alone.
///
/// # Errors
/// A record is not one of a type.
pub(super) fn relations_of(types: Vec<Value>) -> serde_json::Result<Rulebook> {
    let types = types.into_iter().map(serde_json::from_value).collect::<Result<Vec<_>, _>>()?;
    let declared = declared_types(types.iter().map(TypeRecord::declared));
    let relations = types.iter().map(|one| (&*one.kind, &one.relations));
    Ok(Rulebook::from_stored(Vec::new(), Vec::new())
        .with_types(&declared)
        .with_relations(relations))
}

/// Returns the tuples by which the check of a case has the relations of its record, as JSON: those that the check assumed, and
/// further ones of its subject. `None` if no such tuples give them.
pub(super) fn tuples(types: &Rulebook, record: &Value, check: &Value) -> Option<Value> {
    let mut wanted = AttributeAnswers::default();
    for (name, value) in record["relations"].as_object()? {
        let answer = match value.as_str() {
            Some(ABSENT) => AttributeAnswer::Absent,
            _ => AttributeAnswer::Value(Json::Bool(value.as_bool()?)),
        };
        wanted.insert(RELATION, name, answer);
    }
    let text = check.to_string();
    let body = json::parse(text.as_bytes()).ok()?;
    let body = CheckBody::parse(&body).ok()?;
    let now: DateTime<Utc> = record["time"].as_str()?.parse().ok()?;
    let sent = Check::new(body, record["domain"].as_str()?, None, now);
    let tuples = types.sufficient_tuples(&sent, &wanted, assumed(record)?)?;
    Some(json!(tuples))
}

/// Returns the tuples that a recorded check assumed; `None` if one is not a tuple.
fn assumed(record: &Value) -> Option<Vec<NewTuple>> {
    let text = record.get("assumed").unwrap_or(&json!([])).to_string();
    let list = json::parse(text.as_bytes()).ok()?;
    let (mut problems, root) = (Problems::default(), Place::root());
    list.as_array()?.iter().map(|one| NewTuple::read(one, &root, &mut problems)).collect()
}
