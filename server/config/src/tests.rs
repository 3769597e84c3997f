//! The settings, read from variables.

use std::path::{Path, PathBuf};
use std::time::Duration;

use portcullis_auth::Mode;
use portcullis_decision_log::RecordPlace;
use portcullis_model::provider::ClaimConfig;
use portcullis_model::quota::{Quota, Quotas};
use portcullis_traces::{Batches, Sampler};

use crate::clients::GivenCredential;
use crate::service::Config;
use crate::traces::TraceSettings;
use crate::variables::Variables;

fn variables(entries: &[(&str, &str)]) -> Variables {
    Variables(entries.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect())
}

#[track_caller]
fn refused(entries: &[(&str, &str)], expected: &str) {
    let error = Config::read(&variables(entries)).expect_err("must be refused").to_string();
    assert!(error.contains(expected), "{error}");
    assert!(!error.contains('\n'), "one line: {error}");
}

#[test]
fn commands_leave_out_the_lines_of_the_driver_unless_they_are_wanted() {
    for (set, is_quiet) in [("", true), ("debug", true), ("info,sqlx=debug", false)] {
        let filter = variables(&[("RUST_LOG", set)]).log_filter_of_command().expect("a filter");
        assert_eq!(filter.to_string().contains("sqlx=off"), is_quiet, "{set}: {filter}");
    }
    let service = variables(&[]).log_filter().expect("a filter");
    assert!(!service.to_string().contains("sqlx"), "the control: {service}");
}

#[test]
fn a_key_or_a_token_is_a_credential() {
    let credential = |entries: &[(&str, &str)]| {
        variables(entries).credential().map(|(name, value)| {
            assert!(value.is_sensitive());
            (name.to_string(), value.to_str().expect("text").to_owned())
        })
    };
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let (key, token) = (("SERVICE_API_KEY", "pck_1"), ("TOKEN", "ey.J"));
    assert_eq!(credential(&[key]).ok(), Some(pair("x-service-api-key", "pck_1")));
    assert_eq!(credential(&[token]).ok(), Some(pair("authorization", "Bearer ey.J")));
    assert_eq!(credential(&[token, key]).ok(), Some(pair("authorization", "Bearer ey.J")));
    for entries in [&[][..], &[("TOKEN", "line\nbreak")]] {
        let error = credential(entries).expect_err("none").to_string();
        assert!(!error.contains("break"), "{error}");
    }
}

