//! Registered resources that a pattern seems to have and does not, and verbs that nothing under a pattern has.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Bound;

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
    let named: HashSet<&str> = patterns.iter().filter_map(|pattern| own_name(pattern)).collect();
    let exact: HashSet<&str> = patterns.iter().filter_map(|pattern| exact(pattern)).collect();
    // Many rules have the same pattern.
    let mut found = HashMap::<&str, Option<(&str, &str)>>::new();
    let mut doubts = Vec::new();
    for (index, pattern) in patterns.iter().enumerate() {
        let Some(name) = own_name(pattern) else { continue };
        let unnamed = *found.entry(name).or_insert_with(|| {
            let prefix = format!("{name}:");
            // Names are sorted, so that those with the prefix are neighbours.
            let below = registered.range::<str, _>((Bound::Included(&*prefix), Bound::Unbounded));
            below
                .take_while(|(other, _)| other.starts_with(&prefix))
                .flat_map(|(other, verbs)| verbs.iter().map(move |verb| (*other, *verb)))
                .find(|(other, verb)| {
                    !named.contains(other) && !exact.contains(&*format!("{other}:{verb}"))
                })
        });
        let Some((other, verb)) = unnamed else { continue };
        let (shown, resource) = (quoted(pattern), quoted(format_args!("{other}:{verb}")));
        doubts.push(Doubt {
            code: LintCode::MissedResource,
            subject: LintSubject::Item(kind, index, member),
            message: format!(
                "{shown} does not match the registered {resource}, whose verb is {} alone, and no other pattern in the file covers it",
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

/// Returns the name of a pattern `name:*`.
fn own_name(pattern: &ResourcePattern) -> Option<&str> {
    match pattern {
        ResourcePattern::Name(name) => Some(name),
        ResourcePattern::Any | ResourcePattern::Exact(_) => None,
    }
}

/// Returns the resource that a pattern names alone.
fn exact(pattern: &ResourcePattern) -> Option<&str> {
    match pattern {
        ResourcePattern::Exact(resource) => Some(resource),
        ResourcePattern::Any | ResourcePattern::Name(_) => None,
    }
}

/// Finds rules about `name:*` whose action only resources of other names have as their verb.
fn verbs_of_others(bundle: &Bundle, registered: &Registered<'_>) -> Vec<Doubt> {
    let verbs: HashSet<&str> = registered.values().flatten().copied().collect();
    let mut doubts = Vec::new();
    for (index, rule) in bundle.rules.iter().enumerate() {
        let (ResourcePattern::Name(name), act) = (&rule.tuple.obj, &*rule.tuple.act) else {
            continue;
        };
        let lacks_it = registered.get(&**name).is_some_and(|own| !own.contains(act));
        if act != WILDCARD && verbs.contains(act) && lacks_it {
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
