//! Relations between subjects and objects, as policies and rules name them (`docs/semantics.md`, section 12). A plan
//! asks for their values; the graph that answers them is not a part of the engine.

use std::collections::{BTreeMap, BTreeSet};

use crate::nearest::hint;
use crate::resource::ResourcePattern;

/// The namespace of the attributes `relation.<name>`.
pub const RELATION: &str = "relation";

/// The end of a rule's subject that stands for everybody with a relation to the resource.
const AT_RESOURCE: &str = "@resource";

/// The object of an attribute `relation.<name>`, and its relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelationTarget<'n> {
    /// `viewer`: the resource of the check.
    OfResource(&'n str),
    /// `group:eng#member`: always the same object.
    OfObject {
        /// The type of the object.
        object_type: &'n str,
        /// The id of the object.
        id: &'n str,
        /// The relation.
        relation: &'n str,
    },
}

impl<'n> RelationTarget<'n> {
    /// Parses the name of an attribute of the namespace. Ids may contain `:` and `#`.
    pub fn parse(name: &'n str) -> Self {
        Self::of_object(name).unwrap_or(Self::OfResource(name))
    }

    fn of_object(name: &'n str) -> Option<Self> {
        // Types and relations have neither sign, so that an id may have both.
        let (object, relation) = name.rsplit_once('#')?;
        let (object_type, id) = object.split_once(':')?;
        let is_whole = [object_type, id, relation].iter().all(|part| !part.is_empty());
        is_whole.then_some(Self::OfObject { object_type, id, relation })
    }
}

/// Returns the name of the attribute that a rule with this subject needs: `editor` for `editor@resource`, and
/// `group:eng#member` for itself. `None` if the subject is a text.
pub fn relation_of_subject(subject: &str) -> Option<&str> {
    if let Some(relation) = subject.strip_suffix(AT_RESOURCE) {
        // `@resource` alone, or with another marker before it, does not name a relation.
        return (!relation.is_empty() && !has_marker(relation)).then_some(relation);
    }
    let target = RelationTarget::parse(subject);
    matches!(target, RelationTarget::OfObject { .. }).then_some(subject)
}

/// Returns whether the subject of a rule has a character that marks relations, once a tenant has some.
pub fn has_marker(subject: &str) -> bool {
    subject.contains(['@', '#'])
}

/// The names of the relations that a tenant declares, by type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RelationNames(BTreeMap<String, BTreeSet<String>>);

impl RelationNames {
    /// Returns whether no type has a relation.
    pub fn is_empty(&self) -> bool {
        self.0.values().all(BTreeSet::is_empty)
    }

    /// Completes "expected …" for the name of an attribute that a policy on these resources may not read; `None` if it
    /// may.
    pub(crate) fn fault(&self, name: &str, resource: &ResourcePattern) -> Option<String> {
        self.fault_shown_as(name, resource, |relation| format!("{RELATION}.{relation}"))
    }

    /// Completes "expected …" for the subject of a rule on these resources; `None` if it may stand there. A subject with
    /// a marker must be a relation.
    pub fn fault_of_subject(&self, subject: &str, resource: &ResourcePattern) -> Option<String> {
        if self.is_empty() || !has_marker(subject) {
            return None;
        }
        let Some(name) = relation_of_subject(subject) else {
            return Some(
                "a subject or role without `@` and `#`, `<relation>@resource` or `<type>:<id>#<relation>`"
                    .to_owned(),
            );
        };
        self.fault_shown_as(name, resource, |relation| format!("{relation}{AT_RESOURCE}"))
    }

    fn fault_shown_as(
        &self,
        name: &str,
        resource: &ResourcePattern,
        shown: impl Fn(&str) -> String,
    ) -> Option<String> {
        match RelationTarget::parse(name) {
            RelationTarget::OfResource(relation) => {
                let declared = resource.object().and_then(|named| self.0.get_key_value(named));
                match declared {
                    Some((of, known)) => missing(&format!("`{of}`"), relation, known, shown),
                    None => {
                        // `*` and types without a declaration may stand for resources of any type.
                        let all = self.0.values().flatten();
                        missing("a type", relation, all, shown)
                    }
                }
            }
            RelationTarget::OfObject { object_type, id, relation } => {
                let Some(known) = self.0.get(object_type) else {
                    let hint = hint(object_type, self.0.keys(), str::to_owned);
                    return Some(format!("a declared type before `:`{hint}"));
                };
                missing(&format!("`{object_type}`"), relation, known, |relation| {
                    format!("{object_type}:{id}#{relation}")
                })
            }
        }
    }
}

