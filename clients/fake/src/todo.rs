//! The todo scenario of AuthZEN's interop events, asked of a sample application: its answers must be the decisions of the
//! service, also where every fourth request between the two fails.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, ensure};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as BASE64;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::proxy::Proxy;

/// Each case is asked once with a good connection, this many times with a bad one, and once without a service.
const BAD_ROUNDS: usize = 3;
/// In bad rounds, one request in this many fails.
const EVERY: usize = 4;

/// A case of `cases.yaml`.
#[derive(Deserialize)]
struct Case {
    name: String,
    #[serde(rename = "as")]
    caller: String,
    check: Value,
    expect: Expected,
}

impl Case {
    /// Returns a member of the check.
    fn text(&self, member: &str) -> anyhow::Result<&str> {
        self.check[member].as_str().context("a text")
    }
}

#[derive(Deserialize)]
struct Expected {
    decision: String,
}

#[derive(Deserialize)]
struct Tenant {
    users: Vec<User>,
}

#[derive(Deserialize)]
struct User {
    sub: String,
    roles: Vec<String>,
}

/// A program that serves, and is ended with this value.
struct Program {
    child: Child,
    url: String,
}

impl Program {
    /// Starts a program that prints its address first.
    fn start(command: &mut Command) -> anyhow::Result<Self> {
        let mut child =
            command.stdout(Stdio::piped()).spawn().with_context(|| format!("{command:?}"))?;
        let mut lines = BufReader::new(child.stdout.take().context("no output")?).lines();
        let mut program = Self { child, url: String::new() };
        for line in lines.by_ref() {
            let line = line?;
            if let Some(start) = line.find("http://127.0.0.1:") {
                let address =
                    line[start..].split(|c: char| c.is_whitespace() || c == '`' || c == '\x1b');
                program.url = address.take(1).collect::<String>().trim_end_matches('/').to_owned();
                // What it prints later is read, so that it never waits for a reader.
                std::thread::spawn(move || lines.for_each(drop));
                return Ok(program);
            }
        }
        anyhow::bail!("{command:?} ended without an address")
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended by itself.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The service, the application, and what is asked of it.
struct Stage {
    agent: ureq::Agent,
    cases: Vec<Case>,
    app: String,
    service: String,
    token: String,
}

/// Runs the scenario against the application that `command` starts. Prints how many answers were as they must be.
pub(crate) fn run(binary: &str, folder: &Path, command: &[String]) -> anyhow::Result<()> {
    let data = std::env::temp_dir().join(format!("portcullis-todo-{}", std::process::id()));
    let mut dev = Command::new(binary);
    dev.arg("dev").arg(folder).args(["--port", "0", "--data-dir"]).arg(&data);
    let service = Program::start(&mut dev)?;
    let agent: ureq::Agent =
        ureq::Agent::config_builder().http_status_as_error(false).build().into();
    let cases: Vec<Case> = read(&folder.join("cases.yaml"))?;
    let caller = &cases.first().context("no cases")?.caller;
    let token = format!("{}/dev/token?user={caller}", service.url);
    let token = agent.get(token).call()?.body_mut().read_to_string()?.trim().to_owned();
    let (proxy, address) = Proxy::start(service.url.clone())?;
    let database = data.join("todos.json");
    std::fs::write(
        &database,
        database_of(&read(&folder.join("tenant.yaml"))?, &cases).to_string(),
    )?;
    let (program, arguments) = command.split_first().context("no command")?;
    let mut app = Command::new(program);
    app.args(arguments)
        .env("PORTCULLIS_URL", address)
        .env("PORTCULLIS_TOKEN", &token)
        .env("TODOS", database);
    let app = Program::start(&mut app)?;
    let stage = Stage { agent, cases, app: app.url.clone(), service: service.url.clone(), token };
    ensure!(
        stage.send("GET", "/todos", None, None)? == 401,
        "nobody is signed in, and it is no 401"
    );
    let mut answers = stage.ask(0)?;
    proxy.fail(EVERY);
    for round in 1..=BAD_ROUNDS {
        answers += stage.ask(round)?;
    }
    let failed = proxy.failed();
    ensure!(failed >= stage.cases.len() * BAD_ROUNDS / EVERY, "only {failed} requests failed");
    // The outage: every request fails, and no service is there to answer it.
    proxy.fail(1);
    drop(service);
    for (number, case) in stage.cases.iter().enumerate() {
        let status = stage.ask_app(case, BAD_ROUNDS + 1, number)?;
        ensure!(status == 503, "{}: {status} in an outage", case.name);
    }
    drop(app);
    std::fs::remove_dir_all(data)?;
    println!(
        "{answers} answers, {failed} requests failed between: 0 other than the decision of the service; an outage is a 503"
    );
    std::io::stdout().flush()?;
    Ok(())
}

fn read<T: for<'de> Deserialize<'de>>(path: &Path) -> anyhow::Result<T> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    serde_saphyr::from_str(&text).with_context(|| path.display().to_string())
}

/// Returns what the application knows: the people with their roles, and a todo for each case of each round.
fn database_of(tenant: &Tenant, cases: &[Case]) -> Value {
    let people: serde_json::Map<_, _> =
        tenant.users.iter().map(|user| (user.sub.clone(), json!(user.roles))).collect();
    let mut todos = Vec::new();
    for round in 0..=BAD_ROUNDS + 1 {
        for (number, case) in cases.iter().enumerate() {
            let owner = case.check.pointer("/attributes/resource/ownerID");
            if let Some(owner) = owner {
                todos.push(json!({"id": id(round, number), "title": case.name, "ownerID": owner}));
            }
        }
    }
    json!({"people": people, "todos": todos})
}

fn id(round: usize, number: usize) -> String {
    format!("{round}-{number}")
}

impl Stage {
    /// Asks the service and the application each case. Returns the number of cases.
    fn ask(&self, round: usize) -> anyhow::Result<usize> {
        for (number, case) in self.cases.iter().enumerate() {
            let decision = self.ask_service(case)?;
            ensure!(decision == case.expect.decision, "{}: the service says {decision}", case.name);
            let status = self.ask_app(case, round, number)?;
            let expected = if decision == "allow" { 200..300 } else { 403..404 };
            ensure!(expected.contains(&status), "{}: {decision}, but {status}", case.name);
        }
        Ok(self.cases.len())
    }