const KEY: (&str, &str) = ("ENCRYPTION_KEY", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=");
const ISSUER: (&str, &str) = ("AUTH_SERVER_URL", "https://id.example");

#[test]
fn the_defaults_need_an_issuer_and_a_key() {
    let config = Config::read(&variables(&[ISSUER, KEY])).expect("valid");
    let Mode::Selfhost(Some(oidc)) = config.mode else { panic!("selfhost is the default") };
    assert_eq!(config.listen.to_string(), "127.0.0.1:8080");
    assert_eq!(config.plan_cache_bytes, 268_435_456);
    assert_eq!(config.max_staleness, Duration::from_secs(30));
    assert_eq!(config.manager_roles, ["admin"]);
    assert_eq!((config.resolvers.instances, config.resolvers.cache_bytes), (64, 67_108_864));
    assert_eq!(config.resolvers.directory, None);
    assert_eq!(config.store_limits.quotas, Quotas::STANDARD);
    assert_eq!(config.store_limits.waiting_denials, 10_000);
    assert_eq!((config.edge.admin_listen, config.edge.tls), (None, None));
    assert_eq!((config.edge.body_memory, config.edge.max_connections), (134_217_728, None));
    assert_eq!(oidc.claims, ClaimConfig::default());
}

#[test]
fn a_bad_value_is_named_in_one_line() {
    refused(&[KEY], "AUTH_SERVER_URL: expected the issuer");
    refused(&[KEY, ("AUTH_SERVER_URL", "")], "it is not set");
    refused(&[KEY, ("AUTH_SERVER_URL", "ftp://x")], "AUTH_SERVER_URL: expected an http");
    let key = "32 bytes in base64, as `openssl rand -base64 32` prints them, but it is not set";
    refused(&[ISSUER], &format!("ENCRYPTION_KEY: expected {key}"));
    refused(&[ISSUER, ("ENCRYPTION_KEY", "AAAA")], "ENCRYPTION_KEY: expected");
    for (name, value, expected) in [
        ("MODE", "cloud", "MODE: expected `saas` or `selfhost`, not `cloud`"),
        ("LISTEN_ADDR", "8080", "LISTEN_ADDR: expected an address"),
        ("PLAN_CACHE_BYTES", "256MB", "(units: KiB, MiB, GiB), not `256MB`"),
        ("OIDC_ENABLED", "yes", "OIDC_ENABLED: expected `true` or `false`"),
        ("JWKS_URI", "keys.json", "JWKS_URI: expected an http"),
        ("MANAGER_ROLES", "admin,", "MANAGER_ROLES: expected roles with commas between them"),
        ("MANAGER_ROLES", " , owner", "MANAGER_ROLES: expected roles with commas between them"),
        ("MAX_STALENESS", "30", "`30s` (units: ms, s, m, h, d), not `30`"),
        ("EGRESS_ALLOW_CIDRS", "10.0.0.1/8", "EGRESS_ALLOW_CIDRS: expected networks"),
        ("EGRESS_ALLOW_HTTP", "1", "EGRESS_ALLOW_HTTP: expected `true` or `false`"),
        (
            "EGRESS_CA_FILE",
            "/nowhere.pem",
            "EGRESS_CA_FILE: expected a readable file in PEM, but `/nowhere.pem` is not: No such file",
        ),
        ("WEBHOOK_BACKOFF", "10s,,1m", "WEBHOOK_BACKOFF: expected durations"),
        ("WEBHOOK_MAX_FAILURES", "0", "WEBHOOK_MAX_FAILURES: expected a number"),
        ("WEBHOOK_TIMEOUT", "0s", "WEBHOOK_TIMEOUT: expected a duration"),
        ("WEBHOOK_RETENTION", "30", "WEBHOOK_RETENTION: expected a duration"),
        (
            "WEBHOOK_DENIALS_AT_ONCE",
            "33",
            "WEBHOOK_DENIALS_AT_ONCE: expected a number from 1 to 32",
        ),
        ("WEBHOOK_MAX_WAITING_DENIALS", "0", "WEBHOOK_MAX_WAITING_DENIALS: expected a number"),
        ("QUOTA_WEBHOOKS", "-1", "QUOTA_WEBHOOKS: expected a number, or `none`"),
        ("QUOTA_STORED_BYTES", "100", "QUOTA_STORED_BYTES: expected a size such as `2GiB`"),
        ("RESOLVER_INSTANCES", "0", "RESOLVER_INSTANCES: expected a number from 1 to 1000"),
        ("RESOLVER_CACHE_BYTES", "64", "RESOLVER_CACHE_BYTES: expected a size"),
        ("AUDIT_RETENTION", "0s", "AUDIT_RETENTION: expected a duration"),
        ("AUDIT_MAX_RECORDS", "0", "AUDIT_MAX_RECORDS: expected a number"),
        ("HISTORY_RETENTION", "0d", "HISTORY_RETENTION: expected `all`, or a duration above 0"),
        ("HISTORY_BYTES", "1GB", "HISTORY_BYTES: expected a size such as `256MiB`"),
        (
            "DECISION_LOG_BUFFER_BYTES",
            "64MiB",
            "DECISION_LOG_BUFFER_BYTES: expected a size of at least `128MiB`",
        ),
        ("DECISION_LOG_URL", "decisions", "DECISION_LOG_URL: expected a folder as a URL"),
        ("DECISION_LOG_URL", "gs://bucket", "DECISION_LOG_URL: expected a folder as a URL"),
        ("DECISION_LOG_URL", "s3://u@bucket/p", "DECISION_LOG_URL: expected a folder as a URL"),
        ("DECISION_LOG_URL", "s3://bucket/p", "AWS_REGION: expected the region of the bucket"),
        ("POSTGRES_ALLOW_BYPASS_RLS", "1", "POSTGRES_ALLOW_BYPASS_RLS: expected `true` or `false`"),
        (
            "RESOLVER_COMPILER_MEMORY",
            "255MiB",
            "RESOLVER_COMPILER_MEMORY: expected a size of at least `256MiB`",
        ),
        ("RESOLVERS_DIR", "/nowhere", "RESOLVERS_DIR: expected a directory that can be read"),
        ("ADMIN_LISTEN_ADDR", "9090", "ADMIN_LISTEN_ADDR: expected an address"),
        (
            "ADMIN_LISTEN_ADDR",
            "127.0.0.1:8080",
            "ADMIN_LISTEN_ADDR: expected another address than LISTEN_ADDR, which is `127.0.0.1:8080`, not",
        ),
        (
            "ADMIN_LISTEN_ADDR",
            "0.0.0.0:8080",
            "ADMIN_LISTEN_ADDR: expected another address than LISTEN_ADDR",
        ),
        ("MAX_TOKEN_BYTES", "16384", "MAX_TOKEN_BYTES: expected a size from `1KiB` to `64KiB`"),
        ("MAX_TOKEN_BYTES", "65KiB", "MAX_TOKEN_BYTES: expected a size from `1KiB` to `64KiB`"),
        ("ROLES_FORMAT", "csv", "ROLES_FORMAT: expected one of `list`, `words`, `keys`, not `csv`"),
        ("CONSOLE", "yes", "CONSOLE: expected `on` or `off`, not `yes`"),
        (
            "CONSOLE_IDENTITY",
            "token",
            "CONSOLE_IDENTITY: expected one of `access_token`, `id_token`",
        ),
        ("CONSOLE_SESSION_IDLE", "0s", "CONSOLE_SESSION_IDLE: expected"),
        ("CONSOLE_SESSION_MAX", "long", "CONSOLE_SESSION_MAX: expected"),
        (
            "PUBLIC_URL",
            "authz.example",
            "PUBLIC_URL: expected an https URL of a host and perhaps a path",
        ),
        ("PUBLIC_URL", "http://authz.example", "PUBLIC_URL: expected an https URL"),
        ("PUBLIC_URL", "https://a.example/t?x#y", "PUBLIC_URL: expected an https URL"),
        ("PUBLIC_URL", "https://u@a.example", "PUBLIC_URL: expected an https URL"),
        ("TLS_CERT_FILE", "/nowhere", "TLS_CERT_FILE: expected a readable file in PEM"),
        (
            "TLS_KEY_FILE",
            "/nowhere",
            "TLS_KEY_FILE: expected a readable file in PEM, but `/nowhere` is not: No such file",
        ),
        ("TLS_CERT_FILE", "/dev/null", "TLS_KEY_FILE: expected a readable file in PEM beside"),
        ("TLS_KEY_FILE", "/dev/null", "TLS_CERT_FILE: expected a readable file in PEM beside"),
        ("REQUEST_BODY_MEMORY", "33MiB", "REQUEST_BODY_MEMORY: expected a size of at least"),
        ("MAX_CONNECTIONS", "0", "MAX_CONNECTIONS: expected a number of at least 1"),
        ("CONNECTION_IDLE_TIMEOUT", "0s", "CONNECTION_IDLE_TIMEOUT: expected a duration"),
        ("CONNECTION_WRITE_TIMEOUT", "30", "CONNECTION_WRITE_TIMEOUT: expected a duration"),
        ("SHUTDOWN_DELAY", "5", "SHUTDOWN_DELAY: expected a duration such as `30s`"),
    ] {
        refused(&[ISSUER, KEY, (name, value)], expected);
    }
    let saas = ("MODE", "saas");
    refused(&[KEY, saas], "ADMIN_API_KEY: expected at least 32 characters, but it is not set");
    refused(&[KEY, saas, ("ADMIN_API_KEY", "short")], "ADMIN_API_KEY: expected at least 32");
}

#[test]
fn a_public_url_may_have_a_path() {
    for (url, expected) in [
        ("https://authz.example/", "https://authz.example"),
        ("https://example.com/authz/", "https://example.com/authz"),
        ("http://localhost:8080/a/b", "http://localhost:8080/a/b"),
    ] {
        let config = Config::read(&variables(&[ISSUER, KEY, ("PUBLIC_URL", url)])).expect("valid");
        assert_eq!(config.edge.public_url.as_deref(), Some(expected));
    }
}

#[test]
fn a_proxy_that_does_not_count_is_named() {
    let proxy = ("HTTPS_PROXY", "http://user:hunter2@proxy.example:3128");
    let config = Config::read(&variables(&[ISSUER, KEY, proxy, ("http_proxy", "")]));
    assert_eq!(config.expect("valid").ignored_proxies, ["HTTPS_PROXY"]);
}

#[test]
fn a_bucket_needs_a_region_and_credentials() {
    let url = ("DECISION_LOG_URL", "s3://records/of/acme/");
    let region = ("AWS_REGION", "eu-central-1");
    let (id, secret) = (("AWS_ACCESS_KEY_ID", "AKIA"), ("AWS_SECRET_ACCESS_KEY", "s3cr3t"));
    let local = ("AWS_ENDPOINT_URL", "http://127.0.0.1:9000");
    for (entries, expected) in [
        (&[url, id, secret][..], "AWS_REGION: expected the region"),
        (&[url, region], "AWS_ACCESS_KEY_ID: expected a key for the bucket"),
        (&[url, region, id], "AWS_SECRET_ACCESS_KEY: expected the secret"),
        (&[url, region, secret], "AWS_ACCESS_KEY_ID: expected the id"),
        (&[url, region, ("AWS_WEB_IDENTITY_TOKEN_FILE", "/t")], "AWS_ROLE_ARN: expected the role"),
        (
            &[url, id, secret, local],
            "AWS_ENDPOINT_URL: expected an `https` URL, or with AWS_ALLOW_HTTP",
        ),
    ] {
        let error = variables(entries).decision_log().expect_err("must be refused").to_string();
        assert!(error.contains(expected) && !error.contains("s3cr3t"), "{error}");
    }
    let whole = [url, id, secret, local, ("AWS_ALLOW_HTTP", "true"), ("AWS_PROFILE", "other")];
    let config = variables(&whole).decision_log().expect("valid").expect("is set");
    let RecordPlace::Bucket(place) = &config.place else { panic!("a bucket") };
    assert_eq!((&*place.bucket, &*place.prefix), ("records", "of/acme"));
    assert_eq!(config.place.to_string(), "s3://records/of/acme");
    // What the URL encodes is a character of the prefix, which the client encodes again.
    for (url, expected) in [("s3://log/a b", "a b"), ("s3://log/a%20b/é%2Bc/", "a b/é+c")] {
        let entries = [&[("DECISION_LOG_URL", url)], &whole[1..]].concat();
        let config = variables(&entries).decision_log().expect("valid").expect("is set");
        let RecordPlace::Bucket(place) = &config.place else { panic!("a bucket") };
        assert_eq!(place.prefix, expected, "{url}");
    }
    assert_eq!(place.variables.len(), 4, "what the client does not read is left out");
    assert!(!format!("{config:?}").contains("s3cr3t"), "{config:?}");
}

#[test]
fn a_quota_is_a_number_or_none() {
    let entries = [
        ISSUER,
        KEY,
        ("QUOTA_WEBHOOKS", "0"),
        ("QUOTA_RULES", "7"),
        ("QUOTA_RESOLVERS", "none"),
        ("QUOTA_STORED_BYTES", "1MiB"),
        ("QUOTA_PLAN_BYTES", "none"),
    ];
    let quotas = Config::read(&variables(&entries)).expect("valid").store_limits.quotas;
    let expected = Quotas::STANDARD
        .with(Quota::Webhooks, Some(0))
        .with(Quota::Rules, Some(7))
        .with(Quota::Resolvers, None)
        .with(Quota::PlanBytes, None)
        .with(Quota::StoredBytes, Some(1 << 20));
    assert_eq!(quotas, expected);
}

#[test]
fn secrets_are_never_shown() {
    let error = Config::read(&variables(&[ISSUER, ("ENCRYPTION_KEY", "c2VjcmV0")]));
    assert!(!error.expect_err("too short").to_string().contains("c2VjcmV0"));
    let key = "a-secret-of-the-operator-that-is-long";
    let config = Config::read(&variables(&[KEY, ("MODE", "saas"), ("ADMIN_API_KEY", key)]));
    assert!(!format!("{:?}", config.expect("valid").mode).contains("secret"));
}

/// The names of the keys that `saas` mode accepts, each with the key that was sent.
fn admin_names(entries: &[(&str, &str)], sent: &[&str]) -> Vec<Option<String>> {
    let entries = [&[KEY, ("MODE", "saas")], entries].concat();
    let config = Config::read(&variables(&entries)).expect("valid");
    let Mode::Saas { admin_keys } = config.mode else { panic!("saas") };
    sent.iter().map(|key| admin_keys.name_of(key).map(str::to_owned)).collect()
}

#[test]
fn several_admin_keys_have_names() {
    let (first, second) =
        ("a-key-of-the-operator-that-is-long", "b-key-of-the-operator==that-is-long");
    let both = format!("alice={first}, bob={second}");
    let names = |names: &[Option<&str>]| {
        names.iter().map(|name| name.map(str::to_owned)).collect::<Vec<_>>()
    };
    let keys = ("ADMIN_API_KEYS", &*both);
    assert_eq!(
        admin_names(&[keys], &[first, second, "x"]),
        names(&[Some("alice"), Some("bob"), None])
    );
    let third = "c-key-of-the-operator-that-is-long";
    let sent = [third, second];
    let unnamed = ("ADMIN_API_KEY", third);
    assert_eq!(admin_names(&[keys, unnamed], &sent), names(&[Some(""), Some("bob")]));
    for (keys, expected) in [
        (first.to_owned(), "key 1 has no name"),
        (format!("alice={first},short=key"), "key 2 is too short"),
        (format!("al ice={first}"), "key 1 has another name"),
        (format!("={first}"), "key 1 has another name"),
        (format!("alice={first},alice={second}"), "key 2 or its name is there twice"),
        (format!("alice={first},bob={first}"), "key 2 or its name is there twice"),
    ] {
        let entries = [KEY, ("MODE", "saas"), ("ADMIN_API_KEYS", &*keys)];
        refused(&entries, expected);
        let error = Config::read(&variables(&entries)).expect_err("refused").to_string();
        assert!(!error.contains("key-of-the-operator"), "{error}");
    }
}

#[test]
fn a_secret_can_be_in_a_file() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = |name: &str, content: &str| {
        let path = directory.path().join(name);
        std::fs::write(&path, content).expect("writes");
        path.display().to_string()
    };
    let admin = "a-key-of-the-operator-that-is-long";
    let (key, admin_file) =
        (file("key", &format!("{}\n", KEY.1)), file("admin", &format!("{admin}\r\n")));
    let named = file("named", &format!("alice={admin}"));
    let url = file("url", "sqlite://here.db\n");
    let saas = ("MODE", "saas");
    let entries = [
        saas,
        ("ENCRYPTION_KEY_FILE", &*key),
        ("ADMIN_API_KEY_FILE", &*admin_file),
        ("DATABASE_URL_FILE", &*url),
    ];
    let config = Config::read(&variables(&entries)).expect("valid");
    assert_eq!(config.database_url, "sqlite://here.db");
    let Mode::Saas { admin_keys } = config.mode else { panic!("saas") };
    assert_eq!(admin_keys.name_of(admin), Some(""));
    let found = admin_names(&[("ADMIN_API_KEYS_FILE", &*named)], &[admin]);
    assert_eq!(found, [Some("alice".to_owned())]);
    for (name, both) in [
        ("ENCRYPTION_KEY_FILE", [KEY, ("ENCRYPTION_KEY_FILE", &*key)]),
        ("ADMIN_API_KEY_FILE", [("ADMIN_API_KEY", admin), ("ADMIN_API_KEY_FILE", &*admin_file)]),
        ("DATABASE_URL_FILE", [("DATABASE_URL", "sqlite://x"), ("DATABASE_URL_FILE", &*url)]),
    ] {
        let keys = format!("alice={admin}");
        let entries = [&[KEY, saas, ("ADMIN_API_KEYS", &*keys)], &both[..]].concat();
        refused(&entries, &format!("{name}: expected only one of"));
    }
    refused(
        &[ISSUER, ("ENCRYPTION_KEY_FILE", "/nowhere")],
        "ENCRYPTION_KEY_FILE: expected a readable file in UTF-8, but `/nowhere` is not: No such file",
    );
    let empty = file("empty", "\n");
    refused(
        &[ISSUER, ("ENCRYPTION_KEY_FILE", &*empty)],
        "ENCRYPTION_KEY: expected 32 bytes in base64, as `openssl rand -base64 32` prints them",
    );
    let client = variables(&[("SERVICE_API_KEY_FILE", &*file("service", "pck_1\n"))]);
    let (name, key) = client.manager_credential(GivenCredential::default()).expect("is there");
    assert_eq!((name.as_str(), key.as_bytes()), ("x-service-api-key", &b"pck_1"[..]));
}

