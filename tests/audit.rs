//! Audit records: filters, pages, refused credentials, and what they never hold.

use serde_json::{Value, json};

use crate::support::resolver::{Form, guest};
use crate::support::saas::{self, Account, operating};
use crate::support::{MANAGER, NO_ID, Reply, Request, Server, eventually_some};

/// Lists the audit records as the operator.
fn audit(server: &Server, query: &str) -> Reply {
    operating(format!("GET /admin/audit{query}")).send(server.address)
}

fn actions(records: &Value) -> Vec<&str> {
    records.as_array().into_iter().flatten().filter_map(|one| one["action"].as_str()).collect()
}

#[test]
fn a_tenant_and_the_operator_find_a_change() {
    let server = saas::settings().start();
    let accounts = ["north", "south"].map(|slug| Account::open(&server, slug));
    let [north, south] = accounts.each_ref().map(|account| account.tenant(&server));
    let id = north.policy("p", "doc:read", "deny", 1, &crate::support::tenant::always());
    north.manage(format!("PUT /api/v1/abac/policies/{id}"), &json!({"priority": 2})).is(200);
    south.rule("alice", "doc:read", "read", "allow");
    let own = north.get("/api/v1/audit").is(200).json();
    let expected = [
        "policy.updated",
        "policy.created",
        "provider.registered",
        "service_key.created",
        "tenant.created",
    ];
    let mut found = actions(&own);
    // The last two are of one transaction.
    found[3..].sort_unstable();
    assert_eq!(found, expected);
    let newest = &own[0];
    assert_eq!((&newest["actor"], &newest["credential"]), (&json!("boss"), &json!("token")));
    assert_eq!((&newest["records"], &newest["count"]), (&json!([id]), &json!(1)));
    assert_eq!(newest["tenant_id"], json!(accounts[0].id));
    let priorities = [&newest["before"]["priority"], &newest["after"]["priority"]];
    assert_eq!(priorities, [&json!(1), &json!(2)]);
    for (query, expected) in [
        ("?action=policy.created", 1),
        ("?actor=boss", 2),
        (&*format!("?record={id}"), 2),
        (&*format!("?record={id}&actor=admin"), 0),
        (&*format!("?record={NO_ID}"), 0),
        ("?record=7", 0),
        ("?from=2020-01-01T00:00:00Z&actor=boss", 2),
        ("?to=2020-01-01T00:00:00Z", 0),
    ] {
        let records = north.get(&format!("/api/v1/audit{query}")).is(200).json();
        assert_eq!(actions(&records).len(), expected, "{query}");
    }
    for query in [
        "?action=policy",
        "?record=%00",
        "?actor=%00",
        "?from=2020",
        "?to=2020-01-01",
        "?limit=0",
        "?cursor=x",
    ] {
        north.get(&format!("/api/v1/audit{query}")).refused(400, "BAD_REQUEST");
        audit(&server, query).refused(400, "BAD_REQUEST");
    }
    let of_north = audit(&server, &format!("?tenant={}", accounts[0].id)).is(200);
    of_north.has(&own);
    let all = audit(&server, "").is(200).json();
    assert_eq!(actions(&all).len(), 5 + 4);
    let page = north.get("/api/v1/audit?limit=2").is(200);
    let next = page.next_page().expect("there is more");
    assert_eq!(north.get(next).is(200).json()[0], own[2]);
    south.get(next).refused(400, "BAD_REQUEST");
}

#[test]
fn members_and_keys_without_the_permission_see_nothing() {
    let server = saas::settings().start();
    let account = Account::open(&server, "acme");
    let tenant = account.tenant(&server);
    let list = Request::new("GET /api/v1/audit");
    let member = tenant.token("alice", &["user"]);
    list.clone().token(&member).send(server.address).refused(403, "ACCESS_DENIED");
    let bootstrap = list.clone().header("x-service-api-key", &account.bootstrap_key);
    let refusal = bootstrap.send(server.address).refused(403, "ACCESS_DENIED");
    assert!(refusal.message().contains("audit:read"), "{}", refusal.text);
    let body = json!({"name": "auditor", "permissions": ["audit:read"]});
    let key = tenant.manage("POST /api/v1/service-api-keys", &body).is(201).text_of("key");
    list.header("x-service-api-key", &key).send(server.address).is(200);
}

