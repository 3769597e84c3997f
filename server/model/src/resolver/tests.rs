//! The bodies of manifests, and the place that each refusal names.

use portcullis_engine::resolver_contract::{EndpointMethod, Limits};
use portcullis_engine::{Invalid, json};
use portcullis_test_schemas::JudgingSchema;
use serde_json::{Value, json};

use super::secrets::SecretNames;
use super::*;
use crate::egress_rules::EgressRules;
use crate::file_schema::FileSchema;

fn parsed(body: &Value) -> Result<Manifest, Invalid> {
    let body = body.to_string();
    Manifest::parse(&json::parse(body.as_bytes()).expect("JSON"), &EgressRules::default())
}

fn updated(old: &Value, update: &Value) -> Result<Manifest, Invalid> {
    let update = update.to_string();
    let update = json::parse(update.as_bytes()).expect("JSON");
    let update = ManifestUpdate::parse(&update, &EgressRules::default())?;
    update.applied_to(parsed(old).expect("valid"))
}

fn body() -> Value {
    json!({
        "namespace": "hr",
        "description": "who works where",
        "config": {"region": "eu"},
        "secrets": {"hr_token": "s3cret-value", "spare": ""},
        "endpoints": {"directory": {"url": "https://hr.example.com/api/", "methods": ["GET", "POST", "GET"],
            "headers": {"authorization": "Bearer ${hr_token}", "x-plain": "$5 {as} is"}}},
        "allowed_hosts": ["api.example.com", "api.example.com:8443"],
        "limits": {"timeout_ms": 100, "memory_mib": 16},
        "cache_ttl_ms": 60000,
        "stale_if_error_ms": 1000,
    })
}

#[track_caller]
fn refused(parsed: Result<Manifest, Invalid>, path: &str, fault: &str) {
    let invalid = parsed.expect_err("must be refused");
    let problem = &invalid.problems()[0];
    assert_eq!(problem.path, path, "{invalid}");
    let text = problem.fault.to_string();
    assert!(text.contains(fault), "{text}");
    assert!(!text.contains("s3cret"), "{text}");
}

#[test]
fn a_manifest_is_read_as_it_is_written() {
    let manifest = parsed(&body()).expect("valid");
    let directory = &manifest.endpoints["directory"];
    assert_eq!(directory.methods, [EndpointMethod::Get, EndpointMethod::Post]);
    let headers = directory.rendered(&manifest.secrets).expect("renders");
    assert_eq!(headers["authorization"], "Bearer s3cret-value");
    assert!(headers["authorization"].is_sensitive());
    assert_eq!(headers["x-plain"], "$5 {as} is");
    let every = manifest.every_endpoint();
    assert_eq!(every.len(), 3);
    assert_eq!(every["api.example.com:8443"].url.as_str(), "https://api.example.com:8443/");
    assert_eq!(every["api.example.com"].methods, [EndpointMethod::Get, EndpointMethod::Head]);
}

#[test]
fn all_but_the_namespace_has_a_default() {
    let manifest = parsed(&json!({"namespace": "a"})).expect("valid");
    assert_eq!(manifest.limits, Limits::default());
    assert_eq!((manifest.cache_ttl_ms, manifest.stale_if_error_ms), (None, 0));
    assert!(manifest.secrets == Secrets::default() && manifest.every_endpoint().is_empty());
}

/// The faults that no JSON Schema expresses, and the reason.
const NOT_EXPRESSIBLE: [(&str, &str); 6] = [
    (
        "but the secret `hr_token` contains characters that a header cannot have",
        "the header is in another member",
    ),
    ("one of `secrets`", "the names are in another member"),
    ("not among", "the names are in another member"),
    ("an `https` URL", "the settings of the service say which URLs are allowed"),
    ("a public address", "the settings of the service say which addresses are allowed"),
    ("without user info", "the parts of a URL are not in its text alone"),
];

