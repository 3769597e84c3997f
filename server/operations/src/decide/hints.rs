//! The hints of an explained check: what may be mistaken in it (`docs/semantics.md`, section 2.15).

use std::collections::BTreeSet;

use portcullis_engine::action::{is_verb, verb_of};
use portcullis_engine::entities::EntityTable;
use portcullis_engine::excerpt::quoted;
use portcullis_engine::nearest::nearest;
use portcullis_engine::request::Action;
use portcullis_engine::resource::object_of;
use portcullis_engine::types::Types;
use portcullis_engine::value::AttributeValue;
use portcullis_engine::{Check, Explanation, Plan, find_subject, type_of_subject};
use portcullis_model::hint::{Hint, HintCode, MAX_HINTS};
use portcullis_model::relation_declaration::RelationDeclarations;

/// The attributes that every check may have, whatever reads them.
const OF_EVERY_CHECK: [(&str, &str); 3] =
    [("user", "roles"), ("resource", "id"), ("resource", "type")];

/// Everything about the tenant that hints depend on, beside the plan.
#[derive(Debug)]
pub struct HintFacts<'f> {
    /// The directory; `None` if the tenant has none.
    pub entities: Option<&'f EntityTable>,
    pub types: &'f Types,
    /// The attributes that relations and resolvers read, such as `user.ward`; `user.*` are all of a namespace.
    pub inputs: &'f BTreeSet<String>,
    /// Whether the resource is registered, or a rule or policy names it.
    pub is_named: bool,
    /// The names of registered resources.
    pub registered: &'f [String],
}

/// Returns the hints about the check `sent`, which `plan` decided and `explanation` explains, in the order of the body.
pub fn hints(
    facts: &HintFacts<'_>,
    plan: &Plan,
    sent: &Check<'_>,
    explanation: &Explanation<'_>,
) -> Vec<Hint> {
    let mut hints = Hints { facts, plan, sent, found: Vec::new() };
    hints.about_subject();
    hints.about_resource(explanation);
    hints.about_action();
    hints.about_attributes();
    hints.found
}

/// Returns the attributes of a resource that stand for tuples of these relations of its type.
pub fn inputs_of_relations<'r>(
    relations: impl IntoIterator<Item = &'r RelationDeclarations>,
) -> BTreeSet<String> {
    let relations = relations.into_iter().flat_map(|declared| declared.values());
    let names = relations.filter_map(|relation| relation.0.request.as_deref());
    names.map(|name| format!("resource.{name}")).collect()
}

/// Returns the words about a resource that no rule and no policy names. It names the `registered` one that it resembles.
pub fn unnamed_resource(resource: &str, registered: &[String]) -> String {
    let meant = meant(resource, registered.iter().map(String::as_str));
    format!("no rule and no policy names {}{meant}", quoted(resource))
}

/// The hints while they are found.
struct Hints<'h> {
    facts: &'h HintFacts<'h>,
    plan: &'h Plan,
    sent: &'h Check<'h>,
    found: Vec<Hint>,
}

