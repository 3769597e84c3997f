//! Bearer tokens: how they are sent, what they must claim, and when they are good.

mod signatures;

use serde_json::{Value, json};

use crate::support::provider::now;
use crate::support::{Provider, Reply, Request, Tenant};

/// A request that any good token is enough for.
pub(crate) fn ask(tenant: &Tenant<'_>, token: &str) -> Reply {
    let check = json!({"subject": "alice", "resource": "doc:read", "action": "read"});
    tenant.check_by(token, &check)
}

/// Asserts a 401 that says why, and that never shows the token.
#[track_caller]
pub(crate) fn refused(reply: Reply, token: &str) -> Reply {
    let reply = reply.refused(401, "UNAUTHENTICATED");
    let challenge = reply.header("www-authenticate").unwrap_or_default();
    assert!(challenge.starts_with("Bearer "), "{challenge}");
    assert!(challenge.contains("error=\"invalid_token\""), "{challenge}");
    assert!(challenge.contains("error_description=\""), "{challenge}");
    for part in token.split('.').filter(|part| part.len() > 8) {
        assert!(!reply.text.contains(part) && !challenge.contains(part), "the token is shown");
    }
    reply
}

/// The claims of alice, one of them replaced.
fn claims_with(tenant: &Tenant<'_>, name: &str, value: Value) -> Value {
    let mut claims = tenant.claims("alice", &["user"]);
    claims[name] = value;
    claims
}

#[test]
fn a_good_token_is_accepted() {
    let tenant = Tenant::new();
    let token = tenant.token("alice", &["user"]);
    ask(&tenant, &token).is(200);
    for scheme in ["Bearer ", "bearer ", "BEARER "] {
        let check = json!({"resource": "doc:read"});
        let request = Request::new("POST /api/v1/resources/access/check").json(&check);
        tenant.send(&request.header("authorization", &format!("{scheme}{token}"))).is(200);
    }
}

#[test]
fn a_header_that_holds_no_token_is_refused() {
    let tenant = Tenant::new();
    let token = tenant.token("alice", &["user"]);
    let values = ["", "Bearer", "Bearer ", "Basic YTpi", &token, &format!("Token {token}")];
    for value in values {
        let request = Request::new("GET /api/v1/resources").header("authorization", value);
        let reply = tenant.send(&request).refused(401, "UNAUTHENTICATED");
        assert!(reply.header("www-authenticate").unwrap().starts_with("Bearer"), "{value}");
    }
}

#[test]
fn an_error_is_named_only_where_a_token_was_sent() {
    let tenant = Tenant::new();
    for value in ["", "Bearer", "Basic YTpi"] {
        let request = Request::new("GET /api/v1/resources").header("authorization", value);
        let reply = tenant.send(&request).refused(401, "UNAUTHENTICATED");
        assert_eq!(reply.header("www-authenticate"), Some("Bearer"), "{value}");
    }
}

#[test]
fn text_that_is_no_token_is_refused() {
    let tenant = Tenant::new();
    let token = tenant.token("alice", &["user"]);
    let [header, payload, signature] = token.split('.').collect::<Vec<_>>().try_into().unwrap();
    for text in [
        "x".to_owned(),
        ".".to_owned(),
        "..".to_owned(),
        "...".to_owned(),
        "a.b.c".to_owned(),
        format!("{header}.{payload}"),
        format!("{header}.{payload}."),
        format!("{token}.{signature}"),
        format!(".{payload}.{signature}"),
        format!("{header}..{signature}"),
        format!("{token}="),
        format!("{header}=.{payload}.{signature}"),
        format!("{token} {token}"),
        format!("{token},"),
        format!("\"{token}\""),
    ] {
        refused(ask(&tenant, &text), &token);
    }
}

