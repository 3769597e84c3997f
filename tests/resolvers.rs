//! `/api/v1/resolvers`: what tenants install, and what becomes of it.

pub(crate) mod checks;
mod errors;
mod instants;
mod policies;

use serde_json::{Value, json};

use crate::support::resolver::{Form, RESOLVERS, directory, guest};
use crate::support::{NO_ID, Provider, Settings, Tenant, eventually};

/// A manifest that has everything.
fn full() -> Value {
    json!({
        "namespace": "hr",
        "description": "who works where",
        "config": {"greeting": "hello"},
        "secrets": {"token": "s3cret-of-the-tests"},
        "endpoints": {"source": {"url": "https://hr.example/api/", "methods": ["GET"],
            "headers": {"authorization": "Bearer ${token}"}}},
        "allowed_hosts": ["api.example.com"],
        "limits": {"timeout_ms": 20_000, "memory_mib": 32},
        "cache_ttl_ms": 1000,
        "stale_if_error_ms": 5000,
    })
}

#[test]
fn a_resolver_is_created_shown_and_listed_without_its_secrets() {
    let tenant = Tenant::new();
    let module = guest("behaviours");
    let reply = tenant.upload(format!("POST {RESOLVERS}"), &Form::new(&full(), &module)).is(201);
    let (record, id) = (reply.json(), reply.id());
    assert_eq!(reply.header("location"), Some(&*format!("{RESOLVERS}/{id}")));
    assert_eq!(reply.revision(), 1);
    let tag = reply.header("etag").expect("a tag").to_owned();
    let mut expected = full();
    expected["secrets"] = json!(["token"]);
    for (name, value) in expected.as_object().expect("members") {
        assert_eq!(record[name], *value, "{name}");
    }
    assert_eq!(record["tenant_id"], *tenant.id);
    for (name, value) in [
        ("origin", json!("tenant")),
        ("enabled", json!(true)),
        ("state", json!("ready")),
        ("error", json!(null)),
        ("version", json!(1)),
        ("created_by", json!("boss")),
        ("updated_at", json!(null)),
    ] {
        assert_eq!(record[name], value, "{name}");
    }
    let about = &record["module"];
    assert_eq!((&about["name"], &about["version"]), (&json!("behaviours"), &json!("1.0.0")));
    assert_eq!(about["size"], module.len());
    assert_eq!(about["sha256"].as_str().map(str::len), Some(64));
    assert_eq!(
        about["attributes"][0],
        json!({"name": "text", "kind": "text", "default_ttl_ms": 1000})
    );
    assert_eq!(about["config_keys"], json!([{"name": "greeting", "required": false}]));
    assert_eq!((&about["inputs"], &about["endpoints"]), (&json!(["subject"]), &json!(["source"])));
    let imports = about["imports"].to_string();
    assert!(imports.contains("portcullis:resolver/http@1.0.0"), "{imports}");
    assert_eq!(record["activity"]["breaker"], "closed");
    assert_eq!(record["activity"]["calls"], 0);

    let shown = tenant.get(&format!("{RESOLVERS}/{id}")).is(200).has(&record);
    assert_eq!(shown.header("etag"), Some(&*tag));
    tenant.get(RESOLVERS).is(200).has(&json!([record]));
    assert!(!reply.text.contains("s3cret"));
}