#[test]
fn a_manager_credential_is_that_of_the_arguments_before_that_of_the_variables() {
    let both = variables(&[("SERVICE_API_KEY", "pck_1"), ("TOKEN", "t")]);
    let shown = |token, key| {
        let (name, value) =
            both.manager_credential(GivenCredential { token, key }).expect("is there");
        format!("{name}: {}", value.to_str().expect("text"))
    };
    assert_eq!(shown(None, None), "authorization: Bearer t");
    assert_eq!(shown(Some("u"), None), "authorization: Bearer u");
    assert_eq!(shown(None, Some("pck_2")), "x-service-api-key: pck_2");
    let error = variables(&[])
        .manager_credential(GivenCredential::default())
        .expect_err("none")
        .to_string();
    assert!(error.starts_with("SERVICE_API_KEY: expected a service key"), "{error}");
}

#[test]
fn empty_and_missing_variables_have_no_value() {
    let some = variables(&[("HOOK_SECRET", "s"), ("EMPTY", "")]);
    let values = some.values_of(["HOOK_SECRET", "EMPTY", "MISSING"].into_iter());
    assert_eq!(values.into_iter().collect::<Vec<_>>(), [("HOOK_SECRET".into(), "s".into())]);
}

#[test]
fn without_oidc_no_issuer_is_needed() {
    let config = Config::read(&variables(&[KEY, ("OIDC_ENABLED", "false")])).expect("valid");
    assert!(matches!(config.mode, Mode::Selfhost(None)));
}

