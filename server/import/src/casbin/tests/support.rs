//! Models, and the comparison of an import with the casbin crate.

use std::collections::BTreeSet;

use casbin::{CoreApi, DefaultModel, Enforcer, StringAdapter, function_map};
use chrono::DateTime;

use super::super::condition::{Attribute, Field};
use super::super::model::Model;
use super::super::output::Converted;
use super::super::requests::{Decider, Request};
use super::super::{conversion, lines};

pub(super) const ALLOW_OVERRIDE: &str = "some(where (p.eft == allow))";
pub(super) const ALLOW_AND_DENY: &str =
    "some(where (p.eft == allow)) && !some(where (p.eft == deny))";
pub(super) const DENY_OVERRIDE: &str = "!some(where (p.eft == deny))";
pub(super) const PRIORITY: &str = "priority(p.eft) || deny";
pub(super) const PLAIN: &str = "r.sub == p.sub && r.obj == p.obj && r.act == p.act";
pub(super) const BY_ROLE: &str = "g(r.sub, p.sub) && r.obj == p.obj && r.act == p.act";
pub(super) const IN_DOMAIN: &str =
    "g(r.sub, p.sub, r.dom) && r.dom == p.dom && r.obj == p.obj && r.act == p.act";
/// The matcher for which Casbin for Go reads domains of roles as patterns.
pub(super) const BY_PATTERN: &str =
    "g(r.sub, p.sub, r.dom) && keyMatch(r.dom, p.dom) && r.obj == p.obj && r.act == p.act";

/// Returns a model file. `roles` are the definitions, such as `g = _, _`, each with a line break.
pub(super) fn model(
    request: &str,
    policy: &str,
    roles: &str,
    effect: &str,
    matcher: &str,
) -> String {
    format!(
        "[request_definition]\nr = {request}\n[policy_definition]\np = {policy}\n[role_definition]\n{roles}\
         [policy_effect]\ne = {effect}\n[matchers]\nm = {matcher}\n"
    )
}

/// Returns a model of `sub, obj, act` without roles.
pub(super) fn plain(effect: &str, matcher: &str) -> String {
    model("sub, obj, act", "sub, obj, act, eft", "", effect, matcher)
        .replace("[role_definition]\n", "")
}

/// Returns a model of `sub, obj, act` with roles.
pub(super) fn with_roles(effect: &str, matcher: &str) -> String {
    model("sub, obj, act", "sub, obj, act, eft", "g = _, _\n", effect, matcher)
}

/// Returns a model of `sub, dom, obj, act` with roles in domains.
pub(super) fn with_domains(effect: &str, matcher: &str) -> String {
    model("sub, dom, obj, act", "sub, dom, obj, act, eft", "g = _, _, _\n", effect, matcher)
}

pub(super) fn converted(model: &str, policy: &str) -> Converted {
    let model = Model::parse(model).unwrap_or_else(|faults| panic!("{faults:?} in\n{model}"));
    conversion::convert(&model, lines::read(policy))
}

/// Returns whether what was imported allows the request, whose values are in the order of the model.
pub(super) fn decided(model: &Model, decider: &Decider, values: &[&str]) -> bool {
    decider
        .allows(&Request::new(model, values), DateTime::UNIX_EPOCH)
        .unwrap_or_else(|error| panic!("{error}: {values:?}"))
}

/// Returns the enforcer of the casbin crate. It gets the function that Casbin for Go adds to domains by itself.
fn enforcer(model: &str, policy: &str) -> Enforcer {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let patterns = model.contains("keyMatch(r.dom, p.dom)");
    let mut enforcer = runtime.block_on(async {
        let model = DefaultModel::from_str(model).await.expect("a model");
        Enforcer::new(model, StringAdapter::new(policy)).await.expect("a policy")
    });
    if patterns {
        enforcer.get_role_manager().write().matching_fn(None, Some(function_map::key_match));
        enforcer.build_role_links().expect("links");
    }
    enforcer
}

/// A request that is decided otherwise, or how many requests were allowed and asked.
pub(super) type Comparison = Result<(usize, usize), String>;

/// Compares `converted` with the casbin crate, for every combination of the values in `pools`: one pool for each column
/// of a request.
pub(super) fn compare(
    converted: &Converted,
    model: &str,
    policy: &str,
    pools: &[Vec<String>],
) -> Comparison {
    let (enforcer, decider) = (enforcer(model, policy), Decider::new(converted).expect("records"));
    let parsed = Model::parse(model).expect("a model");
    let (mut allowed, mut asked) = (0, 0);
    let count: usize = pools.iter().map(Vec::len).product();
    for number in 0..count {
        let mut rest = number;
        let request: Vec<&str> = pools
            .iter()
            .map(|pool| {
                let value = &pool[rest % pool.len()];
                rest /= pool.len();
                &**value
            })
            .collect();
        let owned: Vec<String> = request.iter().map(|value| (*value).to_owned()).collect();
        let expected = enforcer.enforce(owned).expect("a decision");
        if decided(&parsed, &decider, &request) != expected {
            return Err(format!(
                "Casbin says {expected}: {request:?} in\n{model}{policy}{converted:#?}"
            ));
        }
        allowed += usize::from(expected);
        asked += 1;
    }
    Ok((allowed, asked))
}

/// Imports and compares every combination of the values in `pools`.
#[track_caller]
pub(super) fn alike_for(model: &str, policy: &str, pools: &[&[&str]]) -> (usize, usize) {
    let converted = converted(model, policy);
    assert_eq!(converted.faults, [], "{model}{policy}");
    let pools: Vec<Vec<String>> =
        pools.iter().map(|pool| pool.iter().map(|value| (*value).to_owned()).collect()).collect();
    compare(&converted, model, policy, &pools).unwrap_or_else(|difference| panic!("{difference}"))
}

/// Imports and compares every combination of what the lines mention, and strangers.
#[track_caller]
pub(super) fn alike(model: &str, policy: &str) -> (usize, usize) {
    let converted = converted(model, policy);
    assert_eq!(converted.faults, [], "{model}{policy}");
    compare(&converted, model, policy, &pools(model, policy))
        .unwrap_or_else(|difference| panic!("{difference}"))
}

/// Returns the values of each column of a request that the lines mention, and a stranger.
pub(super) fn pools(model: &str, policy: &str) -> Vec<Vec<String>> {
    let model = Model::parse(model).expect("a model");
    let lines: Vec<_> = lines::read(policy).map(|line| line.expect("a line")).collect();
    let pool = |(name, attribute): &(String, Attribute)| {
        let mut values = BTreeSet::new();
        for line in &lines {
            let column = model.columns.iter().position(|own| own == name);
            match (&*line.kind, attribute) {
                ("p", _) => values.extend(column.map(|column| line.values[column].clone())),
                ("g", Attribute::Field(Field::Subject)) => {
                    values.extend(line.values.iter().take(2).cloned());
                }
                ("g", Attribute::Field(Field::Domain)) => {
                    values.extend(line.values.iter().skip(2).cloned());
                }
                ("g2", Attribute::Field(Field::Object)) => values.extend(line.values.clone()),
                _ => {}
            }
        }
        values.retain(|value| !value.contains('*'));
        values.into_iter().chain(["stranger".to_owned()]).collect()
    };
    model.request.iter().map(pool).collect()
}
