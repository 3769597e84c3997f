//! Attributes whose names look misspelt, and attributes of cases that requests cannot have.

use std::collections::{BTreeMap, BTreeSet};

use portcullis_bundle::{Bundle, ItemKind};
use portcullis_engine::condition::AttributePath;
use portcullis_engine::excerpt::quoted;
use portcullis_engine::nearest::nearest;
use portcullis_engine::resource::object_of;
use portcullis_engine::types::{ACTION, CONTEXT, PropertySource, USER};
use portcullis_engine::value::AttributeValue;
use portcullis_engine::{CheckBody, ResourcePattern, type_of_resource};
use portcullis_model::types::{NewType, property_sources};

use super::code::LintCode;
use super::finding::{Doubt, LintSubject};

/// The namespace of the attributes of resources.
const RESOURCE: &str = "resource";
/// The attributes that requests have without a declaration.
const OF_REQUESTS: [(&str, &str); 4] =
    [(USER, "roles"), (USER, "type"), (RESOURCE, "id"), (RESOURCE, "type")];

/// A mention of an attribute in an item of the folder.
struct Mention<'b> {
    namespace: &'static str,
    /// The type of the resource; `None` if it may be of any type, and in other namespaces.
    of: Option<&'b str>,
    name: &'b str,
    /// The number of the item among all items.
    item: usize,
}

/// The mentions of one name of a namespace.
#[derive(Default)]
struct Mentions<'b> {
    items: BTreeSet<usize>,
    types: BTreeSet<Option<&'b str>>,
}

/// The items of a folder that name attributes.
struct Items<'b> {
    subjects: Vec<(LintSubject, String)>,
    mentions: Vec<Mention<'b>>,
}

/// Returns the findings about attributes.
pub(super) fn doubts(bundle: &Bundle) -> Vec<Doubt> {
    let items = Items::new(bundle);
    let mut namespaces: BTreeMap<&str, BTreeMap<&str, Mentions<'_>>> = BTreeMap::new();
    for Mention { namespace, of, name, item } in &items.mentions {
        let names = namespaces.entry(namespace).or_default();
        let mentions = names.entry(name).or_default();
        mentions.items.insert(*item);
        mentions.types.insert(*of);
    }
    let mut doubts = Vec::new();
    for (namespace, names) in &namespaces {
        for (name, mentions) in names {
            if let (Some(meant), Some(item)) = (similar(name, names), mentions.items.first()) {
                doubts.push(misspelt(&items, item, namespace, name, meant));
            }
        }
    }
    doubts.extend(overridden(bundle));
    doubts
}

/// Returns the name that `name` may mean: one that it resembles, if only one item names it. Two names that one item has
/// are both meant, and so are names that differ in digits. Of two names that are mentioned once each, the later is the doubt.
fn similar<'b>(name: &str, names: &BTreeMap<&'b str, Mentions<'b>>) -> Option<&'b str> {
    let own = names.get(name).filter(|own| own.items.len() == 1)?;
    let may_be_meant = names.iter().filter(|(other, mentions)| {
        let share_type = own.types.contains(&None)
            || mentions.types.contains(&None)
            || !own.types.is_disjoint(&mentions.types);
        **other != name
            && share_type
            && own.items.is_disjoint(&mentions.items)
            // Where both have one item, the sets compare by its number.
            && (mentions.items.len() > 1 || mentions.items < own.items)
            && without_digits(other) != without_digits(name)
    });
    nearest(name, may_be_meant.map(|(other, _)| *other))
}

fn without_digits(name: &str) -> String {
    name.chars().filter(|char| !char.is_ascii_digit()).collect()
}

fn misspelt(items: &Items<'_>, item: &usize, namespace: &str, name: &str, meant: &str) -> Doubt {
    let (subject, shown) = &items.subjects[*item];
    let [name, meant] = [name, meant].map(|name| quoted(format_args!("{namespace}.{name}")));
    Doubt {
        code: LintCode::SimilarName,
        subject: subject.clone(),
        message: format!("{shown} alone names {name}, which resembles {meant}"),
        advice: format!("write {meant}, or declare both in types.yaml"),
    }
}

impl<'b> Items<'b> {
    /// Reads the policies, then the cases, then the inputs of resolvers.
    fn new(bundle: &'b Bundle) -> Self {
        let mut items = Self { subjects: Vec::new(), mentions: Vec::new() };
        for (index, policy) in bundle.policies.iter().enumerate() {
            let of = match &policy.resource {
                ResourcePattern::Any => None,
                ResourcePattern::Name(name) => Some(&**name),
                ResourcePattern::Exact(resource) => Some(object_of(resource)),
            };
            let sent = policy.rule_data.condition.attributes().filter_map(AttributePath::sent);
            let subject = LintSubject::Item(ItemKind::Policy, index, "/when");
            let shown = format!("the policy {}", quoted(&policy.name));
            items.add(bundle, subject, shown, of, sent);
        }
        for (index, case) in bundle.cases.iter().enumerate() {
            let Ok(check) = CheckBody::parse(&case.check) else { continue };
            let subject = LintSubject::Item(ItemKind::Case, index, "/check/attributes");
            let shown = format!("the case {}", quoted(&case.name));
            let of = type_of_resource(check.attributes.resource, check.resource);
            items.add(bundle, subject, shown, Some(of), sent_attributes(&check).into_iter());
        }
        for (index, resolver) in bundle.resolvers.iter().enumerate() {
            let subject = LintSubject::Item(ItemKind::Resolver, index, "");
            let shown = format!("the resolver {}", quoted(&resolver.manifest.namespace));
            let inputs = resolver.inputs.iter().filter_map(|input| {
                let (kind, name) = input.split_once('.')?;
                let namespaces = [USER, RESOURCE, ACTION, CONTEXT].into_iter();
                Some((namespaces.into_iter().find(|known| *known == kind)?, name))
            });
            items.add(bundle, subject, shown, None, inputs);
        }
        items
    }

