//! Service API keys: `/api/v1/service-api-keys`, what a key opens, and `portcullis keys create`.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::support::process::{finish, portcullis};
use crate::support::saas::{self, Account};
use crate::support::{
    ALL_PERMISSIONS, NO_ID, PERMISSIONS, Provider, Reply, Request, Server, Settings, Tenant,
    eventually, eventually_some, is_timestamp, is_uuid_v7, names,
};

const KEYS: &str = "/api/v1/service-api-keys";
const CREATE: &str = "POST /api/v1/service-api-keys";

/// A request with a service key.
fn with_key(tenant: &Tenant<'_>, key: &str, route: &str, body: Option<&Value>) -> Reply {
    let request = Request::new(route).header("x-service-api-key", key);
    tenant.send(&body.map_or(request.clone(), |body| request.json(body)))
}

/// The answer is the same, whatever the key may do.
fn is_known(tenant: &Tenant<'_>, key: &str) -> bool {
    with_key(tenant, key, "GET /api/v1/resources", None).status != 401
}

/// A key with these permissions.
fn key(tenant: &Tenant<'_>, permissions: &[&str]) -> String {
    let body = json!({"name": "k", "permissions": permissions});
    tenant.manage(CREATE, &body).is(201).text_of("key")
}

/// An instant so many seconds from now.
fn seconds_from_now(seconds: i64) -> String {
    let instant = chrono::DateTime::from_timestamp(crate::support::provider::now() + seconds, 0);
    instant.expect("an instant").to_rfc3339()
}

