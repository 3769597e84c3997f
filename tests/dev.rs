//! `portcullis dev`: its printed commands work as printed, and its data survives a restart.

mod first_hour;
mod folder;
mod issuer;
mod sign_in;
mod standard_client;
mod start;

use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::process::{Process, finish, portcullis, repository};
use crate::support::tenant::{Decision, always};
use crate::support::{Reply, Request};

/// A running `portcullis dev`.
pub(crate) struct Dev {
    process: Process,
    pub(crate) address: SocketAddr,
    /// The lines that it printed at its start.
    welcome: Vec<String>,
    /// The page with every user and every check, as it was at the start.
    examples: Vec<String>,
    /// The tokens, by the names of the users.
    tokens: BTreeMap<String, String>,
}

/// The command, with a data directory and an address.
fn command(directory: &Path, listen: &str) -> Command {
    let mut command = portcullis(&["dev", "--data-dir"]);
    command.arg(directory).env("LISTEN_ADDR", listen);
    command
}

impl Dev {
    #[track_caller]
    fn start(directory: &Path, listen: &str) -> Self {
        Self::new(command(directory, listen))
    }

    /// Waits until the process of this command serves.
    #[track_caller]
    pub(crate) fn new(command: Command) -> Self {
        let process = Process::spawn(command);
        let all = |lines: &[String]| {
            let end = lines.iter().position(|line| line.starts_with("Ctrl-C"));
            end.and_then(|end| lines.get(..=end)).map(<[String]>::to_vec)
        };
        let Some(welcome) = process.out.wait_for(all) else {
            panic!("it does not start: {}\n{}", process.out.text(), process.err.text());
        };
        let address = welcome[0].split("http://").nth(1).and_then(|text| text.split(' ').next());
        let address: SocketAddr =
            address.and_then(|text| text.parse().ok()).expect("the first line has the address");
        let page = Request::new("GET /dev/examples").send(address).is(200).text;
        let examples: Vec<String> = page.lines().map(str::to_owned).collect();
        let tokens = examples.iter().filter(|line| line.starts_with("curl -s 'http"));
        let tokens = tokens.map(|line| {
            let user = line.split("user=").nth(1).expect("a user").trim_end_matches('\'');
            let (address, request) = request_of(line);
            (user.to_owned(), request.send(address).is(200).text.trim().to_owned())
        });
        let tokens = tokens.collect();
        Self { process, address, welcome, examples, tokens }
    }

    /// Starts it in its own directory, on any port.
    #[track_caller]
    pub(crate) fn fresh() -> (Self, TempDir) {
        let directory = tempfile::tempdir().unwrap();
        (Self::start(directory.path(), "127.0.0.1:0"), directory)
    }

    /// Returns every check of the page: the shown answer, and the command to paste.
    fn demos(&self) -> Vec<(&str, String)> {
        let commands = self.examples.iter().enumerate();
        let commands =
            commands.filter_map(|(at, line)| Some((at, line.strip_prefix("# answers ")?)));
        commands.map(|(at, answer)| (answer, command_after(&self.examples[at + 1..]))).collect()
    }

    /// Returns the token of a user.
    #[track_caller]
    pub(crate) fn token(&self, user: &str) -> &str {
        self.tokens.get(user).expect("the user has a token")
    }

    fn get(&self, path: &str, token: &str) -> Reply {
        Request::new(format!("GET {path}")).token(token).send(self.address)
    }

    #[track_caller]
    fn stop(mut self) {
        self.process.terminate();
        assert_eq!(self.process.wait().unwrap().code(), Some(0));
    }
}

/// Returns the lines of a command, which goes on while a line ends with `\` or its body is not closed.
fn command_after(lines: &[String]) -> String {
    // Hints may come before the command.
    let begin = lines.iter().position(|line| !line.starts_with("# ")).expect("a command");
    let end = lines.iter().position(|line| line.ends_with("}'")).expect("the end of a command");
    lines[begin..=end].join("\n")
}

/// Splits a shell command into words. It may use quotes, and `\` at the end of a line.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote, mut chars) = (vec![], String::new(), None, line.chars());
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\'' | '"', None) => quote = Some(c),
            (_, Some(open)) if c == open => quote = None,
            ('\\', None) => word.extend(chars.next().filter(|next| *next != '\n')),
            (' ' | '\n', None) => words.push(std::mem::take(&mut word)),
            _ => word.push(c),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

