//! Actions that are left out, and the setting `actions` (`docs/semantics.md`, sections 2.1 and 10.6).

use serde_json::{Value, json};

use crate::support::{Reply, Request, Tenant};

/// Changes the settings of the tenant.
fn settings(tenant: &Tenant<'_>, settings: &Value) -> Reply {
    let bundle = json!({"settings": settings});
    let body = json!({"owner": "git:settings", "bundle": bundle, "prune": false});
    tenant.manage("POST /api/v1/apply", &body)
}

/// Decides each item of a batch.
fn batch(tenant: &Tenant<'_>, items: &Value) -> Reply {
    let token = tenant.token("gateway", &["service"]);
    let body = json!({"subject": "ann", "checks": items});
    tenant.send(&Request::new("POST /api/v1/checks?fields=decision").token(&token).json(&body))
}

/// The archived ticket: nothing ties action and verb, so that `read` on `ticket:archive` was allowed.
#[test]
fn with_verbs_alone_the_archived_ticket_cannot_be_read() {
    let tenant = Tenant::new();
    tenant.rule("ann", "ticket:*", "read", "allow");
    let sent = json!({"subject": "ann", "resource": "ticket:archive", "action": "read"});
    let left_out = json!({"subject": "ann", "resource": "ticket:archive"});
    let decision = |body: &Value| tenant.check(body).is(200).text_of("decision").to_owned();
    assert_eq!((decision(&sent), decision(&left_out)), ("allow".to_owned(), "deny".to_owned()));
    settings(&tenant, &json!({"actions": "verb"})).is(200);
    let fault = |reply: Reply, path: &str| {
        let text = reply.is(400).text;
        assert!(
            text.contains(path) && text.contains("`archive`") && text.contains("`read`"),
            "{text}"
        );
    };
    fault(tenant.check(&sent), "/action");
    fault(tenant.manage("POST /api/v1/check?explain=true", &sent), "/action");
    let item =
        json!([{"resource": "ticket:read"}, {"resource": "ticket:archive", "action": "read"}]);
    fault(batch(&tenant, &item), "/checks/1/action");
    let legacy = Request::new("POST /api/v1/resources/access/check");
    let legacy = legacy.token(&tenant.token("ann", &[])).json(&sent);
    fault(tenant.send(&legacy), "/action");
    fault(tenant.manage("POST /api/v1/plan", &sent), "/action");
    let search =
        json!({"resource": "ticket:archive", "action": "read", "candidates": [{"id": "ann"}]});
    fault(tenant.manage("POST /api/v1/search/subjects", &search), "/action");
    // What names the verb, or nothing, goes on.
    assert_eq!(decision(&left_out), "deny");
    let same = json!({"subject": "ann", "resource": "ticket:archive", "action": "archive"});
    assert_eq!(decision(&same), "deny");
    settings(&tenant, &json!({"actions": "any"})).is(200);
    assert_eq!(decision(&sent), "allow");
}

#[test]
fn an_action_that_is_left_out_is_the_decoded_verb_everywhere() {
    let tenant = Tenant::new();
    tenant.rule("ann", "doc:send%20all", "send%20all", "allow");
    let tree = json!({"type": "CONDITION", "attribute": "request.action", "operator": "eq", "value": "mail all"});
    tenant.policy("decoded", "doc:mail%20all", "allow", 1, &tree);
    tenant.rule("ann", "doc:read", "read", "allow");
    let resources = ["doc:read", "doc:send%20all", "doc:mail%20all", "doc:write"];
    let expected = [true, true, true, false];
    for (resource, expected) in resources.into_iter().zip(expected) {
        for body in [
            json!({"subject": "ann", "resource": resource}),
            json!({"subject": "ann", "resource": resource, "action": null}),
            json!({"subject": "ann", "resource": resource, "attributes": {"user": {"a": "\u{e4}"}}}),
        ] {
            let decision = if expected { "allow" } else { "deny" };
            assert_eq!(tenant.check(&body).is(200).text_of("decision"), decision, "{body}");
            let explained = tenant.manage("POST /api/v1/check?explain=true", &body).is(200);
            assert_eq!(explained.text_of("decision"), decision, "{body}");
            let plan = tenant.manage("POST /api/v1/plan", &body).is(200).json();
            assert_eq!(plan["kind"], if expected { "always" } else { "never" }, "{body}: {plan}");
        }
        let search = json!({"resource": resource, "candidates": [{"id": "ann"}]});
        let found = tenant.manage("POST /api/v1/search/subjects", &search).is(200).json();
        assert_eq!(found["results"].as_array().unwrap().len(), usize::from(expected), "{found}");
    }
    let items: Vec<Value> = resources.iter().map(|name| json!({"resource": name})).collect();
    assert_eq!(batch(&tenant, &json!(items)).is(200).json()["allowed"], json!(expected));
    let matrix = json!({"subjects": [{"subject": "ann"}], "resources": resources});
    let matrix = tenant.manage("POST /api/v1/matrix", &matrix).is(200).json();
    let cells = matrix["cells"].as_array().unwrap().iter();
    let cells: Vec<_> = cells.map(|cell| (&cell["action"], cell["decision"] == "allow")).collect();
    let actions = ["read", "send all", "mail all", "write"].map(Value::from);
    assert_eq!(cells, actions.iter().zip(expected).collect::<Vec<_>>(), "{matrix}");
    let search = json!({"subject": "ann", "type": "doc"});
    let found = tenant.manage("POST /api/v1/search/actions", &search).is(200).json();
    let found: Vec<_> =
        found["results"].as_array().unwrap().iter().map(|one| &one["resource"]).collect();
    assert_eq!(found, ["doc:mail%20all", "doc:read", "doc:send%20all"]);
    for (fields, member) in [(Value::Null, "action"), (json!(["id"]), "name")] {
        let search = json!({"subject": "ann", "type": "doc", "fields": fields});
        let found = tenant.manage("POST /api/v1/search/actions", &search).is(200).json();
        let results = found["results"].as_array().unwrap().iter();
        let actions: Vec<_> = results.map(|one| &one[member]).collect();
        assert_eq!(actions, ["mail all", "read", "send all"], "{found}");
    }
    // An action that is sent is that one.
    for (action, expected) in [("send%20all", "allow"), ("send all", "deny")] {
        let body = json!({"subject": "ann", "resource": "doc:send%20all", "action": action});
        assert_eq!(tenant.check(&body).is(200).text_of("decision"), expected, "{action}");
    }
    // The legacy check has the verb as it is.
    let body = json!({"subject": "ann", "resource": "doc:mail%20all"});
    let legacy = Request::new("POST /api/v1/resources/access/check");
    let legacy = legacy.token(&tenant.token("ann", &[])).json(&body);
    assert_eq!(tenant.send(&legacy).is(200).json()["allowed"], false);
}