#[test]
fn a_key_is_created_with_all_permissions() {
    let tenant = Tenant::new();
    let reply = tenant.manage(CREATE, &json!({"name": "sync", "description": "nightly"})).is(201);
    let record = reply.json();
    let expected = [
        "created_at",
        "created_by",
        "description",
        "domain",
        "expires_at",
        "id",
        "key",
        "last_used_at",
        "name",
        "permissions",
        "prefix",
    ];
    assert_eq!(names(&record), expected);
    assert_eq!((&record["name"], &record["description"]), (&json!("sync"), &json!("nightly")));
    assert_eq!(record["permissions"], json!(PERMISSIONS));
    assert_eq!((&record["expires_at"], &record["last_used_at"]), (&Value::Null, &Value::Null));
    assert_eq!(record["created_by"], "boss");
    assert!(is_uuid_v7(&reply.id()) && is_timestamp(&reply.text_of("created_at")));
    assert_eq!(reply.header("location"), Some(&*format!("{KEYS}/{}", reply.id())));
    assert_eq!(reply.header("cache-control"), Some("no-store"));
    let (prefix, key) = (reply.text_of("prefix"), reply.text_of("key"));
    assert_eq!(prefix, format!("pck_{}_", reply.id().replace('-', "")));
    let secret = key.strip_prefix(&prefix).expect("the key begins with its prefix");
    // 256 bits in base64url, and a checksum.
    assert!(secret.len() > 43, "{key}");
    assert!(secret.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_'), "{key}");
}

#[test]
fn a_key_is_shown_once() {
    let tenant = Tenant::new();
    let created = tenant.manage(CREATE, &json!({"name": "k"})).is(201);
    let list = tenant.get(KEYS).is(200);
    let mut shown = created.json();
    let key = shown.as_object_mut().and_then(|record| record.remove("key"));
    assert_eq!(list.json(), json!([shown]));
    let key = key.as_ref().and_then(Value::as_str).expect("a key");
    assert!(!list.text.contains(&key[shown["prefix"].as_str().map_or(0, str::len)..]));
    tenant.get(&format!("{KEYS}/{}", created.id())).is(200).has(&shown);
}

#[test]
fn optional_fields_are_kept() {
    let tenant = Tenant::new();
    let body = json!({
        "name": "k", "description": null, "expires_at": "2099-12-31T23:00:00+01:00",
        "permissions": ["policies:read", "resources:read", "policies:read"],
    });
    let record = tenant.manage(CREATE, &body).is(201).json();
    assert_eq!(record["description"], Value::Null);
    assert_eq!(record["expires_at"], "2099-12-31T22:00:00.000Z");
    assert_eq!(record["permissions"], json!(["policies:read", "resources:read"]));
}

#[test]
fn faults_of_a_creation_are_named() {
    let tenant = Tenant::new();
    for (body, path) in [
        (json!({}), ""),
        (json!({"name": ""}), "/name"),
        (json!({"name": 1}), "/name"),
        (json!({"name": "n".repeat(257)}), "/name"),
        (json!({"name": "k", "description": 1}), "/description"),
        (json!({"name": "k", "permissions": "policies:read"}), "/permissions"),
        (json!({"name": "k", "permissions": []}), "/permissions"),
        (json!({"name": "k", "permissions": ["policies:read", "all"]}), "/permissions/1"),
        (json!({"name": "k", "permissions": ["Policies:read"]}), "/permissions/0"),
        (json!({"name": "k", "expires_at": "2020-01-01T00:00:00Z"}), "/expires_at"),
        (json!({"name": "k", "expires_at": "tomorrow"}), "/expires_at"),
        (json!({"name": "k", "expires_at": 4_000_000_000_u64}), "/expires_at"),
        (json!({"name": "k", "key": "pck_1"}), ""),
    ] {
        let reply = tenant.manage(CREATE, &body).invalid();
        assert_eq!(reply.text_of_details("path"), path, "{body}: {}", reply.text);
    }
    tenant.get(KEYS).is(200).has(&json!([]));
}

#[test]
fn the_last_use_is_noted() {
    let tenant = Tenant::new();
    let key = key(&tenant, &["resources:read"]);
    assert!(is_known(&tenant, &key));
    let used = eventually_some("the use is noted", || {
        tenant.get(KEYS).json()[0]["last_used_at"].as_str().map(str::to_owned)
    });
    assert!(is_timestamp(&used), "{used}");
}

#[test]
fn a_revoked_key_is_refused_at_once() {
    let tenant = Tenant::new();
    let created = tenant.manage(CREATE, &json!({"name": "k"})).is(201);
    let key = created.text_of("key");
    assert!(is_known(&tenant, &key));
    let path = format!("{KEYS}/{}", created.id());
    tenant.delete(&path).is(204);
    assert!(!is_known(&tenant, &key));
    tenant.delete(&path).refused(404, "NOT_FOUND");
    tenant.get(KEYS).is(200).has(&json!([]));
    for id in [NO_ID, "1", "pck_1"] {
        tenant.delete(&format!("{KEYS}/{id}")).refused(404, "NOT_FOUND");
    }
}

#[test]
fn a_key_expires() {
    let tenant = Tenant::new();
    let body = json!({"name": "k", "expires_at": seconds_from_now(5)});
    let key = tenant.manage(CREATE, &body).is(201).text_of("key");
    assert!(is_known(&tenant, &key));
    eventually("the key expires", || !is_known(&tenant, &key));
    let refused =
        with_key(&tenant, &key, "GET /api/v1/resources", None).refused(401, "UNAUTHENTICATED");
    assert!(
        refused.message().starts_with("the service key expired at 20"),
        "{}",
        refused.message()
    );
    let url = format!("http://{}", tenant.address);
    for arguments in [&["check", "ann", "read", "doc:read"][..], &["matrix"]] {
        let mut command = portcullis(arguments);
        command.args(["--url", &url]).env("SERVICE_API_KEY", &key);
        let done = finish(command);
        assert_eq!(done.code, Some(1), "{done:?}");
        assert!(done.err.contains(&refused.message()), "{done:?}");
    }
}

/// Replaces the character at `index` by another one.
fn altered(key: &str, index: usize) -> String {
    let other = if key[index..].starts_with('A') { "B" } else { "A" };
    format!("{}{other}{}", &key[..index], &key[index + 1..])
}

#[test]
fn keys_that_are_none_all_answer_alike() {
    let tenant = Tenant::new();
    let revoked = tenant.manage(CREATE, &json!({"name": "k"})).is(201);
    tenant.delete(&format!("{KEYS}/{}", revoked.id())).is(204);
    let good = key(&tenant, &["resources:read"]);
    let send = |key: &str| with_key(&tenant, key, "GET /api/v1/resources", None);
    let expected = send(&revoked.text_of("key")).refused(401, "UNAUTHENTICATED");
    assert_eq!(expected.header("www-authenticate"), Some("Bearer"));
    let last = good.len() - 1;
    for bad in [
        "pck_",
        "x",
        "",
        &good[..last],
        &format!("{good}A"),
        &good.to_uppercase(),
        &good.replacen("pck_", "pdk_", 1),
        &altered(&good, 10),
        &altered(&good, 60),
        &altered(&good, last),
    ] {
        assert_eq!(send(bad).outcome(), expected.outcome(), "{bad}");
    }
    send(&good).is(200);
}

/// Sample routes that a key can open, with a good body, and the permission that opens each. `isolation/table.rs` has
/// all.
fn opened() -> Vec<(&'static str, Option<Value>, &'static str)> {
    let rule = json!({"sub": "a", "obj": "doc:read", "act": "read", "effect": "allow"});
    let webhook = json!({
        "url": "https://hook.example/", "events": ["access.denied"], "secret": "0123456789abcdef",
    });
    vec![
        ("GET /api/v1/resources", None, "resources:read"),
        ("POST /api/v1/resources", Some(json!({"name": "doc:read"})), "resources:write"),
        ("POST /api/v1/resources/list", Some(json!([])), "resources:write"),
        ("GET /api/v1/resources/{id}/policies", None, "policies:read"),
        ("GET /api/v1/abac/policies", None, "policies:read"),
        ("GET /api/v1/abac/policies/{id}", None, "policies:read"),
        ("POST /api/v1/resources/policies", Some(rule), "policies:write"),
        ("PUT /api/v1/resources/policies", Some(json!({"id": NO_ID})), "policies:write"),
        ("DELETE /api/v1/resources/policies", Some(json!({"id": NO_ID})), "policies:write"),
        ("POST /api/v1/abac/policies", Some(json!({})), "policies:write"),
        ("PUT /api/v1/abac/policies/{id}", Some(json!({})), "policies:write"),
        ("DELETE /api/v1/abac/policies/{id}", None, "policies:write"),
        ("GET /api/v1/webhooks", None, "webhooks:read"),
        ("GET /api/v1/webhooks/{id}/deliveries", None, "webhooks:read"),
        ("POST /api/v1/webhooks", Some(webhook), "webhooks:write"),
        ("PUT /api/v1/webhooks/{id}", Some(json!({})), "webhooks:write"),
        ("DELETE /api/v1/webhooks/{id}", None, "webhooks:write"),
    ]
}

#[test]
fn each_permission_opens_exactly_its_routes() {
    let tenant = Tenant::new();
    for permission in ALL_PERMISSIONS.iter().copied() {
        let key = key(&tenant, &[permission]);
        for (route, body, needed) in opened() {
            let reply = with_key(&tenant, &key, &route.replace("{id}", NO_ID), body.as_ref());
            if needed == permission {
                let judged = [200, 201, 400, 404, 409].contains(&reply.status);
                assert!(judged, "{route}: {}", reply.text);
            } else {
                let message = reply.refused(403, "ACCESS_DENIED").message();
                assert!(message.contains(needed), "{route}: {message}");
            }
        }
    }
}

#[test]
fn keys_do_not_manage_keys() {
    let tenant = Tenant::new();
    let key = key(&tenant, &ALL_PERMISSIONS);
    for (route, body) in [
        (format!("GET {KEYS}"), None),
        (CREATE.to_owned(), Some(&json!({"name": "k"}))),
        (format!("DELETE {KEYS}/{NO_ID}"), None),
    ] {
        with_key(&tenant, &key, &route, body).refused(401, "UNAUTHENTICATED");
    }
}

#[test]
fn default_roles_need_the_right_to_write_rules() {
    let tenant = Tenant::new();
    let with_roles = json!({"name": "doc:read", "defaultRoles": ["reader"]});
    let without = json!({"name": "doc:read", "defaultRoles": []});
    for (route, wrap) in [("POST /api/v1/resources", false), ("POST /api/v1/resources/list", true)]
    {
        let body = |body: &Value| if wrap { json!([body]) } else { body.clone() };
        let writer = key(&tenant, &["resources:write"]);
        let denied = with_key(&tenant, &writer, route, Some(&body(&with_roles)));
        assert!(denied.refused(403, "ACCESS_DENIED").message().contains("policies:write"));
        let plain = with_key(&tenant, &writer, route, Some(&body(&without)));
        assert!([200, 201].contains(&plain.status), "{}", plain.text);
        let both = key(&tenant, &["resources:write", "policies:write"]);
        with_key(&tenant, &both, route, Some(&body(&with_roles))).is(200);
        // A registration without the roles would remove their rules.
        let stripped = with_key(&tenant, &writer, route, Some(&body(&without)));
        assert!(stripped.refused(403, "ACCESS_DENIED").message().contains("`policies:write`"));
        let reader = json!({
            "subject": "bob", "resource": "doc:read", "action": "read",
            "attributes": {"user": {"roles": ["reader"]}},
        });
        assert_eq!(tenant.check(&reader).is(200).text_of("decision"), "allow");
        with_key(&tenant, &both, route, Some(&body(&without))).is(200);
        assert_eq!(tenant.check(&reader).is(200).text_of("decision"), "deny");
        // Now there is nothing to lose.
        with_key(&tenant, &writer, route, Some(&body(&without))).is(200);
    }
}

#[test]
fn a_key_that_may_not_drop_default_roles_writes_nothing_of_a_list() {
    let tenant = Tenant::new();
    let with_roles = json!({"name": "doc:read", "defaultRoles": ["reader"]});
    tenant.manage("POST /api/v1/resources", &with_roles).is(201);
    let writer = key(&tenant, &["resources:write"]);
    let list = json!([{"name": "new:read"}, {"name": "doc:read"}]);
    let denied = with_key(&tenant, &writer, "POST /api/v1/resources/list", Some(&list));
    denied.refused(403, "ACCESS_DENIED");
    let names = tenant.get("/api/v1/resources").is(200).json();
    assert_eq!((names.as_array().map(Vec::len), &names[0]["name"]), (Some(1), &json!("doc:read")));
}

/// Creates a rule without a domain by key, and gives the record.
fn rule_by_key(tenant: &Tenant<'_>, key: &str) -> Value {
    let rule = json!({"sub": "alice", "obj": "doc:read", "act": "read", "effect": "allow"});
    with_key(tenant, key, "POST /api/v1/resources/policies", Some(&rule)).is(201).json()
}

#[test]
fn what_a_key_writes_carries_its_id_and_its_domain() {
    let tenant = Tenant::new();
    let created = tenant.manage(CREATE, &json!({"name": "k"})).is(201);
    let rule = rule_by_key(&tenant, &created.text_of("key"));
    assert_eq!(rule["created_by"], format!("key:{}", created.id()));
    assert_eq!(rule["dom"], *tenant.name, "in `selfhost` mode, the tenant");
    assert!(tenant.decide("alice", "doc:read", "read").allowed());

    let server = saas::settings().start();
    let account = Account::open(&server, "acme");
    let tenant = account.tenant(&server);
    let rule = rule_by_key(&tenant, &account.bootstrap_key);
    assert_eq!(rule["dom"], "acme", "in `saas` mode, the slug");
    assert!(tenant.decide("alice", "doc:read", "read").allowed());
}

#[test]
fn a_key_stays_in_its_domain() {
    let (tenant, other) = (Tenant::new(), Tenant::new());
    let key = key(&tenant, &PERMISSIONS);
    let rule = |dom: &str| {
        let body = json!({
            "sub": "alice", "dom": dom, "obj": "doc:read", "act": "read", "effect": "allow",
        });
        with_key(&tenant, &key, "POST /api/v1/resources/policies", Some(&body))
    };
    rule(&other.name).invalid();
    rule("*").is(201);
    rule(&tenant.name).is(201);
}

#[test]
fn without_tokens_keys_alone_work() {
    let settings = Settings::without_provider().set("OIDC_ENABLED", "false");
    let create = |name: &str, more: &[&str]| {
        let command = ["keys", "create", "--tenant", "acme", "--name", name];
        let made = settings.run(&[&command, more].concat());
        assert_eq!(made.code, Some(0), "{}", made.err);
        made.out.trim().to_owned()
    };
    let admin = create("admin", &["--create-tenant"]);
    let gateway = create("gateway", &["--permissions", "access:evaluate"]);
    let server = settings.start();
    let tenant = Tenant::with_provider(&server, Provider::shared(), "acme");
    let rule = rule_by_key(&tenant, &admin);
    assert_eq!(rule["dom"], "acme");
    let check = json!({"subject": "alice", "resource": "doc:read", "action": "read"});
    let decided = with_key(&tenant, &gateway, "POST /api/v1/check", Some(&check)).is(200);
    assert_eq!(
        (decided.text_of("decision"), &json!(decided.text_of("matched_rule_id"))),
        ("allow".to_owned(), &rule["id"])
    );
    let legacy = json!({"subject": "alice", "resource": "doc:read"});
    let route = "POST /api/v1/resources/access/check";
    assert_eq!(with_key(&tenant, &gateway, route, Some(&legacy)).is(200).json()["allowed"], true);
    for reply in [tenant.get("/api/v1/resources"), tenant.get(KEYS), tenant.check(&check)] {
        reply.refused(401, "UNAUTHENTICATED");
    }
    // Only managers with a token could approve.
    let gate = |approval: bool| json!({"owner": "test", "bundle": {"settings": {"gates": {"approval": approval}}}});
    let apply = "POST /api/v1/apply";
    let refused = with_key(&tenant, &admin, apply, Some(&gate(true)));
    let refused = refused.refused(409, "APPROVAL_IMPOSSIBLE").json();
    assert!(refused["details"]["needs"].as_str().is_some_and(|needs| needs.contains("token")));
    let planned = with_key(&tenant, &admin, "POST /api/v1/apply?dry_run=true", Some(&gate(true)));
    planned.refused(409, "APPROVAL_IMPOSSIBLE");
    with_key(&tenant, &admin, apply, Some(&gate(false))).is(200);
}

/// Counts the statements of a server's log, by their text.
fn statements(server: &Server) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for line in server.process.err.text().lines() {
        let statement = line.split_once("summary=\"").and_then(|(_, rest)| rest.split('"').next());
        if let Some(statement) = statement {
            *counts.entry(statement.to_owned()).or_default() += 1;
        }
    }
    counts
}

