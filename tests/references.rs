//! References to other entities, and what is behind them (`docs/semantics.md`, section 12.15).

use serde_json::{Value, json};

use crate::support::{Reply, Request, Tenant};

fn declare(tenant: &Tenant<'_>, name: &str, properties: &Value) -> Reply {
    tenant.manage(format!("PUT /api/v1/types/{name}"), &json!({"properties": properties}))
}

fn put(tenant: &Tenant<'_>, entities: &Value) -> Reply {
    tenant.manage("PUT /api/v1/entities", &json!({"entities": entities}))
}

fn policy(tenant: &Tenant<'_>, resource: &str, when: &str) -> Reply {
    let body = json!({
        "name": "p", "resource": resource, "effect": "allow", "priority": 1,
        "format": "expression", "rule_data": {"expression": when},
    });
    tenant.manage("POST /api/v1/abac/policies", &body)
}

/// Declares comments of tickets, which have a team and an owner.
fn helpdesk(tenant: &Tenant<'_>) {
    let user = json!({
        "team": {"type": "text"}, "level": {"type": "number"}, "manager": {"type": "ref<user>"},
        "badge": {"type": "text", "from": "token"},
    });
    declare(tenant, "user", &user).is(201);
    let ticket = json!({
        "team": {"type": "text"}, "closed": {"type": "boolean"}, "owner": {"type": "ref<user>"},
        "parent": {"type": "ref<ticket>"},
    });
    declare(tenant, "ticket", &ticket).is(201);
    declare(
        tenant,
        "comment",
        &json!({"ticket": {"type": "ref<ticket>"}, "title": {"type": "text"}}),
    )
    .is(201);
    let entities = json!([
        {"type": "user", "id": "ann", "properties": {"team": "eng", "level": 1, "manager": "bob"}},
        {"type": "user", "id": "bob", "properties": {"team": "ops", "level": 3, "manager": "ann"}},
        {"type": "ticket", "id": "t1", "properties": {"team": "eng", "owner": "bob", "parent": "t2"}},
        {"type": "ticket", "id": "t2", "properties": {"team": "ops", "parent": "t1"}},
        {"type": "comment", "id": "c1", "properties": {"ticket": "t1"}},
        {"type": "comment", "id": "c2", "properties": {"ticket": "t2"}},
        {"type": "comment", "id": "c3", "properties": {"ticket": "gone"}},
    ]);
    put(tenant, &entities).is(200);
}

fn about(resource: &Value) -> Value {
    json!({
        "subject": "ann", "resource": "comment:read", "action": "read",
        "attributes": {"user": {"roles": []}, "resource": resource},
    })
}

/// Lets what the directory has go before what is sent.
fn directory_wins(tenant: &Tenant<'_>) {
    let bundle = json!({"settings": {"directory_wins": true}});
    let body = json!({"owner": "git:settings", "bundle": bundle, "prune": false});
    tenant.manage("POST /api/v1/apply", &body).is(200);
}

fn evaluates(tenant: &Tenant<'_>, id: &str, properties: &Value) -> bool {
    let body = json!({
        "subject": {"type": "user", "id": "ann"}, "action": {"name": "read"},
        "resource": {"type": "comment", "id": id, "properties": properties},
    });
    let gateway = tenant.token("gateway", &["service"]);
    let request = Request::new("POST /access/v1/evaluation").token(&gateway).json(&body);
    tenant.send(&request).is(200).json()["decision"] == true
}

fn decides(tenant: &Tenant<'_>, resource: &Value) -> String {
    tenant.check(&about(resource)).is(200).text_of("decision")
}