#[test]
fn refused_credentials_are_recorded() {
    let server = saas::settings().start();
    let account = Account::open(&server, "acme");
    let tenant = account.tenant(&server);
    let body = json!({"name": "k"});
    let issued = tenant.manage("POST /api/v1/service-api-keys", &body).is(201);
    tenant.delete(&format!("/api/v1/service-api-keys/{}", issued.id())).is(204);
    let list = || Request::new("GET /api/v1/resources");
    list().send(server.address).refused(401, "UNAUTHENTICATED");
    for request in [
        list().token("no.to.ken"),
        list().header("x-service-api-key", &issued.text_of("key")),
        Request::new("GET /admin/tenants").header("x-admin-api-key", "wrong-secret"),
        Request::new("GET /admin/tenants").token("wrong-secret"),
    ] {
        request.send(server.address).refused(401, "UNAUTHENTICATED");
    }
    let refusals = eventually_some("each is recorded", || {
        let records = audit(&server, "?action=credential.refused").is(200).json();
        (actions(&records).len() >= 4).then_some(records)
    });
    let shown = |record: &Value| {
        json!([record["credential"], record["key"], record["actor"], record["count"]])
    };
    let mut found: Vec<_> =
        refusals.as_array().into_iter().flatten().map(|one| shown(one).to_string()).collect();
    found.sort_unstable();
    let mut expected = [
        json!(["token", null, "-", 1]),
        json!(["service_key", issued.id(), "-", 1]),
        json!(["admin_key", null, "-", 1]),
        json!(["admin_key", null, "-", 1]),
    ]
    .map(|one| one.to_string());
    expected.sort_unstable();
    assert_eq!(found, expected);
    assert!(!refusals.to_string().contains("wrong-secret"));
    // They belong to no tenant.
    assert_eq!(actions(&audit(&server, "?tenant=").is(200).json()).len(), 4);
}

#[test]
fn no_audit_record_holds_a_secret() {
    const MARK: &str = "marked-secret-0123456789";
    let server = saas::settings().start();
    let account = Account::open(&server, "acme");
    let tenant = account.tenant(&server);
    let webhook = json!({"url": "https://h.example/?t=marked-secret-0123456789", "events": ["access.denied"], "secret": MARK});
    let id = tenant.manage("POST /api/v1/webhooks", &webhook).is(201).id();
    tenant
        .manage(format!("PUT /api/v1/webhooks/{id}"), &json!({"secret": format!("{MARK}-2")}))
        .is(200);
    let manifest = json!({
        "namespace": "hr", "config": {"department": "obstetrics"}, "secrets": {"token": MARK},
    });
    let form = Form::new(&manifest, &guest("directory"));
    tenant.upload("POST /api/v1/resolvers", &form).is(201);
    let key = tenant.manage("POST /api/v1/service-api-keys", &json!({"name": "k"})).is(201);
    let key = key.text_of("key");
    let token = tenant.token("boss", &[MANAGER]);
    for wrong in [MARK, &token[..token.len() - 2], &format!("{key}x")] {
        Request::new("GET /api/v1/resources").token(wrong).send(server.address).is(401);
        let header = Request::new("GET /api/v1/resources").header("x-service-api-key", wrong);
        header.send(server.address).is(401);
        Request::new("GET /admin/tenants").token(wrong).send(server.address).is(401);
    }
    let all = eventually_some("the refusals are recorded", || {
        let all = audit(&server, "").is(200);
        (all.text.matches("credential.refused").count() >= 9).then_some(all.text)
    });
    let signature = token.rsplit('.').next().expect("a signature");
    for secret in [MARK, &key, &account.bootstrap_key, &signature[..20], saas::ADMIN_KEY] {
        assert!(!all.contains(secret), "{secret}");
    }
}

