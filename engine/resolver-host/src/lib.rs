//! The host of attribute resolvers: WebAssembly components of tenants, each call in a fresh instance.
//!
//! `guest-sdk/wit/resolver.wit` is the contract, `docs/resolvers.md` describes limits and failures. A [`ResolverHost`]
//! compiles the bytes of a [`Module`], binds the module to a [`Grant`], and calls the resulting [`BoundResolver`].
//! A guest never decides: a call returns values, or a [`CallError`] that says why there are none.
//!
//! A [`Compiler`] says where modules are compiled: tenants' modules in a separate process with limits.
//!
//! Deliberately absent: this crate reads no clock and opens no connection. The service passes both in, as a
//! [`Runtime`] and [`Endpoints`]. This is the only crate that names wasmtime, and the only one with `unsafe` code.

mod answer;
mod bindings;
mod compilations;
mod compiled;
mod compiler;
mod contract;
mod digest;
mod engine;
mod environment;
mod error;
mod host;
mod imports;
mod inputs;
pub mod limits;
mod log;
mod module;
mod store;
mod structure;
mod tasks;

pub use answer::AnsweredAttribute;
pub use compiled::must_be_private;
pub use compiler::{Compiler, CompilerLimits, CompilerProcess, compile_component};
pub use contract::{
    Attribute, AttributeSpec, ConfigKey, Descriptor, Failure, FailureKind, HttpRequest,
    HttpResponse, Input, Kind, Level, Method, Request, Resolution, Value,
};
pub use digest::Digest;
pub use environment::{Endpoints, Grant, Runtime, SendError, Sending};
pub use error::{CallError, GrantError, LoadError};
pub use host::{CallOutcome, HostSettings, ResolverHost};
pub use inputs::WantedAttributes;
pub use limits::Limits;
pub use log::{Log, LogLine};
pub use module::{BoundResolver, Module};
pub use structure::StructureLimits;
