//! Everything that is refused, and where the answer points.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use super::{check, full};
use crate::support::client::connect;
use crate::support::resolver::{Form, RESOLVERS, directory, guest};
use crate::support::{MANAGER, Provider, Reply, Request, Settings, Tenant, eventually};

const MIB: usize = 1 << 20;

fn create(tenant: &Tenant<'_>, form: &Form) -> Reply {
    tenant.upload(format!("POST {RESOLVERS}"), form)
}

#[test]
fn a_form_has_both_parts_once_and_no_others() {
    let tenant = Tenant::new();
    let manifest = directory("hr").to_string();
    let manifest = || Form::default().part("manifest", &manifest);
    let module = guest("directory");
    let nothing = create(&tenant, &Form::default()).invalid();
    assert_eq!(nothing.details()["missing_fields"], json!(["manifest", "module"]));
    let one = create(&tenant, &manifest()).invalid();
    assert_eq!(one.details()["missing_fields"], json!(["module"]));
    let other = create(&tenant, &manifest().part("modul", &module)).invalid();
    assert_eq!(other.details()["unknown_fields"], json!(["modul"]));
    let twice =
        create(&tenant, &manifest().part("module", &module).part("manifest", "{}")).invalid();
    assert_eq!(twice.text_of_details("path"), "/manifest");
    // In any order.
    let form =
        Form::default().part("module", &module).part("manifest", directory("hr").to_string());
    create(&tenant, &form).is(201);
}

#[test]
fn a_body_is_a_form() {
    let tenant = Tenant::new();
    let route = format!("POST {RESOLVERS}");
    tenant.manage(&*route, &json!({})).refused(415, "UNSUPPORTED_MEDIA_TYPE");
    tenant.send(&tenant.managing(&*route)).refused(415, "UNSUPPORTED_MEDIA_TYPE");
    for (kind, body) in [
        ("multipart/form-data", "--x--\r\n"),
        ("multipart/form-data; boundary=x", "--y--\r\n"),
        (
            "multipart/form-data; boundary=x",
            "--x\r\ncontent-disposition: form-data; name=\"module\"\r\n\r\ncut off",
        ),
    ] {
        let request = tenant.managing(&*route).body(kind, body);
        tenant.send(&request).refused(400, "BAD_REQUEST");
    }
    let put = tenant.managing(format!("PUT {RESOLVERS}/{}", tenant.directory("hr")));
    tenant.send(&put.body("text/plain", "{}")).refused(415, "UNSUPPORTED_MEDIA_TYPE");
}

