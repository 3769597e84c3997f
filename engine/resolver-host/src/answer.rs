//! An answer, held against what the resolver declared and was asked.

use std::time::Duration;

use portcullis_engine::AttributeKind;

use crate::contract::{
    Attribute, AttributeSpec, Descriptor, GuestError, Kind, Request, Resolution, Value,
};
use crate::error::CallError;
use crate::log::cut;

/// What a resolver answered of one attribute.
#[derive(Clone, Debug, PartialEq)]
pub struct Answered {
    /// The name, without the namespace.
    pub name: String,
    /// The value; none if the attribute is absent.
    pub value: Option<Value>,
    /// How long this may be cached, as far as the resolver is concerned.
    pub ttl: Duration,
}

/// Every attribute that was answered: those that were wanted and are not here are undetermined.
pub(crate) fn check(
    descriptor: &Descriptor,
    request: &Request,
    resolution: Resolution,
) -> Result<Vec<Answered>, CallError> {
    let mut answer = Vec::<Answered>::with_capacity(resolution.attributes.len());
    let mut push = |name: String, value: Option<Value>, ttl_ms: Option<u32>| {
        let spec = spec(descriptor, request, &name)?;
        if value.as_ref().is_some_and(|value| kind(value) != spec.kind) {
            let expected = AttributeKind::from(spec.kind);
            return Err(bad(format!("`{name}` is declared as {expected}, and is something else")));
        }
        if value.as_ref().is_some_and(|value| !is_finite(value)) {
            return Err(bad(format!("`{name}` is not a finite number")));
        }
        if answer.iter().any(|other| other.name == name) {
            return Err(bad(format!("`{name}` is answered twice")));
        }
        let ttl = ttl_ms.unwrap_or(spec.default_ttl_ms);
        answer.push(Answered { name, value, ttl: Duration::from_millis(ttl.into()) });
        Ok(())
    };
    for Attribute { name, value, ttl_ms } in resolution.attributes {
        push(name, Some(value), ttl_ms)?;
    }
    for name in resolution.absent {
        push(name, None, None)?;
    }
    Ok(answer)
}

/// The declaration of an attribute that was wanted.
fn spec<'d>(
    descriptor: &'d Descriptor,
    request: &Request,
    name: &str,
) -> Result<&'d AttributeSpec, CallError> {
    let shown = || cut(name.to_owned());
    let Some(spec) = descriptor.attributes.iter().find(|spec| spec.name == name) else {
        return Err(bad(format!("`{}` is not declared", shown())));
    };
    if !request.wanted.iter().any(|wanted| wanted == name) {
        return Err(bad(format!("`{}` was not wanted", shown())));
    }
    Ok(spec)
}

/// The guest's own failure, with texts of a bounded length.
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

fn kind(value: &Value) -> Kind {
    match value {
        Value::Text(_) => Kind::Text,
        Value::Number(_) => Kind::Number,
        Value::Boolean(_) => Kind::Boolean,
        Value::Texts(_) => Kind::Texts,
        Value::Numbers(_) => Kind::Numbers,
    }
}

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