#[test]
fn every_fault_is_found_at_its_place() {
    let schema = FileSchema::for_type::<ManifestFile>("manifest", "manifest.json", "").to_json();
    let schema = JudgingSchema::new(&schema);
    assert_eq!(schema.faults(&body()), [""; 0]);
    for (field, value, path, fault) in [
        ("namespace", json!("user"), "/namespace", "expected 1 to 63 lower-case letters"),
        ("namespace", json!("action"), "/namespace", "none of `user`"),
        ("namespace", json!("context"), "/namespace", "none of `user`"),
        ("namespace", json!("Hr"), "/namespace", "expected 1 to 63 lower-case letters"),
        ("namespace", json!("1hr"), "/namespace", "expected 1 to 63 lower-case letters"),
        ("namespace", json!("h-r"), "/namespace", "expected 1 to 63 lower-case letters"),
        ("namespace", json!("h".repeat(64)), "/namespace", "expected 1 to 63 lower-case letters"),
        ("namespace", json!(""), "/namespace", "expected 1 to 63 lower-case letters"),
        ("description", json!("d".repeat(4097)), "/description", "at most 4096 characters"),
        ("config", json!([]), "/config", "an object, not an array"),
        ("config", json!({"": "x"}), "/config/", "a name of 1 to 128 bytes"),
        ("config", json!({"a/b": 1}), "/config/a~1b", "a string, not a number"),
        ("config", json!({"a": "x".repeat(16385)}), "/config/a", "at most 16384 bytes"),
        ("secrets", json!({"a b": "x"}), "/secrets/a b", "a name of 1 to 64"),
        (
            "secrets",
            json!({"hr_token": "s3cret\n"}),
            "/endpoints/directory/headers/authorization",
            "but the secret `hr_token` contains characters that a header cannot have",
        ),
        ("secrets", json!({}), "/endpoints/directory/headers/authorization", "one of `secrets`"),
        ("endpoints", json!({"e": {}}), "/endpoints/e", "field `url` is missing"),
        (
            "endpoints",
            json!({"e": {"url": "http://hr.example.com"}}),
            "/endpoints/e/url",
            "an `https` URL",
        ),
        (
            "endpoints",
            json!({"e": {"url": "https://127.0.0.1/"}}),
            "/endpoints/e/url",
            "a public address",
        ),
        (
            "endpoints",
            json!({"e": {"url": "https://u:p@a.example/"}}),
            "/endpoints/e/url",
            "without user info",
        ),
        (
            "endpoints",
            json!({"e": {"url": "https://a.example/?x=1"}}),
            "/endpoints/e/url",
            "without query",
        ),
        (
            "endpoints",
            json!({"e": {"url": "https://a.example/", "methods": []}}),
            "/endpoints/e/methods",
            "at least one",
        ),
        (
            "endpoints",
            json!({"e": {"url": "https://a.example/", "methods": ["get"]}}),
            "/endpoints/e/methods/0",
            "`GET`, ",
        ),
        (
            "endpoints",
            json!({"e": {"url": "https://a.example/", "headers": {"Host": "x"}}}),
            "/endpoints/e/headers/Host",
            "the name of a header",
        ),
        (
            "endpoints",
            json!({"e": {"url": "https://a.example/", "headers": {"host": "x"}}}),
            "/endpoints/e/headers/host",
            "the name of a header",
        ),
        (
            "endpoints",
            json!({"e": {"url": "https://a.example/", "headers": {"x-a": "a\nb"}}}),
            "/endpoints/e/headers/x-a",
            "only characters that a header may contain",
        ),
        (
            "endpoints",
            json!({"e": {"url": "https://a.example/", "headers": {"x-a": "${hr_token"}}}),
            "/endpoints/e/headers/x-a",
            "`${name}`",
        ),
        (
            "endpoints",
            json!({"e": {"url": "https://a.example/", "header": {}}}),
            "/endpoints/e",
            "field `header` is unknown",
        ),
        (
            "endpoints",
            json!({"api.example.com": {"url": "https://a.example/"}}),
            "/endpoints/api.example.com",
            "not among",
        ),
        ("allowed_hosts", json!(["https://a.example"]), "/allowed_hosts/0", "the name of a host"),
        ("allowed_hosts", json!(["A.example"]), "/allowed_hosts/0", "the name of a host"),
        ("allowed_hosts", json!(["a.example/x"]), "/allowed_hosts/0", "the name of a host"),
        ("allowed_hosts", json!(["u@a.example"]), "/allowed_hosts/0", "the name of a host"),
        ("allowed_hosts", json!(["10.0.0.1"]), "/allowed_hosts/0", "a public address"),
        ("allowed_hosts", json!(["a.example", "a.example"]), "/allowed_hosts/1", "each host once"),
        (
            "limits",
            json!({"timeout_ms": 0}),
            "/limits/timeout_ms",
            "from 1 to 30000, in milliseconds",
        ),
        (
            "limits",
            json!({"timeout_ms": 30001}),
            "/limits/timeout_ms",
            "from 1 to 30000, in milliseconds",
        ),
        ("limits", json!({"memory_mib": 65}), "/limits/memory_mib", "from 1 to 64, in MiB"),
        ("limits", json!({"fuel": 1}), "/limits", "field `fuel` is unknown"),
        ("cache_ttl_ms", json!(86_400_001), "/cache_ttl_ms", "from 0 to 86400000"),
        ("stale_if_error_ms", json!(-1), "/stale_if_error_ms", "from 0 to 86400000"),
        ("timeout", json!(1), "", "field `timeout` is unknown"),
    ] {
        let mut body = body();
        body[field] = value;
        refused(parsed(&body), path, fault);
        let is_known = !schema.accepts(&body) || NOT_EXPRESSIBLE.iter().any(|(of, _)| *of == fault);
        assert!(is_known, "the schema accepts it, and no reason is known: {fault}");
    }
}

