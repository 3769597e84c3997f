//! Rights that depend on a domain while nothing ties an object to one.

use std::collections::HashSet;

use portcullis_bundle::{Bundle, ItemKind};
use portcullis_engine::condition::{AttributePath, Operand, Predicate, RequestField, Test};
use portcullis_engine::excerpt::quoted;
use portcullis_engine::operator::Operator;
use portcullis_engine::rbac::WILDCARD;
use portcullis_engine::resource::object_of;
use portcullis_engine::{Condition, Effect, ResourcePattern, expression};
use portcullis_model::policy::NewPolicy;
use serde_json::Value;

use super::code::LintCode;
use super::finding::{Doubt, LintSubject};

/// The attribute that the advice names if no policy shows the tenant's name for it.
const DEFAULT_ATTRIBUTE: &str = "project";
/// The least priority of the policy that the advice writes.
const LEAST_PRIORITY: i32 = 100;

/// A rule or policy that depends on the domain.
struct Dependent<'b> {
    kind: ItemKind,
    index: usize,
    name: String,
    pattern: &'b ResourcePattern,
    /// The least priority of a deny that it cannot outrank. A deny of any priority comes before a rule.
    priority: i32,
}

/// Returns one finding for each kind of object about which something depends on a domain, and which no policy ties to one.
/// It stands at the first such rule or policy.
pub(super) fn doubts(bundle: &Bundle) -> Vec<Doubt> {
    let ties: Vec<&NewPolicy> = bundle
        .policies
        .iter()
        .filter(|it| it.enabled && it.effect == Effect::Deny && tie(it).is_some())
        .collect();
    let mut reported = HashSet::new();
    let mut doubts = Vec::new();
    for dependent in dependents(bundle) {
        let names = bundle.resources.iter().map(|resource| &*resource.name);
        for name in names.filter(|name| dependent.pattern.matches(name)) {
            let is_tied = ties
                .iter()
                // Of two policies of one priority a deny decides, so an equal priority is enough.
                .any(|tie| tie.resource.matches(name) && tie.priority >= dependent.priority);
            let object = object_of(name);
            // The set is asked last: an object whose first resource is tied may still have one that is not.
            if !is_tied && reported.insert(object) {
                doubts.push(doubt(bundle, &dependent, object));
            }
        }
    }
    doubts
}

/// Returns the rules that name another domain than the tenant's own, and the policies that read the domain and tie nothing
/// to it.
fn dependents(bundle: &Bundle) -> impl Iterator<Item = Dependent<'_>> {
    let rules = bundle.rules.iter().map(|rule| &rule.tuple).enumerate();
    let rules = rules.filter(|(_, rule)| rule.dom != WILDCARD && rule.dom != bundle.tenant);
    let rules = rules.map(|(index, rule)| Dependent {
        kind: ItemKind::Rule,
        index,
        name: format!("the rule `{rule}`"),
        pattern: &rule.obj,
        priority: i32::MIN,
    });
    let policies = bundle.policies.iter().enumerate();
    let policies = policies.filter(|(_, it)| it.enabled && reads_domain(it) && tie(it).is_none());
    let policies = policies.map(|(index, policy)| Dependent {
        kind: ItemKind::Policy,
        index,
        name: format!("policy {}", quoted(&policy.name)),
        pattern: &policy.resource,
        // A deny is no right, and a tie of any priority stands beside it.
        priority: if policy.effect == Effect::Allow { policy.priority } else { i32::MIN },
    });
    rules.chain(policies)
}