/// Returns the request that curl sends for a printed command.
fn request_of(line: &str) -> (SocketAddr, Request) {
    let words = words(line);
    let url = words.iter().find_map(|word| word.strip_prefix("http://")).expect("an address");
    let (authority, path) = url.split_at(url.find('/').unwrap());
    let after = |flag: &'static str| {
        let pairs = words.windows(2).filter(move |pair| pair[0] == flag);
        pairs.map(|pair| &*pair[1]).collect::<Vec<_>>()
    };
    let body = after("-d").join("&");
    let method = if body.is_empty() { "GET" } else { "POST" };
    let mut request = Request::new(format!("{method} {path}")).untyped_body(body);
    for header in after("-H") {
        let (name, value) = header.split_once(": ").expect("a header");
        request = request.header(name, &substituted(value));
    }
    if after("-H").is_empty() {
        request = request.header("content-type", "application/x-www-form-urlencoded");
    }
    (authority.parse().unwrap(), request)
}

/// Replaces `$(…)` by the output of the command.
fn substituted(text: &str) -> String {
    let Some((before, rest)) = text.split_once("$(") else { return text.to_owned() };
    let (command, after) = rest.split_once(')').expect("the end of the command");
    let (address, request) = request_of(command);
    format!("{before}{}{after}", request.send(address).is(200).text.trim())
}

/// Runs a printed line and returns the answer. Uses curl itself if it is installed.
#[track_caller]
fn paste(line: &str) -> String {
    let (address, request) = request_of(line);
    let answer = request.send(address).text;
    let installed = Command::new("curl").arg("--version").output().is_ok();
    if installed {
        let output = Command::new("sh").args(["-c", line]).output().expect("a shell");
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        let pasted = String::from_utf8_lossy(&output.stdout).into_owned();
        // Two tokens differ.
        if !answer.contains("access_token") && !answer.starts_with("ey") {
            assert_eq!(pasted, answer, "{line}");
        }
        return pasted;
    }
    answer
}

#[test]
fn only_this_machine_is_a_host() {
    let (dev, _directory) = Dev::fresh();
    for route in [
        "GET /healthz/live",
        "GET /dev/.well-known/openid-configuration",
        "POST /dev/protocol/openid-connect/token",
        "POST /api/v1/check",
    ] {
        // A name on the internet that resolves to 127.0.0.1.
        for host in ["evil.example", "evil.example:8080", "127.0.0.1.evil.example"] {
            let request = Request::new(route).header("host", host);
            request.send(dev.address).refused(403, "ACCESS_DENIED");
        }
    }
    for host in ["localhost:1", "127.0.0.1", "[::1]:8080"] {
        Request::new("GET /healthz/live").header("host", host).send(dev.address).is(200);
    }
}

#[test]
fn every_printed_check_answers_what_is_printed_beside_it() {
    let (dev, _directory) = Dev::fresh();
    let demos = dev.demos();
    assert!(demos.len() >= 4, "there is something to see");
    for (answer, line) in demos {
        assert!(line.starts_with("curl -s http://127.0.0.1:"), "{line}");
        assert_eq!(paste(&line), *answer, "{line}");
    }
}

/// Asserts that the lines fit on a screen, and returns the checks: the shown decision, and the command.
#[track_caller]
fn checks_on_a_screen(welcome: &[String]) -> Vec<(&str, String)> {
    assert!(welcome.len() <= 24, "{} lines: {welcome:#?}", welcome.len());
    for line in welcome {
        assert!(line.chars().count() <= 100, "{line}");
    }
    let headings = welcome.iter().enumerate();
    let headings = headings.filter_map(|(at, line)| {
        let heading = line.strip_prefix("# ").filter(|line| !line.starts_with("hint "))?;
        let (decision, _) = heading.split_once(": ")?;
        Some((decision, command_after(&welcome[at + 1..])))
    });
    headings.collect()
}

#[test]
fn the_banner_fits_on_a_screen_and_all_of_it_works() {
    let (dev, _directory) = Dev::fresh();
    let checks = checks_on_a_screen(&dev.welcome);
    assert_eq!(checks.len(), 3, "{:#?}", dev.welcome);
    for (decision, command) in checks {
        let answer: Value = serde_json::from_str(&paste(&command)).unwrap();
        assert_eq!(answer["decision"], decision, "{command}");
    }
    for path in ["/docs", "/dev/examples"] {
        let url = format!("http://{}{path}", dev.address);
        assert!(dev.welcome[2].split(' ').any(|word| word == url), "{}", dev.welcome[2]);
        Request::new(format!("GET {path}")).send(dev.address).is(200);
    }
    assert_eq!(dev.welcome[1], format!("Console: http://{}/console", dev.address));
    let tokens: Vec<_> =
        dev.welcome.iter().filter(|line| line.starts_with("  curl -s 'http")).collect();
    assert_eq!(tokens.len(), 2, "one for each tenant: {:#?}", dev.welcome);
    for command in tokens {
        dev.get("/api/v1/resources", paste(command).trim()).is(200);
    }
}

