//! Attribute resolvers: components of tenants, each call in a fresh instance of its own.
//!
//! `guest-sdk/wit/resolver.wit` is the contract, `docs/resolvers.md` describes limits and failures. A [`Host`] loads
//! the bytes of a [`Module`], binds it to what a manifest gives, and calls the [`Resolver`] that comes of it. Nothing
//! that a guest does makes a decision: the answer is values, or a [`CallError`] that says why there are none. The
//! host knows no clock and no network: the [`Runtime`] and the [`Endpoints`] are the service's.
//!
//! Only this module names wasmtime.

mod answer;
mod bindings;
mod compiled;
mod error;
mod host;
mod imports;
mod inputs;
pub mod limits;
mod log;
mod module;
mod share;
mod store;
mod surroundings;

use std::fmt;

use bindings::portcullis::resolver::types;

pub use answer::Answered;
pub use bindings::portcullis::resolver::http::{HttpRequest, HttpResponse, Method};
pub use bindings::portcullis::resolver::log::Level;
pub use bindings::portcullis::resolver::types::{
    Attribute, AttributeSpec, ConfigKey, Descriptor, Failure, FailureKind, Input, Kind, Request,
    Resolution, Value,
};
pub use error::{BindError, CallError, LoadError};
pub use host::{Host, Outcome, Settings};
pub use limits::Limits;
pub use log::{Log, LogLine};
pub use module::{Grant, Module, Resolver};
pub use share::Share;
pub use surroundings::{Endpoints, NoEndpoints, Runtime, SendError};

/// The SHA-256 of a module's bytes; shown in hexadecimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// Reads what is shown.
    pub fn parse(text: &str) -> Option<Self> {
        let (pairs, rest) = text.as_bytes().as_chunks::<2>();
        let byte = |pair: &[u8; 2]| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok();
        let bytes: Vec<u8> = pairs.iter().map(byte).collect::<Option<_>>()?;
        bytes.try_into().ok().filter(|_| rest.is_empty()).map(Self)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