fn doubt(bundle: &Bundle, dependent: &Dependent<'_>, object: &str) -> Doubt {
    let attribute = domain_attribute(bundle, object);
    let priority = highest_allow(bundle, object).max(LEAST_PRIORITY);
    let [name, resource, when] =
        [format!("{object}-in-domain"), format!("{object}:*"), tying_condition(attribute)]
            .map(Value::String);
    Doubt {
        code: LintCode::DomainNotTied,
        subject: LintSubject::Item(dependent.kind, dependent.index, ""),
        message: format!(
            "{} depends on the domain, and nothing ties a `{object}` to one: a right in one domain is a right on every \
             `{object}`",
            dependent.name
        ),
        advice: format!(
            "send `resource.{attribute}` with each check, and add to policies.yaml `- {{name: {name}, resource: \
             {resource}, effect: deny, priority: {priority}, when: {when}}}`"
        ),
    }
}

/// Returns the condition of a deny that ties an object to the domain in which a check asks, as an expression.
pub(crate) fn tying_condition(attribute: &str) -> String {
    let domain = AttributePath::Request(RequestField::Domain);
    let is_in_domain = Test {
        attribute: AttributePath::Resource(attribute.into()),
        predicate: Predicate::Compare(Operator::Eq, Operand::Attribute(domain)),
        // An object without the attribute counts as one in the domain, so the deny spares it.
        if_missing: Some(true),
    };
    expression::print(&Condition::Not(Box::new(Condition::Test(is_in_domain))))
}

fn reads_domain(policy: &NewPolicy) -> bool {
    let mut attributes = policy.rule_data.condition.attributes();
    attributes.any(|path| *path == AttributePath::Request(RequestField::Domain))
}

/// Returns the attribute that a policy compares with the domain: one of the object, or one that a resolver has for it.
fn tie(policy: &NewPolicy) -> Option<&AttributePath> {
    let domain = AttributePath::Request(RequestField::Domain);
    let tests = policy.rule_data.condition.tests();
    let mut compared = tests.into_iter().filter_map(|test| {
        let right = test.predicate.right_attribute()?;
        match (test.attribute == domain, *right == domain) {
            (true, false) => Some(right),
            (false, true) => Some(&test.attribute),
            _ => None,
        }
    });
    compared.find(|path| matches!(path, AttributePath::Resource(_) | AttributePath::Resolver(_)))
}

/// Returns the name of the attribute that has the domain of an object: the one that ties other objects, or one that a
/// policy on the object compares with an attribute of people that has its name, such as `user.projects`.
fn domain_attribute<'b>(bundle: &'b Bundle, object: &str) -> &'b str {
    let ties = bundle.policies.iter().filter_map(tie);
    let of_ties = ties.filter_map(|path| match path {
        AttributePath::Resource(name) => Some(&**name),
        _ => None,
    });
    let of_object = bundle.policies.iter().filter(|policy| is_about(&policy.resource, object));
    let tests = of_object.flat_map(|policy| policy.rule_data.condition.tests());
    let shared =
        tests.filter_map(|test| match (&test.attribute, test.predicate.right_attribute()?) {
            (
                AttributePath::Resource(own),
                AttributePath::User(theirs) | AttributePath::Token(theirs),
            )
            | (
                AttributePath::User(theirs) | AttributePath::Token(theirs),
                AttributePath::Resource(own),
            ) => theirs.starts_with(&**own).then_some(&**own),
            _ => None,
        });
    // The attribute of another tie is the better sign, so those come first.
    of_ties.chain(shared).next().unwrap_or(DEFAULT_ATTRIBUTE)
}

/// Returns the highest priority of the policies that allow something with an object. A deny of this priority beats them.
fn highest_allow(bundle: &Bundle, object: &str) -> i32 {
    let allows = bundle.policies.iter().filter(|it| it.enabled && it.effect == Effect::Allow);
    let of_object = allows.filter(|policy| is_about(&policy.resource, object));
    of_object.map(|policy| policy.priority).max().unwrap_or(i32::MIN)
}

/// Returns whether a pattern matches something that can be done with an object.
fn is_about(pattern: &ResourcePattern, object: &str) -> bool {
    match pattern {
        ResourcePattern::Any => true,
        ResourcePattern::Name(name) => name == object,
        ResourcePattern::Exact(resource) => object_of(resource) == object,
    }
}