#[test]
fn there_is_a_most_of_everything() {
    let many = |count: usize, value: Value| -> Value {
        (0..count)
            .map(|n| (format!("n{n}"), value.clone()))
            .collect::<serde_json::Map<_, _>>()
            .into()
    };
    let hosts: Vec<_> = (0..33).map(|n| format!("h{n}.example")).collect();
    let endpoint = json!({"url": "https://a.example/"});
    let headers = json!({"e": {"url": "https://a.example/", "headers": many(17, json!("x"))}});
    for (field, value, path) in [
        ("config", many(65, json!("")), "/config"),
        ("secrets", many(65, json!("")), "/secrets"),
        ("endpoints", many(17, endpoint), "/endpoints"),
        ("endpoints", headers, "/endpoints/e/headers"),
        ("allowed_hosts", json!(hosts), "/allowed_hosts"),
    ] {
        refused(parsed(&json!({"namespace": "a", field: value})), path, "at most");
    }
}

#[test]
fn an_update_changes_what_it_names() {
    let same = updated(&body(), &json!({})).expect("valid");
    assert_eq!(same, parsed(&body()).expect("valid"));
    let update =
        json!({"description": null, "cache_ttl_ms": null, "config": {}, "namespace": "staff"});
    let new = updated(&body(), &update).expect("valid");
    assert_eq!((new.description, new.cache_ttl_ms, new.config.len()), (None, None, 0));
    assert_eq!((&*new.namespace, new.secrets.get("hr_token")), ("staff", Some("s3cret-value")));
    let at = "/endpoints/directory/headers/authorization";
    refused(updated(&body(), &json!({"secrets": {"other": "x"}})), at, "one of `secrets`");
    refused(updated(&body(), &json!({"config": null})), "/config", "an object, not null");
}

#[test]
fn a_secret_that_stays_goes_nowhere_else() {
    let at = "/endpoints/directory/headers/x-key";
    let to = |url: &str, template: &str| json!({"endpoints": {"directory": {"url": url, "headers": {"x-key": template}}}});
    for elsewhere in [
        "https://mine.example/",
        "https://hr.example.com:8443/api/",
        "https://hr.example.com.mine.example/",
        "https://example.com/",
        // The same origin, but not below the path to which the secret went.
        "https://hr.example.com/",
        "https://hr.example.com/other/",
        "https://hr.example.com/apis/",
        "https://hr.example.com/API/",
        "https://hr.example.com/api/../other/",
        "https://hr.example.com/api/%2e%2e/other/",
        // A server may read steps upwards in these.
        "https://hr.example.com/api/..%2fother/",
        "https://hr.example.com/api/%252e%252e/other/",
        "https://hr.example.com/api/..;x=1/other/",
        "https://hr.example.com/api/..%5cother/",
    ] {
        for template in
            ["${hr_token}", "a ${hr_token}", "${hr_token}${hr_token}", "${spare}${hr_token}"]
        {
            let update = to(elsewhere, template);
            refused(updated(&body(), &update), at, "`secrets` in the same update");
        }
    }
    // A secret that no header has yet is sent nowhere.
    refused(
        updated(&body(), &to("https://hr.example.com/api/", "${spare}")),
        at,
        "the secret `spare`",
    );
    // What goes where it went may go there by another name or header, and to a path below.
    for below in ["/api/", "/api", "/api/staff/", "/api//x"] {
        let url = format!("https://hr.example.com:443{below}");
        updated(&body(), &to(&url, "${hr_token}")).expect(below);
    }
    let mut moved = to("https://hr.example.com/api/", "${hr_token}");
    moved["endpoints"]["staff"] = moved["endpoints"]["directory"].take();
    moved["endpoints"].as_object_mut().expect("an object").remove("directory");
    updated(&body(), &moved).expect("fits");
    updated(&body(), &to("https://mine.example/", "nothing secret")).expect("fits");
    // Whoever knows the secrets may send them anywhere.
    let mut known = to("https://mine.example/", "${hr_token}");
    known["secrets"] = json!({"hr_token": "mine"});
    let known = updated(&body(), &known).expect("fits");
    assert_eq!((known.secrets.get("hr_token"), known.secrets.get("spare")), (Some("mine"), None));
    // What is not a secret is told as that, and once.
    let unknown = updated(&body(), &to("https://mine.example/", "${other}")).expect_err("refused");
    assert_eq!(unknown.problems().len(), 1, "{unknown}");
}

#[test]
fn a_stored_manifest_has_no_secret_and_reads_back() {
    let manifest = parsed(&body()).expect("valid");
    let text = serde_json::to_string(&manifest.without_secrets()).expect("JSON");
    assert!(text.contains(r#""secrets":["hr_token","spare"]"#), "{text}");
    assert!(!text.contains("s3cret") && !format!("{manifest:?}").contains("s3cret"), "{text}");
    let stored: Manifest<SecretNames> = serde_json::from_str(&text).expect("reads");
    let secrets = Secrets::from_plain(&manifest.secrets.to_plain()).expect("reads");
    assert_eq!(stored.with_secrets(secrets), manifest);
}
