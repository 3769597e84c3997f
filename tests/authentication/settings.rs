//! The operator's settings of tokens.

use serde_json::{Value, json};

use crate::everywhere::authentication::{ask, refused};
use crate::support::{Provider, Request, Settings, Tenant};

fn provider() -> &'static Provider {
    Provider::shared()
}

#[test]
fn an_audience_that_is_set_must_be_named() {
    let server = Settings::new(provider()).set("OIDC_AUDIENCE", "portcullis").start();
    let tenant = Tenant::with_provider(&server, provider(), "t");
    let with = |aud: Value| tenant.token_with("alice", &["user"], &json!({"aud": aud}));
    for aud in [json!("portcullis"), json!(["portcullis"]), json!(["other", "portcullis"])] {
        ask(&tenant, &with(aud)).is(200);
    }
    for aud in [json!("other"), json!(["other"]), json!("Portcullis"), json!(["portcullis2"])] {
        let token = with(aud);
        refused(ask(&tenant, &token), &token);
    }
    for token in
        [tenant.token("alice", &["user"]), with(json!(null)), with(json!([])), with(json!(7))]
    {
        let reply = refused(ask(&tenant, &token), &token);
        assert!(reply.message().contains("`aud`"), "{}", reply.message());
    }
}

#[test]
fn without_an_audience_any_is_accepted() {
    let tenant = Tenant::new();
    for aud in [json!("anything"), json!(["a", "b"])] {
        ask(&tenant, &tenant.token_with("alice", &["user"], &json!({"aud": aud}))).is(200);
    }
}

#[test]
fn claims_can_have_other_names() {
    let server = Settings::new(provider())
        .set("ROLES_CLAIM", "resource_access.app.roles")
        .set("DOMAIN_CLAIM", "https://claims.example/tenant")
        .set("ADMIN_DOMAIN_CLAIM", "admin.of")
        .start();
    let tenant = Tenant::with_provider(&server, provider(), "t");
    let claims = json!({
        "resource_access": {"app": {"roles": ["editor"]}},
        "https://claims.example/tenant": "renamed",
        "admin": {"of": "renamed"},
    });
    let list = |token: &str| tenant.send(&Request::new("GET /api/v1/abac/policies").token(token));
    let token = tenant.token_with("boss", &["user"], &claims);
    list(&token).is(200);
    let policy = json!({
        "name": "p", "resource": "doc:read", "effect": "allow", "priority": 1,
        "rule_data": crate::support::tenant::condition("request.roles", "contains", "editor"),
    });
    let create = Request::new("POST /api/v1/abac/policies").token(&token).json(&policy);
    let record = tenant.send(&create).is(201);
    assert_eq!(record.text_of("tenant_id"), "renamed");
    let body = json!({"subject": "boss", "resource": "doc:read", "action": "read"});
    let reply = tenant.check_by(&token, &body).is(200);
    assert_eq!(reply.text_of("matched_rule_id"), record.id());
    // The default names mean nothing any more, and what is missing has the configured name.
    let token = tenant.token("alice", &["admin"]);
    let reply = refused(list(&token), &token);
    let message = reply.message();
    assert!(
        message.contains("`resource_access.app.roles`") || message.contains("/tenant`"),
        "{message}"
    );
    let mut without = claims;
    without["admin"] = json!({"of": ["elsewhere"]});
    list(&tenant.token_with("alice", &["admin"], &without)).refused(403, "ACCESS_DENIED");
}

#[test]
fn a_token_has_at_most_the_bytes_that_the_operator_allows() {
    let server = Settings::new(provider()).set("MAX_TOKEN_BYTES", "32KiB").start();
    let tenant = Tenant::with_provider(&server, provider(), "t");
    let of_size = |bytes: usize| {
        tenant.token_with("alice", &["user"], &json!({"groups": "g".repeat(bytes * 3 / 4)}))
    };
    ask(&tenant, &of_size(30_000)).is(200);
    let long = of_size(33_000);
    let reply = refused(ask(&tenant, &long), &long);
    assert!(reply.message().contains("`MAX_TOKEN_BYTES`"), "{}", reply.message());
    // A header that is too long for any token is named as such.
    let request = Request::new("GET /api/v1/resources").token(&of_size(60_000));
    let reply = tenant.send(&request).refused(431, "BAD_REQUEST");
    assert!(reply.message().contains("header"), "{}", reply.message());
    // By default a token may have 16 KiB.
    let server = Settings::new(provider()).start();
    let tenant = Tenant::with_provider(&server, provider(), "t");
    ask(&tenant, &of_size(15_000)).is(200);
    let long = of_size(17_000);
    refused(ask(&tenant, &long), &long);
}

#[test]
fn roles_are_read_in_the_form_that_the_operator_names() {
    let claims = json!({"https://acme.example/authz": {"scope": "editor admin"}});
    let with = |format: &str| {
        let server = Settings::new(provider())
            .set("ROLES_CLAIM", r"https://acme\.example/authz.scope")
            .set("ROLES_FORMAT", format)
            .start();
        let tenant = Tenant::with_provider(&server, provider(), "t");
        let token = tenant.token_with("boss", &[], &claims);
        tenant.send(&Request::new("GET /api/v1/abac/policies").token(&token))
    };
    with("words").is(200);
    // One role with a space is not the role of a manager.
    with("list").refused(403, "ACCESS_DENIED");
    let done = Settings::new(provider()).set("ROLES_FORMAT", "csv").run(&["serve"]);
    assert!(done.err.contains("ROLES_FORMAT: expected one of `list`, `words`, `keys`"), "{done:?}");
}

#[test]
fn with_oidc_switched_off_every_token_is_refused() {
    let server = Settings::without_provider().set("OIDC_ENABLED", "false").start();
    let tenant = Tenant::with_provider(&server, provider(), "t");
    let token = tenant.token("boss", &["admin"]);
    refused(ask(&tenant, &token), &token);
    Request::new("GET /healthz/ready").send(server.address).is(200);
    Request::new("GET /api/v1/resources").send(server.address).refused(401, "UNAUTHENTICATED");
}

#[test]
fn logs_never_hold_a_token() {
    let settings = Settings::new(provider()).set("RUST_LOG", "trace");
    let mut server = settings.start();
    let tenant = Tenant::with_provider(&server, provider(), "t");
    let good = tenant.token("boss", &["admin"]);
    let bad = tenant.token_with("boss", &[], &json!({"exp": 1}));
    tenant.rule("alice", "doc:read", "read", "allow");
    ask(&tenant, &good).is(200);
    refused(ask(&tenant, &bad), &bad);
    server.process.terminate();
    server.process.wait().expect("it stops");
    let log = server.process.err.text() + &server.process.out.text();
    assert!(log.contains("/api/v1/check"), "requests are logged at this level");
    for part in good.split('.').chain(bad.split('.').skip(1)) {
        assert!(!log.contains(part), "`{part}` is in the log");
    }
}
