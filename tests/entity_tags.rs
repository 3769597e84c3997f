//! `ETag`, `If-Match` and `If-None-Match`: nobody overwrites a change that they have not seen.

use serde_json::{Value, json};

use crate::support::tenant::always;
use crate::support::{NO_ID, Reply, Tenant};

const POLICIES: &str = "/api/v1/abac/policies";

/// Creates a policy, and gives its address and its entity tag.
fn policy(tenant: &Tenant<'_>) -> (String, String) {
    let body = json!({
        "name": "p", "resource": "doc:read", "effect": "deny", "priority": 1, "rule_data": always(),
    });
    let created = tenant.manage(format!("POST {POLICIES}"), &body).is(201);
    (format!("{POLICIES}/{}", created.id()), tag(&created))
}

/// The entity tag of an answer: strong, and in quotes.
#[track_caller]
fn tag(reply: &Reply) -> String {
    let tag = reply.header("etag").expect("an entity tag");
    let inner = tag.strip_prefix('"').and_then(|tag| tag.strip_suffix('"'));
    assert!(inner.is_some_and(|inner| !inner.is_empty() && !inner.contains('"')), "{tag}");
    tag.to_owned()
}

/// Sends a change under conditions: one `If-Match` header for each.
fn change(tenant: &Tenant<'_>, route: &str, body: Option<&Value>, conditions: &[&str]) -> Reply {
    let mut request = tenant.managing(route);
    for condition in conditions {
        request = request.header("if-match", condition);
    }
    tenant.send(&body.map_or(request.clone(), |body| request.json(body)))
}

#[test]
fn a_tag_changes_with_the_record() {
    let tenant = Tenant::new();
    let (path, first) = policy(&tenant);
    assert_eq!(tag(&tenant.get(&path).is(200)), first);
    let put = |body: Value| tag(&tenant.manage(format!("PUT {path}"), &body).is(200));
    assert_eq!(put(json!({})), first, "nothing changed");
    assert_eq!(put(json!({"priority": 1})), first, "nothing changed");
    let mut seen = vec![first];
    for body in [
        json!({"priority": 2}),
        json!({"enabled": false}),
        json!({"enabled": true}),
        json!({"description": "d"}),
        json!({"name": "q"}),
    ] {
        let tag = put(body);
        assert_eq!(self::tag(&tenant.get(&path).is(200)), tag);
        assert!(!seen.contains(&tag), "{tag}");
        seen.push(tag);
    }
    let (_, other) = policy(&tenant);
    assert!(!seen.contains(&other), "two records have two tags");
}

#[test]
fn a_change_goes_when_its_condition_holds() {
    let tenant = Tenant::new();
    let holds: [fn(&str) -> Vec<String>; 6] = [
        |_| vec![],
        |own| vec![own.to_owned()],
        |_| vec!["*".to_owned()],
        |own| vec![format!("\"x\", {own}")],
        |own| vec![format!("{own},\"x\"")],
        |own| vec!["\"x\"".to_owned(), own.to_owned()],
    ];
    for conditions in holds {
        let (path, own) = policy(&tenant);
        let conditions = conditions(&own);
        let conditions: Vec<&str> = conditions.iter().map(String::as_str).collect();
        let body = json!({"priority": 1});
        change(&tenant, &format!("PUT {path}"), Some(&body), &conditions).is(200);
        change(&tenant, &format!("DELETE {path}"), None, &conditions).is(204);
        tenant.get(&path).refused(404, "NOT_FOUND");
    }
}

#[test]
fn a_change_fails_when_its_condition_does_not_hold() {
    let tenant = Tenant::new();
    let (path, own) = policy(&tenant);
    let before = tenant.get(&path).json();
    let revision = tenant.decide("alice", "doc:read", "read").revision;
    let bare = own.trim_matches('"').to_owned();
    let weak = format!("W/{own}");
    for conditions in [
        &["\"x\""][..],
        &["\"x\", \"y\""],
        &["\"x\"", "\"y\""],
        &[&bare],
        // `If-Match` compares strongly.
        &[&weak],
        &["\"*\""],
        &[""],
    ] {
        let body = json!({"priority": 9});
        for (method, body) in [("PUT", Some(&body)), ("DELETE", None)] {
            let reply = change(&tenant, &format!("{method} {path}"), body, conditions);
            reply.refused(412, "PRECONDITION_FAILED");
        }
    }
    tenant.get(&path).is(200).has(&before);
    assert_eq!(tenant.decide("alice", "doc:read", "read").revision, revision);
}

