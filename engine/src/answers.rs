//! What resolvers are asked, and what they answered.

use std::collections::BTreeMap;

use uuid::Uuid;

use crate::json::Json;

/// Which resolver of a tenant answers a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ResolverRef {
    /// The resolver's id.
    pub id: Uuid,
    /// Which version of it: every change makes another.
    pub version: u64,
}

/// What a check asks of one resolver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// The namespace.
    pub namespace: Box<str>,
    /// The tenant's resolver that answers it; none if the tenant has none of that name.
    pub resolver: Option<ResolverRef>,
    /// The names of the attributes, without the namespace.
    pub attributes: Vec<Box<str>>,
}

/// What came of asking for an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum Resolved {
    /// A string, a number, a boolean, or a list of strings or numbers.
    Value(Json<'static>),
    /// The resolver says that the attribute does not exist.
    Absent,
    /// There is no answer, because of this.
    Failed(Box<str>),
}

/// What resolvers answered to one check. What is not among it was not asked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answers(BTreeMap<Box<str>, BTreeMap<Box<str>, Resolved>>);

impl Answers {
    /// Adds what came of asking for `<namespace>.<attribute>`.
    pub fn insert(&mut self, namespace: &str, attribute: &str, resolved: Resolved) {
        self.0.entry(namespace.into()).or_default().insert(attribute.into(), resolved);
    }

    /// Whether nobody was asked.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What came of asking for `<namespace>.<attribute>`; none if nobody asked.
    pub fn get(&self, namespace: &str, attribute: &str) -> Option<&Resolved> {
        self.0.get(namespace)?.get(attribute)
    }
}
