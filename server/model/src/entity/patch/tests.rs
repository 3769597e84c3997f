//! Random changes of an entity, compared with a naive model of the table in section 12.2 of `docs/semantics.md`.

use portcullis_engine::json;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value};

use super::*;
use crate::Timestamp;

/// Items, two of them one number.
fn item() -> impl Strategy<Value = Value> {
    select(vec![json!("a"), json!("b"), json!("1"), json!(1), json!(1.0), json!(2.5), json!(-3)])
}

fn property() -> impl Strategy<Value = Value> {
    prop_oneof![item(), Just(json!(true)), vec(item(), 0..4).prop_map(Value::Array)]
}

fn value_to_set() -> impl Strategy<Value = Value> {
    prop_oneof![4 => property(), 1 => Just(Value::Null)]
}

fn name() -> impl Strategy<Value = String> {
    select(vec!["k", "l", "m", "n", "o"]).prop_map(str::to_owned)
}

fn object(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    btree_map(name(), value, 0..3).prop_map(|members| json!(members))
}

fn roles() -> impl Strategy<Value = Value> {
    vec(select(vec!["r", "s", "t"]), 0..3).prop_map(|roles| json!(roles))
}

fn added_and_removed<S: Strategy<Value = Value>>(
    items: impl Fn() -> S,
) -> impl Strategy<Value = Value> {
    (items(), items()).prop_map(|(add, remove)| json!({"add": add, "remove": remove}))
}

/// Bodies of `PATCH`. Some contradict themselves.
fn body() -> impl Strategy<Value = Value> {
    let items = || object(vec(item(), 0..3).prop_map(Value::Array));
    let of_domains = added_and_removed(|| object(roles()));
    let sent = (object(value_to_set()), vec(name(), 0..2), items(), items());
    (sent, added_and_removed(roles), of_domains).prop_map(
        |((set, unset, add, remove), roles, domain_roles)| {
            json!({"set": set, "unset": unset, "add": add, "remove": remove, "roles": roles,
                "domain_roles": domain_roles})
        },
    )
}

/// Returns the entity after the change; `None` if that is refused.
fn model(entity: &Value, body: &Value) -> Option<Value> {
    let members = |value: &Value| value.as_object().cloned().unwrap_or_default();
    let mut properties = members(&entity["properties"]);
    let unset = body["unset"].as_array()?;
    for (name, value) in members(&body["set"]) {
        if unset.contains(&json!(name)) {
            return None;
        }
        properties.insert(name, value);
    }
    properties.retain(|name, value| !unset.contains(&json!(name)) && !value.is_null());
    for name in names(&body["add"], &body["remove"]) {
        if body["set"].get(&name).is_some() || unset.contains(&json!(name)) {
            return None;
        }
        let (add, remove) = (&body["add"][&name], &body["remove"][&name]);
        let is_made = add.as_array().is_some_and(|add| !add.is_empty());
        match properties.get(&name).cloned() {
            None if !is_made => drop(with_items(&json!([]), add, remove)?),
            None => drop(properties.insert(name, with_items(&json!([]), add, remove)?)),
            Some(list) => {
                list.as_array()?;
                properties.insert(name, with_items(&list, add, remove)?);
            }
        }
    }
    let roles = &body["roles"];
    let roles = with_items(&entity["roles"], &roles["add"], &roles["remove"])?;
    let (add, remove) = (&body["domain_roles"]["add"], &body["domain_roles"]["remove"]);
    let mut domain_roles = members(&entity["domain_roles"]);
    for domain in names(add, remove) {
        let here = domain_roles.remove(&domain).unwrap_or_default();
        let here = with_items(&here, &add[&domain], &remove[&domain])?;
        if here != json!([]) {
            domain_roles.insert(domain, here);
        }
    }
    Some(json!({"roles": roles, "domain_roles": domain_roles, "properties": properties}))
}

fn names(one: &Value, other: &Value) -> Vec<String> {
    let mut names: Map<String, Value> = one.as_object().cloned().unwrap_or_default();
    names.extend(other.as_object().cloned().unwrap_or_default());
    names.into_iter().map(|(name, _)| name).collect()
}

/// Returns the list without the items that go and with those that come; `None` if one does both.
fn with_items(list: &Value, add: &Value, remove: &Value) -> Option<Value> {
    let items = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let has = |list: &[Value], item: &Value| list.iter().any(|own| is_equal(own, item));
    let remove = items(remove);
    let mut result = items(list);
    result.retain(|item| !has(&remove, item));
    for item in items(add) {
        if has(&remove, &item) {
            return None;
        }
        if !has(&result, &item) {
            result.push(item);
        }
    }
    Some(Value::Array(result))
}

fn is_equal(one: &Value, other: &Value) -> bool {
    one == other || one.as_f64().zip(other.as_f64()).is_some_and(|(one, other)| one == other)
}

/// Reads and applies the change; `None` if it is refused.
fn patched(entity: &Value, body: &Value) -> Option<Value> {
    let text = body.to_string();
    let body = json::parse(text.as_bytes()).expect("JSON");
    let patch = EntityPatch::parse(&body, ("doc", "a")).ok()?;
    let mut stored = entity.clone();
    stored["type"] = json!("doc");
    stored["id"] = json!("a");
    let text = stored.to_string();
    let stored = json::parse(text.as_bytes()).expect("JSON");
    let NewEntity { kind, id, roles, domain_roles, properties } =
        NewEntity::read(&stored, &Place::root(), &mut Problems::default()).expect("an entity");
    let updated_at = Timestamp::from_millis(0);
    let old = EntityRecord { kind, id, roles, domain_roles, properties, source: None, updated_at };
    let NewEntity { roles, domain_roles, properties, .. } = patch.applied_to(old).ok()?;
    Some(json!({"roles": roles, "domain_roles": domain_roles, "properties": properties}))
}

/// Returns the value with every number in one form.
fn plain(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(items) => items.iter().map(plain).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), plain(value))).collect()
        }
        other => other.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn changes_do_what_the_model_does(bodies in vec(body(), 1..12)) {
        let mut entity = json!({"roles": [], "domain_roles": {}, "properties": {}});
        for body in bodies {
            let (expected, found) = (model(&entity, &body), patched(&entity, &body));
            prop_assert_eq!(
                found.as_ref().map(plain), expected.as_ref().map(plain), "{} {}", entity, body
            );
            let Some(changed) = found else { continue };
            let again = patched(&changed, &body);
            prop_assert_eq!(again.as_ref(), Some(&changed), "a repeat changes it: {}", body);
            entity = changed;
        }
    }
}

/// Enough of the random bodies are accepted, and enough are refused.
#[test]
fn the_bodies_are_of_both_kinds() {
    let mut runner = TestRunner::deterministic();
    let entity = json!({"roles": ["r"], "domain_roles": {"k": ["s"]}, "properties": {"l": ["a", 1], "m": true}});
    let bodies: Vec<Value> =
        (0..500).map(|_| body().new_tree(&mut runner).expect("a body").current()).collect();
    let accepted = bodies.iter().filter(|body| model(&entity, body).is_some()).count();
    assert!((100..400).contains(&accepted), "{accepted} of 500");
}