#[test]
fn an_update_changes_what_it_names_and_nothing_else() {
    let tenant = Tenant::new();
    let form = Form::new(&full(), &guest("behaviours"));
    let created = tenant.upload(format!("POST {RESOLVERS}"), &form).is(201);
    let one = format!("{RESOLVERS}/{}", created.id());
    let before = created.json();
    let same = tenant.manage(format!("PUT {one}"), &json!({"enabled": true})).is(200);
    assert_eq!((same.json(), same.revision()), (before.clone(), 1));
    assert_eq!(same.header("etag"), created.header("etag"));

    let change = json!({"description": null, "cache_ttl_ms": null, "config": {}, "enabled": false});
    let changed = tenant.manage(format!("PUT {one}"), &change).is(200);
    let after = changed.json();
    assert_eq!((changed.revision(), &after["version"]), (2, &json!(2)));
    assert_eq!((&after["enabled"], &after["state"]), (&json!(false), &json!("disabled")));
    assert_eq!((&after["description"], &after["cache_ttl_ms"]), (&json!(null), &json!(null)));
    assert_eq!((&after["config"], &after["secrets"]), (&json!({}), &json!(["token"])));
    assert_eq!((&after["endpoints"], &after["limits"]), (&before["endpoints"], &before["limits"]));
    assert_eq!(after["updated_by"], "boss");
    assert_ne!(changed.header("etag"), created.header("etag"));

    // The tag of before is of no use any more, whoever sends it.
    let stale = created.header("etag").expect("a tag");
    let put = tenant.managing(format!("PUT {one}")).header("if-match", stale);
    tenant.send(&put.json(&json!({"enabled": true}))).refused(412, "PRECONDITION_FAILED");
    let delete = tenant.managing(format!("DELETE {one}")).header("if-match", stale);
    tenant.send(&delete).refused(412, "PRECONDITION_FAILED");

    // The secrets as a whole: what a header needs must be among them.
    let gone = tenant.manage(format!("PUT {one}"), &json!({"secrets": {}})).invalid();
    assert_eq!(gone.text_of_details("path"), "/endpoints/source/headers/authorization");
    let both = json!({"secrets": {"other": "s3cret-2"}, "endpoints": {"source": {
        "url": "https://hr.example/", "headers": {"x-key": "${other}"}}}});
    let both = tenant.manage(format!("PUT {one}"), &both).is(200);
    assert_eq!(both.json()["secrets"], json!(["other"]));
    assert!(!both.text.contains("s3cret"));
}

#[test]
fn a_stored_secret_is_not_sent_elsewhere() {
    let tenant = Tenant::new();
    let form = Form::new(&full(), &guest("behaviours"));
    let created = tenant.upload(format!("POST {RESOLVERS}"), &form).is(201);
    let one = format!("PUT {RESOLVERS}/{}", created.id());
    let mut change = json!({"endpoints": {"source": {"url": "https://mine.example/",
        "headers": {"x": "${token}"}}}});
    let refused = tenant.manage(&*one, &change).invalid();
    assert_eq!(refused.text_of_details("path"), "/endpoints/source/headers/x");
    assert!(refused.message().contains("`https://mine.example/`"), "{}", refused.text);
    // Nor to another path of the same server.
    let path = json!({"endpoints": {"source": {"url": "https://hr.example/other/",
        "headers": {"x": "${token}"}}}});
    tenant.manage(&*one, &path).invalid();
    let form = Form::default().part("manifest", change.to_string());
    let refused = tenant.upload(&*one, &form).invalid();
    assert_eq!(refused.text_of_details("path"), "/manifest/endpoints/source/headers/x");
    // Nor by way of one that is switched off.
    tenant.manage(&*one, &json!({"enabled": false})).is(200);
    tenant.manage(&*one, &change).invalid();
    change["secrets"] = json!({"token": "of my own"});
    tenant.manage(&*one, &change).is(200);
}

#[test]
fn a_module_is_replaced_as_a_whole() {
    let tenant = Tenant::new();
    let id = tenant.directory("hr");
    let one = format!("{RESOLVERS}/{id}");
    let before = tenant.get(&one).json();
    // The manifest of the old one does not fit the new one.
    let module = Form::default().part("module", guest("behaviours"));
    let unfit = tenant.upload(format!("PUT {one}"), &module).invalid();
    assert_eq!(unfit.text_of_details("path"), "/manifest/config");
    tenant.get(&one).is(200).has(&before);
    let manifest = json!({"config": {}, "endpoints": {"source": {"url": "https://hr.example/"}}});
    let form = module.part("manifest", manifest.to_string());
    let after = tenant.upload(format!("PUT {one}"), &form).is(200).json();
    assert_eq!((&after["module"]["name"], &after["version"]), (&json!("behaviours"), &json!(2)));
    assert_eq!((&after["namespace"], &after["id"]), (&json!("hr"), &json!(id)));
    let tried = test(&tenant, &id, &json!({"check": check("greet"), "attributes": ["text"]}));
    assert_eq!(tried["values"], json!({"text": ""}));
}

#[test]
fn a_deleted_resolver_is_gone() {
    let tenant = Tenant::new();
    let id = tenant.directory("hr");
    let one = format!("{RESOLVERS}/{id}");
    assert_eq!(tenant.delete(&one).is(204).revision(), 2);
    for route in [format!("GET {one}"), format!("DELETE {one}")] {
        tenant.send(&tenant.managing(route)).refused(404, "NOT_FOUND");
    }
    tenant.get(RESOLVERS).is(200).has(&json!([]));
    tenant.directory("hr");
}

