//! The operator stops tenants: suspends, resumes and deletes them, and revokes their keys.

use serde_json::json;

use crate::support::process::Finished;
use crate::support::saas::{self, Account, operating};
use crate::support::{Provider, Reply, Request, Server, Settings, Tenant, eventually};

const CHECK: &str = r#"{"subject": "alice", "resource": "doc:read", "action": "read"}"#;

/// Sends `route`, whose `{}` is the tenant, as the operator.
fn operate(server: &Server, route: &str, tenant: &str) -> Reply {
    operating(route.replace("{}", tenant)).send(server.address)
}

fn with_key(server: &Server, key: &str) -> Reply {
    Request::new("GET /api/v1/resources").header("x-service-api-key", key).send(server.address)
}

/// The answers to each kind of credential of the account.
fn answers(server: &Server, account: &Account) -> [Reply; 3] {
    let tenant = account.tenant(server);
    let check = Request::new("POST /api/v1/check").token(&tenant.token("alice", &["user"]));
    [
        check.body("application/json", CHECK).send(server.address),
        tenant.get("/api/v1/resources"),
        with_key(server, &account.bootstrap_key),
    ]
}

/// Asserts that each kind of credential of the account is good.
#[track_caller]
fn served(server: &Server, account: &Account) {
    for answer in answers(server, account) {
        answer.is(200);
    }
}

/// Asserts that each kind of credential of the account is refused.
#[track_caller]
fn refused(server: &Server, account: &Account, status: u16, code: &str) {
    for answer in answers(server, account) {
        answer.refused(status, code);
    }
}

#[test]
fn a_suspended_tenant_is_refused_at_once_until_it_is_resumed() {
    let server = saas::settings().start();
    let [stopped, other] = ["stopped", "other"].map(|slug| Account::open(&server, slug));
    for _ in 0..2 {
        served(&server, &stopped);
        let record = operate(&server, "POST /admin/tenants/{}/suspend", &stopped.id).is(200);
        assert_eq!(record.json()["state"], "suspended");
        refused(&server, &stopped, 403, "TENANT_SUSPENDED");
        served(&server, &other);
        operate(&server, "POST /admin/tenants/{}/suspend", &stopped.id).is(200);
        let shown = operate(&server, "GET /admin/tenants/{}", &stopped.id).is(200).json();
        assert_eq!(shown, record.json());
        // A bad credential learns nothing of it.
        with_key(&server, "pck_x").refused(401, "UNAUTHENTICATED");
        let record = operate(&server, "POST /admin/tenants/{}/resume", &stopped.id).is(200).json();
        assert_eq!(record.get("state"), None, "an active tenant has no state");
    }
    served(&server, &stopped);
}

#[test]
fn the_operator_revokes_the_key_of_a_tenant_without_a_provider() {
    let server = saas::settings().start();
    let account = Account::open(&server, "acme");
    let providers = operate(&server, &format!("GET {}", account.providers()), "").json();
    let id = providers[0]["id"].as_str().expect("an id");
    operate(&server, &format!("DELETE {}/{id}", account.providers()), "").is(204);
    with_key(&server, &account.bootstrap_key).is(200);
    let keys = operate(&server, "GET /admin/tenants/{}/service-api-keys", &account.id).is(200);
    assert_eq!(keys.json()[0]["name"], "bootstrap");
    assert!(!keys.text.contains(&account.bootstrap_key));
    let id = keys.json()[0]["id"].as_str().expect("an id").to_owned();
    let path = format!("DELETE /admin/tenants/{{}}/service-api-keys/{id}");
    operate(&server, &path, &account.id).is(204);
    with_key(&server, &account.bootstrap_key).refused(401, "UNAUTHENTICATED");
    operate(&server, &path, &account.id).refused(404, "NOT_FOUND");
}

