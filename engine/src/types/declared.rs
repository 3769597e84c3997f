//! The declared properties of one namespace of a request.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::references::Reached;
use super::{ACTION, CONTEXT, DeclaredProperties, PropertyType, Types, USER};
use crate::nearest::hint;
use crate::resource::{ResourcePattern, object_of};

/// The namespace of the attributes of resources.
pub(super) const RESOURCE: &str = "resource";
/// The attributes of a user that exist without a declaration: what requests say of roles and of the type.
const OF_USERS: &[(&str, PropertyType)] =
    &[("roles", PropertyType::Texts), ("type", PropertyType::Text)];
/// The attributes of a resource that exist without a declaration.
const OF_RESOURCES: &[(&str, PropertyType)] =
    &[("id", PropertyType::Text), ("type", PropertyType::Text)];

/// The declared properties of a namespace that has one.
pub(crate) struct DeclaredNames<'t> {
    /// The type, if there is only one.
    of: Option<&'t str>,
    types: Vec<&'t DeclaredProperties>,
    /// All types, to which references lead.
    all: &'t Types,
    undeclared: &'static [(&'static str, PropertyType)],
}

impl Types {
    /// Returns the declared properties of `user`, `resource`, `action` or `context`, for a policy on these resources;
    /// `None` if none is declared, so that every name is accepted.
    pub(crate) fn declared_in<'t>(
        &'t self,
        namespace: &'static str,
        resource: &'t ResourcePattern,
    ) -> Option<DeclaredNames<'t>> {
        match (namespace, resource) {
            (RESOURCE, ResourcePattern::Any) => self.for_any_resource(),
            (RESOURCE, ResourcePattern::Name(name)) => self.for_resource(name),
            (RESOURCE, ResourcePattern::Exact(resource)) => self.for_resource(object_of(resource)),
            (namespace, _) => self.for_namespace(namespace),
        }
    }

    /// Returns the declared properties of a namespace of a check about an object of the type `object`.
    pub(super) fn for_check<'t>(
        &'t self,
        object: &'t str,
        namespace: &'static str,
    ) -> Option<DeclaredNames<'t>> {
        match namespace {
            RESOURCE => self.for_resource(object),
            other => self.for_namespace(other),
        }
    }

    /// Returns the declared properties of `user`, `context` or `action`.
    fn for_namespace(&self, namespace: &'static str) -> Option<DeclaredNames<'_>> {
        let undeclared = if namespace == USER { OF_USERS } else { &[] };
        self.for_type(namespace, undeclared)
    }

    pub(super) fn for_type<'t>(
        &'t self,
        name: &'t str,
        undeclared: &'static [(&'static str, PropertyType)],
    ) -> Option<DeclaredNames<'t>> {
        // A type without properties accepts every name.
        let properties = self.properties.get(name).filter(|properties| !properties.is_empty())?;
        Some(DeclaredNames { of: Some(name), types: vec![properties], all: self, undeclared })
    }

    /// Returns the declared properties of the resources of a type.
    pub(super) fn for_resource<'t>(&'t self, name: &'t str) -> Option<DeclaredNames<'t>> {
        // These two are namespaces of requests, and not types of resources.
        let is_resource = !matches!(name, CONTEXT | ACTION);
        is_resource.then(|| self.for_type(name, OF_RESOURCES))?
    }

    /// Returns the declared properties of all resources. `user` alone says nothing about resources.
    fn for_any_resource(&self) -> Option<DeclaredNames<'_>> {
        let resources =
            self.properties.iter().filter(|(name, _)| !matches!(&***name, CONTEXT | ACTION));
        let resources = resources.filter(|(_, properties)| !properties.is_empty());
        let is_declared = resources.clone().any(|(name, _)| name != USER);
        let types = resources.map(|(_, properties)| properties).collect();
        is_declared.then_some(DeclaredNames {
            of: None,
            types,
            all: self,
            undeclared: OF_RESOURCES,
        })
    }
}

impl<'t> DeclaredNames<'t> {
    /// Returns where a name leads from each type.
    fn reached(&self, name: &str) -> impl Iterator<Item = Reached<'t>> {
        self.types.iter().map(move |properties| self.all.reach(properties, name))
    }

    /// Returns whether some type has the property, or may have it behind a reference.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.is_open(name) || !self.kinds(name).is_empty()
    }

    /// Returns whether a name leads to a type that declares no properties, so that it may have any value.
    pub(crate) fn is_open(&self, name: &str) -> bool {
        self.reached(name).any(|reached| matches!(reached, Reached::Open))
    }

    /// Returns the types of the values of a property, which may be behind references; nothing if no type has it.
    pub(crate) fn kinds(&self, name: &str) -> Vec<PropertyType> {
        let declared = self.reached(name).filter_map(|reached| match reached {
            Reached::Property(property) => Some(property.kind),
            _ => None,
        });
        let declared: Vec<_> = declared.collect();
        // A declaration replaces what is known without one.
        if declared.is_empty() {
            let known = self.undeclared.iter().filter(|(known, _)| *known == name);
            return known.map(|(_, kind)| *kind).collect();
        }
        declared
    }

    /// Returns whether some type has the property, which may be behind references, as a reference.
    pub(crate) fn is_reference(&self, name: &str) -> bool {
        let mut reached = self.reached(name);
        reached.any(|end| matches!(end, Reached::Property(property) if property.to.is_some()))
    }

    /// Returns the types of the values of a property as they are declared, each once, in the order of names.
    pub(crate) fn declared_types(&self, name: &str) -> BTreeSet<Cow<'static, str>> {
        let declared = self.reached(name).filter_map(|reached| match reached {
            Reached::Property(property) => Some(property.declared_type()),
            _ => None,
        });
        let declared: BTreeSet<_> = declared.collect();
        if declared.is_empty() {
            return self.kinds(name).into_iter().map(|kind| kind.into_str().into()).collect();
        }
        declared
    }

    /// Returns the type of the values of a property of an entity of the one type; `None` if the type does not have it.
    pub(super) fn own_kind(&self, name: &str) -> Option<PropertyType> {
        self.types.iter().find_map(|properties| properties.get(name)).map(|property| property.kind)
    }

    /// Completes "expected …" where the undeclared `name` is. `prefix` stands before the names that are shown.
    pub(crate) fn expected(&self, name: &str, prefix: &str) -> String {
        let missing = self.reached(name).find_map(|reached| match reached {
            Reached::Missing(expected) => Some(expected),
            _ => None,
        });
        missing.unwrap_or_else(|| self.expected_own(name, prefix))
    }

    /// Completes "expected …" where no type has the property `name` of an entity.
    pub(super) fn expected_own(&self, name: &str, prefix: &str) -> String {
        let known =
            self.types.iter().flat_map(|properties| properties.keys()).map(|known| &**known);
        let known = known.chain(self.undeclared.iter().map(|(known, _)| *known));
        let hint = hint(name, known, |name| format!("{prefix}{name}"));
        match self.of {
            Some(of) => format!("a declared property of `{of}`{hint}"),
            None => format!("a declared property of a resource{hint}"),
        }
    }
}
