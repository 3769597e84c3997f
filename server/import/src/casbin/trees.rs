//! Condition trees: what the parts of an alternative become in a policy.

use std::collections::BTreeSet;

use portcullis_engine::resource::encoded_name;
use serde_json::{Value, json};

use super::condition::{Attribute, Condition, Field, OneOf, Operand, Test};
use super::objects::Objects;

/// Returns the condition on the subject: it is one of the names, or has one of the roles.
pub(super) fn subjects(own: &OneOf) -> Value {
    let names = one_of("request.subject", &own.values);
    let roles = own.roles.iter().map(|role| {
        json!({"type": "CONDITION", "attribute": "request.roles", "operator": "contains", "value": role})
    });
    let parts = [names].into_iter().chain(roles).collect();
    // The names are always one part.
    group("OR", parts).unwrap_or(Value::Null)
}

/// Returns the condition that the attribute is one of `values`.
fn one_of(attribute: &str, values: &BTreeSet<String>) -> Value {
    match values.first() {
        Some(value) if values.len() == 1 => {
            json!({"type": "CONDITION", "attribute": attribute, "operator": "eq", "value": value})
        }
        _ => {
            json!({"type": "CONDITION", "attribute": attribute, "operator": "in", "value": values})
        }
    }
}

/// Returns the condition that Casbin's object is one of `values`. An object with a verb is the whole resource.
fn object_is(values: &BTreeSet<String>, objects: &Objects) -> Value {
    let (named, alone): (Vec<&String>, Vec<&String>) =
        values.iter().partition(|object| objects.is_resource(object));
    let (named, alone) = (encoded(&named, objects), encoded(&alone, objects));
    let parts = [("request.resource", named), ("request.object", alone)];
    let parts = parts.into_iter().filter(|(_, values)| !values.is_empty());
    let parts = parts.map(|(attribute, values)| one_of(attribute, &values)).collect();
    group("OR", parts).unwrap_or(Value::Null)
}

/// Returns the objects as attributes have them.
fn encoded(all: &[&String], objects: &Objects) -> BTreeSet<String> {
    all.iter().map(|object| objects.as_attribute(object)).collect()
}

/// Returns the only part, or a node of them; `None` if there is none.
pub(super) fn group(kind: &str, mut parts: Vec<Value>) -> Option<Value> {
    match parts.len() {
        0 | 1 => parts.pop(),
        _ => Some(json!({"type": kind, "children": parts})),
    }
}

/// Returns the condition tree of a part.
pub(super) fn tree(condition: &Condition, objects: &Objects) -> Result<Value, String> {
    match condition {
        Condition::And(parts) => Ok(json!({"type": "AND", "children": trees(parts, objects)?})),
        Condition::Or(parts) => Ok(json!({"type": "OR", "children": trees(parts, objects)?})),
        Condition::Not(part) => Ok(json!({"type": "NOT", "child": tree(part, objects)?})),
        Condition::Constant(_) => Err("a constant is not a condition".to_owned()),
        Condition::OneOf(own) if own.field == Field::Subject => Ok(subjects(own)),
        Condition::OneOf(own) if own.field == Field::Object => Ok(object_is(&own.values, objects)),
        Condition::OneOf(own) => {
            Ok(one_of(&path(&Attribute::Field(own.field), objects)?, &own.values))
        }
        // A prefix of the object is one of the resource too, unless its `:` could be the one before the verb.
        Condition::Test(Test {
            attribute: Attribute::Field(Field::Object),
            operator: "starts_with",
            operand: Operand::Literal(Value::String(prefix)),
        }) if objects.is_resource(prefix) || !prefix.contains(':') => Ok(json!({
            "type": "CONDITION", "attribute": "request.resource", "operator": "starts_with",
            "value": encoded_name(prefix),
        })),
        Condition::Test(Test {
            attribute: Attribute::Field(Field::Object),
            operand: Operand::Literal(Value::String(text)),
            ..
        }) if encoded_name(text) != *text => Err(format!(
            "`{text}`: white space, control characters and `%` are percent-encoded in the names of resources, and a pattern has no \
             form for that; write a line for each object"
        )),
        Condition::Test(Test { attribute, operator, operand }) => {
            let value = match operand {
                Operand::Literal(value) => value.clone(),
                Operand::Attribute(other) => json!({"attribute": path(other, objects)?}),
            };
            let attribute = path(attribute, objects)?;
            Ok(
                json!({"type": "CONDITION", "attribute": attribute, "operator": operator, "value": value}),
            )
        }
    }
}

fn trees(parts: &[Condition], objects: &Objects) -> Result<Vec<Value>, String> {
    parts.iter().map(|part| tree(part, objects)).collect()
}

/// Returns the path of an attribute.
fn path(attribute: &Attribute, objects: &Objects) -> Result<String, String> {
    match attribute {
        Attribute::Path(path) => Ok(path.clone()),
        Attribute::Field(Field::Subject) => Ok("request.subject".to_owned()),
        Attribute::Field(Field::Domain) => Ok("request.domain".to_owned()),
        Attribute::Field(Field::Action) => Ok("request.action".to_owned()),
        Attribute::Field(Field::Object) => objects.attribute().map(str::to_owned),
    }
}