#[test]
fn a_single_tenant_belongs_to_selfhost() {
    let entries = [KEY, ISSUER, ("SINGLE_TENANT", "acme")];
    let config = Config::read(&variables(&entries)).expect("valid");
    assert!(config.mode.serves("acme") && !config.mode.serves("other"));
    assert!(!config.mode.has_a_tenant_per_domain());
    let single = ("SINGLE_TENANT", "acme");
    for (entries, expected) in
        [(&[][..], None), (&[single][..], Some("acme")), (&[single, ("MODE", "saas")], None)]
    {
        let judged = variables(entries).only_tenant().expect("valid");
        assert_eq!(judged.as_deref(), expected, "{entries:?}");
    }
    let Mode::SingleTenant { tenant, oidc: Some(_) } = config.mode else { panic!("one tenant") };
    assert_eq!(tenant, "acme");
    let config = Config::read(&variables(&[KEY, ISSUER, ("SINGLE_TENANT", "")])).expect("valid");
    assert!(config.mode.has_a_tenant_per_domain() && config.mode.serves("other"));
    let long = "a".repeat(257);
    for name in ["*", "a\tb", &*long] {
        refused(&[KEY, ISSUER, ("SINGLE_TENANT", name)], "SINGLE_TENANT: expected the name of");
    }
    let key = "a-key-of-the-operator-that-is-long";
    let saas = [KEY, ("MODE", "saas"), ("ADMIN_API_KEY", key), ("SINGLE_TENANT", "acme")];
    refused(&saas, "SINGLE_TENANT: expected no value with `MODE=saas`");
}

