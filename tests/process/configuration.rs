//! Bad settings, and the one line that the process prints for each.

use std::net::TcpListener;

use crate::support::process::{Finished, finish, portcullis};
use crate::support::saas;
use crate::support::{Provider, Request, Server, Settings, Tenant};

fn provider() -> &'static Provider {
    Provider::shared()
}

fn tenant(server: &Server) -> Tenant<'static> {
    Tenant::with_provider(server, provider(), "t")
}

/// Asserts that the start failed, and that one line on standard error names `variable`.
#[track_caller]
fn failed(done: &Finished, variable: &str) {
    assert!(done.code.is_some_and(|code| code != 0), "{done:?}");
    let naming: Vec<&str> = done.err.lines().filter(|line| line.contains(variable)).collect();
    assert_eq!(naming.len(), 1, "one line names {variable}: {done:?}");
    assert!(!done.err.contains("panicked"), "{done:?}");
    assert!(!done.err.contains("listening on"), "{done:?}");
}

/// Asserts that nothing but one line was said, and that the exit code is that of a bad setting.
#[track_caller]
fn misconfigured(done: &Finished, variable: &str) {
    failed(done, variable);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert_eq!((done.err.lines().count(), &*done.out), (1, ""), "{done:?}");
}

#[test]
fn a_bad_variable_is_named_in_one_line() {
    for (name, value) in [
        ("AUTH_SERVER_URL", ""),
        ("AUTH_SERVER_URL", "id.example"),
        ("AUTH_SERVER_URL", "ftp://id.example"),
        ("JWKS_URI", "keys.json"),
        ("JWKS_URI", "file:///etc/passwd"),
        ("MODE", "cloud"),
        ("MODE", "SELFHOST"),
        ("OIDC_ENABLED", "yes"),
        ("OIDC_ENABLED", "1"),
        ("LISTEN_ADDR", "8080"),
        ("LISTEN_ADDR", "127.0.0.1"),
        ("LISTEN_ADDR", "127.0.0.1:99999"),
        ("PLAN_CACHE_BYTES", "256MB"),
        ("PLAN_CACHE_BYTES", "-1MiB"),
        ("PLAN_CACHE_BYTES", "lots"),
        ("LOG_FORMAT", "xml"),
        ("RUST_LOG", "portcullis=loudest"),
    ] {
        let done = Settings::new(provider()).set(name, value).run(&["serve"]);
        misconfigured(&done, name);
    }
    misconfigured(&Settings::without_provider().run(&["serve"]), "AUTH_SERVER_URL");
}

#[test]
fn a_database_url_of_no_database_is_a_bad_variable() {
    for url in [
        "mysql://localhost/x",
        "portcullis.db",
        "http://localhost",
        "sqlite",
        "sqlite://x?mode=nonsense",
        "sqlite:",
        "sqlite://",
        "sqlite://x?mode=memory",
        "sqlite://x?mode=ro",
        "sqlite://x?immutable=1",
    ] {
        for command in ["serve", "migrate"] {
            let done = Settings::new(provider()).set("DATABASE_URL", url).run(&[command]);
            misconfigured(&done, "DATABASE_URL");
        }
    }
}

#[test]
fn no_message_shows_a_password() {
    for url in [
        "mysql://user:hunter2@localhost/x",
        "redis://:hunter2@localhost",
        "postgres://user:hun@hunter2/x@127.0.0.1:1/x",
        "postgres://user:1/hunter2@127.0.0.1:1/x",
        "postgres://user:1?hunter2@127.0.0.1:1/x",
        "postgres://127.0.0.1:1/x?user=u&password=p@hunter2",
        "postgres://127.0.0.1:1/x?user=u&password=p&hunter2",
    ] {
        let done = Settings::new(provider()).set("DATABASE_URL", url).run(&["serve"]);
        failed(&done, "DATABASE_URL");
        assert!(!format!("{done:?}").contains("hunter2"), "{done:?}");
    }
}

#[test]
fn an_empty_variable_is_an_absent_one() {
    let names = [
        "MODE",
        "JWKS_URI",
        "OIDC_ENABLED",
        "OIDC_AUDIENCE",
        "ROLES_CLAIM",
        "DOMAIN_CLAIM",
        "ADMIN_DOMAIN_CLAIM",
        "MANAGER_ROLES",
        "PLAN_CACHE_BYTES",
        "LOG_FORMAT",
        "RUST_LOG",
    ];
    let settings =
        names.into_iter().fold(Settings::new(provider()), |settings, name| settings.set(name, ""));
    let server = settings.start();
    tenant(&server).rule("alice", "doc:read", "read", "allow");
}

#[test]
fn a_port_in_use_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let done = Settings::new(provider()).set("LISTEN_ADDR", &address).run(&["serve"]);
    failed(&done, "LISTEN_ADDR");
    assert!(done.err.contains(&address), "{done:?}");
}

