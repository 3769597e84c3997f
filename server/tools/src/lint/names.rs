//! Names that nothing has: resources, verbs, roles, resolvers, files.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use portcullis_bundle::{Bundle, ItemKind, ItemWarning, StrayFile};
use portcullis_engine::condition::{AttributePath, RequestField, Test};
use portcullis_engine::excerpt::quoted;
use portcullis_engine::nearest::nearest;
use portcullis_engine::rbac::WILDCARD;
use portcullis_engine::value::AttributeValue;
use portcullis_engine::{CheckBody, Condition};
use portcullis_model::named_condition::NewCondition;
use portcullis_model::warning::WarningCode;

use super::code::LintCode;
use super::finding::{Doubt, LintSubject};

/// The attribute of a request that has the roles of a subject other than the caller.
const ROLES: &str = "roles";

/// Returns the findings about names.
pub(super) fn doubts(bundle: &Bundle) -> Vec<Doubt> {
    let mut doubts = unregistered(&bundle.rule_warnings, ItemKind::Rule);
    doubts.extend(unregistered(&bundle.policy_warnings, ItemKind::Policy));
    doubts.extend(unknown_roles(bundle));
    doubts.extend(unknown_included_roles(bundle));
    doubts.extend(unused_resolvers(bundle));
    doubts.extend(unused_conditions(bundle));
    doubts.extend(bundle.strays.iter().map(|StrayFile { name, meant }| Doubt {
        code: LintCode::UnreadFile,
        subject: LintSubject::File(name.clone()),
        message: "this file is not read".to_owned(),
        advice: match meant {
            Some(meant) => format!("rename it to `{meant}`, or move it out of the folder"),
            None => "move it out of the folder".to_owned(),
        },
    }));
    doubts
}

fn unregistered(warnings: &[ItemWarning], kind: ItemKind) -> Vec<Doubt> {
    let doubts = warnings.iter().filter_map(|ItemWarning { index, warning }| {
        // What is about a condition belongs to a finding about the condition.
        let (WarningCode::Unregistered, Cow::Borrowed(member)) = (warning.code, &warning.path)
        else {
            return None;
        };
        // The message of the API ends with the advice.
        let (message, advice) = warning.message.rsplit_once("; ").unwrap_or((&warning.message, ""));
        Some(Doubt {
            code: LintCode::Unregistered,
            subject: LintSubject::Item(kind, *index, member),
            message: message.to_owned(),
            advice: advice.to_owned(),
        })
    });
    doubts.collect()
}

/// Finds roles that a condition looks for and that no user, rule, resource, other role or case has.
fn unknown_roles(bundle: &Bundle) -> Vec<Doubt> {
    let mut known = known_roles(bundle);
    let roles = bundle.roles.iter().flatten();
    known.extend(roles.flat_map(|role| &role.includes).map(String::as_str));
    let mut doubts = Vec::new();
    for (index, policy) in bundle.policies.iter().enumerate() {
        let mut reported = HashSet::new();
        for role in roles_of(&policy.rule_data.condition) {
            if known.contains(role) || !reported.insert(role) {
                continue;
            }
            let meant = meant(role, &known);
            doubts.push(Doubt {
                code: LintCode::UnknownRole,
                subject: LintSubject::Item(ItemKind::Policy, index, ""),
                message: format!(
                    "policy {} looks for the role {}, which no user, rule, resource, other role or case has",
                    quoted(&policy.name),
                    quoted(role)
                ),
                advice: format!("{meant}give the role to a user or a rule"),
            });
        }
    }
    doubts
}

/// Finds roles that a role includes and that give nothing: no rule, resource or condition names them, nor do they include
/// others, and no user or case has them.
fn unknown_included_roles(bundle: &Bundle) -> Vec<Doubt> {
    let mut known = known_roles(bundle);
    known.extend(bundle.policies.iter().flat_map(|it| roles_of(&it.rule_data.condition)));
    let mut doubts = Vec::new();
    for (index, role) in bundle.roles.iter().flatten().enumerate() {
        for included in role.includes.iter().filter(|included| !known.contains(&***included)) {
            doubts.push(Doubt {
                code: LintCode::UnknownRole,
                subject: LintSubject::Item(ItemKind::Role, index, "/includes"),
                message: format!(
                    "the role {} includes the role {}, which no rule, resource, policy, user or case has",
                    quoted(&role.name),
                    quoted(included)
                ),
                advice: format!("{}give the role something by a rule", meant(included, &known)),
            });
        }
    }
    doubts
}

