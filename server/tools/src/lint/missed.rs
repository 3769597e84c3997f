//! Registered resources that a pattern seems to have and does not, and verbs that nothing under a pattern has.

use std::collections::{BTreeMap, BTreeSet};

use portcullis_bundle::{Bundle, ItemKind};
use portcullis_engine::ResourcePattern;
use portcullis_engine::excerpt::quoted;
use portcullis_engine::rbac::WILDCARD;
use portcullis_engine::resource::split_resource;

use super::code::LintCode;
use super::finding::{Doubt, LintSubject};

/// The verbs of registered resources by name.
type Registered<'b> = BTreeMap<&'b str, BTreeSet<&'b str>>;

/// Returns the findings about patterns such as `expense:*`.
pub(super) fn doubts(bundle: &Bundle) -> Vec<Doubt> {
    let mut registered = Registered::new();
    for (name, verb) in bundle.resources.iter().filter_map(|one| split_resource(&one.name)) {
        registered.entry(name).or_default().insert(verb);
    }
    let rules: Vec<_> = bundle.rules.iter().map(|rule| &rule.tuple.obj).collect();
    let policies: Vec<_> = bundle.policies.iter().map(|policy| &policy.resource).collect();
    let mut doubts = missed(&rules, &registered, (ItemKind::Rule, "/obj"));
    doubts.extend(missed(&policies, &registered, (ItemKind::Policy, "/resource")));
    doubts.extend(verbs_of_others(bundle, &registered));
    doubts
}

/// Finds patterns `name:*` beside a registered resource `name:…:verb`, which no pattern of the kind names: the verb of a resource
/// is what stands behind its last `:`.
fn missed(
    patterns: &[&ResourcePattern],
    registered: &Registered<'_>,
    (kind, member): (ItemKind, &'static str),
) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    for (index, pattern) in patterns.iter().enumerate() {
        let ResourcePattern::Name(name) = pattern else { continue };
        let is_below =
            |other: &&str| other.strip_prefix(&**name).is_some_and(|rest| rest.starts_with(':'));
        let below = registered.iter().filter(|(other, _)| is_below(other));
        let resources =
            below.flat_map(|(other, verbs)| verbs.iter().map(move |verb| (*other, *verb)));
        let mut unnamed = resources.filter(|(other, verb)| {
            !patterns.iter().any(|pattern| match pattern {
                ResourcePattern::Any => false,
                ResourcePattern::Name(name) => **name == **other,
                ResourcePattern::Exact(resource) => **resource == *format!("{other}:{verb}"),
            })
        });
        let Some((other, verb)) = unnamed.next() else { continue };
        let (shown, resource) = (quoted(pattern), quoted(format_args!("{other}:{verb}")));
        doubts.push(Doubt {
            code: LintCode::MissedResource,
            subject: LintSubject::Item(kind, index, member),
            message: format!(
                "{shown} does not match the registered {resource}, whose verb is {} alone",
                quoted(verb)
            ),
            advice: format!(
                "name {} as well, or register it without the second `:`",
                quoted(format_args!("{other}:*"))
            ),
        });
    }
    doubts
}

/// Finds rules about `name:*` whose action only resources of other names have as their verb.
fn verbs_of_others(bundle: &Bundle, registered: &Registered<'_>) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    for (index, rule) in bundle.rules.iter().enumerate() {
        let (ResourcePattern::Name(name), act) = (&rule.tuple.obj, &*rule.tuple.act) else {
            continue;
        };
        let has_it = |verbs: &BTreeSet<&str>| act == WILDCARD || verbs.contains(act);
        let is_known = registered.values().any(has_it);
        let lacks_it = registered.get(&**name).is_some_and(|verbs| !has_it(verbs));
        if is_known && lacks_it {
            doubts.push(Doubt {
                code: LintCode::Unregistered,
                subject: LintSubject::Item(ItemKind::Rule, index, "/act"),
                message: format!(
                    "no registered resource of {} has the verb {}",
                    quoted(&rule.tuple.obj),
                    quoted(act)
                ),
                advice: "register one, or correct the verb".to_owned(),
            });
        }
    }
    doubts
}