#[test]
fn a_write_with_an_outdated_entity_tag_changes_nothing() {
    let tenant = Tenant::new();
    let (path, seen_by_both) = policy(&tenant);
    let route = format!("PUT {path}");
    let first = json!({"priority": 5, "name": "first"});
    let won = change(&tenant, &route, Some(&first), &[&seen_by_both]).is(200);
    let second = json!({"priority": 7});
    let lost = change(&tenant, &route, Some(&second), &[&seen_by_both]);
    lost.refused(412, "PRECONDITION_FAILED");
    change(&tenant, &format!("DELETE {path}"), None, &[&seen_by_both]).is(412);
    tenant.get(&path).is(200).has(&won.json());
    let again = change(&tenant, &route, Some(&second), &[&tag(&won)]).is(200);
    assert_eq!((&again.json()["priority"], &again.json()["name"]), (&json!(7), &json!("first")));
}

#[test]
fn one_of_many_writes_with_the_same_entity_tag_succeeds() {
    let tenant = Tenant::new();
    let (path, seen) = policy(&tenant);
    let route = format!("PUT {path}");
    let statuses = std::thread::scope(|scope| {
        let race = |priority: i32| {
            let (tenant, route, seen) = (&tenant, &route, &seen);
            let body = json!({"priority": priority});
            scope.spawn(move || change(tenant, route, Some(&body), &[seen]).status)
        };
        let racers: Vec<_> = (2..10).map(race).collect();
        racers.into_iter().map(|racer| racer.join().expect("it ends")).collect::<Vec<_>>()
    });
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
    assert!(statuses.iter().all(|status| [200, 412].contains(status)), "{statuses:?}");
}

#[test]
fn faults_come_in_their_order() {
    let tenant = Tenant::new();
    let (path, _) = policy(&tenant);
    let wrong = ["\"x\""];
    // The body is judged before the record.
    let body = json!({"priority": "high"});
    change(&tenant, &format!("PUT {path}"), Some(&body), &wrong).invalid();
    // There is nothing that a condition could hold of.
    for conditions in [&wrong[..], &["*"]] {
        let unknown = format!("{POLICIES}/{NO_ID}");
        let body = json!({});
        change(&tenant, &format!("PUT {unknown}"), Some(&body), conditions)
            .refused(404, "NOT_FOUND");
        change(&tenant, &format!("DELETE {unknown}"), None, conditions).refused(404, "NOT_FOUND");
    }
}

#[test]
fn a_write_that_may_create_a_record_does_nothing_else_on_demand() {
    let tenant = Tenant::new();
    for (path, first, second) in [
        ("roles/x", json!({"includes": ["a"]}), json!({"includes": ["b"]})),
        ("types/x", json!({"about": "a"}), json!({"about": "b"})),
        ("conditions/x", json!({"when": "user.a == 1"}), json!({"when": "user.a == 2"})),
        ("drafts/x", json!({"bundle": {"rules": []}}), json!({"bundle": {"roles": []}})),
        ("entities/user/y", json!({"roles": ["a"]}), json!({"roles": ["b"]})),
    ] {
        let path = format!("/api/v1/{path}");
        let put = |body: &Value, header: &str, value: &str| {
            tenant.send(&tenant.managing(format!("PUT {path}")).json(body).header(header, value))
        };
        let created = tag(&put(&first, "if-none-match", "*").is(201));
        put(&second, "if-none-match", "*").refused(412, "PRECONDITION_FAILED");
        put(&second, "if-none-match", &created).refused(400, "BAD_REQUEST");
        assert_eq!(tag(&tenant.get(&path).is(200)), created, "{path}");
        assert_ne!(tag(&put(&second, "if-match", &created).is(200)), created, "{path}");
    }
}