    /// Adds an item with the attributes that it names: namespace and name. Declared namespaces are checked elsewhere.
    fn add(
        &mut self,
        bundle: &Bundle,
        subject: LintSubject,
        shown: String,
        of: Option<&'b str>,
        named: impl Iterator<Item = (&'static str, &'b str)>,
    ) {
        let item = self.subjects.len();
        self.subjects.push((subject, shown));
        let named =
            // The input `*` stands for all attributes of a namespace, and is no name.
            named.filter(|attribute| !OF_REQUESTS.contains(attribute) && attribute.1 != "*");
        let mentions = named.map(|(namespace, name)| {
            // Only attributes of resources depend on the type of the resource.
            let of = of.filter(|_| namespace == RESOURCE);
            Mention { namespace, of, name, item }
        });
        self.mentions.extend(mentions.filter(|mention| !is_declared(bundle, mention)));
    }
}

/// Returns whether the namespace of the attribute has declared properties.
fn is_declared(bundle: &Bundle, mention: &Mention<'_>) -> bool {
    let mut types = bundle.types.iter().flatten();
    // A type that only has relations leaves its attributes undeclared.
    types.any(|declared| !declared.properties.is_empty() && mention.is_of(declared))
}

impl Mention<'_> {
    /// Returns whether the attribute is, or may be, one of a type.
    fn is_of(&self, declared: &NewType) -> bool {
        match (self.namespace, self.of) {
            (RESOURCE, Some(of)) => declared.kind == of,
            // A resource of any type may be of each declared type that is no namespace of its own.
            (RESOURCE, None) => ![USER, CONTEXT, ACTION].contains(&&*declared.kind),
            (namespace, _) => declared.kind == namespace,
        }
    }
}

/// Returns the attributes that a check sends: namespace and name.
fn sent_attributes<'c>(check: &CheckBody<'c>) -> Vec<(&'static str, &'c str)> {
    let sent = check.attributes;
    let all = [
        (USER, sent.user),
        (RESOURCE, sent.resource),
        (ACTION, sent.action),
        (CONTEXT, sent.context),
    ];
    let named = all.into_iter().flat_map(|(namespace, attributes)| {
        attributes.iter().map(move |(name, _)| (namespace, name)).collect::<Vec<_>>()
    });
    named.collect()
}

/// Finds attributes of cases that no request of this form could have: the only source of the property does not know the
/// subject or the resource.
fn overridden(bundle: &Bundle) -> Vec<Doubt> {
    let types = bundle.types.iter().flatten().map(NewType::declared);
    let sources = property_sources(types);
    let mut doubts = Vec::new();
    for (index, case) in bundle.cases.iter().enumerate() {
        let Ok(check) = CheckBody::parse(&case.check) else { continue };
        let is_own = case.caller.as_deref() == Some(check.subject);
        let has_id = matches!(check.attributes.resource.get("id"), Some(AttributeValue::Text(_)));
        let own = type_of_resource(check.attributes.resource, check.resource);
        let sent = sent_attributes(&check);
        for (namespace, name) in sent.iter().copied() {
            let of = if namespace == RESOURCE { own } else { namespace };
            let Some(from) = sources.of_attribute(of, name) else { continue };
            let (source, advice) = match from {
                // A token speaks for its own subject alone.
                PropertySource::Token if !is_own => (
                    "the token of the subject, who is not the caller",
                    "let the subject ask by `as`",
                ),
                PropertySource::Directory
                    if namespace == RESOURCE
                        && !has_id
                        && !is_behind_sent(&sent, namespace, name) =>
                {
                    ("the directory, which finds a resource by its id", "send `resource.id` too")
                }
                PropertySource::Request | PropertySource::Token | PropertySource::Directory => {
                    continue;
                }
            };
            let (case, attribute) =
                (quoted(&case.name), quoted(format_args!("{namespace}.{name}")));
            doubts.push(Doubt {
                code: LintCode::OverriddenAttribute,
                subject: LintSubject::Item(ItemKind::Case, index, "/check/attributes"),
                message: format!(
                    "the case {case} sends {attribute}, which comes from {source}: a request like this is decided without it"
                ),
                advice: format!("{advice}, or leave it out"),
            });
        }
    }
    doubts
}

/// Returns whether the check sends the reference that leads to `name`: `owner` for `owner.level`.
fn is_behind_sent(sent: &[(&str, &str)], namespace: &str, name: &str) -> bool {
    sent.iter().any(|(own, reference)| {
        *own == namespace && name.strip_prefix(reference).is_some_and(|rest| rest.starts_with('.'))
    })
}