fn check(subject: &str) -> Value {
    json!({"subject": subject, "resource": "doc:read", "action": "read"})
}

#[track_caller]
fn test(tenant: &Tenant<'_>, id: &str, body: &Value) -> Value {
    tenant.manage(format!("POST {RESOLVERS}/{id}/test"), body).is(200).json()
}

#[test]
fn a_test_shows_what_a_resolver_answers() {
    let tenant = Tenant::new();
    let id = tenant.directory("hr");
    let tried = test(&tenant, &id, &json!({"check": check("ann")}));
    assert_eq!(tried["values"], json!({"department": "obstetrics", "manager": false}));
    assert_eq!((&tried["absent"], &tried["error"]), (&json!([]), &json!(null)));
    assert!(tried["elapsed_us"].as_u64() > Some(0) && tried["memory_bytes"].as_u64() > Some(0));
    let mut roles = check("stranger");
    roles["attributes"] = json!({"user": {"roles": ["manager"]}});
    let tried = test(&tenant, &id, &json!({"check": roles}));
    assert_eq!(tried["values"], json!({"manager": true}));
    assert_eq!(tried["absent"], json!(["department"]));
    // Also of one that is switched off; and nothing of it is counted.
    tenant.manage(format!("PUT {RESOLVERS}/{id}"), &json!({"enabled": false})).is(200);
    let some =
        test(&tenant, &id, &json!({"check": check("ann"), "attributes": ["manager", "manager"]}));
    assert_eq!(some["values"], json!({"manager": false}));
    assert_eq!(tenant.get(&format!("{RESOLVERS}/{id}")).json()["activity"]["calls"], 0);
}

#[test]
fn a_test_shows_how_a_resolver_fails() {
    let tenant = Tenant::new();
    let form = Form::new(&full(), &guest("behaviours"));
    let id = tenant.upload(format!("POST {RESOLVERS}"), &form).is(201).id();
    let text = |subject: &str| {
        test(&tenant, &id, &json!({"check": check(subject), "attributes": ["text"]}))
    };
    assert_eq!(text("greet")["values"], json!({"text": "hello"}));
    assert_eq!(text("silent")["unanswered"], json!(["text"]));
    let logged = text("log");
    assert!(logged["log_dropped"].as_u64() > Some(0), "{logged}");
    assert_eq!(logged["log"][0]["level"], "info");
    for (subject, cause) in [
        ("memory", "memory limit of 32 MiB"),
        ("panic", "panicked"),
        ("internal", "internal error: no idea"),
        ("mistyped", "bad answer"),
    ] {
        let tried = text(subject);
        assert!(tried["error"].as_str().is_some_and(|error| error.contains(cause)), "{tried}");
        assert_eq!(tried["values"], json!({}));
    }
    assert_eq!(text("greet")["values"], json!({"text": "hello"}), "nothing is left of all that");
    let hasty = json!({"limits": {"timeout_ms": 50}});
    tenant.manage(format!("PUT {RESOLVERS}/{id}"), &hasty).is(200);
    assert_eq!(text("loop")["error"], "timed out after 50 ms");
}

#[test]
fn resolvers_outlive_the_process() {
    let server = Settings::new(Provider::shared()).start();
    let tenant = Tenant::with_provider(&server, Provider::shared(), "keeper");
    let form = Form::new(&full(), &guest("behaviours"));
    let created = tenant.upload(format!("POST {RESOLVERS}"), &form).is(201);
    let server = server.crash_and_restart();
    let tenant = tenant.at(&server);
    let one = format!("{RESOLVERS}/{}", created.id());
    eventually("it is in memory again", || tenant.get(&one).is(200).json()["state"] == "ready");
    tenant.get(&one).has(&created.json());
    let tried =
        test(&tenant, &created.id(), &json!({"check": check("greet"), "attributes": ["text"]}));
    assert_eq!(tried["values"], json!({"text": "hello"}));
}

