//! The names of a tenant, as every language prints them.

use std::collections::{BTreeMap, BTreeSet};

use portcullis_bundle::Bundle;
use portcullis_engine::types::{ACTION, CONTEXT, PropertyType, Types, USER};
use portcullis_model::types::{NewType, declared_types};

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
    /// Those of the type, and those behind its references, in the order of names.
    pub(super) properties: Vec<NamedProperty<'b>>,
}

/// A property of a type, or one behind a reference, such as `ticket.team`.
pub(super) struct NamedProperty<'b> {
    pub(super) name: &'b str,
    pub(super) kind: PropertyType,
    pub(super) about: Option<&'b str>,
}

impl<'b> TenantNames<'b> {
    /// Reads the names: `user`, `context` and `action`, declared or not, then the other types in the order of names. No type
    /// has a `reserved` identifier.
    pub(super) fn new(bundle: &'b Bundle, reserved: &str) -> Self {
        let others = bundle.types.iter().flatten().map(|declared| &*declared.kind);
        let others: BTreeSet<&str> =
            others.filter(|name| ![USER, CONTEXT, ACTION].contains(name)).collect();
        let mut identifiers = Identifiers::new(reserved);
        let all = declared_types(bundle.types.iter().flatten().map(NewType::declared));
        let types =
            [USER, CONTEXT, ACTION].into_iter().chain(others).map(|name| {
                let declared = bundle.types.iter().flatten().find(|one| one.kind == name);
                let mut properties = behind_references(bundle, &all, name);
                // A declared property replaces what a policy tells about the same name.
                for (own, property) in declared.into_iter().flat_map(|one| &one.properties) {
                    properties.insert(own, (property.kind.kind, property.about.as_deref()));
                }
                let properties = properties
                    .into_iter()
                    .map(|(name, (kind, about))| NamedProperty { name, kind, about });
                NamedType {
                    identifier: identifiers.make(name, Shape::Pascal),
                    name,
                    about: declared.and_then(|declared| declared.about.as_deref()),
                    properties: properties.collect(),
                }
            });
        let types = types.collect();
        let resources = bundle.resources.iter().map(|resource| &*resource.name).collect();
        Self { tenant: &bundle.tenant, types, resources }
    }
}

/// The type of a property, and the text about it.
type Described<'b> = (PropertyType, Option<&'b str>);

/// Returns what policies read behind the references of a type, and the references between: requests may send these, too. All that
/// is behind references may be millions of names.
fn behind_references<'b>(
    bundle: &'b Bundle,
    types: &Types,
    of: &str,
) -> BTreeMap<&'b str, Described<'b>> {
    let mut found = BTreeMap::new();
    for policy in &bundle.policies {
        for path in policy.rule_data.condition.attributes() {
            // Only attributes that a client can send are of use in its types.
            let Some((namespace, name)) = path.sent() else { continue };
            let is_of_type = match namespace {
                USER | CONTEXT | ACTION => namespace == of,
                // A policy on any resource may be about every type.
                _ => policy.resource.object().is_none_or(|object| object == of),
            };
            if !is_of_type {
                continue;
            }
            // The first part is a property of the type itself, which has its own description.
            let ends = name.match_indices('.').map(|(dot, _)| dot).chain([name.len()]).skip(1);
            for way in ends.map(|end| &name[..end]) {
                let kind = types.kinds_of(of, namespace, way).first().copied();
                found.extend(kind.map(|kind| (way, (kind, None))));
            }
        }
    }
    found
}

/// Returns a text of a folder as one line of a comment: without control characters, and those that reorder a line.
pub(super) fn comment(text: &str) -> String {
    let parts = text.split(|char: char| {
        char.is_control() || matches!(char, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    });
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Returns a string literal of TypeScript and Python.
pub(super) fn literal(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
