//! `portcullis doctor`: each broken configuration is named, by words that a report may contain.

use std::fs::Permissions;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use crate::support::process::Finished;
use crate::support::{Provider, Settings, Tenant, certificates};

/// A password of a database that no line may show.
const PASSWORD: &str = "hunter2";
/// Another key than that of [`Settings`].
const OTHER_KEY: &str = "YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXphYmNkZWY=";

fn settings() -> Settings {
    Settings::new(Provider::shared())
}

/// Asserts that the doctor finds one fault or more, in a line that begins so and contains these words.
#[track_caller]
fn finds(settings: &Settings, line: &str, words: &str) {
    let done = settings.run(&["doctor"]);
    assert_eq!(done.code, Some(1), "{done:?}");
    has(&done, line, words);
}

#[track_caller]
fn has(done: &Finished, line: &str, words: &str) {
    let found = done.out.lines().find(|found| found.starts_with(line) && found.contains(words));
    assert!(found.is_some(), "no line `{line} … {words}`:\n{}{}", done.out, done.err);
    for secret in [PASSWORD, OTHER_KEY, "MDEyMzQ1Njc4OWFi"] {
        assert!(!format!("{done:?}").contains(secret), "{}", done.out);
    }
}

/// Answers every request by a key set without keys, and with the time of the example of RFC 9110, section 5.6.7.
fn provider_of_the_past() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let lines = BufReader::new(&stream).lines().map_while(Result::ok);
            let _head: Vec<_> = lines.take_while(|line| !line.is_empty()).collect();
            let answer = "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n\
                          Content-Length: 11\r\nConnection: close\r\n\r\n{\"keys\":[]}";
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    address
}

#[test]
fn each_broken_configuration_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    let open = tempfile::tempdir().unwrap();
    std::fs::set_permissions(open.path(), Permissions::from_mode(0o755)).unwrap();
    let past = format!("http://{}/keys", provider_of_the_past());
    let slashed = format!("{}/", Provider::shared().issuer());
    let unreachable = format!("postgres://ann:{PASSWORD}@127.0.0.1:1/acme");
    for (name, value, line, words) in [
        ("DATABASE_URI", "sqlite://x.db", "wrong    settings", "DATABASE_URI"),
        ("LISTEN_ADDR", "8080", "wrong    settings", "LISTEN_ADDR: expected an address"),
        ("LOG_FORMAT", "JSON", "wrong    settings", "LOG_FORMAT: expected `text` or `json`"),
        ("RUST_LOG", "a=b=c", "wrong    settings", "RUST_LOG: expected a filter"),
        ("ENCRYPTION_KEY", "short", "wrong    settings", "ENCRYPTION_KEY: expected 32 bytes"),
        ("DATABASE_URL", "sqlite:///missing/x.db", "wrong    database", "no folder `/missing`"),
        (
            "DATABASE_URL",
            unreachable.as_str(),
            "wrong    database",
            "postgres://ann:***@127.0.0.1:1",
        ),
        ("DATABASE_URL", "sqlite:///proc", "wrong    database", "`/proc` is a folder"),
        ("DATABASE_URL", "sqlite://", "wrong    database", "expected `sqlite://<file>`, or"),
        ("DATABASE_URL", "sqlite://x?mode=memory", "wrong    database", "`sqlite::memory:`"),
        ("DATABASE_URL", "sqlite://x?mode=ro", "wrong    database", "without `mode=ro`"),
        ("DATABASE_URL", "sqlite:///dev/null/x", "wrong    database", "cannot look for the file"),
        ("AUTH_SERVER_URL", "http://127.0.0.1:1/", "wrong    provider", "cannot connect"),
        (
            "AUTH_SERVER_URL",
            slashed.as_str(),
            "wrong    provider",
            "expected the discovery document",
        ),
        ("JWKS_URI", past.as_str(), "wrong    provider", "no key that can verify tokens"),
        ("JWKS_URI", past.as_str(), "wrong    clock", "s ahead of the provider"),
        ("RESOLVER_CODE_DIR", "/proc/code", "wrong    disk", "cannot write to `/proc`"),
        (
            "RESOLVER_CODE_DIR",
            open.path().to_str().unwrap(),
            "wrong    disk",
            "others cannot enter",
        ),
        ("DECISION_LOG_URL", "file:///proc/decisions", "wrong    disk", "DECISION_LOG_URL"),
        ("LISTEN_ADDR", taken.as_str(), "wrong    ports", "has another program"),
        (
            "ADMIN_LISTEN_ADDR",
            "192.0.2.1:9090",
            "wrong    ports",
            "ADMIN_LISTEN_ADDR: cannot listen",
        ),
    ] {
        finds(&settings().set(name, value), line, words);
    }
    let own = "127.9.8.7:9090";
    let one = settings().set("LISTEN_ADDR", own).set("ADMIN_LISTEN_ADDR", own);
    finds(
        &one,
        "wrong    settings",
        "ADMIN_LISTEN_ADDR: expected another address than LISTEN_ADDR",
    );
}

