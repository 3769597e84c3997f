//! The declared properties of one namespace of a request.

use std::collections::BTreeMap;

use super::{ACTION, CONTEXT, Property, PropertyType, Types, USER};
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
    types: Vec<&'t BTreeMap<String, Property>>,
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

    /// Returns the declared properties of `user`, `context` or `action`.
    pub(super) fn for_namespace(&self, namespace: &'static str) -> Option<DeclaredNames<'_>> {
        let undeclared = if namespace == USER { OF_USERS } else { &[] };
        self.for_type(namespace, undeclared)
    }

    pub(super) fn for_type<'t>(
        &'t self,
        name: &'t str,
        undeclared: &'static [(&'static str, PropertyType)],
    ) -> Option<DeclaredNames<'t>> {
        let properties = self.properties.get(name).filter(|properties| !properties.is_empty())?;
        Some(DeclaredNames { of: Some(name), types: vec![properties], undeclared })
    }

    /// Returns the declared properties of the resources of a type.
    pub(super) fn for_resource<'t>(&'t self, name: &'t str) -> Option<DeclaredNames<'t>> {
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
        is_declared.then_some(DeclaredNames { of: None, types, undeclared: OF_RESOURCES })
    }
}

impl DeclaredNames<'_> {
    /// Returns the types of the values of a property; nothing if no type has it.
    pub(crate) fn kinds(&self, name: &str) -> Vec<PropertyType> {
        let declared: Vec<_> =
            self.types.iter().filter_map(|type_| type_.get(name)).map(|found| found.kind).collect();
        if declared.is_empty() {
            let known = self.undeclared.iter().filter(|(known, _)| *known == name);
            return known.map(|(_, kind)| *kind).collect();
        }
        declared
    }

    /// Completes "expected …" where the undeclared `name` is. `prefix` stands before the names that are shown.
    pub(crate) fn expected(&self, name: &str, prefix: &str) -> String {
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