#[test]
fn a_port_in_use_is_named_by_its_variable() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let settings = Settings::new(provider()).set("ADMIN_LISTEN_ADDR", &address);
    failed(&settings.run(&["serve"]), "ADMIN_LISTEN_ADDR");
    let dev = settings.clone().set("LISTEN_ADDR", &address).run(&["dev"]);
    failed(&dev, "--port N");
    assert!(dev.err.contains(&address) && dev.err.contains("in use"), "{dev:?}");
}

#[test]
fn a_database_that_is_down_says_why() {
    // Nothing listens on the port.
    let url = "postgres://portcullis:hunter2@127.0.0.1:1/portcullis";
    for arguments in [&["serve"][..], &["migrate"], &["tenants", "list"]] {
        let done = Settings::new(provider()).set("DATABASE_URL", url).run(arguments);
        failed(&done, "DATABASE_URL");
        assert!(done.err.contains("Connection refused"), "{done:?}");
        assert!(!done.err.contains("hunter2") && !done.err.contains("timed out"), "{done:?}");
    }
}

#[test]
fn a_missing_database_of_postgresql_is_named() {
    let settings = Settings::new(provider());
    let Some(database) = settings.database() else { return };
    let url = database.url().replacen(&format!("/{}", database.name()), "/absent", 1);
    let done = settings.clone().set("DATABASE_URL", url).run(&["serve"]);
    failed(&done, "DATABASE_URL");
    assert!(done.err.ends_with("`: database \"absent\" does not exist"), "{done:?}");
    assert!(!done.err.contains("is a primary"), "{done:?}");
}

#[test]
fn a_command_of_the_operator_creates_no_database() {
    let settings = Settings::new(provider());
    let file = settings.path("mistyped.db");
    let settings = settings.set("DATABASE_URL", format!("sqlite://{}", file.display()));
    for arguments in [
        &["tenants", "list"][..],
        &["tenants", "suspend", "acme"],
        &["keys", "list", "--tenant", "acme"],
        &["keys", "create", "--tenant", "acme", "--name", "k"],
        &["audit"],
    ] {
        let done = settings.run(arguments);
        failed(&done, "DATABASE_URL");
        assert!(done.err.contains("mistyped.db") && done.err.contains("migrate"), "{done:?}");
        assert!(!file.exists(), "{arguments:?}");
    }
}

#[test]
fn a_variable_with_a_typo_is_refused_by_every_command() {
    let settings = Settings::new(provider()).set("DATABASE_URI", "sqlite://hunter2.db");
    let begun = Settings::new(provider()).set("DECISION_LOG", "file:///hunter2");
    misconfigured(&begun.run(&["serve"]), "DECISION_LOG");
    for arguments in [&["serve"][..], &["migrate"], &["dev"], &["resolver", "inspect", "x.wasm"]] {
        let done = settings.run(arguments);
        misconfigured(&done, "DATABASE_URI");
        assert!(done.err.contains("DATABASE_URL") && !done.err.contains("hunter2"), "{done:?}");
    }
    // Variables of others are left alone.
    let others = [("PORTCULLIS_PORT", "tcp://10.0.0.1:80"), ("NODE", "1"), ("TOKENS", "2")];
    let settings = others
        .into_iter()
        .fold(Settings::new(provider()), |settings, (name, value)| settings.set(name, value));
    assert_eq!(settings.run(&["migrate"]).code, Some(0));
    let file = settings.path("portcullis.env");
    std::fs::write(&file, "POSTGRES_PASSWORD=x\nWEBHOOK_RETRIES=5\n").unwrap();
    let done = settings.run(&["migrate", "--env-file", file.to_str().unwrap()]);
    misconfigured(&done, "WEBHOOK_RETRIES");
    assert!(done.err.contains("portcullis.env"), "{done:?}");
}

#[test]
fn a_single_tenant_is_one_of_selfhost() {
    let saas = saas::settings().set("SINGLE_TENANT", "acme");
    misconfigured(&saas.run(&["serve"]), "SINGLE_TENANT");
    for name in ["*", "a\tb", &"a".repeat(257)] {
        let done = Settings::new(provider()).set("SINGLE_TENANT", name).run(&["serve"]);
        misconfigured(&done, "SINGLE_TENANT");
    }
}

#[test]
fn the_start_logs_whose_data_is_served_and_where() {
    let line = |settings: &Settings| {
        let server = settings.start();
        let lines = server.process.err.lines();
        let starting: Vec<&String> =
            lines.iter().filter(|line| line.contains("starting")).collect();
        assert_eq!(starting.len(), 1, "{lines:?}");
        starting[0].clone()
    };
    let issuer = provider().issuer();
    let several = Settings::new(provider());
    let database = format!("database=\"sqlite://{}", several.path("portcullis.db").display());
    let text = line(&several);
    for part in ["mode=\"selfhost\"", &database, &format!("issuer=\"{issuer}\"")] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("tenant=") && text.contains("decisions=\"off\""), "{text}");
    let recording = several.clone().recording();
    let place = format!("decisions=\"file://{}\"", several.path("decisions").display());
    let text = line(&recording.set("HTTPS_PROXY", "http://user:hunter2@proxy.example"));
    assert!(text.contains(&place), "{place}: {text}");
    let single =
        line(&several.set("SINGLE_TENANT", "acme").set("ADMIN_LISTEN_ADDR", "127.0.0.1:0"));
    assert!(single.contains("tenant=\"acme\""), "{single}");
    let saas = line(&saas::settings());
    assert!(saas.contains("mode=\"saas\"") && !saas.contains(&issuer), "{saas}");
}