impl Hints<'_> {
    fn add(&mut self, code: HintCode, path: String, message: String) {
        if self.found.len() < MAX_HINTS {
            self.found.push(Hint { code, path, message });
        }
    }

    fn about_subject(&mut self) {
        let Some(table) = self.facts.entities else { return };
        let subject = self.sent.subject;
        let kind = type_of_subject(self.sent.subject_type, subject);
        // A directory without the type says nothing about subjects of it.
        if table.has_type(kind) && find_subject(table, subject).is_none() {
            let message = format!("the directory does not know the subject {}", quoted(subject));
            self.add(HintCode::UnknownSubject, "/subject".to_owned(), message);
        }
    }

    fn about_resource(&mut self, explanation: &Explanation<'_>) {
        // What matches the resource names it, if only by a pattern.
        let is_matched = !explanation.policies.is_empty() || !explanation.rules.is_empty();
        if self.facts.is_named || is_matched {
            return;
        }
        let message = unnamed_resource(self.sent.resource, self.facts.registered);
        self.add(HintCode::UnnamedResource, "/resource".to_owned(), message);
    }

    fn about_action(&mut self) {
        let Action::Plain(action) = self.sent.action else { return };
        let resource = self.sent.resource;
        if !is_verb(action, resource) {
            let (action, verb, resource) =
                (quoted(action), quoted(verb_of(resource)), quoted(resource));
            let message = format!("the action is {action}, and the verb of {resource} is {verb}");
            self.add(HintCode::ActionNotVerb, "/action".to_owned(), message);
        }
    }

    fn about_attributes(&mut self) {
        let sent = self.sent.attributes;
        let all = [
            ("user", sent.user),
            ("resource", sent.resource),
            ("action", sent.action),
            ("context", sent.context),
        ];
        for (namespace, attributes) in all {
            for (name, value) in attributes.iter() {
                if (namespace, name) == ("resource", "id") {
                    self.about_object();
                }
                if !self.is_read(namespace, name) {
                    self.unread(namespace, name);
                }
                self.about_type((namespace, name), value);
            }
        }
    }

    fn about_object(&mut self) {
        let (Some(table), Some((kind, id))) = (self.facts.entities, self.sent.resource_named())
        else {
            return;
        };
        if table.has_type(kind) && table.get(kind, id).is_none() {
            let object = format!("{kind}:{id}");
            let message = format!("the directory does not know the object {}", quoted(&object));
            self.add(HintCode::UnknownObject, "/attributes/resource/id".to_owned(), message);
        }
    }

    fn is_read(&self, namespace: &'static str, name: &str) -> bool {
        let inputs = self.facts.inputs;
        OF_EVERY_CHECK.contains(&(namespace, name))
            || self.plan.reads(namespace, name)
            || self.is_followed(namespace, name)
            || inputs.contains(&format!("{namespace}.*"))
            || inputs.contains(&format!("{namespace}.{name}"))
    }

    /// Returns whether the attribute is a reference, and a policy reads what is behind it.
    fn is_followed(&self, namespace: &'static str, name: &str) -> bool {
        // References of both types are followed, whichever the request names.
        let types = [object_of(self.sent.resource), self.sent.resource_type()];
        // `manager.name` is behind `manager`.
        types.iter().any(|of| self.facts.types.is_reference(of, namespace, name))
            && self.plan.attributes().any(|(of, read)| {
                of == namespace && read.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'))
            })
    }

    fn unread(&mut self, namespace: &str, name: &str) {
        let of_plan = self.plan.attributes().filter(|(of, _)| *of == namespace);
        let of_inputs = self.facts.inputs.iter().filter_map(|input| input.split_once('.'));
        let of_inputs = of_inputs.filter(|(of, name)| *of == namespace && *name != "*");
        let read: BTreeSet<&str> = of_plan.chain(of_inputs).map(|(_, name)| name).collect();
        let attribute = format!("{namespace}.{name}");
        let near = nearest(name, read).map(|name| format!("{namespace}.{name}"));
        let meant = meant_name(near.as_deref());
        let message =
            format!("no policy, relation or resolver reads {}{meant}", quoted(&attribute));
        self.add(HintCode::UnreadAttribute, pointer(namespace, name), message);
    }

    fn about_type(&mut self, (namespace, name): (&'static str, &str), value: AttributeValue<'_>) {
        let object = self.sent.resource_type();
        let kinds = self.facts.types.kinds_of(object, namespace, name);
        let value = value.to_json();
        if let Some(kind) = kinds.first()
            && !kinds.iter().any(|kind| kind.admits(&value))
        {
            let attribute = format!("{namespace}.{name}");
            let message = format!("{} is declared as {kind}, and is not one", quoted(&attribute));
            self.add(HintCode::OtherType, pointer(namespace, name), message);
        }
    }
}

/// Returns the JSON pointer of an attribute in the body of a check (RFC 6901).
fn pointer(namespace: &str, name: &str) -> String {
    format!("/attributes/{namespace}/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// Returns the question after the one of `known` that `name` resembles; empty if it resembles none.
fn meant<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    meant_name(nearest(name, known))
}

fn meant_name(near: Option<&str>) -> String {
    near.map(|name| format!("; did you mean {}?", quoted(name))).unwrap_or_default()
}