/// A rule matches a verb in either form, whatever its subject, and the decoded form is a registered one.
#[test]
fn rules_name_encoded_verbs_in_either_form() {
    let tenant = Tenant::new();
    let relations = json!({"relations": {"viewer": "[user]"}});
    tenant.manage("PUT /api/v1/types/doc", &relations).is(201);
    for name in ["doc:send%20all", "doc:mail%3Aall"] {
        tenant.resource(name);
    }
    let tuple = json!({"object": "doc:1", "relation": "viewer", "subject": "user:ann"});
    tenant.manage("POST /api/v1/relations", &json!({"write": [tuple]})).is(200);
    for (obj, act) in [("doc:send%20all", "send%20all"), ("doc:mail%3Aall", "mail:all")] {
        let rule = json!({"sub": "viewer@resource", "obj": obj, "act": act, "effect": "allow"});
        let written = tenant.manage("POST /api/v1/resources/policies", &rule).is(201).json();
        assert_eq!(written["warnings"], Value::Null, "{written}");
        let check = |id: &str| {
            let body = json!({"subject": "ann", "resource": obj,
                "attributes": {"resource": {"id": id}}});
            tenant.check(&body).is(200).text_of("decision").to_owned()
        };
        assert_eq!([check("1"), check("2")], ["allow", "deny"], "{obj}");
    }
}