#[test]
fn the_welcome_says_that_dev_is_not_for_production() {
    let (dev, _directory) = Dev::fresh();
    assert!(dev.welcome[0].contains("not for production"), "{}", dev.welcome[0]);
    Request::new("GET /healthz/ready").send(dev.address).is(200);
}

#[test]
fn the_page_at_the_root_links_to_the_examples() {
    let (dev, _directory) = Dev::fresh();
    let page = Request::new("GET /").send(dev.address).is(200);
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    let policy = page.header("content-security-policy").expect("a policy");
    assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
    for part in ["href=\"dev/examples\"", "href=\"docs\""] {
        assert!(page.text.contains(part), "`{part}` is not in {}", page.text);
    }
}

#[test]
fn every_sample_user_has_a_token_that_works() {
    let (dev, _directory) = Dev::fresh();
    assert!(dev.tokens.len() >= 10);
    for token in dev.tokens.values() {
        let check = json!({"resource": "anything:read"});
        let request = Request::new("POST /api/v1/resources/access/check").token(token).json(&check);
        request.send(dev.address).is(200);
    }
    for (user, status) in
        [("olga-admin", 200), ("dev-amara", 403), ("ines-admin", 200), ("nurse-lind", 403)]
    {
        dev.get("/api/v1/resources", dev.token(user)).is(status);
    }
    let shop = dev.get("/api/v1/resources", dev.token("olga-admin")).json();
    let hospital = dev.get("/api/v1/resources", dev.token("ines-admin")).json();
    assert!(!shop.as_array().unwrap().is_empty() && !hospital.as_array().unwrap().is_empty());
    assert_ne!(shop, hospital);
}

/// A YAML file of a sample tenant.
fn sample(tenant: &str, file: &str) -> Value {
    let path = repository().join("policies").join(tenant).join(file);
    serde_saphyr::from_str(&std::fs::read_to_string(path).unwrap()).expect("YAML")
}

#[test]
fn the_service_decides_the_cases_of_the_sample_tenants_as_they_expect() {
    let (dev, _directory) = Dev::fresh();
    let mut decided = 0;
    for tenant in ["hospital", "software-shop"] {
        for case in sample(tenant, "cases.yaml").as_array().unwrap() {
            // A case with an instant or without a token cannot be sent. The resolvers of the service do not answer
            // as a case says.
            let (Some(user), None) = (case["as"].as_str(), case.get("now")) else { continue };
            if case.get("resolved").is_some() || case.get("responses").is_some() {
                continue;
            }
            let request = Request::new("POST /api/v1/check").token(dev.token(user));
            let decision = Decision::new(&request.json(&case["check"]).send(dev.address));
            assert_eq!(decision.decision, case["expect"]["decision"], "{case}: {decision:?}");
            match case["expect"]["rule"].as_str().unwrap() {
                "default-deny" => decision.is_default(),
                rule => {
                    assert!(decision.reason.contains(&format!("`{rule}`")), "{case}: {decision:?}")
                }
            }
            decided += 1;
        }
    }
    assert!(decided >= 40, "{decided}");
}

/// Returns a free port outside of the range of outgoing connections, so that a second start can use it again.
fn free_port() -> u16 {
    let start = 20_000 + (std::process::id() % 5_000) as u16;
    let free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    (start..30_000).find(free).expect("a free port")
}

/// Returns everything that a manager can read: policies, resources, and the rules of each resource.
fn everything(dev: &Dev, token: &str) -> Value {
    let get = |path: &str| dev.get(path, token).is(200).json();
    let resources = get("/api/v1/resources");
    let rules_of = |resource: &Value| {
        get(&format!("/api/v1/resources/{}/policies", resource["id"].as_str().unwrap()))
    };
    let rules: Vec<Value> = resources.as_array().unwrap().iter().map(rules_of).collect();
    json!([get("/api/v1/abac/policies"), resources, rules])
}

