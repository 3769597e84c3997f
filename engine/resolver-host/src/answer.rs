//! Checks an answer against the resolver's descriptor and the request.

use std::time::Duration;

use portcullis_engine::AttributeKind;

use crate::contract::{
    Attribute, AttributeSpec, Descriptor, GuestError, Kind, Request, Resolution, Value,
};
use crate::error::CallError;
use crate::log::cut;

/// A resolver's answer for one attribute.
#[derive(Clone, Debug, PartialEq)]
pub struct AnsweredAttribute {
    /// The name, without the namespace.
    pub name: String,
    /// The value; `None` if the attribute is absent.
    pub value: Option<Value>,
    /// The time for which the resolver allows to cache the answer.
    pub ttl: Duration,
}

/// Verifies an answer and returns every answered attribute. A wanted attribute without an answer stays unknown.
pub(crate) fn check(
    descriptor: &Descriptor,
    request: &Request,
    resolution: Resolution,
) -> Result<Vec<AnsweredAttribute>, CallError> {
    let present = resolution.attributes.into_iter();
    let present = present.map(|Attribute { name, value, ttl_ms }| (name, Some(value), ttl_ms));
    let absent = resolution.absent.into_iter().map(|name| (name, None, None));
    let mut answer = Vec::<AnsweredAttribute>::with_capacity(request.wanted.len());
    for (name, value, ttl_ms) in present.chain(absent) {
        let spec = spec(descriptor, request, &name)?;
        if let Some(value) = &value {
            check_value(spec, value)?;
        }
        // Each name is wanted and answered once: the list never has more items than `wanted`.
        if answer.iter().any(|other| other.name == name) {
            return Err(bad(format!("`{name}` is answered twice")));
        }
        let ttl = ttl_ms.unwrap_or(spec.default_ttl_ms);
        answer.push(AnsweredAttribute { name, value, ttl: Duration::from_millis(ttl.into()) });
    }
    Ok(answer)
}

/// Verifies that a value is of the declared kind and finite.
fn check_value(spec: &AttributeSpec, value: &Value) -> Result<(), CallError> {
    let name = &spec.name;
    if kind(value) != spec.kind {
        let expected = AttributeKind::from(spec.kind);
        return Err(bad(format!("`{name}` is declared as {expected}, and is something else")));
    }
    if !is_finite(value) {
        return Err(bad(format!("`{name}` is not a finite number")));
    }
    Ok(())
}

/// Returns the declaration of an attribute, which must be wanted.
fn spec<'d>(
    descriptor: &'d Descriptor,
    request: &Request,
    name: &str,
) -> Result<&'d AttributeSpec, CallError> {
    let Some(spec) = descriptor.attributes.iter().find(|spec| spec.name == name) else {
        return Err(bad(format!("`{}` is not declared", cut(name.to_owned()))));
    };
    if !request.wanted.iter().any(|wanted| wanted == name) {
        return Err(bad(format!("`{}` was not wanted", cut(name.to_owned()))));
    }
    Ok(spec)
}

/// Converts the guest's own failure. Bounds its texts.
pub(crate) fn failure(error: GuestError) -> CallError {
    match error {
        GuestError::Invalid(why) => CallError::Invalid(cut(why)),
        GuestError::Internal(why) => CallError::Internal(cut(why)),
        GuestError::Unavailable(mut failure) => {
            failure.message = cut(failure.message);
            CallError::Unavailable(failure)
        }
    }
}

/// Returns the kind of a value.
fn kind(value: &Value) -> Kind {
    match value {
        Value::Text(_) => Kind::Text,
        Value::Number(_) => Kind::Number,
        Value::Boolean(_) => Kind::Boolean,
        Value::Texts(_) => Kind::Texts,
        Value::Numbers(_) => Kind::Numbers,
    }
}

/// Returns whether all numbers in a value are finite.
fn is_finite(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_finite(),
        Value::Numbers(numbers) => numbers.iter().all(|number| number.is_finite()),
        Value::Text(_) | Value::Boolean(_) | Value::Texts(_) => true,
    }
}

fn bad(why: String) -> CallError {
    CallError::BadAnswer(why)
}