    fn ask_service(&self, case: &Case) -> anyhow::Result<String> {
        let request = self.agent.post(format!("{}/api/v1/check", self.service));
        let request = request.header("authorization", format!("Bearer {}", self.token));
        let request = request.header("content-type", "application/json");
        let text = request.send(case.check.to_string())?.body_mut().read_to_string()?;
        let answer: Value = serde_json::from_str(&text)?;
        Ok(answer["decision"].as_str().context(text)?.to_owned())
    }

    fn ask_app(&self, case: &Case, round: usize, number: usize) -> anyhow::Result<u16> {
        let todo = format!("/todos/{}", id(round, number));
        let body = Some(r#"{"title": "buy portal fluid"}"#);
        let user = Some(case.text("subject")?);
        match case.text("resource")? {
            "user:can_read_user" => self.send("GET", "/users/beth@the-smiths.com", user, None),
            "todo:can_read_todos" => self.send("GET", "/todos", user, None),
            "todo:can_create_todo" => self.send("POST", "/todos", user, body),
            "todo:can_update_todo" => self.send("PUT", &todo, user, body),
            "todo:can_delete_todo" => self.send("DELETE", &todo, user, None),
            other => anyhow::bail!("no route for `{other}`"),
        }
    }

    /// Returns the status of the application's answer.
    fn send(
        &self,
        method: &str,
        path: &str,
        user: Option<&str>,
        body: Option<&str>,
    ) -> anyhow::Result<u16> {
        let mut request =
            ureq::http::Request::builder().method(method).uri(format!("{}{path}", self.app));
        if let Some(user) = user {
            let pair = BASE64.encode(format!("{user}:todo"));
            request = request.header("authorization", format!("Basic {pair}"));
        }
        let request = request.header("content-type", "application/json");
        let answer = match body {
            Some(body) => self.agent.run(request.body(body)?),
            None => self.agent.run(request.body(())?),
        };
        Ok(answer.with_context(|| format!("{method} {path}"))?.status().as_u16())
    }
}