#[test]
fn the_client_of_the_console_belongs_to_selfhost() {
    let key = ("ADMIN_API_KEY", "a-key-of-the-operator-that-is-long");
    for name in ["CONSOLE_CLIENT_ID", "CONSOLE_CLIENT_SECRET", "CONSOLE_AUDIENCE"] {
        let expected =
            format!("{name}: expected no value with `MODE=saas`, where each identity provider");
        refused(&[KEY, ("MODE", "saas"), key, (name, "console")], &expected);
    }
}

#[test]
fn tokens_cannot_be_off_in_saas() {
    let key = ("ADMIN_API_KEY", "a-key-of-the-operator-that-is-long");
    let with = |enabled| [KEY, ("MODE", "saas"), key, ("OIDC_ENABLED", enabled)];
    refused(&with("false"), "OIDC_ENABLED: expected no `false` with `MODE=saas`");
    refused(&with("no"), "OIDC_ENABLED: expected `true` or `false`");
    Config::read(&variables(&with("true"))).expect("valid");
}

#[test]
fn compiled_code_is_beside_the_file_of_the_database() {
    for (url, expected) in [
        ("sqlite://portcullis.db", Some("portcullis-code")),
        (
            "sqlite:///var/lib/portcullis/data.db?mode=rwc",
            Some("/var/lib/portcullis/portcullis-code"),
        ),
        ("sqlite:data/portcullis.db", Some("data/portcullis-code")),
        ("sqlite::memory:", None),
        ("postgres://db.example/portcullis", None),
    ] {
        let entries = [KEY, ISSUER, ("DATABASE_URL", url)];
        let config = Config::read(&variables(&entries)).expect("valid");
        assert_eq!(config.resolvers.code.as_deref(), expected.map(Path::new), "{url}");
    }
    let entries = [KEY, ISSUER, ("RESOLVER_CODE_DIR", "/var/cache/portcullis")];
    let config = Config::read(&variables(&entries)).expect("valid");
    assert_eq!(config.resolvers.code, Some(PathBuf::from("/var/cache/portcullis")));
}

