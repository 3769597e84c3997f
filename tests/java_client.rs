//! The behaviour of the Java client library, against a real OpenID provider: at its start it gets a token and registers its
//! annotated resources; then its interceptor asks, with each user's own token, whether a call may go on.

use serde_json::{Value, json};

use crate::support::openid::Realm;
use crate::support::{Reply, Request, Server, Settings};

const ADMIN_KEY: &str = "an administration key for tests alone";

/// A service that uses the library: the clerks' desk of the realm `shop`.
struct Desk<'r> {
    server: &'r Server,
    realm: &'r Realm,
}

impl Desk<'_> {
    fn send(&self, client: &str, route: impl Into<String>, body: Option<&Value>) -> Reply {
        let request = Request::new(route).token(&self.realm.token(client));
        let request = match body {
            Some(body) => request.json(body),
            None => request,
        };
        request.send(self.server.address)
    }

    /// The work of the library at each start: `ADMIN_CLIENT_ID` is `registrar`. Gives the ids of the records.
    #[track_caller]
    fn start(&self, reading_roles: &[&str]) -> Vec<String> {
        let resources = json!([
            resource("invoice:read", "Read invoices", reading_roles),
            resource("invoice:approve", "Approve invoices", &["clerk"]),
            resource("report:export", "Export reports", &[]),
        ]);
        let reply = self.send("registrar", "POST /api/v1/resources/list", Some(&resources)).is(200);
        let records = reply.json();
        let names: Vec<_> =
            records.as_array().unwrap().iter().map(|record| &record["name"]).collect();
        assert_eq!(names, ["invoice:read", "invoice:approve", "report:export"]);
        records
            .as_array()
            .unwrap()
            .iter()
            .map(|record| record["id"].as_str().unwrap().to_owned())
            .collect()
    }

    /// The rules of a resource, as an operator sees them: subject, effect, origin.
    #[track_caller]
    fn rules(&self, resource: &str) -> Vec<[String; 3]> {
        let path = format!("GET /api/v1/resources/{resource}/policies");
        let rules = self.send("operator", path, None).is(200).json();
        let text = |rule: &Value, name: &str| rule[name].as_str().unwrap().to_owned();
        let row = |rule: &Value| ["sub", "effect", "origin"].map(|name| text(rule, name));
        rules.as_array().unwrap().iter().map(row).collect()
    }

    /// The check of the interceptor before a call, with the token of the user who makes it.
    #[track_caller]
    fn intercept(&self, user: &str, resource: &str) -> bool {
        let body = json!({"resource": resource});
        let answer =
            self.send(user, "POST /api/v1/resources/access/check", Some(&body)).is(200).json();
        assert_eq!(answer["decision"], if answer["allowed"] == true { "allow" } else { "deny" });
        answer["allowed"].as_bool().unwrap()
    }
}

fn resource(name: &str, title: &str, roles: &[&str]) -> Value {
    json!({"name": name, "displayName": title, "serviceName": "desk", "defaultRoles": roles})
}

fn by_discovery(realm: &Realm) -> Server {
    Settings::without_provider().set("AUTH_SERVER_URL", realm.issuer()).start()
}

fn by_key_set_address(realm: &Realm) -> Server {
    let settings = Settings::without_provider().set("AUTH_SERVER_URL", realm.issuer());
    settings.set("JWKS_URI", realm.jwks_uri()).start()
}

fn saas() -> Server {
    Settings::without_provider()
        .set("MODE", "saas")
        .set("ADMIN_API_KEY", ADMIN_KEY)
        .set("EGRESS_ALLOW_HTTP", "true")
        .set("EGRESS_ALLOW_CIDRS", "127.0.0.0/8")
        .start()
}

/// Creates a tenant that has the realm's name and its provider.
#[track_caller]
fn admit(server: &Server, realm: &Realm, slug: &str) {
    let admin = |route: String, body: &Value| {
        let request = Request::new(route).header("x-admin-api-key", ADMIN_KEY).json(body);
        request.send(server.address).is(201)
    };
    let tenant = admin("POST /admin/tenants".to_owned(), &json!({"name": slug, "slug": slug})).id();
    let provider = json!({"issuer_url": realm.issuer(), "jwks_uri": realm.jwks_uri()});
    admin(format!("POST /admin/tenants/{tenant}/identity-providers"), &provider);
}

/// Registration, and a user who may and one who may not.
#[track_caller]
fn serves(server: &Server, realm: &Realm) {
    let desk = Desk { server, realm };
    desk.start(&["clerk", "auditor"]);
    for (user, resource, allowed) in [
        ("alice-app", "invoice:read", true),
        ("alice-app", "invoice:approve", true),
        ("alice-app", "report:export", false),
        ("bob-app", "invoice:read", true),
        ("bob-app", "invoice:approve", false),
        // To register resources is not to use them.
        ("registrar", "invoice:approve", false),
        ("bob-app", "unknown:read", false),
    ] {
        assert_eq!(desk.intercept(user, resource), allowed, "{user} {resource}");
    }
    let resources = json!([resource("invoice:read", "Mine", &["auditor"])]);
    let takeover = desk.send("bob-app", "POST /api/v1/resources/list", Some(&resources));
    takeover.refused(403, "ACCESS_DENIED");
}