#[test]
fn a_database_that_cannot_be_opened_is_named() {
    let settings = Settings::new(provider());
    let at = |name: &str| format!("sqlite://{}", settings.path(name).display());
    std::fs::create_dir(settings.path("directory.db")).unwrap();
    std::fs::write(settings.path("file"), "x").unwrap();
    std::fs::write(settings.path("garbage.db"), "this is no database, ".repeat(1_000)).unwrap();
    for url in [
        at("missing/portcullis.db"),
        at("directory.db"),
        at("file/portcullis.db"),
        at("garbage.db"),
    ] {
        for command in ["serve", "migrate"] {
            let done = settings.clone().set("DATABASE_URL", &url).run(&[command]);
            failed(&done, "DATABASE_URL");
            assert!(done.err.contains(&url), "{done:?}");
        }
    }
    let garbage = std::fs::read_to_string(settings.path("garbage.db")).unwrap();
    assert!(garbage.starts_with("this is no database"), "it was not overwritten");
}

#[test]
fn a_database_that_is_damaged_is_named() {
    let settings = Settings::new(provider());
    assert_eq!(settings.run(&["migrate"]).code, Some(0));
    let path = settings.path("portcullis.db");
    let mut bytes = std::fs::read(&path).unwrap();
    // The header stays; all that it describes is gone.
    bytes[100..].fill(0xa5);
    std::fs::write(&path, &bytes).unwrap();
    for name in ["portcullis.db-wal", "portcullis.db-shm"] {
        let _ = std::fs::remove_file(settings.path(name));
    }
    for command in ["serve", "migrate"] {
        failed(&settings.run(&[command]), "DATABASE_URL");
    }
}

#[test]
fn an_env_file_supplies_variables_and_the_environment_overrides_it() {
    let settings = Settings::without_provider();
    let file = settings.path("portcullis.env");
    let issuer = provider().issuer();
    std::fs::write(&file, format!("# comment\nAUTH_SERVER_URL={issuer}\nMODE=cloud\n")).unwrap();
    let path = file.to_str().unwrap();
    misconfigured(&settings.run(&["serve", "--env-file", path]), "MODE");
    let server =
        settings.clone().set("MODE", "selfhost").start_with(&["serve", "--env-file", path]);
    tenant(&server).rule("alice", "doc:read", "read", "allow");
    std::fs::write(&file, "this is not a variable").unwrap();
    for path in [path, "/nowhere/portcullis.env"] {
        let done = settings.run(&["serve", "--env-file", path]);
        misconfigured(&done, "--env-file");
        assert!(
            done.err.contains(path) && !done.err.contains("this is not a variable"),
            "{done:?}"
        );
    }
}

#[test]
fn the_log_can_be_json() {
    let mut server = Settings::new(provider()).set("LOG_FORMAT", "json").start();
    server.process.terminate();
    assert!(server.process.wait().unwrap().success());
    let lines = server.process.err.lines();
    assert!(!lines.is_empty());
    for line in lines {
        serde_json::from_str::<serde_json::Value>(&line).expect("a JSON line");
    }
    assert_eq!(server.process.out.text(), "");
}

#[test]
fn several_addresses_can_be_listened_on() {
    for (listen, prefix) in [("127.0.0.1:0", "127.0.0.1:"), ("0.0.0.0:0", "0.0.0.0:")] {
        let server = Settings::new(provider()).set("LISTEN_ADDR", listen).start();
        assert!(server.address.to_string().starts_with(prefix));
        let address = ([127, 0, 0, 1], server.address.port()).into();
        Request::new("GET /healthz/live").send(address).is(200);
    }
}

#[test]
fn a_command_line_that_makes_no_sense_is_refused() {
    for arguments in
        [&[][..], &["unknown"], &["serve", "--unknown"], &["serve", "extra"], &["test"]]
    {
        let done = finish(portcullis(arguments));
        assert_eq!(done.code, Some(2), "{done:?}");
        assert!(!done.err.is_empty());
    }
    for arguments in [&["--help"][..], &["serve", "--help"], &["--version"]] {
        let done = finish(portcullis(arguments));
        assert_eq!(done.code, Some(0), "{done:?}");
        assert!(done.out.contains("portcullis") && done.err.is_empty(), "{done:?}");
    }
}
