//! Checks attributes against the declarations: the attributes of a case, and the properties of an entity.

use std::collections::BTreeMap;

use super::declared::RESOURCE;
use super::{PropertyType, Types};
use crate::invalid::{Place, Problems};
use crate::json::Json;
use crate::resource::object_of;

impl Types {
    /// Checks the names in the `attributes` of a check of `resource` at `at`, in namespaces that have declared
    /// properties. The values may have any type: a check may have them, too.
    pub fn check_attributes(
        &self,
        resource: &str,
        attributes: &Json<'_>,
        at: &Place<'_>,
        problems: &mut Problems,
    ) {
        let named_type = match attributes.get(RESOURCE).and_then(|sent| sent.get("type")) {
            None | Some(Json::Null) => object_of(resource),
            // What is not a text names a type that nobody declares.
            Some(named) => named.as_str().unwrap_or_default(),
        };
        for namespace in ["user", RESOURCE, "action", "context"] {
            let sent = attributes.get(namespace).and_then(Json::as_object).unwrap_or_default();
            let Some(declared) = self.for_check(named_type, namespace) else { continue };
            for (name, _) in sent.iter().filter(|(name, _)| !declared.has(name)) {
                let prefix = format!("{namespace}.");
                let at = at.key(namespace);
                note_unknown(name, || declared.expected(name, &prefix), &at, problems);
            }
        }
    }

    /// Returns the declared types of an attribute of a check about an object of the type `object`; none if it has none.
    pub fn kinds_of(&self, object: &str, namespace: &'static str, name: &str) -> Vec<PropertyType> {
        let declared = self.for_check(object, namespace);
        declared.map(|declared| declared.kinds(name)).unwrap_or_default()
    }

    /// Returns whether an attribute of a check about an object of the type `object` is declared as a reference.
    pub fn is_reference(&self, object: &str, namespace: &'static str, name: &str) -> bool {
        self.for_check(object, namespace).is_some_and(|declared| declared.is_reference(name))
    }

    /// Checks the properties of an entity at `at`: a type that has declared properties has no others, and each value is of
    /// its type.
    pub fn check_properties(
        &self,
        of: &str,
        properties: &BTreeMap<String, Json<'_>>,
        at: &Place<'_>,
        problems: &mut Problems,
    ) {
        let Some(declared) = self.for_type(of, &[]) else { return };
        for (name, value) in properties {
            let Some(kind) = declared.own_kind(name) else {
                note_unknown(name, || declared.expected_own(name, ""), at, problems);
                continue;
            };
            if !kind.admits(value) {
                let what = format!("{kind}, as the type `{of}` declares");
                problems.expected(&at.key(name), what);
            }
        }
    }
}

/// Notes the undeclared member `name` of the object at `at`. `expected` completes "expected …".
fn note_unknown(
    name: &str,
    expected: impl FnOnce() -> String,
    at: &Place<'_>,
    problems: &mut Problems,
) {
    // Only a kept fault pays for the search of the nearest name.
    let what = if problems.is_full() { String::new() } else { expected() };
    problems.expected(&at.key(name), what);
}
