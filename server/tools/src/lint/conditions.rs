//! Tests that do not say what they seem to: the length of a list, and an absence that allows.

use portcullis_bundle::{Bundle, ItemKind};
use portcullis_engine::Condition;
use portcullis_engine::condition::{AttributePath, Predicate, Test};
use portcullis_engine::excerpt::quoted;
use portcullis_engine::resource::object_of;
use portcullis_engine::types::{PropertySource, USER};
use portcullis_engine::{Effect, ResourcePattern};
use portcullis_model::policy::NewPolicy;
use portcullis_model::types::{NewType, property_sources};

use super::code::LintCode;
use super::finding::{Doubt, LintSubject};

/// The end of the path of what is meant as the length of a list.
const LENGTH: &str = ".length";

/// Returns the findings about tests of the enabled policies.
pub(super) fn doubts(bundle: &Bundle) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    for (index, policy) in bundle.policies.iter().enumerate().filter(|(_, it)| it.enabled) {
        let said = [length(policy), open_absence(bundle, policy)].into_iter().flatten();
        doubts.extend(said.map(|(code, message, advice)| {
            let subject = LintSubject::Item(ItemKind::Policy, index, "");
            Doubt { code, subject, message, advice }
        }));
    }
    doubts
}

/// A code, a message and an advice.
type Said = (LintCode, String, String);

/// Finds an attribute that is read as the length of another one. No attribute has a length: it is the name of a property that
/// somebody must send.
fn length(policy: &NewPolicy) -> Option<Said> {
    let tests = policy.rule_data.condition.tests().into_iter();
    let mut paths = tests.map(|test| test.attribute.to_string());
    let path = paths.find(|path| path.ends_with(LENGTH))?;
    // `user.length` itself is a plain attribute.
    let list = path.strip_suffix(LENGTH).filter(|list| list.contains('.'))?;
    let message = format!(
        "policy {} reads {}, which is an attribute of this name and not the length of {}",
        quoted(&policy.name),
        quoted(&path),
        quoted(list)
    );
    let advice =
        "send the number as an attribute of its own, such as `user.team_count`, and read that";
    Some((LintCode::NoLength, message, advice.to_owned()))
}

/// Finds an allow that applies because an attribute is absent which a check can leave out.
fn open_absence(bundle: &Bundle, policy: &NewPolicy) -> Option<Said> {
    // A caller that omits an attribute gains nothing from a deny.
    if policy.effect == Effect::Deny {
        return None;
    }
    let mut absent = Vec::new();
    add_absent(&policy.rule_data.condition, false, &mut absent);
    let path = absent.into_iter().find(|path| can_be_left_out(bundle, policy, path))?;
    let (name, path) = (quoted(&policy.name), quoted(path));
    let message = format!(
        "policy {name} allows because {path} is absent: a caller that omits the attribute gets more access"
    );
    let advice = "test a value that is always sent, let the directory or the token supply the attribute (`from` in types.yaml), \
        or silence this";
    Some((LintCode::AllowsWithout, message, advice.to_owned()))
}

/// Adds the attributes whose absence makes the condition true; `is_negated` says whether the condition is under a negation.
fn add_absent<'c>(condition: &'c Condition, is_negated: bool, absent: &mut Vec<&'c AttributePath>) {
    match condition {
        Condition::And(children) | Condition::Or(children) => {
            children.iter().for_each(|child| add_absent(child, is_negated, absent));
        }
        Condition::Not(child) => add_absent(child, !is_negated, absent),
        Condition::Named(named) => {
            let meaning = named.meaning().into_iter();
            meaning.for_each(|meaning| add_absent(meaning, is_negated, absent));
        }
        // An even number of negations around the test asks for its presence.
        Condition::Test(Test { attribute, predicate: Predicate::Exists, .. }) if is_negated => {
            absent.push(attribute);
        }
        Condition::Test(_) => {}
    }
}

/// Returns whether the sender of a check decides if the attribute is there. A resolver that fails leaves `exists` undetermined.
fn can_be_left_out(bundle: &Bundle, policy: &NewPolicy, path: &AttributePath) -> bool {
    let (kind, name) = match path {
        AttributePath::User(name) => (USER, name),
        AttributePath::Resource(name) => match &policy.resource {
            ResourcePattern::Name(kind) => (&**kind, name),
            ResourcePattern::Exact(resource) => (object_of(resource), name),
            // A policy on any resource has no type that could declare a source.
            ResourcePattern::Any => return true,
        },
        // Only the caller supplies these.
        AttributePath::Action(_) | AttributePath::Context(_) => return true,
        AttributePath::Request(_)
        | AttributePath::Token(_)
        | AttributePath::Resolver(_)
        | AttributePath::Item => return false,
    };
    let sources = property_sources(bundle.types.iter().flatten().map(NewType::declared));
    !matches!(
        sources.of_attribute(kind, name),
        Some(PropertySource::Directory | PropertySource::Token)
    )
}
