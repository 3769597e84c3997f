//! `GET /api/v1/resources/policies`: the rules of a tenant, by their values or by id.

use serde_json::{Value, json};

use super::{RULES, create};
use crate::support::{NO_ID, Request, Tenant};

/// Creates rules that differ in every field.
fn seed(tenant: &Tenant<'_>) {
    for (sub, obj, act, dom, effect) in [
        ("alice", "doc:read", "read", Some("*"), "allow"),
        ("alice", "doc:*", "read", None, "deny"),
        ("*", "*", "*", None, "deny"),
        ("bob", "doc:read", "write", None, "allow"),
        ("a&b=c", "doc:read", "read", None, "allow"),
    ] {
        let mut body = json!({"sub": sub, "obj": obj, "act": act, "effect": effect});
        if let Some(dom) = dom {
            body["dom"] = json!(dom);
        }
        create(tenant, &body).is(201);
    }
}

#[test]
fn a_filter_selects_by_equal_values() {
    let tenant = Tenant::new();
    seed(&tenant);
    let all = tenant.get(RULES).is(200).json();
    let own_domain = format!("dom={}", tenant.name);
    for (query, expected) in [
        ("", &[0, 1, 2, 3, 4][..]),
        ("sub=alice", &[0, 1]),
        ("sub=*", &[2]),
        ("sub=a%26b%3Dc", &[4]),
        ("sub=Alice", &[]),
        ("sub=", &[]),
        ("obj=doc:read", &[0, 3, 4]),
        ("obj=doc:*", &[1]),
        ("obj=*", &[2]),
        ("act=read", &[0, 1, 4]),
        ("act=*", &[2]),
        ("dom=*", &[0]),
        (&own_domain, &[1, 2, 3, 4]),
        ("effect=deny", &[1, 2]),
        ("sub=alice&effect=allow", &[0]),
        ("obj=doc:read&act=read&effect=allow&sub=alice&dom=*", &[0]),
        ("sub=alice&act=write", &[]),
    ] {
        let listed = tenant.get(&format!("{RULES}?{query}")).is(200).json();
        let expected: Vec<&Value> = expected.iter().map(|index| &all[*index]).collect();
        assert_eq!(listed, json!(expected), "{query}");
    }
}

#[test]
fn an_id_names_the_one_rule() {
    let tenant = Tenant::new();
    let created = create(&tenant, &super::rule()).is(201);
    let location = created.header("location").expect("a location");
    tenant.get(location).is(200).has(&created.json());
    tenant.get(&format!("{RULES}?id={NO_ID}")).refused(404, "NOT_FOUND");
    tenant.get(&format!("{RULES}?id=x")).refused(404, "NOT_FOUND");
    for other in ["sub=alice", "effect=allow", "limit=1", "cursor=x"] {
        tenant.get(&format!("{location}&{other}")).refused(400, "BAD_REQUEST");
    }
    tenant.delete(location).is(204);
    tenant.get(location).refused(404, "NOT_FOUND");
}

#[test]
fn a_bad_filter_is_refused() {
    let tenant = Tenant::new();
    for query in ["effect=permit", "effect=", "sub=a%00b", "limit=0", "cursor=x", "sub=a&sub=a"] {
        tenant.get(&format!("{RULES}?{query}")).refused(400, "BAD_REQUEST");
    }
}

#[test]
fn rules_are_read_with_the_right_to_read_policies() {
    let tenant = Tenant::new();
    let id = create(&tenant, &super::rule()).is(201).id();
    let key = |permission: &str| {
        let body = json!({"name": "k", "permissions": [permission]});
        tenant.manage("POST /api/v1/service-api-keys", &body).is(201).text_of("key")
    };
    let (reader, other) = (key("policies:read"), key("resources:read"));
    for path in [RULES.to_owned(), format!("{RULES}?id={id}")] {
        let by = |key: &str| {
            tenant.send(&Request::new(format!("GET {path}")).header("x-service-api-key", key))
        };
        by(&reader).is(200);
        by(&other).refused(403, "ACCESS_DENIED");
    }
}