#[test]
fn a_deletion_survives_a_crash_and_frees_the_slug() {
    let server = saas::settings().start();
    let account = Account::open(&server, "acme");
    let names = (0..1_000).map(|n| json!({"name": format!("doc-{n}:read"), "defaultRoles": ["r"]}));
    let bulk = json!(names.collect::<Vec<_>>());
    account.tenant(&server).manage("POST /api/v1/resources/list", &bulk).is(200);
    let record = operate(&server, "DELETE /admin/tenants/{}", &account.id).is(202).json();
    assert_eq!(record["state"], "deleting");
    for answer in answers(&server, &account) {
        // The provider and the key may be gone already.
        assert!([401, 403].contains(&answer.status), "{}", answer.text);
    }
    let server = server.crash_and_restart();
    eventually("the tenant is gone", || {
        operate(&server, "GET /admin/tenants/{}", &account.id).status == 404
    });
    eventually("the server has forgotten its provider", || {
        answers(&server, &account).iter().all(|answer| answer.status == 401)
    });
    let again = Account::open(&server, "acme");
    assert_ne!(again.id, account.id);
    again.tenant(&server).get("/api/v1/resources").is(200).has(&json!([]));
    for (route, status) in [
        ("POST /admin/tenants/{}/suspend", 404),
        ("POST /admin/tenants/{}/resume", 404),
        ("DELETE /admin/tenants/{}", 404),
    ] {
        operate(&server, route, &account.id).is(status);
    }
    let own = operate(&server, "GET /admin/audit?tenant={}", &account.id).is(200);
    own.has(&json!([]));
    let rest = operate(&server, "GET /admin/audit?action=tenant.deleted", "").is(200).json();
    assert_eq!(rest[0]["records"], json!([account.id]), "the operator's own record stays");
}

fn done(finished: &Finished) -> &str {
    assert_eq!(finished.code, Some(0), "{}", finished.err);
    &finished.out
}

