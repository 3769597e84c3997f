//! The values of resolvers as conditions compare them.

use portcullis_engine::{Json, Number};
use portcullis_resolver_host::Value;

/// Returns the value as JSON. The host has checked that numbers are finite.
pub fn json(value: Value) -> Json<'static> {
    match value {
        Value::Text(value) => text(value),
        Value::Number(value) => number(value),
        Value::Boolean(value) => Json::Bool(value),
        Value::Texts(items) => Json::Array(items.into_iter().map(text).collect()),
        Value::Numbers(items) => Json::Array(items.into_iter().map(number).collect()),
    }
}

fn text(text: String) -> Json<'static> {
    Json::String(text.into())
}

fn number(number: f64) -> Json<'static> {
    Number::from_f64(number).map_or(Json::Null, Json::Number)
}