#[test]
fn a_reference_is_declared_and_its_type_stays() {
    let tenant = Tenant::new();
    let refused = declare(&tenant, "comment", &json!({"ticket": {"type": "ref<ticket>"}}));
    let refused = refused.refused(400, "VALIDATION_ERROR");
    assert_eq!(refused.paths(), ["/properties/ticket/type"]);
    assert!(refused.message().contains("nobody declares `ticket`"), "{}", refused.text);
    let beside = json!({"author": {"type": "ref<user>"}, "author.name": {"type": "text"}});
    let refused = declare(&tenant, "comment", &beside).refused(400, "VALIDATION_ERROR");
    assert_eq!(refused.paths(), ["/properties/author.name"]);
    // A type may refer to itself.
    declare(&tenant, "ticket", &json!({"parent": {"type": "ref<ticket>"}})).is(201);
    declare(&tenant, "comment", &json!({"ticket": {"type": "ref<ticket>"}})).is(201);
    let refused = tenant.delete("/api/v1/types/ticket").refused(409, "CONFLICT");
    let broken = &refused.details()["broken"][0];
    assert_eq!((&broken["kind"], &broken["name"]), (&json!("type"), &json!("comment")));
    let bundle =
        |types: Value| json!({"owner": "git:a", "prune": false, "bundle": {"types": types}});
    let invoice = json!({"type": "invoice", "properties": {"of": {"type": "ref<customer>"}}});
    let refused = tenant.manage("POST /api/v1/apply", &bundle(json!([invoice])));
    assert_eq!(
        refused.refused(400, "VALIDATION_ERROR").paths(),
        ["/bundle/types/0/properties/of/type"]
    );
    let customer = json!({"type": "customer", "properties": {"last": {"type": "ref<invoice>"}}});
    tenant.manage("POST /api/v1/apply", &bundle(json!([invoice, customer]))).is(200);
    tenant.delete("/api/v1/types/comment").is(204);
    tenant.delete("/api/v1/types/ticket").is(204);
    let number = json!([{"type": "invoice", "id": "i", "properties": {"of": 1}}]);
    let refused = put(&tenant, &number).refused(400, "VALIDATION_ERROR");
    assert_eq!(refused.paths(), ["/entities/0/properties/of"]);
}

#[test]
fn a_condition_follows_two_references_and_no_more() {
    let tenant = Tenant::new();
    helpdesk(&tenant);
    for (when, expected) in [
        ("resource.ticket.owner.manager.level > 1", "at most 2 references"),
        ("resource.ticket.team.name == 'x'", "`team` of `ticket` is not one"),
        ("resource.ticket.id == 't1'", "`ticket` itself, which is the id"),
        ("resource.ticket.type == 'ticket'", "always `ticket`"),
        ("resource.ticket.owner.badge == 'b'", "a claim of the caller's token"),
        ("resource.ticket.taem == 'x'", "did you mean `team`?"),
        ("resource.ticket.closed == 'x'", "is declared as `boolean`"),
        ("resource.ticket > 3", "is declared as `ref<ticket>`"),
        ("user.manager.manager.manager.level > 1", "at most 2 references"),
    ] {
        let refused = policy(&tenant, "comment:read", when).refused(400, "VALIDATION_ERROR");
        assert_eq!(refused.paths(), ["/rule_data/expression"], "{when}");
        assert!(refused.message().contains(expected), "{when}: {}", refused.text);
    }
    policy(&tenant, "comment:read", "resource.ticket.owner.manager == 'ann'").is(201);
    policy(&tenant, "*", "resource.ticket.team == 'eng'").is(201);
    // A declaration that a condition needs stays.
    let refused = declare(&tenant, "ticket", &json!({"owner": {"type": "ref<user>"}}));
    assert_eq!(refused.refused(409, "CONFLICT").details()["broken"][0]["kind"], "policy");
}

