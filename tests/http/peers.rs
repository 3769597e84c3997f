//! Other services that decide over HTTP, if they are installed.
//!
//! They get one rule, as Portcullis does, and the same attributes. They verify no token: the roles are in the request.

use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::child::send;
use crate::echo::Echo;
use crate::load::{Check, Load, Protocol};
use crate::scenario::{PATH, TURN, TURNS, WARM_UP};
use crate::turn::{Pair, Turn};

/// Requests with different bodies.
const BODIES: usize = 4_096;
/// A service that does not answer by then never will.
const PATIENCE: Duration = Duration::from_secs(20);

/// A service that decides.
struct Peer {
    name: &'static str,
    /// The program; the environment variable names another one.
    program: &'static str,
    variable: &'static str,
    /// The command that installs it.
    install: &'static str,
    path: &'static str,
    arguments: fn(&Path, SocketAddr) -> Vec<String>,
    /// Gives it the rule, once it runs.
    set_up: fn(SocketAddr),
    body: fn(usize) -> Value,
}

const PEERS: [Peer; 2] = [
    Peer {
        name: "cedar-agent",
        program: "cedar-agent",
        variable: "CEDAR_AGENT_BIN",
        install: "cargo install cedar-agent",
        path: "/v1/is_authorized",
        arguments: |_, address| vec!["--port".to_owned(), address.port().to_string()],
        set_up: cedar_rule,
        body: cedar_body,
    },
    Peer {
        name: "Cerbos",
        program: "cerbos",
        variable: "CERBOS_BIN",
        install: "npm install @cerbos/cerbos-linux-x64",
        path: "/api/check/resources",
        arguments: cerbos_arguments,
        set_up: |_| {},
        body: cerbos_body,
    },
];

/// Measures every peer that is installed, and says loudly which ones are not.
pub(crate) fn measure(echo: &Echo, echoed: &[Check], wanted: &[String]) {
    for peer in PEERS {
        if !wanted.is_empty() && !wanted.iter().any(|wanted| peer.name.contains(wanted)) {
            continue;
        }
        let Some(running) = Running::start(&peer) else {
            let Peer { name, variable, install, .. } = peer;
            println!(
                "| {name} | SKIPPED: not installed (`{install}`, or name it by {variable}) | | | | | |"
            );
            continue;
        };
        let checks = |body: &dyn Fn(usize) -> Value| {
            let check = |number| Check { token: String::new(), body: body(number).to_string() };
            (0..BODIES).map(check).collect()
        };
        let load = |address, path: &str, millis, requests| {
            let protocol = Protocol::Http1 { pipelined: 1 };
            Load { address, path: path.to_owned(), protocol, millis, once: false, requests }
        };
        let ours = load(running.address, peer.path, TURN, checks(&peer.body));
        send(&Load { millis: WARM_UP, ..ours.clone() });
        let theirs = load(echo.address, PATH, TURN, echoed.to_vec());
        let turn = || (Turn::take(&ours, running.child.id()), Turn::take(&theirs, echo.id()));
        let turns: Vec<_> = (0..TURNS).map(|_| turn()).collect();
        let (cpu, rate) = (Pair::new(&turns, |turn| turn.cpu), Pair::new(&turns, |turn| turn.rate));
        let name = peer.name;
        println!(
            "| {name} | CPU per request, µs | {:.1} | {:.1} | {:.2} | | |",
            cpu.ours, cpu.echo, cpu.ratio
        );
        println!(
            "| {name} | requests per second | {:.0} | {:.0} | {:.2} | | |",
            rate.ours, rate.echo, rate.ratio
        );
    }
}

