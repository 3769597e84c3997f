//! The types of the contract `portcullis:resolver@1.0.0`, generated from `guest-sdk/wit/resolver.wit`.

use portcullis_engine::AttributeKind;
use portcullis_engine::resolver_contract::EndpointMethod;

pub use crate::bindings::portcullis::resolver::http::{HttpRequest, HttpResponse, Method};
pub use crate::bindings::portcullis::resolver::log::Level;
pub(crate) use crate::bindings::portcullis::resolver::types::Error as GuestError;
pub use crate::bindings::portcullis::resolver::types::{
    Attribute, AttributeSpec, ConfigKey, Descriptor, Failure, FailureKind, Input, Kind, Request,
    Resolution, Value,
};

impl From<Kind> for AttributeKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Text => Self::Text,
            Kind::Number => Self::Number,
            Kind::Boolean => Self::Boolean,
            Kind::Texts => Self::Texts,
            Kind::Numbers => Self::Numbers,
        }
    }
}

impl From<Method> for EndpointMethod {
    fn from(method: Method) -> Self {
        match method {
            Method::Get => Self::Get,
            Method::Head => Self::Head,
            Method::Post => Self::Post,
            Method::Put => Self::Put,
            Method::Patch => Self::Patch,
            Method::Delete => Self::Delete,
        }
    }
}