#[test]
fn a_check_with_a_key_in_memory_costs_no_query() {
    const CHECKS: usize = 300;
    let server =
        Settings::new(Provider::shared()).set("RUST_LOG", "info,sqlx::query=debug").start();
    let tenant = Tenant::with_provider(&server, Provider::shared(), "acme");
    let key = key(&tenant, &["access:evaluate", "webhooks:read"]);
    let check = json!({"subject": "alice", "resource": "doc:read", "action": "read"});
    let ask = || with_key(&tenant, &key, "POST /api/v1/check", Some(&check)).is(200);
    ask();
    let before = statements(&server);
    (0..CHECKS).for_each(|_| drop(ask()));
    let after = statements(&server);
    // The service reads some statements again and again, but none of them 300 times in this time.
    for (statement, count) in &after {
        let more = count - before.get(statement).unwrap_or(&0);
        assert!(more < CHECKS, "{statement}: {more} times");
    }
    let looked_up = |counts: &BTreeMap<String, usize>| -> usize {
        let of_keys = counts.iter().filter(|(statement, _)| statement.contains("t.slug"));
        of_keys.map(|(_, count)| count).sum()
    };
    assert_eq!(looked_up(&after), 1, "the key was read once: {after:?}");
    // The control: statements are counted.
    let list = || with_key(&tenant, &key, "GET /api/v1/webhooks", None).is(200);
    (0..CHECKS).for_each(|_| drop(list()));
    let most = |counts: &BTreeMap<String, usize>| counts.values().copied().max().unwrap_or(0);
    eventually("the log has a statement of each list", || most(&statements(&server)) >= CHECKS);
    let reads = tenant.send(&Request::new("GET /metrics")).is(200);
    assert!(reads.text.contains("portcullis_service_key_reads_total 1\n"), "{}", reads.text);
}

