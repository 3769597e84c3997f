//! Webhooks: the records of `/api/v1/webhooks`. What they are told is in `deliveries.rs`.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{
    EVENTS, NO_ID, Provider, Reply, Request, Settings, Tenant, is_timestamp, is_uuid_v7,
};

const WEBHOOKS: &str = "/api/v1/webhooks";
const CREATE: &str = "POST /api/v1/webhooks";
const SECRET: &str = "a-secret-that-nobody-sees-again";

/// A good registration.
fn good() -> Value {
    json!({"url": "https://hook.example/in", "events": ["access.denied"], "secret": SECRET})
}

/// A good registration with one member replaced.
fn with(name: &str, value: impl Into<Value>) -> Value {
    let mut body = good();
    body[name] = value.into();
    body
}

/// Asserts that each body is refused for what is at its path, both on creation and on update.
#[track_caller]
fn refused(tenant: &Tenant<'_>, cases: &[(Value, &str)]) {
    let id = tenant.manage(CREATE, &good()).is(201).id();
    for (body, path) in cases {
        for route in [CREATE.to_owned(), format!("PUT {WEBHOOKS}/{id}")] {
            let reply = tenant.manage(&*route, body).invalid();
            assert_eq!(reply.text_of_details("path"), *path, "{route} {body}: {}", reply.text);
        }
    }
}

#[test]
fn a_webhook_is_registered() {
    let tenant = Tenant::new();
    let created = tenant.manage(CREATE, &good()).is(201);
    assert!(is_uuid_v7(&created.id()) && is_timestamp(&created.text_of("created_at")));
    assert_eq!(created.header("location"), Some(&*format!("{WEBHOOKS}/{}", created.id())));
    let expected = json!({
        "id": created.id(), "url": "https://hook.example/in", "events": ["access.denied"],
        "tenant_id": tenant.name, "created_at": created.text_of("created_at"), "updated_at": null,
        "managed_by": null,
    });
    created.has(&expected);
    tenant.get(WEBHOOKS).is(200).has(&json!([expected]));
}

#[test]
fn events_are_known_and_counted_once() {
    let tenant = Tenant::new();
    let all = [&EVENTS[..], &["webhook.test"]].concat();
    let reply = tenant.manage(CREATE, &with("events", json!(all))).is(201);
    assert_eq!(reply.json()["events"], json!(all));
    let twice = json!(["access.denied", "policy.abac.created", "access.denied"]);
    let reply = tenant.manage(CREATE, &with("events", twice)).is(201);
    assert_eq!(reply.json()["events"], json!(["access.denied", "policy.abac.created"]));
    refused(
        &tenant,
        &[
            (with("events", json!([])), "/events"),
            (with("events", "access.denied"), "/events"),
            (with("events", json!(["access.denied", "access.allowed"])), "/events/1"),
            (with("events", json!(["Access.Denied"])), "/events/0"),
            (with("events", json!(["*"])), "/events/0"),
            (with("events", json!(["access.denied", 1])), "/events/1"),
        ],
    );
}

#[test]
fn secrets_are_neither_short_nor_long() {
    let tenant = Tenant::new();
    for good in ["s".repeat(16), "s".repeat(256), "\u{fc}".repeat(16), "\u{1f511}".repeat(256)] {
        tenant.manage(CREATE, &with("secret", good)).is(201);
    }
    let long = "s".repeat(257);
    for bad in [json!(""), json!("s".repeat(15)), json!(long), json!(1_u64 << 60)] {
        let reply = tenant.manage(CREATE, &with("secret", bad.clone())).invalid();
        assert_eq!(reply.text_of_details("path"), "/secret");
        if let Some(text) = bad.as_str().filter(|text| !text.is_empty()) {
            assert!(!reply.text.contains(text), "{}", reply.text);
        }
    }
}

