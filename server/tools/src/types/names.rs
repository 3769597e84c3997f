//! The names of a tenant, as every language prints them.

use std::collections::BTreeSet;

use portcullis_bundle::Bundle;
use portcullis_engine::types::{ACTION, CONTEXT, PropertyType, USER};
use portcullis_model::types::PropertyDeclaration;

use super::identifiers::{Identifiers, Shape};

/// The names of a tenant, with the identifiers of its types.
pub(super) struct TenantNames<'b> {
    pub(super) tenant: &'b str,
    pub(super) types: Vec<NamedType<'b>>,
    /// `<type>:<verb>`, sorted.
    pub(super) resources: BTreeSet<&'b str>,
}

/// A type of the tenant.
pub(super) struct NamedType<'b> {
    /// In the form `PascalCase`; each type has its own.
    pub(super) identifier: String,
    pub(super) name: &'b str,
    pub(super) about: Option<&'b str>,
    pub(super) properties: Vec<NamedProperty<'b>>,
}

/// A property of a type.
pub(super) struct NamedProperty<'b> {
    pub(super) name: &'b str,
    pub(super) kind: PropertyType,
    pub(super) about: Option<&'b str>,
}

impl<'b> TenantNames<'b> {
    /// Reads the names: `user`, `context` and `action`, declared or not, then the other types in the order of names. No type
    /// has a `reserved` identifier.
    pub(super) fn new(bundle: &'b Bundle, reserved: &str) -> Self {
        let declared =
            |name: &str| bundle.types.iter().flatten().find(|declared| declared.kind == name);
        let others = bundle.types.iter().flatten().map(|declared| &*declared.kind);
        let others: BTreeSet<&str> =
            others.filter(|name| ![USER, CONTEXT, ACTION].contains(name)).collect();
        let mut identifiers = Identifiers::new(reserved);
        let types = [USER, CONTEXT, ACTION].into_iter().chain(others).map(|name| {
            let properties = declared(name).into_iter().flat_map(|declared| &declared.properties);
            let property = |(name, property): (&'b String, &'b PropertyDeclaration)| {
                NamedProperty { name, kind: property.kind.kind, about: property.about.as_deref() }
            };
            NamedType {
                identifier: identifiers.make(name, Shape::Pascal),
                name,
                about: declared(name).and_then(|declared| declared.about.as_deref()),
                properties: properties.map(property).collect(),
            }
        });
        let types = types.collect();
        let resources = bundle.resources.iter().map(|resource| &*resource.name).collect();
        Self { tenant: &bundle.tenant, types, resources }
    }
}

/// Returns a text of a folder as one line of a comment: without control characters, and those that reorder a line.
pub(super) fn comment(text: &str) -> String {
    let breaks = |char: char| {
        char.is_control() || matches!(char, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.split(breaks).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Returns a string literal of TypeScript and Python.
pub(super) fn literal(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
