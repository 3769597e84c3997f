//! The types of the contract `portcullis:resolver@1.0.0`, generated from `guest-sdk/wit/resolver.wit`.

use portcullis_engine::AttributeKind;

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