#[test]
fn a_manifest_is_strict() {
    let tenant = Tenant::new();
    let module = guest("directory");
    let with = |manifest: &str| {
        create(&tenant, &Form::default().part("manifest", manifest).part("module", &module))
    };
    with("").refused(400, "BAD_REQUEST");
    with("{").refused(400, "BAD_REQUEST");
    for (manifest, path) in [
        (r#"{"namespace": "a", "namespace": "b"}"#, "/manifest"),
        (r#"{"namespace": "user"}"#, "/manifest/namespace"),
        (r#"{"namespace": "a", "limit": {}}"#, "/manifest"),
        (r#"{"namespace": "a", "limits": {"timeout_ms": 0}}"#, "/manifest/limits/timeout_ms"),
        (r#"{"namespace": "a", "allowed_hosts": ["10.0.0.1"]}"#, "/manifest/allowed_hosts/0"),
        (
            r#"{"namespace": "a", "endpoints": {"e": {"url": "ftp://a.example"}}}"#,
            "/manifest/endpoints/e/url",
        ),
        // What the module needs, and what it does not read.
        (r#"{"namespace": "a"}"#, "/manifest/config"),
        (
            r#"{"namespace": "a", "config": {"department": "x", "color": "red"}}"#,
            "/manifest/config",
        ),
    ] {
        let reply = with(manifest).invalid();
        assert_eq!(reply.text_of_details("path"), path, "{}", reply.text);
    }
    let without = json!({"namespace": "a", "config": {"greeting": "hello"}});
    let reply = create(&tenant, &Form::new(&without, &guest("behaviours"))).invalid();
    assert_eq!(reply.text_of_details("path"), "/manifest/endpoints");
    assert!(reply.message().contains("endpoint `source`"), "{}", reply.text);
    tenant.get(RESOLVERS).is(200).has(&json!([]));
}

#[test]
fn a_module_is_a_resolver() {
    let tenant = Tenant::new();
    for (module, cause) in [
        (vec![], "not a component"),
        (b"\0asm\x01\0\0\0".to_vec(), "core module"),
        (b"\0asm\x0d\0\x01\0junk".to_vec(), "cannot be compiled"),
        (guest("files"), "wasi:filesystem"),
        (guest("sockets"), "wasi:sockets"),
    ] {
        let reply = create(&tenant, &Form::new(&directory("hr"), &module)).invalid();
        assert_eq!(reply.text_of_details("path"), "/module");
        assert!(reply.message().contains(cause), "{cause}: {}", reply.text);
    }
}

#[test]
fn a_namespace_is_taken_once() {
    let tenant = Tenant::new();
    tenant.directory("hr");
    let other = tenant.directory("staff");
    create(&tenant, &Form::new(&directory("hr"), &guest("directory"))).refused(409, "CONFLICT");
    let moved = json!({"namespace": "hr"});
    tenant.manage(format!("PUT {RESOLVERS}/{other}"), &moved).refused(409, "CONFLICT");
}

#[test]
fn an_upload_has_16_mib_and_nothing_else_has() {
    let tenant = Tenant::new();
    // Larger than other bodies may be; it is judged by what it is.
    let form = |bytes: usize| Form::new(&directory("hr"), &vec![b'x'; bytes]);
    create(&tenant, &form(3 * MIB)).invalid();
    create(&tenant, &form(16 * MIB + 1)).refused(413, "PAYLOAD_TOO_LARGE");
    create(&tenant, &form(18 * MIB)).refused(413, "PAYLOAD_TOO_LARGE");
    let chunked = form(18 * MIB).on(tenant.managing(format!("POST {RESOLVERS}"))).chunked();
    tenant.send(&chunked).refused(413, "PAYLOAD_TOO_LARGE");
    let one = format!("{RESOLVERS}/{}", tenant.directory("hr"));
    tenant.upload(format!("PUT {one}"), &form(17 * MIB + 1)).refused(413, "PAYLOAD_TOO_LARGE");
    let large = json!({"description": "x".repeat(2 * MIB)});
    tenant.manage(format!("PUT {one}"), &large).refused(413, "PAYLOAD_TOO_LARGE");
    for route in ["POST /api/v1/webhooks".to_owned(), format!("POST {one}/test")] {
        tenant.upload(route, &form(2 * MIB)).refused(413, "PAYLOAD_TOO_LARGE");
    }
}

#[test]
fn faults_are_found_in_their_order() {
    let tenant = Tenant::new();
    let route = format!("POST {RESOLVERS}");
    // Before the credential: the size, as far as it is announced.
    let huge = Form::new(&directory("hr"), &vec![0; 18 * MIB]);
    tenant.send(&huge.on(Request::new(&*route))).refused(413, "PAYLOAD_TOO_LARGE");
    // Before the body: the credential, and the right. Nobody waits for the rest of the body.
    let large = Form::new(&directory("hr"), &vec![0; 8 * MIB]);
    tenant.send(&large.on(Request::new(&*route))).refused(401, "UNAUTHENTICATED");
    let member = Request::new(&*route).token(&tenant.token("alice", &["user"]));
    tenant.send(&large.on(member.clone())).refused(403, "ACCESS_DENIED");
    tenant.send(&member.json(&json!({}))).refused(403, "ACCESS_DENIED");
    // Before the record: the body.
    let unknown = format!("PUT {RESOLVERS}/no-uuid");
    tenant.manage(&*unknown, &json!({"namespace": 1})).invalid();
    tenant.manage(&*unknown, &json!({})).refused(404, "NOT_FOUND");
}

#[test]
fn a_test_is_read_strictly() {
    let tenant = Tenant::new();
    let route = format!("POST {RESOLVERS}/{}/test", tenant.directory("hr"));
    let refused = |body: &Value| tenant.manage(&*route, body).invalid().paths();
    assert_eq!(refused(&json!({})), [""]);
    assert_eq!(refused(&json!({"check": {}})), ["/check", "/check"]);
    assert_eq!(refused(&json!({"check": check("a"), "attributes": "department"})), ["/attributes"]);
    let unknown = json!({"check": check("a"), "attributes": ["department", "color"]});
    assert_eq!(refused(&unknown), ["/attributes/1"]);
    assert_eq!(refused(&json!({"check": check("a"), "cached": true})), [""]);
}

#[test]
fn no_refusal_shows_a_secret() {
    let tenant = Tenant::new();
    let module = guest("directory");
    for change in [
        json!({"secrets": {"token": "s3cret-of-the-tests\n"}}),
        json!({"secrets": {"a b": "s3cret-of-the-tests"}}),
        json!({"secrets": {"other": "s3cret-of-the-tests"}}),
        json!({"secrets": ["s3cret-of-the-tests"]}),
        json!({"namespace": "token"}),
        json!({}),
    ] {
        let mut manifest = full();
        for (name, value) in change.as_object().expect("members") {
            manifest[name] = value.clone();
        }
        let reply = create(&tenant, &Form::new(&manifest, &module)).invalid();
        assert!(!reply.text.contains("s3cret"), "{}", reply.text);
    }
}

/// Sends the head of an upload, and waits until the service reads its body.
fn unfinished(tenant: &Tenant<'_>) -> TcpStream {
    let mut stream = connect(tenant.address);
    let head = format!(
        "POST {RESOLVERS} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\nexpect: 100-continue\r\n\
         content-type: multipart/form-data; boundary=b\r\ncontent-length: 1000\r\n\r\n",
        tenant.token("boss", &[MANAGER])
    );
    stream.write_all(head.as_bytes()).expect("it is sent");
    let mut interim = [0; 25];
    stream.read_exact(&mut interim).expect("an interim answer");
    assert_eq!(interim, *b"HTTP/1.1 100 Continue\r\n\r\n");
    stream
}

#[test]
fn a_tenant_has_two_uploads_in_memory_at_once() {
    let server = Settings::new(Provider::shared()).start();
    let tenant = |name: &str| Tenant::with_provider(&server, Provider::shared(), name);
    let (busy, other) = (tenant("busy"), tenant("other"));
    let (first, _second) = (unfinished(&busy), unfinished(&busy));
    let form = Form::new(&directory("hr"), &guest("directory"));
    let refused = create(&busy, &form).refused(503, "DEPENDENCY_UNAVAILABLE");
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert!(refused.text.contains("nothing was written"), "{}", refused.text);
    other.directory("hr");
    assert_eq!(busy.get(RESOLVERS).is(200).json(), json!([]));
    drop(first);
    eventually("the service notices that a sender is gone", || create(&busy, &form).status == 201);
}