/// The settings of traces with an endpoint and `entries`.
fn traces(entries: &[(&str, &str)]) -> TraceSettings {
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "https://otel.example/base/");
    let all = [&[ISSUER, KEY, endpoint][..], entries].concat();
    Config::read(&variables(&all)).expect("valid").traces
}

#[test]
fn traces_follow_the_variables_of_opentelemetry() {
    let plain = traces(&[]).sent.expect("an endpoint is set");
    assert_eq!(plain.endpoint.as_str(), "https://otel.example/base/v1/traces");
    assert_eq!((plain.sampler, plain.is_parent_based), (Sampler::All, true));
    assert_eq!((plain.timeout, plain.batches), (Duration::from_secs(10), Batches::default()));
    assert_eq!((&*plain.service_name, plain.continues_callers), ("portcullis", true));
    assert!(Config::read(&variables(&[ISSUER, KEY])).expect("valid").traces.sent.is_none());
    for off in [("OTEL_SDK_DISABLED", "TRUE"), ("OTEL_TRACES_EXPORTER", "none")] {
        assert!(traces(&[off]).sent.is_none(), "{off:?}");
    }
    let set = traces(&[
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://traces.example/t"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20k3y, x-b=2"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "1500"),
        ("OTEL_RESOURCE_ATTRIBUTES", "service.name=pdp,region=eu"),
        ("OTEL_TRACES_SAMPLER", "traceidratio"),
        ("OTEL_TRACES_SAMPLER_ARG", "0.25"),
        ("OTEL_BSP_MAX_QUEUE_SIZE", "100"),
        ("OTEL_PROPAGATORS", "none"),
    ]);
    assert_eq!(set.ignored, [""; 0]);
    let set = set.sent.expect("an endpoint is set");
    assert_eq!(set.endpoint.as_str(), "http://traces.example/t");
    assert_eq!(set.headers["authorization"], "Bearer k3y");
    assert!(!format!("{set:?}").contains("k3y"), "{set:?}");
    assert_eq!((set.timeout, &*set.service_name), (Duration::from_millis(1500), "pdp"));
    assert_eq!((set.sampler, set.is_parent_based), (Sampler::Share(0.25), false));
    assert_eq!((set.batches.most_waiting, set.batches.largest), (100, 100));
    assert!(!set.continues_callers);
}