#[test]
fn compiled_code_that_nobody_needs_goes() {
    let settings = Settings::new(Provider::shared());
    let code = settings.path("code");
    let settings = settings.set("RESOLVER_CODE_DIR", code.display().to_string());
    let files = || -> Vec<_> {
        let entries = std::fs::read_dir(&code).expect("a directory");
        entries.map(|entry| entry.expect("a file").path()).collect()
    };
    let server = settings.start();
    let tenant = Tenant::with_provider(&server, Provider::shared(), "tidy");
    let create = |form: &Form| tenant.upload(format!("POST {RESOLVERS}"), form);
    // What is refused after its module was compiled leaves nothing, and takes nothing from others.
    create(&Form::new(&json!({"namespace": "hr"}), &guest("directory"))).invalid();
    assert_eq!(files(), Vec::<std::path::PathBuf>::new());
    let one = format!("{RESOLVERS}/{}", tenant.directory("hr"));
    let used = files();
    assert_eq!(used.len(), 1);
    create(&Form::new(&directory("hr"), &guest("directory"))).refused(409, "CONFLICT");
    let module = Form::default().part("module", guest("behaviours"));
    let stale = tenant.managing(format!("PUT {one}")).header("if-match", "\"stale\"");
    tenant.send(&module.on(stale)).refused(412, "PRECONDITION_FAILED");
    tenant.upload(format!("PUT {RESOLVERS}/{NO_ID}"), &module).refused(404, "NOT_FOUND");
    assert_eq!(files(), used);
    server.stop();
    // What a crash, or a deletion by another replica, leaves behind, goes when it is old.
    let name = used[0].file_name().and_then(|name| name.to_str()).expect("a name");
    let unused = code.join(format!("{}{}", "0".repeat(64), &name[64..]));
    let (unfinished, young) = (code.join(".tmpAbCdEf"), code.join(".tmpGhIjKl"));
    for file in [&unused, &unfinished, &young] {
        std::fs::write(file, "").expect("written");
    }
    for file in [&unused, &unfinished, &used[0]] {
        let file = std::fs::File::options().append(true).open(file).expect("opens");
        file.set_modified(std::time::UNIX_EPOCH).expect("is set");
    }
    let _server = settings.start();
    eventually("it is swept", || !unused.exists() && !unfinished.exists());
    assert!(young.exists() && used[0].exists(), "{:?}", files());
}

#[test]
fn a_resolver_that_cannot_be_loaded_says_why_and_allows_nothing() {
    let settings = Settings::new(Provider::shared());
    let server = settings.start();
    let tenant = Tenant::with_provider(&server, Provider::shared(), "locked");
    let mut manifest = directory("hr");
    manifest["secrets"] = json!({"token": "s3cret-of-the-tests"});
    let form = Form::new(&manifest, &guest("directory"));
    let id = tenant.upload(format!("POST {RESOLVERS}"), &form).is(201).id();
    let policy = checks::only_obstetrics(&tenant);
    tenant.decide("ann", "chart:read", "read").is("allow", &policy);
    server.stop();
    let server =
        settings.set("ENCRYPTION_KEY", "YWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWE=").start();
    let tenant = tenant.at(&server);
    let one = format!("{RESOLVERS}/{id}");
    let failed = || tenant.send(&tenant.managing(format!("GET {one}")));
    eventually("it was tried", || failed().status == 200 && failed().json()["state"] == "failed");
    let error = tenant.get(&one).text_of("error");
    assert!(error.contains("is no longer in ENCRYPTION_KEY"), "{error}");
    let denied = tenant.decide("ann", "chart:read", "read");
    denied.is("deny", "default-deny");
    let tried = test(&tenant, &id, &json!({"check": check("ann")}));
    assert!(
        tried["error"].as_str().is_some_and(|error| error.contains("ENCRYPTION_KEY")),
        "{tried}"
    );
    assert!(!server.process.err.text().contains("s3cret"), "{}", server.process.err.text());
    // It can be switched off, and mended by whoever knows the secrets.
    let put = |change: Value| tenant.manage(format!("PUT {one}"), &change);
    let cannot = |change: Value| {
        let refused = put(change).refused(409, "CONFLICT");
        assert!(refused.message().contains("send all `secrets` again"), "{}", refused.text);
    };
    cannot(json!({"description": "of no use"}));
    let off = put(json!({"enabled": false})).is(200).json();
    assert_eq!((&off["state"], &off["secrets"]), (&json!("disabled"), &json!(["token"])));
    let same = put(json!({"enabled": false})).is(200).json();
    assert_eq!((&same["version"], &same["secrets"]), (&off["version"], &off["secrets"]));
    put(json!({"description": "to be mended"})).is(200);
    put(json!({"endpoints": {"mine": {"url": "https://mine.example/", "headers": {"x": "${token}"}}}}))
        .invalid();
    cannot(json!({"enabled": true}));
    let mended = put(json!({"enabled": true, "secrets": {"token": "s3cret-anew"}})).is(200).json();
    assert_eq!((&mended["state"], &mended["secrets"]), (&json!("ready"), &json!(["token"])));
    tenant.decide("ann", "chart:read", "read").is("allow", &policy);
    assert_eq!(test(&tenant, &id, &json!({"check": check("ann")}))["error"], json!(null));
    // It can be deleted, and made anew.
    tenant.delete(&format!("/api/v1/abac/policies/{policy}")).is(204);
    tenant.delete(&one).is(204);
    tenant.directory("hr");
}

