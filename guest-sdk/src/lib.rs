//! Write attribute resolvers for Portcullis.
//!
//! A resolver is a policy information point: it turns what a check knows (subject, resource, action,
//! domain, attributes) into the attributes of one namespace, which policies then read, as in
//! `geo.country`. This crate has the types of that exchange, so that a resolver can be written and tested
//! natively. The WebAssembly side (the WIT contract, the export macro and the host) is not part of this
//! version, and `portcullis` does not run resolvers yet.
//!
//! ```
//! use portcullis_guest_sdk::{Attribute, Error, Request, Resolution, Resolver, Value};
//!
//! /// `hours.open`: whether the shop is open, from 08:00 to 18:00 UTC.
//! struct BusinessHours;
//!
//! impl Resolver for BusinessHours {
//!     fn resolve(&self, request: &Request) -> Result<Resolution, Error> {
//!         let hour = request.now_ms / 3_600_000 % 24;
//!         let open = Attribute::new("open", Value::Boolean((8..18).contains(&hour)));
//!         Ok(Resolution { attributes: vec![open], absent: vec![] })
//!     }
//! }
//!
//! let noon = Request { now_ms: 12 * 3_600_000, ..Request::default() };
//! let resolution = BusinessHours.resolve(&noon)?;
//! assert_eq!(resolution.attributes[0].value, Value::Boolean(true));
//! # Ok::<(), Error>(())
//! ```

use std::fmt;

/// Answers attributes of one namespace.
pub trait Resolver {
    /// Resolves the attributes that `request.wanted` names.
    ///
    /// # Errors
    /// The attributes are undetermined for this check: policies that deny then apply, policies that
    /// allow do not.
    fn resolve(&self, request: &Request) -> Result<Resolution, Error>;
}

/// What the check knows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// The tenant whose rules decide.
    pub tenant: String,
    /// Who the check is about.
    pub subject: String,
    /// The RBAC domain.
    pub domain: String,
    /// The resource, `<name>:<verb>`.
    pub resource: String,
    /// The action.
    pub action: String,
    /// The subject's roles.
    pub roles: Vec<String>,
    /// The request's `user.*` attributes.
    pub user: Vec<Attribute>,
    /// The request's `resource.*` attributes.
    pub resource_attributes: Vec<Attribute>,
    /// The names of the attributes that are asked for, without the namespace.
    pub wanted: Vec<String>,
    /// The instant of the check, in milliseconds since the Unix epoch.
    pub now_ms: u64,
    /// How long the resolver may take, in milliseconds.
    pub budget_ms: u32,
}

/// A named value.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// The name, without the namespace.
    pub name: String,
    /// The value.
    pub value: Value,
    /// How long the value may be cached, in milliseconds; `None` leaves it to the resolver's default.
    pub ttl_ms: Option<u32>,
}

impl Attribute {
    /// An attribute that is cached as the resolver's default says.
    pub fn new(name: impl Into<String>, value: Value) -> Self {
        Self { name: name.into(), value, ttl_ms: None }
    }
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A string.
    Text(String),
    /// A finite number; NaN and the infinities are errors.
    Number(f64),
    /// A boolean.
    Boolean(bool),
    /// A list of strings.
    Texts(Vec<String>),
    /// A list of numbers.
    Numbers(Vec<f64>),
}

/// A resolver's answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Resolution {
    /// The attributes that exist.
    pub attributes: Vec<Attribute>,
    /// The names of wanted attributes that do not exist, which is an answer, not a failure.
    pub absent: Vec<String>,
}

/// Why a resolver has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The request makes no sense to this resolver.
    Invalid(String),
    /// A source that the resolver depends on is down.
    Unavailable(String),
    /// The resolver itself failed.
    Internal(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(why) => write!(f, "invalid request: {why}"),
            Self::Unavailable(why) => write!(f, "unavailable: {why}"),
            Self::Internal(why) => write!(f, "internal error: {why}"),
        }
    }
}

impl std::error::Error for Error {}