#[test]
fn a_wrong_key_with_a_known_id_and_a_foreign_key_are_refused() {
    let (tenant, other) = (Tenant::new(), Tenant::new());
    let [own, foreign] = [&tenant, &other].map(|tenant| key(tenant, &["access:evaluate"]));
    let check = |tenant: &Tenant<'_>, key: &str| {
        let body = json!({
            "subject": "alice", "resource": "doc:read", "action": "read", "domain": tenant.name,
        });
        with_key(tenant, key, "POST /api/v1/check", Some(&body))
    };
    for _ in 0..2 {
        check(&tenant, &own).is(200);
        check(&other, &foreign).is(200);
        let wrong = with_secret_of(&own, &foreign);
        assert_ne!(wrong, own);
        check(&tenant, &wrong).refused(401, "UNAUTHENTICATED");
        check(&tenant, &foreign).refused(403, "ACCESS_DENIED");
    }
}

/// Returns a well-formed key with the id of `key` and the secret of `other`.
fn with_secret_of(key: &str, other: &str) -> String {
    let id = "pck_".len() + 32 + 1;
    let text = format!("{}{}", &key[..id], &other[id..other.len() - 6]);
    let checksum = URL_SAFE_NO_PAD.encode(Sha256::digest(&text));
    format!("{text}{}", &checksum[..6])
}