/// Only an action that is left out has two forms, whatever the subject and the resources of the rule are.
#[test]
fn a_rule_on_a_relation_tells_an_action_that_is_sent_from_one_that_is_left_out() {
    let tenant = Tenant::new();
    let relations = json!({"relations": {"viewer": "[user]"}});
    tenant.manage("PUT /api/v1/types/doc", &relations).is(201);
    let tuple = json!({"object": "doc:1", "relation": "viewer", "subject": "user:ann"});
    tenant.manage("POST /api/v1/relations", &json!({"write": [tuple]})).is(200);
    let body = |action: Option<&str>| {
        json!({"subject": "ann", "resource": "doc:do%20it", "action": action,
            "attributes": {"resource": {"id": "1"}}})
    };
    for sub in ["ann", "viewer@resource", "doc:1#viewer"] {
        for obj in ["doc:do%20it", "doc:*", "*"] {
            for act in ["do%20it", "do it"] {
                for effect in ["allow", "deny"] {
                    let rule = json!({"sub": sub, "obj": obj, "act": act, "effect": effect});
                    let mut rules = vec![rule.clone()];
                    if effect == "deny" {
                        rules.push(json!({"sub": "*", "obj": "*", "act": "*", "effect": "allow"}));
                    }
                    let bundle = json!({"owner": "git:a", "allow_deletes": true, "bundle": {"rules": rules}});
                    tenant.manage("POST /api/v1/apply", &bundle).is(200);
                    let other = if effect == "deny" { "allow" } else { "deny" };
                    for action in [None, Some("do%20it"), Some("do it")] {
                        let matches = action.is_none_or(|action| action == act);
                        let expected = if matches { effect } else { other };
                        let body = body(action);
                        let explained =
                            tenant.manage("POST /api/v1/check?explain=true", &body).is(200);
                        let plan = tenant.manage("POST /api/v1/plan", &body).is(200).json();
                        let kind = if expected == "allow" { "always" } else { "never" };
                        assert_eq!(
                            (&*explained.text_of("decision"), &plan["kind"]),
                            (expected, &json!(kind)),
                            "{rule} {action:?}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn a_matrix_decides_an_action_as_a_check_that_sends_it() {
    let tenant = Tenant::new();
    tenant.rule("ann", "doc:do%20it", "do it", "allow");
    for (actions, expected) in [
        (Value::Null, ("do it", "allow")),
        (json!(["do it"]), ("do it", "allow")),
        (json!(["do%20it"]), ("do%20it", "deny")),
    ] {
        let mut body = json!({"subjects": [{"subject": "ann"}], "resources": ["doc:do%20it"]});
        let mut check = json!({"subject": "ann", "resource": "doc:do%20it"});
        if let Some(action) = actions.get(0) {
            (body["actions"], check["action"]) = (actions.clone(), action.clone());
        }
        let matrix = tenant.manage("POST /api/v1/matrix", &body).is(200).json();
        let cell = &matrix["cells"][0];
        assert_eq!((&cell["action"], &cell["decision"]), (&json!(expected.0), &json!(expected.1)));
        assert_eq!(tenant.check(&check).is(200).text_of("decision"), expected.1, "{check}");
    }
}

#[test]
fn with_verbs_alone_neither_rules_nor_cases_name_other_actions() {
    let tenant = Tenant::new();
    settings(&tenant, &json!({"actions": "verb"})).is(200);
    let rule =
        |obj: &str, act: &str| json!({"sub": "ann", "obj": obj, "act": act, "effect": "allow"});
    let write =
        |obj: &str, act: &str| tenant.manage("POST /api/v1/resources/policies", &rule(obj, act));
    let refused = write("doc:read", "write").is(400);
    assert!(refused.text.contains("/act") && refused.text.contains("`read`"), "{}", refused.text);
    for (obj, act) in [("doc:read", "read"), ("doc:write", "*"), ("doc:*", "list"), ("*", "list")] {
        write(obj, act).is(201);
    }
    let id = write("doc:a%20b", "a b").is(201).text_of("id").to_owned();
    let update = json!({"id": id, "act": "c"});
    tenant.manage("PUT /api/v1/resources/policies", &update).is(400);
    let case = json!({"name": "one", "check": {"subject": "a", "resource": "doc:read", "action": "list"},
        "expect": {"decision": "deny"}});
    let apply = |bundle: Value| {
        let body = json!({"owner": "git:a", "bundle": bundle, "prune": false});
        tenant.manage("POST /api/v1/apply", &body)
    };
    let refused = apply(json!({"rules": [rule("doc:list", "read")], "cases": [case]})).is(400);
    for path in ["/bundle/rules/0/act", "/bundle/cases/0/check/action"] {
        assert!(refused.text.contains(path), "{path}: {}", refused.text);
    }
    // What is stored refuses the setting.
    settings(&tenant, &json!({})).is(200);
    write("doc:open", "close").is(201);
    apply(json!({"cases": [case]})).is(200);
    let refused = settings(&tenant, &json!({"actions": "verb"})).refused(409, "CONFLICT");
    let details = refused.details();
    let kinds: Vec<&Value> =
        details["broken"].as_array().unwrap().iter().map(|one| &one["kind"]).collect();
    assert_eq!((kinds, &details["count"]), (vec![&json!("rule"), &json!("case")], &json!(2)));
    // Whoever may not read them learns their number alone.
    let writer = json!({"name": "writer", "permissions": ["policies:write"]});
    let writer = tenant.manage("POST /api/v1/service-api-keys", &writer).is(201).text_of("key");
    let bundle = json!({"settings": {"actions": "verb"}});
    let applied = json!({"owner": "git:settings", "bundle": bundle, "prune": false});
    for (route, body) in
        [("POST /api/v1/apply", applied), ("PUT /api/v1/drafts/verbs", json!({"bundle": bundle}))]
    {
        let request = Request::new(route).header("x-service-api-key", &writer).json(&body);
        let refused = tenant.send(&request).refused(409, "CONFLICT");
        let details = refused.details();
        assert_eq!((&details["broken"], &details["count"]), (&json!([]), &json!(2)), "{route}");
        assert!(!refused.text.contains("doc:open"), "{}", refused.text);
    }
}

#[test]
fn settings_about_checks_are_exported_only_if_they_are_set() {
    let tenant = Tenant::new();
    let exported = || tenant.get("/api/v1/export").is(200).json()["bundle"]["settings"].clone();
    let is_set = |name: &str| exported().get(name).cloned();
    assert_eq!((is_set("actions"), is_set("unknown_subjects")), (None, None));
    settings(&tenant, &json!({"actions": "verb", "unknown_subjects": "no_roles"})).is(200);
    let expected = (Some(json!("verb")), Some(json!("no_roles")));
    assert_eq!((is_set("actions"), is_set("unknown_subjects")), expected);
    settings(&tenant, &json!({"actions": "every"})).is(400);
}