/// Returns the advice to write the nearest known role.
fn meant(role: &str, known: &HashSet<&str>) -> String {
    let meant = nearest(role, known.iter().copied());
    meant.map(|meant| format!("write `{meant}`, or ")).unwrap_or_default()
}

fn known_roles(bundle: &Bundle) -> HashSet<&str> {
    let users = bundle.users.iter().flat_map(|user| &user.roles);
    // A rule does not say whether its subject is a role.
    let rules = bundle.rules.iter().map(|rule| &rule.tuple.sub).filter(|sub| *sub != WILDCARD);
    let defaults = bundle.resources.iter().flat_map(|resource| &resource.default_roles);
    let including = bundle.roles.iter().flatten().map(|role| &role.name);
    let all = users.chain(rules).chain(defaults).chain(including);
    let mut known: HashSet<&str> = all.map(|role| &**role).collect();
    for case in &bundle.cases {
        let Ok(check) = CheckBody::parse(&case.check) else { continue };
        known.extend(roles_of_check(&check));
    }
    known
}

/// Returns the roles that a check supplies for its subject.
fn roles_of_check<'c>(check: &CheckBody<'c>) -> Vec<&'c str> {
    let mut roles = Vec::new();
    match check.attributes.user.get(ROLES) {
        Some(AttributeValue::Text(role)) => roles.push(role),
        Some(AttributeValue::List(list)) => list.for_each(|item| {
            if let AttributeValue::Text(role) = item {
                roles.push(role);
            }
        }),
        _ => {}
    }
    roles
}

/// Returns the roles that a condition looks for.
fn roles_of(condition: &Condition) -> impl Iterator<Item = &str> {
    let tests = condition.tests().into_iter().filter(|test| reads_roles(test));
    tests.flat_map(|test| test.predicate.sought_items())
}

fn reads_roles(test: &Test) -> bool {
    match &test.attribute {
        AttributePath::Request(field) => *field == RequestField::Roles,
        AttributePath::User(name) => **name == *ROLES,
        _ => false,
    }
}

/// Finds named conditions that no policy uses, not even by other conditions.
fn unused_conditions(bundle: &Bundle) -> Vec<Doubt> {
    let conditions = bundle.conditions.as_deref().unwrap_or_default();
    let by_name: HashMap<&str, &NewCondition> =
        conditions.iter().map(|one| (&*one.name, one)).collect();
    let mut open: Vec<&str> =
        bundle.policies.iter().flat_map(|policy| policy.rule_data.condition.names()).collect();
    let mut used = HashSet::new();
    while let Some(name) = open.pop() {
        // Each condition is opened once, however many others use it.
        if let Some(one) = by_name.get(name).filter(|_| used.insert(name)) {
            open.extend(one.when.condition.names());
        }
    }
    let unused = conditions.iter().enumerate().filter(|(_, one)| !used.contains(&*one.name));
    let doubts = unused.map(|(index, one)| Doubt {
        code: LintCode::UnusedCondition,
        subject: LintSubject::Item(ItemKind::Condition, index, ""),
        message: format!("no policy uses the condition `{}`", one.name),
        advice: "delete the condition, or use it in a policy".to_owned(),
    });
    doubts.collect()
}

fn unused_resolvers(bundle: &Bundle) -> Vec<Doubt> {
    let read: HashSet<&str> = bundle
        .policies
        .iter()
        .flat_map(|policy| policy.rule_data.condition.resolved_attributes())
        .map(|attribute| &*attribute.namespace)
        .collect();
    let doubts = bundle.resolvers.iter().enumerate().filter_map(|(index, resolver)| {
        let namespace = &resolver.manifest.namespace;
        (!read.contains(&**namespace)).then(|| Doubt {
            code: LintCode::UnusedResolver,
            subject: LintSubject::Item(ItemKind::Resolver, index, ""),
            message: format!("no policy reads an attribute of the resolver `{namespace}`"),
            advice: "delete the resolver, or read an attribute of it".to_owned(),
        })
    });
    doubts.collect()
}