#[test]
fn the_directory_supplies_what_is_behind_references() {
    let tenant = Tenant::new();
    helpdesk(&tenant);
    policy(
        &tenant,
        "comment:read",
        "resource.ticket.team == user.team || resource.ticket.owner.level > 9",
    )
    .is(201);
    for (resource, expected) in [
        (json!({"id": "c1"}), "allow"),
        (json!({"id": "c2"}), "deny"),
        (json!({"id": "c3"}), "deny"),
        (json!({"ticket": "t1"}), "allow"),
        (json!({"id": "c2", "ticket": "t1"}), "allow"),
        (json!({"id": "c2", "ticket.team": "eng"}), "allow"),
        (json!({"id": "c1", "ticket.team": "ops"}), "deny"),
        (json!({"id": "c1", "ticket": ["t1"]}), "deny"),
        (json!({"id": "c2", "ticket.owner.level": 10}), "allow"),
        (json!({}), "deny"),
    ] {
        assert_eq!(decides(&tenant, &resource), expected, "{resource}");
    }
    let mut batch = about(&json!({}));
    batch.as_object_mut().unwrap().remove("attributes");
    let item = |id: &str| json!({"attributes": {"user": {"roles": []}, "resource": {"id": id}}});
    batch["checks"] = json!([item("c1"), item("c2")]);
    let gateway = tenant.token("gateway", &["service"]);
    let results = tenant.send(&Request::new("POST /api/v1/checks").token(&gateway).json(&batch));
    let results = results.is(200).json();
    assert_eq!(
        (&results["results"][0]["decision"], &results["results"][1]["decision"]),
        (&json!("allow"), &json!("deny"))
    );
    let evaluate = |properties: Value| evaluates(&tenant, "c1", &properties);
    assert!(evaluate(json!({})));
    assert!(!evaluate(json!({"ticket.team": "ops"})));
    // `null` is absent, and the directory does not replace it.
    assert!(!evaluate(json!({"ticket.team": null})));
    assert!(!evaluate(json!({"ticket": null})));
    // A check after a write sees it, also behind a reference.
    let moved = json!([{"type": "ticket", "id": "t2", "properties": {"team": "eng"}}]);
    let revision = put(&tenant, &moved).is(200).header("x-entities-revision").unwrap().to_owned();
    let request = Request::new("POST /api/v1/check").token(&gateway);
    let request = request.header("x-min-entities-revision", &revision);
    let reply = tenant.send(&request.json(&about(&json!({"id": "c2"})))).is(200);
    assert_eq!(reply.text_of("decision"), "allow");
}

