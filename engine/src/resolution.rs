//! Attribute requests to resolvers, and their answers.

use std::collections::BTreeMap;

use uuid::Uuid;

use crate::condition::{AttributePath, ResolverAttribute};
use crate::json::Json;
use crate::relation::RELATION;

/// A version of a tenant's resolver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ResolverRef {
    /// The resolver's id.
    pub id: Uuid,
    /// The resolver's version: every change of the resolver increments it.
    pub version: u64,
}

/// The attributes that a check needs from one resolver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributeRequest {
    /// The namespace.
    pub namespace: Box<str>,
    /// The tenant's resolver for the namespace; `None` if the tenant has none.
    pub resolver: Option<ResolverRef>,
    /// The names of the attributes, without the namespace.
    pub attributes: Vec<Box<str>>,
}

/// The answer to the request for one attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum AttributeAnswer {
    /// A string, a number, a boolean, or a list of strings or numbers.
    Value(Json<'static>),
    /// The resolver answers that the attribute does not exist.
    Absent,
    /// There is no answer; the text is the cause.
    Failed(Box<str>),
}

/// The attribute answers for one check. An attribute that is not in it was not requested.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AttributeAnswers(BTreeMap<Box<str>, BTreeMap<Box<str>, AttributeAnswer>>);

impl AttributeAnswers {
    /// Returns no answers at all.
    pub(crate) fn none() -> &'static Self {
        static NONE: AttributeAnswers = AttributeAnswers(BTreeMap::new());
        &NONE
    }

    /// Adds the answer for `<namespace>.<attribute>`.
    pub fn insert(&mut self, namespace: &str, attribute: &str, resolved: AttributeAnswer) {
        self.0.entry(namespace.into()).or_default().insert(attribute.into(), resolved);
    }

    /// Adds all answers of `others`.
    pub fn extend(&mut self, others: Self) {
        for (namespace, answers) in others.0 {
            self.0.entry(namespace).or_default().extend(answers);
        }
    }

    /// Returns the answers without the answers of a namespace.
    #[must_use]
    pub fn without(&self, namespace: &str) -> Self {
        let mut others = self.clone();
        others.0.remove(namespace);
        others
    }

    /// Returns whether there is no answer at all.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the attributes of a namespace that were requested, with their answers.
    pub fn for_namespace(&self, namespace: &str) -> impl Iterator<Item = (&str, &AttributeAnswer)> {
        let answers = self.0.get(namespace).into_iter().flatten();
        answers.map(|(name, answer)| (&**name, answer))
    }

    /// Returns the answer for `<namespace>.<attribute>`; `None` if it was not requested.
    pub fn get(&self, namespace: &str, attribute: &str) -> Option<&AttributeAnswer> {
        self.0.get(namespace)?.get(attribute)
    }

    /// Returns why the value of an attribute of a resolver, or of a relation, is not known.
    pub(crate) fn why_unknown(&self, path: &AttributePath) -> String {
        let AttributePath::Resolver(ResolverAttribute { namespace, name }) = path else {
            return String::new();
        };
        match self.get(namespace, name) {
            Some(AttributeAnswer::Failed(cause)) => cause.to_string(),
            _ if &**namespace == RELATION => "its relations were not looked up".to_owned(),
            _ => format!("resolver `{namespace}` was not asked"),
        }
    }
}