#[test]
fn missing_and_unknown_members_are_named() {
    let tenant = Tenant::new();
    let details = tenant.manage(CREATE, &json!({})).invalid().details();
    let mut missing: Vec<&str> = details["missing_fields"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    missing.sort_unstable();
    assert_eq!(missing, ["events", "secret", "url"]);
    refused(&tenant, &[(with("id", NO_ID), ""), (with("tenant_id", "t"), ""), (json!([]), "")]);
    tenant.manage(CREATE, &with("url", Value::Null)).invalid();
}

#[test]
fn an_address_is_https_and_public() {
    let tenant = Tenant::new();
    for url in
        ["https://hook.example", "https://93.184.215.14/x", "https://[2606:4700::1111]:8443/"]
    {
        assert_eq!(tenant.manage(CREATE, &with("url", url)).is(201).text_of("url"), url);
    }
    let bad = [
        "http://hook.example/",
        "ftp://hook.example/",
        "hook.example",
        "//hook.example/",
        "https://",
        "",
        "https://me@hook.example/",
        "https://me:pw@hook.example/",
        "https://127.0.0.1/",
        "https://127.1/",
        "https://0x7f.1/",
        "https://0177.0.0.1/",
        "https://2130706433/",
        "https://0/",
        "https://127\u{3002}0\u{3002}0\u{3002}1/",
        "https://\u{ff11}27.0.0.1/",
        "https://%31%32%37.0.0.1/",
        "https://10.0.0.1/",
        "https://172.16.5.4/",
        "https://192.168.1.1/",
        "https://100.64.0.1/",
        "https://169.254.169.254/",
        "https://224.0.0.1/",
        "https://255.255.255.255/",
        "https://[::1]/",
        "https://[::]/",
        "https://[::ffff:10.0.0.1]/",
        "https://[::ffff:7f00:1]/",
        "https://[64:ff9b::10.0.0.1]/",
        "https://[2002:7f00:1::]/",
        "https://[2001:0:7f00:1::]/",
        "https://[fe80::1]/",
        "https://[fc00::1]/",
        "https://[ff02::1]/",
    ];
    refused(&tenant, &bad.map(|url| (with("url", url), "/url")));
}

#[test]
fn the_operator_can_open_http_and_networks() {
    let settings = Settings::new(Provider::shared())
        .set("EGRESS_ALLOW_HTTP", "true")
        .set("EGRESS_ALLOW_CIDRS", "127.0.0.0/8, fd00::/8");
    let server = settings.start();
    let tenant = Tenant::with_provider(&server, Provider::shared(), "t");
    for url in ["http://hook.example/", "http://127.0.0.1:8080/", "https://[fd00::1]/"] {
        tenant.manage(CREATE, &with("url", url)).is(201);
    }
    let bad =
        ["http://10.0.0.1/", "ftp://hook.example/", "http://me@hook.example/", "http://[::1]/"];
    refused(&tenant, &bad.map(|url| (with("url", url), "/url")));
}

#[test]
fn an_update_changes_what_it_names() {
    let tenant = Tenant::new();
    let created = tenant.manage(CREATE, &good()).is(201);
    let route = format!("PUT {WEBHOOKS}/{}", created.id());
    tenant.manage(&*route, &json!({})).is(200).has(&created.json());
    let mut expected = created.json();
    for (change, name) in [
        (json!({"url": "https://other.example/"}), "url"),
        (json!({"events": ["policy.abac.deleted", "access.denied"]}), "events"),
        (json!({"secret": "another-secret-of-16"}), ""),
    ] {
        let updated = tenant.manage(&*route, &change).is(200);
        assert!(is_timestamp(&updated.text_of("updated_at")), "{}", updated.text);
        if !name.is_empty() {
            expected[name] = change[name].clone();
        }
        expected["updated_at"] = updated.json()["updated_at"].clone();
        updated.has(&expected);
        tenant.get(WEBHOOKS).is(200).has(&json!([expected]));
    }
    for name in ["url", "events", "secret"] {
        tenant.manage(&*route, &json!({name: null})).invalid();
    }
    tenant.get(WEBHOOKS).has(&json!([expected]));
}

/// Every request about the webhook `id`.
fn about(tenant: &Tenant<'_>, id: &str) -> Vec<Reply> {
    let path = format!("{WEBHOOKS}/{id}");
    vec![
        tenant.manage(format!("PUT {path}"), &json!({"url": "https://evil.example/"})),
        tenant.manage(format!("PUT {path}"), &json!({})),
        tenant.get(&format!("{path}/deliveries")),
        tenant.send(&tenant.managing(format!("POST {path}/test"))),
        tenant.send(&tenant.managing(format!("POST {path}/deliveries/{NO_ID}/redeliver"))),
        tenant.delete(&path),
    ]
}

#[test]
fn a_deleted_webhook_is_gone() {
    let tenant = Tenant::new();
    let id = tenant.manage(CREATE, &good()).is(201).id();
    tenant.get(&format!("{WEBHOOKS}/{id}/deliveries")).is(200).has(&json!([]));
    tenant.delete(&format!("{WEBHOOKS}/{id}")).is(204);
    tenant.get(WEBHOOKS).is(200).has(&json!([]));
    for id in [&*id, NO_ID, "x"] {
        for reply in about(&tenant, id) {
            reply.refused(404, "NOT_FOUND");
        }
    }
}

#[test]
fn a_foreign_webhook_is_unknown() {
    let (tenant, other) = (Tenant::new(), Tenant::new());
    let id = other.manage(CREATE, &good()).is(201).id();
    let before = other.get(WEBHOOKS).is(200).json();
    for (foreign, unknown) in about(&tenant, &id).into_iter().zip(about(&tenant, NO_ID)) {
        assert_eq!(foreign.refused(404, "NOT_FOUND").outcome(), unknown.outcome());
    }
    other.get(WEBHOOKS).is(200).has(&before);
}

#[test]
fn keys_need_a_permission_of_webhooks() {
    let tenant = Tenant::new();
    let id = tenant.manage(CREATE, &good()).is(201).id();
    let key = |permission: &str| {
        let body = json!({"name": "k", "permissions": [permission]});
        tenant.manage("POST /api/v1/service-api-keys", &body).is(201).text_of("key")
    };
    let (read, write) = (key("webhooks:read"), key("webhooks:write"));
    for (route, body, reads, status) in [
        (format!("GET {WEBHOOKS}"), None, true, 200),
        (format!("GET {WEBHOOKS}/{id}/deliveries"), None, true, 200),
        (CREATE.to_owned(), Some(good()), false, 201),
        (format!("PUT {WEBHOOKS}/{id}"), Some(json!({})), false, 200),
        (format!("POST {WEBHOOKS}/{id}/test"), None, false, 202),
        (format!("DELETE {WEBHOOKS}/{id}"), None, false, 204),
    ] {
        let send = |key: &str| {
            let request = Request::new(&*route).header("x-service-api-key", key);
            let request = body.as_ref().map_or(request.clone(), |body| request.json(body));
            tenant.send(&request)
        };
        let (right, wrong) = if reads { (&read, &write) } else { (&write, &read) };
        send(wrong).refused(403, "ACCESS_DENIED");
        send(right).is(status);
    }
}

/// The bytes of the database: its file, and the files beside it.
fn database(directory: &Path) -> Vec<u8> {
    let files = fs::read_dir(directory).expect("a directory").filter_map(Result::ok);
    let files = files.filter(|file| file.file_name().to_string_lossy().contains("portcullis.db"));
    files.flat_map(|file| fs::read(file.path()).expect("a file")).collect()
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn a_secret_is_never_seen_again_nor_in_the_database() {
    let settings = Settings::new(Provider::shared());
    let server = settings.start();
    let tenant = Tenant::with_provider(&server, Provider::shared(), "t");
    let second = "the-second-secret-nobody-sees";
    let created = tenant.manage(CREATE, &good()).is(201);
    let path = format!("{WEBHOOKS}/{}", created.id());
    let updated = tenant.manage(format!("PUT {path}"), &json!({"secret": second})).is(200);
    let key = tenant.manage("POST /api/v1/service-api-keys", &json!({"name": "k"})).is(201);
    let answers =
        [created, updated, tenant.get(WEBHOOKS), tenant.get(&format!("{path}/deliveries"))];
    for reply in answers {
        assert!(!reply.text.contains(SECRET) && !reply.text.contains(second), "{}", reply.text);
        assert!(!reply.text.contains("\"secret\""), "{}", reply.text);
    }
    let log = server.process.err.text();
    assert!(server.stop().success());
    let bytes = database(settings.path("portcullis.db").parent().expect("a directory"));
    assert!(holds(&bytes, "https://hook.example/in"), "this is where records are");
    let prefix = key.text_of("prefix").len();
    for secret in [SECRET, second, &key.text_of("key")[prefix..]] {
        assert!(!holds(&bytes, secret), "{secret} is in the database");
        assert!(!log.contains(secret), "{secret} is in the log");
    }
}