#[test]
fn a_bucket_that_does_not_answer_and_a_key_of_another_certificate_are_named() {
    let bucket = settings()
        .set("DECISION_LOG_URL", "s3://log/acme")
        .set("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
        .set("AWS_REGION", "eu-central-1")
        .set("AWS_ACCESS_KEY_ID", "key")
        .set("AWS_SECRET_ACCESS_KEY", PASSWORD)
        .set("AWS_ALLOW_HTTP", "true");
    finds(&bucket, "wrong    record", "DECISION_LOG_URL `s3://log/acme`");

    let settings = settings();
    let (one, other) = (settings.path("one"), settings.path("other"));
    for folder in [&one, &other] {
        std::fs::create_dir(folder).unwrap();
        certificates::make(folder);
    }
    let tls = settings
        .set("TLS_CERT_FILE", one.join("certificate.pem").to_str().unwrap())
        .set("TLS_KEY_FILE", other.join("key.pem").to_str().unwrap());
    finds(
        &tls,
        "wrong    tls",
        "TLS_KEY_FILE: expected a usable file in PEM: it is not the key of",
    );
}

#[test]
fn a_database_with_another_encoding_is_named() {
    let settings = settings();
    let Some(database) = settings.database() else { return };
    let (name, latin) = (database.name(), format!("{}_latin", database.name()));
    database.sql(&format!(
        "CREATE DATABASE {latin} OWNER portcullis ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0"
    ));
    let url = database.url().replace(name, &latin);
    let done = settings.clone().set("DATABASE_URL", url).run(&["doctor"]);
    database.sql(&format!("DROP DATABASE {latin} WITH (FORCE)"));
    assert_eq!(done.code, Some(1), "{done:?}");
    has(&done, "wrong    database", "the encoding `UTF8`, but it has `LATIN1`");
}

#[test]
fn a_role_that_bypasses_row_level_security_gets_no_tables() {
    let settings = settings().on_an_empty_database();
    let Some(database) = settings.database() else { return };
    let superuser = database.url().replacen("portcullis@", "postgres@", 1);
    let privileged = settings.clone().set("DATABASE_URL", superuser);
    finds(&privileged, "wrong    database", "a role that is not a superuser");
    let done = privileged.run(&["serve"]);
    assert_eq!(done.code, Some(2), "{done:?}");
    // Its tables would not let this one in.
    settings.start();
}

#[test]
fn a_role_that_may_not_make_tables_is_named_before_the_first_start() {
    let settings = settings().on_an_empty_database();
    let Some(database) = settings.database() else { return };
    let guest = format!("{}_guest", database.name());
    database.sql(&format!("CREATE ROLE {guest} LOGIN"));
    let url = database.url().replacen("portcullis@", &format!("{guest}@"), 1);
    let done = settings.clone().set("DATABASE_URL", url).run(&["doctor"]);
    database.sql(&format!("DROP ROLE {guest}"));
    assert_eq!(done.code, Some(1), "{done:?}");
    has(&done, "wrong    database", "may not in the schema `public`");
}

#[test]
fn a_client_of_the_console_without_an_address_to_come_back_to_is_a_warning() {
    let settings = settings().set("CONSOLE_CLIENT_ID", "console").set("PUBLIC_URL", "");
    let words = "CONSOLE_CLIENT_ID needs PUBLIC_URL";
    has(&settings.run(&["doctor"]), "warning  settings", words);
    let with_address = settings.set("PUBLIC_URL", "https://authz.example.com").run(&["doctor"]);
    assert!(!with_address.out.contains(words), "{}", with_address.out);
}

#[test]
fn a_database_in_memory_is_a_warning() {
    let done = settings().set("DATABASE_URL", "sqlite::memory:").run(&["doctor"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    has(&done, "warning  database", "everything is gone when the service stops");
}

#[test]
fn a_standby_that_does_not_answer_is_named() {
    let settings = settings();
    let Some(_) = settings.database() else {
        // Before the first start, too.
        return finds(
            &settings.set("DATABASE_READ_URL", "postgres://ann@db/acme"),
            "wrong    settings",
            "DATABASE_READ_URL: expected nothing, because the database is SQLite",
        );
    };
    settings.start().stop();
    let down =
        settings.set("DATABASE_READ_URL", format!("postgres://ann:{PASSWORD}@127.0.0.1:1/a"));
    let done = down.run(&["doctor"]);
    assert_eq!(done.code, Some(0), "the primary serves: {done:?}");
    has(&done, "warning  database", "DATABASE_READ_URL: `127.0.0.1:1` does not answer");
}

#[test]
fn what_works_is_named_too_and_nothing_is_changed() {
    let settings = settings().on_an_empty_database();
    let done = settings.run(&["doctor"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    has(&done, "ok       provider", "keys that verify tokens");
    assert!(!settings.path("portcullis.db").exists(), "the doctor makes no file");

    let server = settings.start();
    let tenant = Tenant::with_provider(&server, Provider::shared(), "t");
    let webhook = json!({"url": "https://nowhere.invalid/a-path-that-is-a-secret", "events": ["webhook.test"], "secret": "a-secret-of-a-receiver"});
    tenant.manage("POST /api/v1/webhooks", &webhook).is(201);
    let running = settings.clone().set("LISTEN_ADDR", server.address.to_string());
    let done = running.run(&["doctor"]);
    assert_eq!(done.code, Some(0), "a receiver of a tenant is no fault of the service: {done:?}");
    has(&done, "ok       database", "has the schema of this version");
    has(&done, "ok       keys", "all 1 secrets");
    has(&done, "ok       ports", "the service listens on");
    has(&done, "warning  webhooks", "`nowhere.invalid`: the name has no address");
    assert!(!done.out.contains("a-path"), "{}", done.out);
    assert_eq!(running.run(&["doctor", "--ready"]).code, Some(0));
    server.stop();
    let done = running.run(&["doctor", "--ready"]);
    assert_eq!(done.code, Some(1));
    has(&done, "wrong    service", "is not ready: cannot connect");

    // Without the key, the receiver would get no event.
    finds(&settings.set("ENCRYPTION_KEY", OTHER_KEY), "wrong    keys", "1 secrets need the key");
}