#[test]
fn an_explanation_shows_the_way_and_no_change_of_it() {
    let tenant = Tenant::new();
    helpdesk(&tenant);
    policy(&tenant, "comment:read", "resource.ticket.owner.level > 5").is(201);
    let explained = tenant.manage("POST /api/v1/check?explain=true", &about(&json!({"id": "c1"})));
    let explanation = explained.is(200).json()["explanation"].clone();
    let expected = json!({
        "attribute": "resource.ticket.owner.level", "source": "directory", "value": 3,
        "via": [
            {"attribute": "resource.ticket", "value": "t1", "entity": "ticket:t1"},
            {"attribute": "resource.ticket.owner", "value": "bob", "entity": "user:bob"},
        ],
    });
    assert_eq!(explanation["attributes"][0], expected);
    let changes = explanation["would_allow"][0]["changes"].clone();
    assert_eq!(changes[0]["attribute"], "resource.ticket.owner.level", "{explanation}");
    // No other ticket is proposed: it would have another owner.
    policy(&tenant, "comment:read", "resource.ticket == 't9' && resource.ticket.team == 'eng'")
        .is(201);
    let explained = tenant.manage("POST /api/v1/check?explain=true", &about(&json!({"id": "c1"})));
    let sets = explained.is(200).json()["explanation"]["would_allow"].to_string();
    assert!(!sets.contains(r#""resource.ticket""#), "{sets}");
}

/// A caller that keeps the reference of the directory cannot lie about what is behind it.
#[test]
fn nothing_that_is_sent_counts_behind_a_reference_of_the_directory() {
    let tenant = Tenant::new();
    helpdesk(&tenant);
    policy(
        &tenant,
        "comment:read",
        "resource.ticket.team == user.team || resource.ticket.owner.team == user.team",
    )
    .is(201);
    let claims = [
        json!({"id": "c2", "ticket.team": "eng"}),
        json!({"id": "c2", "ticket": "t1"}),
        json!({"id": "c2", "ticket.owner": "ann"}),
        json!({"id": "c2", "ticket.owner.team": "eng"}),
    ];
    for claim in &claims {
        assert_eq!(decides(&tenant, claim), "allow", "{claim}");
        assert!(evaluates(&tenant, "c2", claim), "{claim}");
    }
    let strict =
        json!({"ticket": {"type": "ref<ticket>", "from": "directory"}, "title": {"type": "text"}});
    declare(&tenant, "comment", &strict).is(200);
    for claim in &claims {
        assert_eq!(decides(&tenant, claim), "deny", "{claim}");
        assert!(!evaluates(&tenant, "c2", claim), "{claim}");
        let mut by_other_type = claim.clone();
        by_other_type["type"] = json!("note");
        assert_eq!(decides(&tenant, &by_other_type), "deny", "{by_other_type}");
    }
    assert_eq!(decides(&tenant, &json!({"id": "c1"})), "allow");
    // What is sent of the way is overridden as what is sent of its end.
    for (claim, name, is_overridden) in [
        (&claims[0], "resource.ticket.team", true),
        (&claims[1], "resource.ticket.team", true),
        (&claims[2], "resource.ticket.owner.team", true),
        (&json!({"id": "c2"}), "resource.ticket.team", false),
    ] {
        let explained = tenant.manage("POST /api/v1/check?explain=true", &about(claim));
        let attributes = explained.is(200).json()["explanation"]["attributes"].clone();
        let claimed = attributes.as_array().unwrap().iter().find(|one| one["attribute"] == name);
        let claimed = claimed.unwrap();
        assert_eq!(claimed["overridden"] == true, is_overridden, "{claim}: {claimed}");
        assert!(name != "resource.ticket.team" || claimed["value"] == "ops", "{claimed}");
    }
    // At the end of the way it is the same.
    let loose = json!({"ticket": {"type": "ref<ticket>"}, "title": {"type": "text"}});
    declare(&tenant, "comment", &loose).is(200);
    let ticket = json!({
        "team": {"type": "text", "from": "directory"}, "closed": {"type": "boolean"},
        "owner": {"type": "ref<user>"}, "parent": {"type": "ref<ticket>"},
    });
    declare(&tenant, "ticket", &ticket).is(200);
    assert_eq!(decides(&tenant, &claims[0]), "deny");
    assert_eq!(decides(&tenant, &claims[1]), "allow");
}

#[test]
fn references_in_a_circle_end() {
    let tenant = Tenant::new();
    helpdesk(&tenant);
    policy(
        &tenant,
        "comment:read",
        "resource.ticket.parent.parent == 't1' && user.manager.manager == 'ann'",
    )
    .is(201);
    // Tickets t1 and t2, and the managers ann and bob, are each in a circle.
    assert_eq!(decides(&tenant, &json!({"id": "c1"})), "allow");
    let own = json!([{"type": "ticket", "id": "t1", "properties": {"parent": "t1"}}]);
    put(&tenant, &own).is(200);
    assert_eq!(decides(&tenant, &json!({"id": "c1"})), "allow");
}

#[test]
fn a_search_and_a_plan_know_what_is_behind_references() {
    let tenant = Tenant::new();
    helpdesk(&tenant);
    policy(&tenant, "comment:read", "resource.ticket.team == user.team && user.manager.level >= 3")
        .is(201);
    let mut search = about(&json!({}));
    search["attributes"] = json!({"user": {"roles": []}});
    let found = tenant.manage("POST /api/v1/search/resources", &search).is(200).json();
    let ids: Vec<&Value> =
        found["results"].as_array().unwrap().iter().map(|one| &one["id"]).collect();
    assert_eq!(ids, ["c1"], "{found}");
    let mut given = search.clone();
    given["candidates"] = json!([
        {"id": "c2", "properties": {"ticket": "t1"}}, {"id": "c1", "properties": {"ticket": "t2"}},
        {"id": "x", "properties": {"ticket.team": "eng"}},
    ]);
    let found = tenant.manage("POST /api/v1/search/resources", &given).is(200).json();
    let ids: Vec<&Value> =
        found["results"].as_array().unwrap().iter().map(|one| &one["id"]).collect();
    assert_eq!(ids, ["c2", "x"], "{found}");
    let mut plan = search.clone();
    plan["dialect"] = json!("postgres");
    plan["columns"] = json!({"resource.ticket": {"sql": "c.ticket", "type": "text"}});
    let refused = tenant.manage("POST /api/v1/plan", &plan).refused(422, "NOT_EXACT");
    assert!(refused.text.contains("resource.ticket.team"), "{}", refused.text);
    plan["columns"] = json!({"resource.ticket.team": {"sql": "t.team", "type": "text"}});
    let exact = tenant.manage("POST /api/v1/plan", &plan).is(200).json();
    // The team and the manager of the subject are known.
    assert_eq!(
        (&exact["exact"], &exact["sql"]["params"]),
        (&json!(true), &json!(["eng"])),
        "{exact}"
    );
    // A property that only the directory has is no column.
    let ticket = json!({
        "team": {"type": "text", "from": "directory"}, "closed": {"type": "boolean"},
        "owner": {"type": "ref<user>"}, "parent": {"type": "ref<ticket>"},
    });
    declare(&tenant, "ticket", &ticket).is(200);
    tenant.manage("POST /api/v1/plan", &plan).refused(422, "NOT_EXACT");
    plan["attributes"]["resource"] = json!({"ticket": "t1"});
    assert_eq!(tenant.manage("POST /api/v1/plan", &plan).is(200).json()["kind"], "always");
}

#[test]
fn what_the_directory_has_of_the_way_goes_first_if_it_wins() {
    let tenant = Tenant::new();
    helpdesk(&tenant);
    policy(&tenant, "comment:read", "resource.ticket.team == user.team").is(201);
    directory_wins(&tenant);
    for (id, more, expected) in [
        ("c1", json!({}), "allow"),
        ("c1", json!({"ticket": "t2"}), "allow"),
        ("c1", json!({"ticket.team": "ops"}), "allow"),
        ("c1", json!({"ticket": null, "ticket.team": null}), "allow"),
        ("c2", json!({"ticket": "t1"}), "deny"),
        ("c2", json!({"ticket.team": "eng"}), "deny"),
        // The directory has neither the ticket nor the comment.
        ("c3", json!({"ticket.team": "eng"}), "allow"),
        ("c9", json!({"ticket": "t1"}), "allow"),
        ("c9", json!({"ticket": "t1", "ticket.team": "ops"}), "allow"),
        ("c9", json!({"ticket": null}), "deny"),
    ] {
        let mut resource = more.clone();
        resource["id"] = json!(id);
        assert_eq!(decides(&tenant, &resource), expected, "{resource}");
        assert_eq!(evaluates(&tenant, id, &more), expected == "allow", "{resource}");
    }
}

#[test]
fn reports_and_legacy_checks_know_the_way_as_checks_do() {
    let tenant = Tenant::new();
    helpdesk(&tenant);
    tenant.resource("comment:read");
    policy(&tenant, "comment:read", "resource.ticket.team == user.team && user.manager.level > 2")
        .is(201);
    let permission = |subject: &str, resource: Value| {
        let body = json!({"subject": subject, "attributes": {"resource": resource}});
        tenant.manage("POST /api/v1/permissions", &body).is(200).json()["results"][0].clone()
    };
    let open = permission("ann", json!({}));
    assert_eq!(
        (&open["decision"], &open["depends_on"]),
        (&json!("depends"), &json!(["resource.ticket.team"])),
        "{open}"
    );
    for resource in [json!({"id": "c1"}), json!({"id": "c2"}), json!({"ticket": "t1"})] {
        assert_eq!(permission("ann", resource.clone())["decision"], decides(&tenant, &resource));
    }
    // The directory does not have its ticket, and a check may send the team.
    assert_eq!(permission("ann", json!({"id": "c3"}))["decision"], "depends");
    // The level of the manager, whom the directory knows.
    assert_eq!(permission("bob", json!({}))["decision"], "deny");
    let rows = json!({"subjects": [{"subject": "ann"}, {"subject": "bob"}]});
    let cells = tenant.manage("POST /api/v1/matrix", &rows).is(200).json()["cells"].clone();
    assert_eq!(
        (&cells[0]["condition"], &cells[1]["decision"]),
        (&json!("resource.ticket.team == user.team"), &json!("deny")),
        "{cells}"
    );
    // A legacy check has no attributes, and knows rules alone.
    let gateway = tenant.token("gateway", &["service"]);
    let legacy = || {
        let body = json!({"subject": "ann", "resource": "comment:read"});
        let request = Request::new("POST /api/v1/resources/access/check").token(&gateway);
        tenant.send(&request.json(&body)).is(200).json()["allowed"].clone()
    };
    assert_eq!(legacy(), false);
    tenant.rule("ann", "comment:read", "read", "allow");
    assert_eq!(legacy(), true);
}