#[test]
fn an_admin_key_with_a_name_is_named() {
    let alice = "the-key-of-alice-which-is-long-enough";
    let keys = format!("alice={alice},bob=the-key-of-bob-which-is-long-enough");
    let server = saas::settings().set("ADMIN_API_KEYS", keys).start();
    let body = json!({"name": "n", "slug": "acme"});
    let create = Request::new("POST /admin/tenants").header("x-admin-api-key", alice);
    create.json(&body).send(server.address).is(201);
    let records = audit(&server, "?action=tenant.created").is(200).json();
    let who = json!([records[0]["actor"], records[0]["credential"], records[0]["key"]]);
    assert_eq!(who, json!(["admin:alice", "admin_key", "alice"]));
}

#[test]
fn a_record_says_what_changed_by_which_key_and_from_which_commit() {
    let server = saas::settings().start();
    let account = Account::open(&server, "acme");
    let tenant = account.tenant(&server);
    let body = json!({"name": "deploy", "permissions": ["policies:write", "policies:read"]});
    let key = tenant.manage("POST /api/v1/service-api-keys", &body).is(201).text_of("key");
    let source = json!({"commit": "3f2c", "ref": "main", "url": "https://git.example/authz"});
    let apply = json!({"owner": "git:acme", "source": source, "message": "open the wiki", "bundle": {
        "rules": [{"sub": "ann", "obj": "wiki:read", "act": "read", "effect": "allow"}]}});
    let request = Request::new("POST /api/v1/apply").header("x-service-api-key", &key).json(&apply);
    request.send(server.address).is(200);
    let newest =
        |query: &str| tenant.get(&format!("/api/v1/audit?{query}")).is(200).json()[0].clone();
    let created = newest("action=rule.created");
    let message = json!({"commit": "3f2c", "ref": "main", "url": "https://git.example/authz",
        "message": "open the wiki"});
    assert_eq!((&created["key_name"], &created["source"]), (&json!("deploy"), &message));
    assert_eq!((&created["before"], &created["after"]["sub"]), (&Value::Null, &json!("ann")));
    let entity = |ward: &str| json!({"entities": [{"type": "user", "id": "ann", "properties": {"ward": ward}}]});
    tenant.manage("PUT /api/v1/entities", &entity("obstetrics")).is(200);
    let written = newest("record=user:ann");
    assert_eq!(
        (&written["after"]["properties"], &written["source"]),
        (&json!(["ward"]), &Value::Null)
    );
    assert!(!written.to_string().contains("obstetrics"));
    let settings = json!({"owner": "x", "source": {"message": "show values"},
        "bundle": {"settings": {"audit_values": true}}});
    tenant.manage("POST /api/v1/apply", &settings).is(200);
    let changed = newest("action=settings.updated");
    assert_eq!(changed["source"]["message"], "show values");
    let defaults = json!({"gates": {"cases": false, "approval": false}, "max_deletes": 20, "owners": {},
        "directory_wins": false});
    assert_eq!((&changed["before"], &changed["after"]["audit_values"]), (&defaults, &json!(true)));
    tenant.manage("PUT /api/v1/entities", &entity("surgery")).is(200);
    let written = newest("record=user:ann");
    let wards = [&written["before"]["properties"]["ward"], &written["after"]["properties"]["ward"]];
    assert_eq!(wards, [&json!("obstetrics"), &json!("surgery")]);
    tenant.manage("PUT /api/v1/roles/clerk", &json!({"includes": ["reader"]})).is(201);
    assert_eq!(newest("record=clerk")["after"]["includes"], json!(["reader"]));
}