#[test]
fn the_command_makes_a_key_that_works() {
    let settings = Settings::new(Provider::shared());
    let create = |more: &[&str]| {
        let command = ["keys", "create", "--tenant", "acme", "--name", "ci"];
        settings.run(&[&command, more].concat())
    };
    let all = create(&["--create-tenant"]);
    let some = create(&["--permissions", "resources:read,access:evaluate", "--domain", "acme"]);
    let until = create(&["--expires-at", "2099-12-31T00:00:00Z", "--description", "of the build"]);
    let server = settings.start();
    let tenant = Tenant::with_provider(&server, Provider::shared(), "acme");
    for made in [&all, &some, &until] {
        assert_eq!((made.code, made.out.lines().count()), (Some(0), 1), "{}", made.err);
        with_key(&tenant, made.out.trim(), "GET /api/v1/resources", None).is(200);
        assert!(!made.err.contains(made.out.trim()), "{}", made.err);
    }
    let list = tenant.get(KEYS).is(200).json();
    assert_eq!((&list[0]["name"], &list[0]["permissions"]), (&json!("ci"), &json!(PERMISSIONS)));
    assert_eq!(list[1]["permissions"], json!(["resources:read", "access:evaluate"]));
    assert_eq!((&list[0]["domain"], &list[1]["domain"]), (&Value::Null, &json!("acme")));
    assert_eq!(list[2]["expires_at"], "2099-12-31T00:00:00.000Z");
    assert_eq!(list[2]["description"], "of the build");
    // The command also works beside a running server.
    with_key(&tenant, create(&[]).out.trim(), "GET /api/v1/resources", None).is(200);
}