/// A running peer, killed when it is dropped.
struct Running {
    child: Child,
    address: SocketAddr,
    _folder: tempfile::TempDir,
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Running {
    /// Starts a peer; `None` if it is not installed.
    fn start(peer: &Peer) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        let address = free_address();
        let program = std::env::var_os(peer.variable).unwrap_or_else(|| peer.program.into());
        let child = Command::new(program)
            .args((peer.arguments)(folder.path(), address))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let running = Self { child, address, _folder: folder };
        let begun = Instant::now();
        while std::net::TcpStream::connect(address).is_err() {
            assert!(begun.elapsed() < PATIENCE, "{} does not listen", peer.name);
            std::thread::sleep(Duration::from_millis(50));
        }
        (peer.set_up)(address);
        running.must_allow(peer);
        Some(running)
    }

    /// Ends the run if the peer does not allow what is measured.
    fn must_allow(&self, peer: &Peer) {
        let url = format!("http://{}{}", self.address, peer.path);
        let answer = client().post(url).json(&(peer.body)(0)).send().expect("an answer");
        let text = answer.text().expect("a text").to_ascii_lowercase();
        assert!(text.contains("allow"), "{}: {text}", peer.name);
    }
}

fn free_address() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("an address")
}

fn client() -> reqwest::blocking::Client {
    reqwest::blocking::Client::builder().no_proxy().build().expect("a client")
}

fn attributes(number: usize) -> (Value, Value) {
    let user = json!({"department": "cardiology", "clearance": number % 10});
    let owner = format!("user-{number}");
    (user, json!({"region": "north", "owner": owner, "ward": number % 50}))
}

fn cedar_rule(address: SocketAddr) {
    let rule = r#"permit(principal in Role::"doctor", action == Action::"read", resource == Chart::"read");"#;
    let entity = |kind: &str, id: &str, parents: Value| json!({"uid": {"type": kind, "id": id}, "attrs": {}, "parents": parents});
    let doctor = json!([{"type": "Role", "id": "doctor"}]);
    let entities = json!([
        entity("User", "ann", doctor),
        entity("Role", "doctor", json!([])),
        entity("Chart", "read", json!([])),
    ]);
    for (path, body) in
        [("policies", json!([{"id": "doctors", "content": rule}])), ("data", entities)]
    {
        let put = client().put(format!("http://{address}/v1/{path}")).json(&body).send();
        assert!(put.expect("an answer").status().is_success(), "{path}");
    }
}

fn cedar_body(number: usize) -> Value {
    let (user, resource) = attributes(number);
    json!({
        "principal": "User::\"ann\"",
        "action": "Action::\"read\"",
        "resource": "Chart::\"read\"",
        "context": {"user": user, "resource": resource},
    })
}

fn cerbos_arguments(folder: &Path, address: SocketAddr) -> Vec<String> {
    let policies = folder.join("policies");
    std::fs::create_dir(&policies).expect("a folder");
    let policy = json!({
        "apiVersion": "api.cerbos.dev/v1",
        "resourcePolicy": {
            "version": "default",
            "resource": "chart",
            "rules": [{"actions": ["read"], "effect": "EFFECT_ALLOW", "roles": ["doctor"]}],
        },
    });
    let config = json!({
        "server": {
            "httpListenAddr": address.to_string(),
            "grpcListenAddr": free_address().to_string(),
            "logRequestPayloads": false,
        },
        "storage": {"driver": "disk", "disk": {"directory": policies}},
        "telemetry": {"disabled": true},
        "audit": {"enabled": false},
    });
    let file = folder.join("config.json");
    for (path, value) in [(&policies.join("chart.json"), policy), (&file, config)] {
        let mut file = std::fs::File::create(path).expect("a file");
        file.write_all(value.to_string().as_bytes()).expect("a written file");
    }
    let config = format!("--config={}", file.display());
    vec!["server".to_owned(), config, "--log-level=ERROR".to_owned()]
}

fn cerbos_body(number: usize) -> Value {
    let (user, resource) = attributes(number);
    json!({
        "principal": {"id": "ann", "roles": ["doctor", "staff"], "attr": user},
        "resources": [{
            "resource": {"kind": "chart", "id": format!("chart-{number}"), "attr": resource},
            "actions": ["read"],
        }],
    })
}
