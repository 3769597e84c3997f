//! The fake server of the client scenarios.
//!
//! `portcullis-fake --scenarios DIR --openapi FILE` prints its URL. `/s/<file>` is the base address of a client in the scenario
//! `<file>` (without its ending), `/s/<file>/token` its token endpoint. For the runners: `GET /scenarios` has the names,
//! `GET /scenarios/<file>` a scenario as JSON, `GET /seen/<file>` its requests so far (`DELETE` forgets them), and
//! `GET /verdict/<file>` the faults of requests and answers, and how the requests differ from `seen`.
//!
//! `portcullis-fake todo PROGRAM FOLDER COMMAND…` starts the real service on the tenant of the folder and a sample
//! application before it, and asks it the tenant's cases. `portcullis-fake fixed` is the server of the benchmarks.

mod document;
mod fixed;
mod http;
mod proxy;
mod scenario;
mod todo;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::{Context as _, bail};
use document::Document;
use scenario::{Answer, Scenario, Seen};
use serde_json::{Value, json};

/// The scenarios by name, each with what was sent so far.
struct Fake {
    document: Document,
    scenarios: BTreeMap<String, (Scenario, Value)>,
    sent: Mutex<BTreeMap<String, Sent>>,
}

/// The requests of a scenario.
#[derive(Default)]
struct Sent {
    seen: Vec<Seen>,
    tokens: usize,
}

fn main() -> anyhow::Result<()> {
    let all: Vec<String> = std::env::args().skip(1).collect();
    if let [first, binary, folder, command @ ..] = &*all
        && first == "todo"
    {
        return todo::run(binary, Path::new(folder), command);
    }
    if *all == ["fixed"] {
        return fixed::run();
    }
    let (mut scenarios, mut openapi, mut port) = (None, None, 0);
    let mut arguments = all.into_iter();
    while let Some(name) = arguments.next() {
        let value = arguments.next().with_context(|| format!("{name} needs a value"))?;
        match &*name {
            "--scenarios" => scenarios = Some(PathBuf::from(value)),
            "--openapi" => openapi = Some(PathBuf::from(value)),
            "--port" => port = value.parse()?,
            _ => bail!("unknown argument {name}"),
        }
    }
    let scenarios = read(&scenarios.context("--scenarios DIR is missing")?)?;
    let document = Document::read(&openapi.context("--openapi FILE is missing")?)?;
    let fake = Fake { document, scenarios, sent: Mutex::default() };
    let listener = TcpListener::bind(("127.0.0.1", port))?;
    println!("http://{}", listener.local_addr()?);
    std::io::stdout().flush()?;
    http::serve(&listener, move |seen| Ok(fake.answer(seen)));
    Ok(())
}

/// Reads all scenarios of a folder.
fn read(folder: &Path) -> anyhow::Result<BTreeMap<String, (Scenario, Value)>> {
    let mut scenarios = BTreeMap::new();
    for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "yaml") {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            scenarios.insert(name, Scenario::read(&path)?);
        }
    }
    Ok(scenarios)
}

impl Fake {
    fn answer(&self, mut seen: Seen) -> Answer {
        let path = seen.path.trim_start_matches('/').to_owned();
        let (area, rest) = path.split_once('/').unwrap_or((&*path, ""));
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (file, behind) = rest.split_at(end);
        if area == "scenarios" && file.is_empty() {
            return plain(json!(self.scenarios.keys().collect::<Vec<_>>()));
        }
        let file = file.trim_end_matches(".yaml");
        let Some((scenario, text)) = self.scenarios.get(file) else {
            return Answer {
                status: 404,
                ..plain(json!({"message": format!("no scenario `{file}`")}))
            };
        };
        seen.path = behind.to_owned();
        let mut sent = self.sent.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let sent = sent.entry(file.to_owned()).or_default();
        match (area, &*seen.method) {
            ("scenarios", _) => plain(text.clone()),
            ("seen", "DELETE") => {
                *sent = Sent::default();
                Answer { status: 204, json: None, ..plain(Value::Null) }
            }
            ("seen", _) => plain(sent.seen.iter().map(shown).collect()),
            ("verdict", _) => {
                let mut faults = self.faults(scenario, &sent.seen);
                faults.extend(scenario.differences(&sent.seen));
                plain(json!({"faults": faults, "tokens": sent.tokens}))
            }
            ("s", _) if behind == "/token" => {
                sent.tokens += 1;
                Scenario::answer(&scenario.tokens, sent.tokens - 1).cloned().unwrap_or_else(|| {
                    Answer {
                        status: 500,
                        ..plain(json!({"message": "the scenario has no `tokens`"}))
                    }
                })
            }
            ("s", _) => {
                sent.seen.push(seen);
                scripted(scenario, sent.seen.len() - 1)
            }
            _ => Answer { status: 404, ..plain(json!({"message": "no such page"})) },
        }
    }

    /// Returns what the document does not have of the requests and their answers. The document is asked afterwards: that takes
    /// time, and a client has a deadline.
    fn faults(&self, scenario: &Scenario, seen: &[Seen]) -> Vec<String> {
        let mut faults = Vec::new();
        for (number, seen) in seen.iter().enumerate() {
            faults.extend(self.document.request_faults(seen));
            faults.extend(self.document.answer_faults(seen, &scripted(scenario, number)));
        }
        faults
    }
}

/// Returns the scripted answer to the request with the index `number`.
fn scripted(scenario: &Scenario, number: usize) -> Answer {
    let answer = Scenario::answer(&scenario.server, number).cloned();
    answer.unwrap_or_else(|| plain(Value::Null))
}

fn plain(json: Value) -> Answer {
    Answer {
        status: 200,
        headers: BTreeMap::new(),
        json: Some(json),
        body: None,
        extra: true,
        delay_ms: 0,
        fault: None,
    }
}

fn shown(seen: &Seen) -> Value {
    let Seen { method, path, headers, .. } = seen;
    json!({"method": method, "path": path, "headers": headers, "json": seen.json()})
}
