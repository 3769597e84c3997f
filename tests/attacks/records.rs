//! Attacks 39 to 42: checks with large records, to lose the records of others or to delay their checks.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cost::Figure;
use crate::support::tenant::condition;
use crate::support::{MANAGER, Provider, Request, Server, Settings, Tenant};

/// The measured checks of the other tenant.
const CHECKS: usize = 300;
/// The longest of them.
const BOUND: Duration = Duration::from_secs(1);

const CHECK: &str = "POST /api/v1/check";

/// A tenant that attacks, and another one whose checks are recorded before they are answered.
struct Parties {
    settings: Settings,
    server: Server,
    attacker: Tenant<'static>,
    other: Tenant<'static>,
}

/// The answers to the checks of the other tenant.
struct Seen {
    /// Checks that were refused, or have no record.
    refused: usize,
    slowest: Duration,
    ids: Vec<String>,
}

impl Parties {
    fn new() -> Self {
        let settings = Settings::new(Provider::shared()).recording();
        let server = settings.start();
        let [attacker, other] = ["attacker", "other"]
            .map(|name| Tenant::with_provider(&server, Provider::shared(), name));
        set(&attacker, &json!({"attributes": {"user.many": "hash", "user.pin": "hash"}}));
        set(&other, &json!({"mode": "durable"}));
        Self { settings, server, attacker, other }
    }

    /// Sends `request` on `connections` again and again, while the other tenant checks.
    fn attack(&self, request: &Request, connections: usize) -> Seen {
        let (is_over, sent) = (AtomicBool::new(false), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..connections {
                scope.spawn(|| {
                    while !is_over.load(Ordering::Relaxed) {
                        let _ = request.try_send(self.server.address);
                        sent.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
            while sent.load(Ordering::Relaxed) < connections {
                std::thread::sleep(Duration::from_millis(5));
            }
            let seen = self.checks();
            is_over.store(true, Ordering::Relaxed);
            seen
        })
    }

    fn checks(&self) -> Seen {
        let token = self.other.token("gateway", &["service"]);
        let mut seen = Seen { refused: 0, slowest: Duration::ZERO, ids: Vec::new() };
        for number in 0..CHECKS {
            let begun = Instant::now();
            let reply =
                self.other.check_by(&token, &check(&format!("subject-{number}"), &json!({})));
            seen.slowest = seen.slowest.max(begun.elapsed());
            match reply.header("x-decision-id") {
                Some(id) if reply.status == 200 => seen.ids.push(id.to_owned()),
                _ => seen.refused += 1,
            }
        }
        seen
    }

    /// Restarts the service, and returns how many of the records are not there.
    fn missing(self, ids: &[String]) -> usize {
        let Self { settings, server, other, .. } = self;
        server.stop();
        let server = settings.start();
        let other = other.at(&server);
        let find = |id: &String| other.get(&format!("/api/v1/decisions/{id}")).status == 200;
        ids.iter().filter(|id| !find(id)).count()
    }

    fn figures(self, request: &Request, connections: usize) -> Vec<Figure> {
        let seen = self.attack(request, connections);
        vec![
            Figure::count("refused checks of another tenant", seen.refused, 0),
            Figure::time("its slowest check", seen.slowest, BOUND),
            Figure::count("its records that are lost", self.missing(&seen.ids), 0),
        ]
    }
}

fn set(tenant: &Tenant<'_>, decision_log: &Value) {
    let bundle = json!({"bundle": {"settings": {"decision_log": decision_log}}, "owner": "test"});
    tenant.manage("POST /api/v1/apply", &bundle).is(200);
}

fn check(subject: &str, user: &Value) -> Value {
    json!({"subject": subject, "resource": "doc:read", "action": "read", "attributes": {"user": user}})
}

/// Sends checks with 400,000 items that are to be hashed.
pub(crate) fn hashed_items() -> Vec<Figure> {
    let parties = Parties::new();
    let body = check("eve", &json!({"many": vec![1; 400_000]}));
    let request =
        Request::new(CHECK).token(&parties.attacker.token("eve", &["service"])).json(&body);
    parties.figures(&request, 1)
}

/// Sends checks by a token with a claim that is nested 126 deep, and that a policy reads.
pub(crate) fn nested_claim() -> Vec<Figure> {
    let parties = Parties::new();
    let claim = (0..126).fold(json!(1), |inner, _| json!([inner]));
    let tree = condition("token.deep", "eq", "er");
    parties.attacker.policy("deep", "doc:read", "allow", 1, &tree);
    let token = parties.attacker.token_with("eve", &[MANAGER], &json!({"deep": claim}));
    let request = Request::new(CHECK).token(&token).json(&check("eve", &json!({"pin": "1234"})));
    parties.figures(&request, 2)
}

/// Sends batches of 0.9 MB, whose attributes all items have, on two connections.
pub(crate) fn batches() -> Vec<Figure> {
    let parties = Parties::new();
    let text = "x".repeat(60_000);
    let user: serde_json::Map<_, _> =
        (0..14).map(|number| (format!("a{number}"), json!(text))).collect();
    let mut body = check("eve", &Value::Object(user));
    body["checks"] = (0..1_000).map(|number| json!({"subject": format!("eve-{number}")})).collect();
    let token = parties.attacker.token("eve", &["service"]);
    let request = Request::new("POST /api/v1/checks").token(&token).json(&body);
    // The attacker loses records of its own, which its answers do not promise: it asks faster than a disk writes.
    parties.figures(&request, 2)
}

/// Sends checks of 0.4 MB, most of which is to be hashed.
pub(crate) fn hashed_attributes() -> Vec<Figure> {
    let parties = Parties::new();
    let paths: Vec<String> = (0..60).map(|number| format!("user.a{number}")).collect();
    let hashed: Value = paths.iter().map(|path| (path.clone(), json!("hash"))).collect();
    set(&parties.attacker, &json!({"attributes": hashed}));
    let items = json!((0..1_000).map(|number| number + 100_000).collect::<Vec<_>>());
    let user: Value =
        paths.iter().map(|path| (path["user.".len()..].to_owned(), items.clone())).collect();
    let token = parties.attacker.token("eve", &["service"]);
    let request = Request::new(CHECK).token(&token).json(&check("eve", &user));
    parties.figures(&request, 4)
}
