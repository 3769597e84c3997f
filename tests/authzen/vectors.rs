//! The todo and the gateway scenario of the AuthZEN interop events.

use serde_json::json;

use super::{EVALUATIONS, decide, policy, send};
use crate::support::Tenant;

/// The people: the id that a request has, and the address by which todos name their owner.
const PEOPLE: [(&str, &str); 5] = [
    ("CiRmZDA2MTRkMy1jMzlhLTQ3ODEtYjdiZC04Yjk2ZjVhNTEwMGQSBWxvY2Fs", "rick@the-citadel.com"),
    ("CiRmZDE2MTRkMy1jMzlhLTQ3ODEtYjdiZC04Yjk2ZjVhNTEwMGQSBWxvY2Fs", "morty@the-citadel.com"),
    ("CiRmZDI2MTRkMy1jMzlhLTQ3ODEtYjdiZC04Yjk2ZjVhNTEwMGQSBWxvY2Fs", "summer@the-smiths.com"),
    ("CiRmZDM2MTRkMy1jMzlhLTQ3ODEtYjdiZC04Yjk2ZjVhNTEwMGQSBWxvY2Fs", "beth@the-smiths.com"),
    ("CiRmZDQ2MTRkMy1jMzlhLTQ3ODEtYjdiZC04Yjk2ZjVhNTEwMGQSBWxvY2Fs", "jerry@the-smiths.com"),
];
const RICK: usize = 0;

/// Returns the people's ids as a list of an expression.
fn list(people: &[(&str, &str)]) -> String {
    json!(people.iter().map(|(id, _)| id).collect::<Vec<_>>()).to_string()
}

/// Whether the person is an editor or above: Rick, Morty and Summer.
fn is_editor(person: usize) -> bool {
    person < 3
}

#[test]
fn the_todo_scenario_is_decided() {
    let tenant = Tenant::new();
    let everybody = format!("request.subject in {}", list(&PEOPLE));
    let editors = format!("request.subject in {}", list(&PEOPLE[..3]));
    let rick = format!("request.subject == \"{}\"", PEOPLE[RICK].0);
    let owns = PEOPLE[1..3].iter().map(|(id, address)| {
        format!("(request.subject == \"{id}\" && resource.ownerID == \"{address}\")")
    });
    let owns = owns.collect::<Vec<_>>().join(" || ");
    for (resource, when) in [
        ("user:can_read_user", &everybody),
        ("todo:can_read_todos", &everybody),
        ("todo:can_create_todo", &editors),
        ("todo:can_update_todo", &rick),
        ("todo:can_update_todo", &owns),
        ("todo:can_delete_todo", &rick),
        ("todo:can_delete_todo", &owns),
    ] {
        policy(&tenant, resource, "allow", 1, when);
    }
    let mut count = 0;
    for (person, (id, address)) in PEOPLE.iter().enumerate() {
        let todo = |owner: &str| json!({"type": "todo", "id": "7240d0db-8ff0-41ec-98b2-34a096273b91", "properties": {"ownerID": owner}});
        let any = json!({"type": "todo", "id": "todo-1"});
        let user = |id: &str| json!({"type": "user", "id": id});
        let is_rick = person == RICK;
        for (action, resource, expected) in [
            ("can_read_user", user("beth@the-smiths.com"), true),
            ("can_read_user", user(id), true),
            ("can_read_todos", any.clone(), true),
            ("can_create_todo", any, is_editor(person)),
            ("can_update_todo", todo("rick@the-citadel.com"), is_rick),
            ("can_update_todo", todo(address), is_editor(person)),
            ("can_delete_todo", todo("rick@the-citadel.com"), is_rick),
            ("can_delete_todo", todo(address), is_editor(person)),
        ] {
            let decision = decide(&tenant, ["user", id], action, resource.clone());
            assert_eq!(decision, expected, "{address} {action} {resource}");
            count += 1;
        }
        // The list of todos asks for the buttons of each with one request.
        let items = [todo("rick@the-citadel.com"), todo(address)];
        let items = items.map(|resource| json!({"resource": resource}));
        let body = json!({
            "subject": {"type": "user", "id": id}, "action": {"name": "can_update_todo"}, "evaluations": items,
        });
        let expected = [is_rick, is_editor(person)].map(|decision| json!({"decision": decision}));
        let answer = send(&tenant, EVALUATIONS, &body).is(200).json();
        assert_eq!(answer, json!({"evaluations": expected}), "{address}");
    }
    assert_eq!(count, 40);
}

#[test]
fn the_gateway_scenario_is_decided() {
    let tenant = Tenant::new();
    let named = |people: &[(&str, &str)]| {
        let ids = people.iter().map(|(id, _)| format!("identity:{id}"));
        json!(ids.collect::<Vec<_>>()).to_string()
    };
    let everybody = format!("request.subject in {}", named(&PEOPLE));
    let editors = format!("request.subject in {}", named(&PEOPLE[..3]));
    let reads = format!("{everybody} && resource.id in [\"/users/{{userId}}\", \"/todos\"]");
    policy(&tenant, "route:GET", "allow", 1, &reads);
    policy(&tenant, "route:POST", "allow", 1, &format!("{editors} && resource.id == \"/todos\""));
    for method in ["PUT", "DELETE"] {
        let when = format!("{editors} && resource.id == \"/todos/{{todoId}}\"");
        policy(&tenant, &format!("route:{method}"), "allow", 1, &when);
    }
    let mut count = 0;
    for (person, (id, _)) in PEOPLE.iter().enumerate() {
        for (method, route, expected) in [
            ("GET", "/users/{userId}", true),
            ("GET", "/todos", true),
            ("POST", "/todos", is_editor(person)),
            ("PUT", "/todos/{todoId}", is_editor(person)),
            ("DELETE", "/todos/{todoId}", is_editor(person)),
        ] {
            let resource = json!({"type": "route", "id": route});
            let decision = decide(&tenant, ["identity", id], method, resource);
            assert_eq!(decision, expected, "{id} {method} {route}");
            count += 1;
        }
        // The same person as a user is somebody else for these policies.
        let resource = json!({"type": "route", "id": "/todos"});
        assert!(!decide(&tenant, ["user", id], "GET", resource));
    }
    assert_eq!(count, 25);
}