#[test]
fn the_command_says_what_is_wrong() {
    let selfhost = Settings::new(Provider::shared());
    let saas = saas::settings();
    let single = Settings::new(Provider::shared()).set("SINGLE_TENANT", "only");
    for settings in [&selfhost, &saas] {
        settings.run(&["migrate"]);
    }
    let of_acme = |more: &[&'static str]| [&["--tenant", "acme", "--name", "k"], more].concat();
    for (settings, arguments, expected) in [
        (&selfhost, of_acme(&["--permissions", "policies:read,everything"]), "`everything`"),
        (&selfhost, of_acme(&["--permissions", "evaluate"]), "policies:read, policies:write"),
        (&selfhost, of_acme(&["--permissions", "evaluate"]), "access:evaluate"),
        (&selfhost, of_acme(&[]), "there is no tenant `acme`; add --create-tenant"),
        (&selfhost, of_acme(&["--create-tenant", "--domain", "b"]), "--domain: expected `acme`"),
        (
            &selfhost,
            of_acme(&["--create-tenant", "--domain", "*"]),
            "--domain: expected one domain",
        ),
        (&selfhost, vec!["--tenant", "*", "--name", "k", "--create-tenant"], "--tenant: expected"),
        (
            &selfhost,
            vec!["--tenant", "acme corp", "--name", "k", "--create-tenant"],
            "--tenant: expected letters, digits",
        ),
        (&single, of_acme(&["--create-tenant"]), "--tenant: expected `only`"),
        (&selfhost, vec!["--tenant", "acme", "--name", ""], "--name: expected"),
        (&selfhost, of_acme(&["--expires-at", "tomorrow"]), "--expires-at: expected"),
        (
            &selfhost,
            of_acme(&["--expires-at", "2020-01-01T00:00:00Z"]),
            "--expires-at: expected an instant in the future",
        ),
        (&selfhost, vec!["--name", "k"], "--tenant"),
        (&selfhost, vec!["--tenant", "acme"], "--name"),
        (&saas, of_acme(&[]), "there is no tenant `acme`"),
        (&saas, of_acme(&["--create-tenant"]), "`POST /admin/tenants` creates one"),
    ] {
        let failed = settings.run(&[&["keys", "create"], &*arguments].concat());
        assert!(failed.code.is_some_and(|code| code != 0), "{arguments:?}: {}", failed.err);
        assert!(failed.out.is_empty(), "{arguments:?}: {}", failed.out);
        assert!(failed.err.contains(expected), "{arguments:?}: {}", failed.err);
    }
    assert_eq!(selfhost.run(&["tenants", "list"]).out, "", "no tenant was created");
}

#[test]
fn the_help_says_that_checks_need_a_permission_of_their_own() {
    let help = Settings::new(Provider::shared()).run(&["keys", "create", "--help"]).out;
    assert!(help.contains("Name `access:evaluate` for a key that requests checks"), "{help}");
}

#[test]
fn the_command_knows_a_saas_tenant_by_id_and_by_slug() {
    let settings = saas::settings();
    let server = settings.start();
    let account = Account::open(&server, "acme");
    for name in [&account.id, &account.slug] {
        let made = settings.run(&["keys", "create", "--tenant", name, "--name", "k"]);
        assert_eq!(made.code, Some(0), "{}", made.err);
        assert!(is_known(&account.tenant(&server), made.out.trim()));
    }
    let list = account.tenant(&server).get(KEYS).is(200).json();
    assert_eq!(list[0]["name"], "bootstrap");
    assert_eq!(list.as_array().map(Vec::len), Some(3));
}