#[test]
fn the_command_line_stops_a_tenant_of_selfhost() {
    let settings = Settings::new(Provider::shared());
    let server = settings.start();
    let [stopped, other] =
        ["stopped", "other"].map(|name| Tenant::with_provider(&server, Provider::shared(), name));
    let check = json!({"subject": "alice", "resource": "doc:read", "action": "read"});
    stopped.rule("alice", "doc:read", "read", "allow");
    let key = stopped.manage("POST /api/v1/service-api-keys", &json!({"name": "k"})).is(201);
    // A token of another tenant that administers this one.
    let about =
        json!({"subject": "alice", "resource": "doc:read", "action": "read", "domain": "stopped"});
    let guest = other.token_with("gateway", &["service"], &json!({"adm": ["stopped"]}));
    other.check_by(&guest, &about).is(200);
    let suspended = settings.run(&["tenants", "suspend", "stopped"]);
    assert!(done(&suspended).contains("`stopped` is suspended"), "{}", suspended.out);
    eventually("the server knows it", || stopped.check(&check).status == 403);
    stopped.check(&check).refused(403, "TENANT_SUSPENDED");
    with_key(&server, &key.text_of("key")).refused(403, "TENANT_SUSPENDED");
    other.check_by(&guest, &about).refused(403, "TENANT_SUSPENDED");
    other.check(&check).is(200);
    let listed = settings.run(&["tenants", "list"]);
    assert!(
        done(&listed).lines().any(|line| line.contains("stopped") && line.contains("suspended"))
    );
    done(&settings.run(&["tenants", "resume", "stopped"]));
    eventually("it is open again", || stopped.check(&check).status == 200);
    let keys = settings.run(&["keys", "list", "--tenant", "stopped"]);
    assert!(done(&keys).contains(&key.id()) && !keys.out.contains(&key.text_of("key")));
    done(&settings.run(&["keys", "revoke", "--tenant", "stopped", &key.id()]));
    eventually("the server knows it", || with_key(&server, &key.text_of("key")).status == 401);
    let again = settings.run(&["keys", "revoke", "--tenant", "stopped", &key.id()]);
    assert_eq!(again.code, Some(1));
    assert!(again.err.contains("there is no such service key"), "{}", again.err);
    for name in ["admin", "123"] {
        let unknown = settings.run(&["keys", "revoke", "--tenant", "stopped", name]);
        assert_eq!(unknown.code, Some(2));
        assert!(unknown.err.contains("expected the id of a key, as"), "{}", unknown.err);
    }
    done(&settings.run(&["tenants", "delete", "stopped"]));
    eventually("it is refused", || stopped.check(&check).status == 403);
    assert!(!done(&settings.run(&["tenants", "list"])).contains("stopped"));
    let audit = settings.run(&["audit"]);
    let newest = done(&audit).lines().next().expect("a record");
    assert!(newest.contains("\"action\":\"tenant.deleted\""), "{newest}");
    let cut = settings.run(&["audit", "--limit", "1"]);
    assert_eq!((cut.code, cut.out.trim()), (Some(1), newest), "{}", cut.err);
    let all = audit.out.lines().count().to_string();
    assert_eq!(done(&settings.run(&["audit", "--limit", &all])), audit.out);
    let create = ["keys", "create", "--tenant", "stopped", "--name", "k"];
    for command in [
        &create[..],
        &[&create[..], &["--create-tenant"]].concat(),
        &["keys", "list", "--tenant", "stopped"],
        &["tenants", "resume", "stopped"],
        &["tenants", "delete", "stopped"],
        &["audit", "--tenant", "stopped"],
    ] {
        let refused = settings.run(command);
        assert_eq!((refused.code, &*refused.out), (Some(1), ""), "{command:?}");
        let expected = "the tenant `stopped` is deleted; its name is free again from ";
        assert!(refused.err.contains(expected), "{command:?}: {}", refused.err);
    }
    let unknown = settings.run(&["audit", "--tenant", "stoped"]);
    assert_eq!((unknown.code, &*unknown.out), (Some(1), ""));
    assert!(unknown.err.contains("there is no tenant `stoped`"), "{}", unknown.err);
    for name in ["stoped", ""] {
        for change in ["suspend", "resume", "delete"] {
            let unknown = settings.run(&["tenants", change, name]);
            assert_eq!(unknown.code, Some(1), "{change}: {}", unknown.out);
            let expected = format!("there is no tenant `{name}`");
            assert!(unknown.err.contains(&expected), "{change}: {}", unknown.err);
        }
    }
    assert!(!done(&settings.run(&["tenants", "list"])).contains("stoped"), "none was created");
}

#[test]
fn an_old_encryption_key_can_be_dropped() {
    const OLD: &str = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";
    const NEW: &str = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWY=";
    let settings = Settings::new(Provider::shared()).set("ENCRYPTION_KEY", OLD);
    let server = settings.start();
    let tenant = Tenant::with_provider(&server, Provider::shared(), "acme");
    let webhook = json!({"url": "https://h.example/", "events": ["access.denied"], "secret": "0123456789abcdef"});
    for _ in 0..3 {
        tenant.manage("POST /api/v1/webhooks", &webhook).is(201);
    }
    let alone = settings.clone().set("ENCRYPTION_KEY", NEW).run(&["secrets", "reencrypt"]);
    assert_eq!(alone.code, Some(1), "nobody can read them without the old key");
    assert!(alone.out.contains("3 secrets, still needed"), "{}", alone.out);
    let both = settings.clone().set("ENCRYPTION_KEY", format!("{NEW},{OLD}"));
    let first = both.run(&["secrets", "reencrypt"]);
    assert!(done(&first).starts_with("re-encrypted 3 secrets\n"), "{}", first.out);
    assert!(!first.out.contains("still needed"), "{}", first.out);
    let second = both.run(&["secrets", "reencrypt"]);
    assert!(done(&second).starts_with("re-encrypted 0 secrets\n"), "{}", second.out);
    let alone = settings.set("ENCRYPTION_KEY", NEW).run(&["secrets", "reencrypt"]);
    assert!(done(&alone).contains("3 secrets, the first key"), "{}", alone.out);
}