#[test]
fn a_missing_claim_is_named() {
    let tenant = Tenant::new();
    let roles = "realm_access.roles";
    let cases = [
        ("iss", "iss", json!(null)),
        ("iss", "iss", json!("")),
        ("iss", "iss", json!(1)),
        ("iss", "iss", json!([Provider::shared().issuer()])),
        ("sub", "sub", json!(null)),
        ("sub", "sub", json!("")),
        ("sub", "sub", json!(1)),
        ("sub", "sub", json!({"id": "alice"})),
        ("exp", "exp", json!(null)),
        ("exp", "exp", json!((now() + 600).to_string())),
        ("exp", "exp", json!(true)),
        ("exp", "exp", json!([now() + 600])),
        ("dom", "dom", json!(null)),
        ("dom", "dom", json!("")),
        ("dom", "dom", json!(["a"])),
        ("dom", "dom", json!(7)),
        ("realm_access", roles, json!(null)),
        ("realm_access", roles, json!({})),
        ("realm_access", roles, json!(["user"])),
        ("realm_access", roles, json!({"roles": null})),
        ("realm_access", roles, json!({"roles": ""})),
        ("realm_access", roles, json!({"roles": 1})),
        ("realm_access", roles, json!({"roles": {"user": true}})),
    ];
    for (claim, named, value) in cases {
        let with = claims_with(&tenant, claim, value.clone());
        let mut without = with.clone();
        without.as_object_mut().unwrap().remove(claim);
        for claims in [with, without] {
            let token = Provider::shared().token(&claims);
            let reply = refused(ask(&tenant, &token), &token);
            assert!(
                reply.message().contains(&format!("`{named}`")),
                "{value}: {}",
                reply.message()
            );
        }
    }
}

#[test]
fn roles_are_the_strings_of_a_list_or_one_string() {
    let tenant = Tenant::new();
    let rule = tenant.rule("editor", "doc:read", "read", "allow");
    for (roles, allowed) in [
        (json!(["user", "editor"]), true),
        (json!("editor"), true),
        (json!([1, null, {"a": 1}, "editor"]), true),
        (json!("user editor"), false),
        (json!([["editor"]]), false),
        (json!([1]), false),
        (json!([]), false),
    ] {
        let claims = claims_with(&tenant, "realm_access", json!({"roles": roles}));
        let reply = ask(&tenant, &Provider::shared().token(&claims)).is(200);
        let expected = if allowed { &*rule } else { "default-deny" };
        assert_eq!(reply.text_of("matched_rule_id"), expected, "{roles}");
    }
}

#[test]
fn a_literal_claim_name_comes_before_a_path() {
    let tenant = Tenant::new();
    let rule = tenant.rule("editor", "doc:read", "read", "allow");
    let claims = claims_with(&tenant, "realm_access.roles", json!(["editor"]));
    let reply = ask(&tenant, &Provider::shared().token(&claims)).is(200);
    assert_eq!(reply.text_of("matched_rule_id"), rule);
}

#[test]
fn a_token_is_good_from_nbf_to_exp_and_thirty_seconds_around() {
    let tenant = Tenant::new();
    for (name, offset, good) in [
        ("exp", json!(now() + 3_600), true),
        ("exp", json!(now() - 5), true),
        ("exp", json!(now() as f64 + 600.75), true),
        ("exp", json!(9_999_999_999_999_i64), true),
        ("exp", json!(now() - 40), false),
        ("exp", json!(now() - 86_400), false),
        ("exp", json!(0), false),
        ("exp", json!(-1), false),
        ("nbf", json!(now() - 3_600), true),
        ("nbf", json!(now() + 20), true),
        ("nbf", json!(now() as f64 - 0.5), true),
        ("nbf", json!(now() + 3_600), false),
        ("nbf", json!(now() + 300), false),
        // When it was issued is not judged.
        ("iat", json!(now() + 86_400), true),
        ("iat", json!(0), true),
        ("iat", json!("yesterday"), true),
    ] {
        let token = Provider::shared().token(&claims_with(&tenant, name, offset.clone()));
        let reply = ask(&tenant, &token);
        if good {
            reply.is(200);
        } else {
            refused(reply, &token);
        }
    }
}

#[test]
fn a_token_of_another_issuer_is_refused() {
    let tenant = Tenant::new();
    let issuer = tenant.issuer.clone();
    let other = Provider::new(vec![crate::support::keys::Key::p256("p256")]);
    for iss in [
        format!("{issuer}/"),
        issuer.to_uppercase(),
        issuer.replace("http://", "https://"),
        format!(" {issuer}"),
        "https://elsewhere.example".to_owned(),
        other.issuer(),
    ] {
        let token = Provider::shared().token(&claims_with(&tenant, "iss", json!(iss)));
        refused(ask(&tenant, &token), &token);
    }
    // Another provider that claims to be ours.
    let token = other.token(&tenant.claims("alice", &["user"]));
    refused(ask(&tenant, &token), &token);
    assert_eq!(other.fetches(), 0, "a token never chooses where keys come from");
}

#[test]
fn names_with_control_characters_are_refused() {
    let tenant = Tenant::new();
    for claim in ["sub", "dom"] {
        for text in ["a\u{0}b", "a\nb", "\u{7f}"] {
            let token = Provider::shared().token(&claims_with(&tenant, claim, json!(text)));
            refused(ask(&tenant, &token), &token);
        }
    }
}
