//! A server that runs: its process, its requests, and what it costs.

use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use ureq::Agent;
use ureq::http::Request;

/// Ticks of `/proc/<id>/stat` in a second, on every Linux.
const TICKS: f64 = 100.0;
/// The longest time until a server answers.
const START: Duration = Duration::from_secs(120);

/// The answer of a server.
#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    Decision(bool),
    /// Ids in order.
    Ids(Vec<String>),
}

/// The process of a server, which ends with the value.
pub struct Server {
    process: Child,
    folder: PathBuf,
    agent: Agent,
    base: String,
    pub headers: Vec<(String, String)>,
}

/// Requests of one workload to a server.
pub struct Questions {
    pub path: String,
    pub bodies: Vec<String>,
    pub read: fn(&str) -> Option<Answer>,
}

/// A turn of load.
pub struct Turn {
    pub rate: f64,
    /// CPU time of the server for each request, in microseconds.
    pub cpu: f64,
    pub p50: Duration,
    pub p99: Duration,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Returns a port that nobody listens on.
pub fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// Finds a program in `PEERS_BIN` or `PATH`.
pub fn program(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PEERS_BIN").into_iter().chain(std::env::var_os("PATH"));
    let folders: Vec<PathBuf> =
        folders.flat_map(|it| std::env::split_paths(&it).collect::<Vec<_>>()).collect();
    folders.into_iter().map(|folder| folder.join(name)).find(|path| path.is_file())
}

impl Server {
    /// Starts `command` with a log in `folder`, and waits until `ready`, a path, answers to GET.
    pub fn start(command: &mut Command, folder: &Path, port: u16, ready: &str) -> Result<Self> {
        let log = File::create(folder.join("log"))?;
        let command = command.current_dir(folder).stdin(Stdio::null());
        let process = command.stdout(log.try_clone()?).stderr(log).spawn()?;
        let config = Agent::config_builder().http_status_as_error(false);
        let config = config.timeout_global(Some(Duration::from_secs(120)));
        let config = config.max_idle_connections_per_host(64).max_idle_connections(64).build();
        let mut server = Self {
            process,
            folder: folder.to_owned(),
            agent: config.into(),
            base: format!("http://127.0.0.1:{port}"),
            headers: Vec::new(),
        };
        let end = Instant::now() + START;
        while !server.is_ready(ready) {
            let ended = server.process.try_wait()?;
            ensure!(ended.is_none() && Instant::now() < end, "it did not start: {}", server.log());
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(server)
    }

    fn is_ready(&self, path: &str) -> bool {
        let answer = self.agent.get(format!("{}{path}", self.base)).call();
        answer.is_ok_and(|answer| answer.status() == 200)
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }

    /// Sends a request, and returns the body of the answer.
    ///
    /// # Errors
    /// The status is not 2xx.
    pub fn call(&self, method: &str, path: &str, body: &str) -> Result<String> {
        let mut request = Request::builder().method(method).uri(format!("{}{path}", self.base));
        request = request.header("Content-Type", "application/json");
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let mut response = self.agent.run(request.body(body.to_owned())?)?;
        let status = response.status();
        let limit = 64 << 20;
        let text = response.body_mut().with_config().limit(limit).read_to_string()?;
        ensure!(status.is_success(), "{method} {path}: {status}: {text:.300}");
        Ok(text)
    }

    pub fn post(&self, path: &str, body: &Value) -> Result<Value> {
        let text = self.call("POST", path, &body.to_string())?;
        serde_json::from_str(&text).with_context(|| format!("{path} answers {text:.300}"))
    }

    /// Asks every question, and returns the number of wrong answers.
    pub fn wrong_answers(&self, questions: &Questions, right: &[Answer]) -> Result<usize> {
        ensure!(questions.bodies.len() == right.len(), "each question has an answer");
        let mut wrong = 0;
        for (body, right) in questions.bodies.iter().zip(right) {
            let text = self.call("POST", &questions.path, body)?;
            wrong += usize::from((questions.read)(&text).as_ref() != Some(right));
        }
        Ok(wrong)
    }

    /// Sends the questions one after the other on so many connections for so long.
    pub fn load(&self, questions: &Questions, connections: usize, time: Duration) -> Result<Turn> {
        let next = AtomicUsize::new(0);
        let (before, began) = (self.cpu()?, Instant::now());
        let send = || -> Result<Vec<Duration>> {
            let mut times = Vec::new();
            while began.elapsed() < time {
                let number = next.fetch_add(1, Ordering::Relaxed) % questions.bodies.len();
                let sent = Instant::now();
                self.call("POST", &questions.path, &questions.bodies[number])?;
                times.push(sent.elapsed());
            }
            Ok(times)
        };
        let outcomes: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..connections).map(|_| scope.spawn(send)).collect();
            threads.into_iter().map(|thread| thread.join()).collect()
        });
        let (cpu, elapsed) = (self.cpu()? - before, began.elapsed());
        let mut times = Vec::new();
        for outcome in outcomes {
            match outcome {
                Ok(sent) => times.extend(sent?),
                Err(_) => bail!("a client failed"),
            }
        }
        times.sort_unstable();
        let count = times.len();
        ensure!(count > 0, "no request was answered");
        Ok(Turn {
            rate: count as f64 / elapsed.as_secs_f64(),
            cpu: cpu.as_secs_f64() * 1e6 / count as f64,
            p50: times[count / 2],
            p99: times[count * 99 / 100],
        })
    }

    /// Returns the CPU time of the process so far.
    fn cpu(&self) -> Result<Duration> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.process.id()))?;
        let (_, fields) = stat.rsplit_once(')').context("a stat has a name")?;
        let fields = fields.split_whitespace().skip(11).take(2);
        let ticks: f64 = fields.map(str::parse::<f64>).sum::<Result<f64, _>>()?;
        Ok(Duration::from_secs_f64(ticks / TICKS))
    }

    /// Returns the resident memory of the process, in MiB.
    pub fn memory(&self) -> Result<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|it| it.split_whitespace().next()).context("it has memory")?;
        Ok(kib.parse::<u64>()? >> 10)
    }
}