#[test]
fn a_restart_keeps_the_data_the_key_and_earlier_tokens() {
    let directory = tempfile::tempdir().unwrap();
    let listen = format!("127.0.0.1:{}", free_port());
    let first = Dev::start(directory.path(), &listen);
    let (boss, developer) =
        (first.token("olga-admin").to_owned(), first.token("dev-amara").to_owned());
    let keys = first.get("/dev/protocol/openid-connect/certs", &boss).is(200).text;
    let freeze = json!({
        "name": "freeze", "resource": "*", "effect": "deny", "priority": 2_000_000, "rule_data": always(),
    });
    let request = Request::new("POST /api/v1/abac/policies").token(&boss).json(&freeze);
    let freeze = request.send(first.address).is(201);
    // One tenant has a change, the other one has none.
    let tokens = [boss.clone(), first.token("ines-admin").to_owned()];
    let before = tokens.each_ref().map(|token| everything(&first, token));
    first.stop();

    let second = Dev::start(directory.path(), &listen);
    assert_eq!(second.get("/dev/protocol/openid-connect/certs", &boss).text, keys);
    assert_eq!(tokens.each_ref().map(|token| everything(&second, token)), before);
    let check = json!({"subject": "dev-amara", "resource": "project:read", "action": "read"});
    let reply =
        Request::new("POST /api/v1/check").token(&developer).json(&check).send(second.address);
    let decision = Decision::new(&reply);
    decision.is("deny", &freeze.id());
    assert_eq!(decision.revision, freeze.revision(), "nothing was written by the second start");
    // The printed answers follow the stored policies.
    let frozen = second.demos().iter().filter(|(answer, _)| answer.contains(&freeze.id())).count();
    assert!(frozen > 0, "{:?}", second.demos());
    for (answer, line) in second.demos() {
        assert_eq!(paste(&line), *answer);
    }
    second.stop();
}

#[test]
fn a_crash_keeps_the_data_too() {
    let directory = tempfile::tempdir().unwrap();
    let mut first = Dev::start(directory.path(), "127.0.0.1:0");
    let request = Request::new("POST /api/v1/resources").token(first.token("olga-admin"));
    let record = request.json(&json!({"name": "kept:read"})).send(first.address).is(201).json();
    first.process.kill();
    let second = Dev::start(directory.path(), "127.0.0.1:0");
    let list = second.get("/api/v1/resources", second.token("olga-admin")).is(200).json();
    assert!(list.as_array().unwrap().contains(&record), "{list}");
}

#[test]
fn it_listens_on_loopback_only() {
    let directory = tempfile::tempdir().unwrap();
    for listen in ["0.0.0.0:0", "[::]:0", "192.0.2.1:8080", "10.0.0.1:0", "nonsense"] {
        let done = finish(command(&directory.path().join("data"), listen));
        assert_eq!(done.code, Some(2), "{done:?}");
        assert!(done.err.contains("LISTEN_ADDR") && done.err.lines().count() == 1, "{done:?}");
        assert_eq!(done.out, "");
    }
    assert!(!directory.path().join("data").exists(), "a refused start leaves nothing behind");
    for listen in ["127.0.0.1:0", "127.0.0.2:0"] {
        let dev = Dev::start(directory.path(), listen);
        assert!(dev.address.ip().is_loopback());
    }
}

#[test]
fn dev_ignores_the_variables_of_a_production_service() {
    let directory = tempfile::tempdir().unwrap();
    let mut command = command(&directory.path().join("data"), "127.0.0.1:0");
    let database = directory.path().join("production.db");
    command
        .env("DATABASE_URL", format!("sqlite://{}", database.display()))
        .env("AUTH_SERVER_URL", "https://production.example")
        .env("JWKS_URI", "https://production.example/keys")
        .env("MODE", "nonsense")
        .env("OIDC_ENABLED", "false")
        .env("MANAGER_ROLES", "developer")
        .env("DOMAIN_CLAIM", "sub");
    let dev = Dev::new(command);
    assert!(!database.exists());
    let (answer, line) = &dev.demos()[0];
    assert_eq!(paste(line), *answer);
}

#[test]
fn the_data_directory_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("deeper/data");
    let dev = Dev::start(&data, "127.0.0.1:0");
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&data), 0o700);
    let keys: Vec<_> = std::fs::read_dir(&data)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "p8"))
        .collect();
    assert_eq!(keys.len(), 1);
    assert_eq!(mode(&keys[0]), 0o600);
    drop(dev);
    // A file that is not a key is named, not replaced.
    std::fs::write(&keys[0], "nonsense").unwrap();
    let done = finish(command(&data, "127.0.0.1:0"));
    assert!(done.code.is_some_and(|code| code != 0), "{done:?}");
    assert!(done.err.contains(keys[0].to_str().unwrap()), "{done:?}");
    assert_eq!(std::fs::read(&keys[0]).unwrap(), b"nonsense");
}

#[test]
fn without_a_data_directory_it_makes_one_here() {
    let directory = tempfile::tempdir().unwrap();
    let mut command = portcullis(&["dev"]);
    command.env("LISTEN_ADDR", "127.0.0.1:0").current_dir(directory.path());
    let process = Process::spawn(command);
    process
        .out
        .wait_for(|lines| lines.iter().find(|line| line.starts_with("Ctrl-C")).cloned())
        .unwrap();
    assert!(directory.path().join(".portcullis-dev").is_dir());
}