/// Completes "expected …" if a relation is not one of `known`.
fn missing<'k>(
    of: &str,
    relation: &str,
    known: impl IntoIterator<Item = &'k String>,
    shown: impl Fn(&str) -> String,
) -> Option<String> {
    let known: BTreeSet<&String> = known.into_iter().collect();
    let is_known = known.iter().any(|known| *known == relation);
    (!is_known).then(|| format!("a relation of {of}{}", hint(relation, known, shown)))
}

impl<R: IntoIterator<Item = String>> FromIterator<(String, R)> for RelationNames {
    /// Collects every declared type with its relations, if it has any.
    fn from_iter<I: IntoIterator<Item = (String, R)>>(types: I) -> Self {
        let types = types.into_iter();
        Self(types.map(|(name, relations)| (name, relations.into_iter().collect())).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_the_resource_or_a_fixed_object() {
        let object =
            |object_type, id, relation| RelationTarget::OfObject { object_type, id, relation };
        for (name, expected) in [
            ("viewer", RelationTarget::OfResource("viewer")),
            ("group:eng#member", object("group", "eng", "member")),
            ("group:a:b#c#member", object("group", "a:b#c", "member")),
            ("group:#member", RelationTarget::OfResource("group:#member")),
            ("group#member", RelationTarget::OfResource("group#member")),
        ] {
            assert_eq!(RelationTarget::parse(name), expected, "{name}");
        }
    }

    #[test]
    fn a_subject_is_a_text_or_a_relation() {
        for (subject, expected) in [
            ("editor@resource", Some("editor")),
            ("group:eng#member", Some("group:eng#member")),
            ("editor", None),
            ("*", None),
            ("@resource", None),
            ("a@b@resource", None),
            ("ann@example.com", None),
            ("group:eng", None),
            ("eng#member", None),
        ] {
            assert_eq!(relation_of_subject(subject), expected, "{subject}");
        }
    }

    #[test]
    fn a_fault_names_what_is_expected() {
        let types: [(&str, &[&str]); 3] =
            [("document", &["editor", "viewer"]), ("group", &["member"]), ("user", &[])];
        let owned =
            |names: &[&str]| -> Vec<_> { names.iter().map(|name| (*name).to_owned()).collect() };
        let declared = types.map(|(name, names)| (name.to_owned(), owned(names)));
        let declared = declared.into_iter().collect::<RelationNames>();
        const FORMS: &str = "a subject or role without `@` and `#`, `<relation>@resource` or `<type>:<id>#<relation>`";
        for (subject, obj, expected) in [
            ("viewer@resource", "document:*", ""),
            ("viewer@resource", "document:read", ""),
            ("viewer@resource", "*", ""),
            ("viewer@resource", "page:*", ""),
            ("group:eng#member", "document:*", ""),
            ("nurse", "document:*", ""),
            (
                "viewr@resource",
                "document:*",
                "a relation of `document` (did you mean `viewer@resource`?)",
            ),
            (
                "member@resource",
                "document:*",
                "a relation of `document`, `editor@resource` or `viewer@resource`",
            ),
            ("viewer@resource", "user:*", "a relation of `user`"),
            ("memberr@resource", "*", "a relation of a type (did you mean `member@resource`?)"),
            ("group:eng#membr", "*", "a relation of `group` (did you mean `group:eng#member`?)"),
            ("grop:eng#member", "*", "a declared type before `:` (did you mean `group`?)"),
            ("ann@example.com", "*", FORMS),
            ("eng#member", "*", FORMS),
        ] {
            let obj = ResourcePattern::parse(obj).expect("a pattern");
            let fault = declared.fault_of_subject(subject, &obj).unwrap_or_default();
            assert_eq!(fault, expected, "{subject} on {obj}");
            assert_eq!(RelationNames::default().fault_of_subject(subject, &obj), None);
        }
    }
}