#[test]
fn a_setting_of_traces_that_cannot_be_used_counts_as_absent() {
    let ignored = traces(&[
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "k3y"),
        ("OTEL_TRACES_SAMPLER", "parentbased_traceidratio"),
        ("OTEL_TRACES_SAMPLER_ARG", "2"),
        ("OTEL_BSP_SCHEDULE_DELAY", "soon"),
        ("OTEL_PROPAGATORS", "b3"),
    ]);
    assert_eq!(
        ignored.ignored,
        [
            "OTEL_TRACES_SAMPLER_ARG: expected a number from 0 to 1, not `2`",
            "OTEL_EXPORTER_OTLP_COMPRESSION: expected `none`, not `gzip`",
            "OTEL_EXPORTER_OTLP_HEADERS: expected pairs such as `name=value,other=value`",
            "OTEL_PROPAGATORS: expected `tracecontext`, `baggage` or `none`, not `b3`",
            "OTEL_BSP_SCHEDULE_DELAY: expected a number of at least 1, not `soon`",
        ]
    );
    let sent = ignored.sent.expect("an endpoint is set");
    assert_eq!((sent.sampler, sent.batches), (Sampler::Share(1.0), Batches::default()));
    refused(
        &[ISSUER, KEY, ("OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4318")],
        "an http or https URL",
    );
    let grpc = ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc");
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4317");
    refused(&[ISSUER, KEY, endpoint, grpc], "`http/protobuf`");
}