#[test]
fn it_registers_and_asks_in_selfhost_mode_with_a_discovered_key_set() {
    let Some(realm) = Realm::start("shop") else { return };
    serves(&by_discovery(&realm), &realm);
}

#[test]
fn it_registers_and_asks_in_selfhost_mode_with_a_given_key_set() {
    let Some(realm) = Realm::start("shop") else { return };
    serves(&by_key_set_address(&realm), &realm);
}

#[test]
fn it_registers_and_asks_in_saas_mode_each_tenant_for_itself() {
    let (Some(shop), Some(bank)) = (Realm::start("shop"), Realm::start("bank")) else { return };
    let server = saas();
    admit(&server, &shop, "shop");
    let stranger = Desk { server: &server, realm: &bank };
    let check = json!({"resource": "invoice:read"});
    let ask = || stranger.send("alice-app", "POST /api/v1/resources/access/check", Some(&check));
    ask().refused(401, "UNAUTHENTICATED");
    serves(&server, &shop);
    admit(&server, &bank, "bank");
    assert!(
        !stranger.intercept("alice-app", "invoice:read"),
        "the other tenant's rules say nothing"
    );
    serves(&server, &bank);
}

#[test]
fn a_restart_respects_what_an_operator_did_meanwhile() {
    let Some(realm) = Realm::start("shop") else { return };
    let server = by_discovery(&realm);
    let desk = Desk { server: &server, realm: &realm };
    let rule = |sub: &str, effect: &str, origin: &str| [sub, effect, origin].map(str::to_owned);
    let first = desk.start(&["clerk", "auditor", "intern"]);
    let [clerk, auditor, intern] =
        ["clerk", "auditor", "intern"].map(|role| rule(role, "allow", "default_role"));
    assert_eq!(desk.rules(&first[0]), [clerk.clone(), auditor, intern]);

    let tuple = |sub: &str| json!({"sub": sub, "obj": "invoice:read", "act": "read"});
    desk.send("operator", "DELETE /api/v1/resources/policies", Some(&tuple("clerk"))).is(204);
    let mut change = tuple("auditor");
    change["effect"] = json!("deny");
    desk.send("operator", "PUT /api/v1/resources/policies", Some(&change)).is(200);
    assert!(
        !desk.intercept("alice-app", "invoice:read") && !desk.intercept("bob-app", "invoice:read")
    );

    // The same again: nothing comes back, nothing is overwritten.
    let changed = rule("auditor", "deny", "explicit");
    let same = desk.start(&["clerk", "auditor", "intern"]);
    assert_eq!(same, first, "the records are the same ones");
    assert_eq!(desk.rules(&first[0]), [changed.clone(), rule("intern", "allow", "default_role")]);

    // A role that is listed no longer loses its rule; the operator's rule is nobody else's business.
    desk.start(&["clerk"]);
    assert_eq!(desk.rules(&first[0]), std::slice::from_ref(&changed));
    assert!(
        !desk.intercept("alice-app", "invoice:read") && !desk.intercept("bob-app", "invoice:read")
    );

    // To list a role anew is a new decision.
    desk.start(&[]);
    desk.start(&["clerk"]);
    assert_eq!(desk.rules(&first[0]), [changed, clerk]);
    assert!(desk.intercept("alice-app", "invoice:read"));
}

#[test]
fn a_registration_outlives_the_server() {
    let Some(realm) = Realm::start("shop") else { return };
    let server = by_discovery(&realm);
    let first = Desk { server: &server, realm: &realm }.start(&["clerk"]);
    let server = server.crash_and_restart();
    let desk = Desk { server: &server, realm: &realm };
    assert!(desk.intercept("alice-app", "invoice:read"));
    assert_eq!(desk.start(&["clerk"]), first);
}

#[test]
fn tokens_of_new_keys_are_accepted_and_those_of_old_ones_refused_after_a_rotation() {
    let Some(realm) = Realm::start("shop") else { return };
    let server = by_discovery(&realm);
    let ask = |token: &str| {
        let request = Request::new("POST /api/v1/resources/access/check").token(token);
        request.json(&json!({"resource": "invoice:read"})).send(server.address)
    };
    let old = realm.token("alice-app");
    ask(&old).is(200);
    let realm = realm.restart_with_other_keys();
    let new = realm.token("alice-app");
    ask(&new).is(200);
    ask(&old).refused(401, "UNAUTHENTICATED");
    ask(&new).is(200);
}

#[test]
fn without_its_secret_it_gets_no_token() {
    let Some(realm) = Realm::start("shop") else { return };
    let reply = realm.ask_for_token("registrar", "a guess").is(401);
    assert_eq!(reply.text_of("error"), "invalid_client");
    assert_eq!(reply.json().get("access_token"), None);
}
