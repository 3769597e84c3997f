//! The attributes that policies may read: resolver attributes, and the declared properties of requests. Policies are
//! checked against them when they are saved.

mod attribute_kind;
mod check;
mod kinds;
mod written;

use std::collections::{BTreeMap, HashMap};

use crate::condition::{AttributePath, NamedConditions, RequestField, ResolverAttribute, Test};
use crate::excerpt::quoted;
use crate::nearest::any_of;
use crate::relation::{RELATION, RelationNames};
use crate::resource::ResourcePattern;
use crate::types::{DeclaredNames, Types};
use kinds::KindSet;

pub use attribute_kind::AttributeKind;

/// The attributes that the policies of a tenant may read, and the conditions that they may name.
#[derive(Clone, Debug, Default)]
pub struct Namespaces {
    /// The attributes of each resolver.
    resolvers: HashMap<String, BTreeMap<String, AttributeKind>>,
    types: Types,
    conditions: NamedConditions,
}

impl Namespaces {
    /// Adds the namespace of a resolver. An existing namespace of that name stays unchanged.
    pub fn insert(
        &mut self,
        name: &str,
        attributes: impl IntoIterator<Item = (String, AttributeKind)>,
    ) {
        self.resolvers.entry(name.to_owned()).or_insert_with(|| attributes.into_iter().collect());
    }

    /// Returns the namespaces with the types that the tenant declares. If they have relations, there is a namespace
    /// `relation`.
    #[must_use]
    pub fn with_types(self, types: Types) -> Self {
        Self { types, ..self }
    }

    /// Returns the namespaces with the conditions that the tenant has names for.
    #[must_use]
    pub fn with_conditions(self, conditions: NamedConditions) -> Self {
        Self { conditions, ..self }
    }

    /// Returns the named conditions of the tenant.
    pub fn conditions(&self) -> &NamedConditions {
        &self.conditions
    }

    /// Returns the attributes that a policy on these resources may read.
    pub fn readable_on<'n>(&'n self, resource: &'n ResourcePattern) -> ReadableAttributes<'n> {
        ReadableAttributes { namespaces: self, resource, is_stored: false }
    }
}

/// The attributes that a policy may read.
#[derive(Clone, Copy, Debug)]
pub struct ReadableAttributes<'n> {
    namespaces: &'n Namespaces,
    /// The resources of the policy.
    resource: &'n ResourcePattern,
    is_stored: bool,
}

impl<'n> ReadableAttributes<'n> {
    /// Returns the attributes for a condition that is stored: its orders of date-times are undetermined, and not faults.
    #[must_use]
    pub fn of_stored(self) -> Self {
        Self { is_stored: true, ..self }
    }

    /// Returns the conditions that a policy may name.
    fn conditions(self) -> &'n NamedConditions {
        &self.namespaces.conditions
    }

    /// Returns the types of the values that an attribute may have; `None` if the attribute does not exist.
    fn kinds(self, path: &AttributePath) -> Option<KindSet> {
        match path {
            AttributePath::Resolver(attribute) => {
                self.resolver_kind(attribute).map(KindSet::for_resolver)
            }
            AttributePath::Request(RequestField::Roles) => Some(KindSet::TEXTS),
            AttributePath::Request(_) => Some(KindSet::ANY_TEXT),
            // A check of a condition knows the list, and so the item.
            AttributePath::Item => Some(KindSet::ANY),
            sent_or_token => match self.declared(sent_or_token) {
                Some((declared, name)) if declared.is_open(name) => Some(KindSet::ANY),
                Some((declared, name)) => KindSet::for_properties(&declared.kinds(name)),
                None => Some(KindSet::ANY),
            },
        }
    }

    /// Returns what is known of the values of an attribute, such as "`geo.wind` is a number"; `None` if the request or
    /// the token decides what it is.
    fn known_values(self, path: &AttributePath) -> Option<String> {
        if let AttributePath::Resolver(attribute) = path {
            return self.resolver_kind(attribute).map(|kind| format!("{} is {kind}", quoted(path)));
        }
        let (declared, name) = self.declared(path)?;
        let types = declared.declared_types(name);
        let types = any_of(types.iter().map(|one| &**one));
        Some(format!("{} is declared as {types}", quoted(path)))
    }

    /// Returns the side of a test that is declared as a date-time and that the test orders as a text.
    fn ordered_datetime(self, test: &Test) -> Option<&AttributePath> {
        if self.is_stored {
            return None;
        }
        self.namespaces.types.ordered_datetime(self.resource, test)
    }

    /// Completes "expected …" for an attribute that does not exist.
    fn expected(self, path: &AttributePath) -> String {
        if let AttributePath::Resolver(attribute) = path {
            return self.expected_of_resolver(attribute);
        }
        let declared = self.declared(path).zip(path.sent());
        let expected = declared.map(|((declared, name), (namespace, _))| {
            declared.expected(name, &format!("{namespace}."))
        });
        expected.unwrap_or_default()
    }

    /// Returns the declared properties of the namespace of an attribute, and the name of the attribute in it.
    fn declared<'p>(&self, path: &'p AttributePath) -> Option<(DeclaredNames<'_>, &'p str)> {
        let (namespace, name) = path.sent()?;
        Some((self.namespaces.types.declared_in(namespace, self.resource)?, name))
    }

    fn resolver_kind(self, attribute: &ResolverAttribute) -> Option<AttributeKind> {
        let ResolverAttribute { namespace, name } = attribute;
        if let Some(relations) = self.relations_in(namespace) {
            return relations
                .fault(name, self.resource)
                .is_none()
                .then_some(AttributeKind::Boolean);
        }
        self.namespaces.resolvers.get(&**namespace)?.get(&**name).copied()
    }

    /// Returns the relations if `namespace` is the namespace of relations, and the tenant has some.
    fn relations_in(&self, namespace: &str) -> Option<&RelationNames> {
        Some(self.namespaces.types.relations())
            .filter(|relations| namespace == RELATION && !relations.is_empty())
    }

    fn expected_of_resolver(self, attribute: &ResolverAttribute) -> String {
        let ResolverAttribute { namespace, name } = attribute;
        if let Some(relations) = self.relations_in(namespace) {
            return relations.fault(name, self.resource).unwrap_or_default();
        }
        let Some(attributes) = self.namespaces.resolvers.get(&**namespace) else {
            return format!(
                "an attribute of `user`, `resource`, `action`, `context`, `request` or `token`; there is no \
                 resolver {}",
                quoted(namespace)
            );
        };
        let known: Vec<_> =
            attributes.keys().map(|known| format!("`{namespace}.{known}`")).collect();
        format!("{}; resolver `{namespace}` has no {}", known.join(", "), quoted(name))
    }
}

#[cfg(test)]
mod tests;