#[test]
fn lists_have_pages() {
    let tenant = Tenant::new();
    let ids: Vec<_> = ["a", "b", "c"].map(|namespace| tenant.directory(namespace)).into();
    let mut path = format!("{RESOLVERS}?limit=2");
    let mut found = Vec::new();
    loop {
        let page = tenant.get(&path).is(200);
        let records = page.json().as_array().cloned().expect("a list");
        found.extend(records.iter().filter_map(|record| record["id"].as_str().map(str::to_owned)));
        let Some(next) = page.header("link").and_then(|link| link.split(['<', '>']).nth(1)) else {
            break;
        };
        path = next.to_owned();
    }
    assert_eq!(found, ids);
}

#[test]
fn a_foreign_resolver_is_as_one_that_never_was() {
    let (own, foreign) = (Tenant::new(), Tenant::new());
    let id = foreign.directory("hr");
    own.directory("hr");
    let form = Form::default().part("manifest", "{}");
    for (method, path) in [("GET", ""), ("PUT", ""), ("DELETE", ""), ("POST", "/test")] {
        let ask = |id: &str| {
            let request = own.managing(format!("{method} {RESOLVERS}/{id}{path}"));
            match method {
                "PUT" => own.send(&form.on(request)),
                _ => own.send(&request.json(&json!({"check": check("ann")}))),
            }
        };
        assert_eq!(ask(&id).refused(404, "NOT_FOUND").outcome(), ask(NO_ID).outcome(), "{method}");
    }
    foreign.get(&format!("{RESOLVERS}/{id}")).is(200);
    assert_eq!(own.get(RESOLVERS).json().as_array().map(Vec::len), Some(1));
}

#[test]
fn what_the_operator_installed_is_shown_and_left_alone() {
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::write(directory.path().join("staff.wasm"), guest("directory")).expect("written");
    let manifest = self::directory("staff").to_string();
    std::fs::write(directory.path().join("staff.json"), manifest).expect("written");
    let path = directory.path().display().to_string();
    let server = Settings::new(Provider::shared()).set("RESOLVERS_DIR", path).start();
    let tenant = Tenant::with_provider(&server, Provider::shared(), "guest");
    let own = tenant.directory("hr");
    let list = tenant.get(RESOLVERS).is(200).json();
    let record = &list[0];
    assert_eq!((&record["origin"], &record["namespace"]), (&json!("operator"), &json!("staff")));
    assert_eq!(record["module"]["name"], "directory");
    for hidden in ["config", "secrets", "endpoints", "allowed_hosts", "limits", "created_by"] {
        assert_eq!(record[hidden], json!(null), "{hidden}");
    }
    assert_eq!(list[1]["id"], *own);
    let one = format!("{RESOLVERS}/{}", record["id"].as_str().expect("an id"));
    tenant.get(&one).is(200).has(record);
    tenant.manage(format!("PUT {one}"), &json!({"enabled": false})).refused(403, "ACCESS_DENIED");
    tenant.delete(&one).refused(403, "ACCESS_DENIED");
    let body = json!({"check": check("ann")});
    tenant.manage(format!("POST {one}/test"), &body).refused(403, "ACCESS_DENIED");
    // Nobody takes its namespace.
    let form = Form::new(&self::directory("staff"), &guest("directory"));
    tenant.upload(format!("POST {RESOLVERS}"), &form).refused(409, "CONFLICT");
    let moved = json!({"namespace": "staff"});
    tenant.manage(format!("PUT {RESOLVERS}/{own}"), &moved).refused(409, "CONFLICT");
}

#[test]
fn a_tenant_has_so_many_resolvers_and_no_more() {
    let tenant = Tenant::new();
    let module = guest("directory");
    let create = |n: usize| {
        let form = Form::new(&directory(&format!("n{n}")), &module);
        tenant.upload(format!("POST {RESOLVERS}"), &form)
    };
    for n in 0..64 {
        create(n).is(201);
    }
    create(64).refused(422, "QUOTA_EXCEEDED");
}
