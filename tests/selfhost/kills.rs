//! Many `kill -9` while events are caused, claimed, sent and recorded: none is lost.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::everywhere::deliveries::{SECRET, register, settings, tenant};
use crate::support::openid::say;
use crate::support::{Answer, Delivery, Receiver, Request, Server, Settings, Tenant};

/// Changes of one writer between two kills, at most.
const WRITES: usize = 6;
const WRITERS: usize = 2;
/// Everything has arrived by then, or never will.
const PATIENCE: Duration = Duration::from_secs(60);

/// The point at which a process is killed.
#[derive(Clone, Copy, Debug)]
enum Moment {
    /// As soon as a change is acknowledged: committed, and not sent yet.
    Acknowledged,
    /// While a receiver has a request and has not answered.
    InFlight,
    /// As soon as a receiver has answered: sent, and not recorded yet.
    Answered,
    /// Whenever that is.
    Later(u64),
}

/// Spreads the moments over the rounds.
fn moment(round: usize) -> Moment {
    match round % 4 {
        0 => Moment::Acknowledged,
        1 => Moment::InFlight,
        2 => Moment::Answered,
        _ => Moment::Later((round as u64 * 37) % 120),
    }
}

/// Receivers, and what their threads tell the killer.
struct Receivers {
    prompt: Receiver,
    flaky: Receiver,
    signals: Arc<Signals>,
}

#[derive(Default)]
struct Signals {
    in_flight: AtomicBool,
    count: AtomicUsize,
}

impl Receivers {
    fn start() -> Self {
        let signals = Arc::new(Signals::default());
        let own = Arc::clone(&signals);
        let prompt = Receiver::with(move |_| {
            own.in_flight.store(true, Ordering::SeqCst);
            Answer::Late(Duration::from_millis(3))
        });
        let own = Arc::clone(&signals);
        let flaky = Receiver::with(move |_| match own.count.fetch_add(1, Ordering::SeqCst) % 9 {
            2 => Answer::Status(500),
            5 => Answer::Reset,
            7 => Answer::Late(Duration::from_millis(40)),
            _ => Answer::Status(200),
        });
        Self { prompt, flaky, signals }
    }

    fn all(&self) -> [&Receiver; 2] {
        [&self.prompt, &self.flaky]
    }
}

/// Causes events until the server is gone, and gives the marks of those that were acknowledged.
fn write(tenant: &Tenant<'_>, mark: &str, acknowledged: &AtomicUsize) -> Vec<String> {
    let mut marks = Vec::new();
    for number in 0..WRITES {
        let mark = format!("{mark}-{number}");
        let body = json!({"sub": mark, "obj": "doc:write", "act": "write", "effect": "allow"});
        let check = json!({"subject": mark, "resource": "doc:read", "action": "read"});
        let request = match number % 3 {
            2 => Request::new("POST /api/v1/check")
                .token(&tenant.token("gateway", &["service"]))
                .json(&check),
            _ => tenant.managing("POST /api/v1/resources/policies").json(&body),
        };
        match request.try_send(tenant.address) {
            Some(reply) if [200, 201].contains(&reply.status) => marks.push(mark),
            _ => break,
        }
        acknowledged.fetch_add(1, Ordering::SeqCst);
    }
    marks
}

/// Has writers at work, and kills the server at `moment`. Gives what was acknowledged.
fn round(mut server: Server, receivers: &Receivers, number: usize) -> Vec<String> {
    let acknowledged = AtomicUsize::new(0);
    let here = tenant(&server);
    std::thread::scope(|scope| {
        let writer = |index: usize| {
            let (here, acknowledged) = (&here, &acknowledged);
            let mark = format!("r{number}-w{index}");
            scope.spawn(move || write(here, &mark, acknowledged))
        };
        receivers.signals.in_flight.store(false, Ordering::SeqCst);
        let before = receivers.prompt.answered();
        let writers: Vec<_> = (0..WRITERS).map(writer).collect();
        let wait = |is_so: &dyn Fn() -> bool| {
            let deadline = Instant::now() + Duration::from_secs(2);
            while !is_so() && Instant::now() < deadline {
                std::thread::yield_now();
            }
        };
        match moment(number) {
            Moment::Acknowledged => wait(&|| acknowledged.load(Ordering::SeqCst) > number % WRITES),
            Moment::InFlight => wait(&|| receivers.signals.in_flight.load(Ordering::SeqCst)),
            Moment::Answered => wait(&|| receivers.prompt.answered() > before),
            Moment::Later(millis) => std::thread::sleep(Duration::from_millis(millis)),
        }
        server.process.kill();
        writers.into_iter().flat_map(|writer| writer.join().expect("no panic")).collect()
    })
}

/// The mark of an event: the subject of its rule, or of its check.
fn mark(delivery: &Delivery) -> String {
    let data = &delivery.json()["data"];
    let mark = data["sub"].as_str().or(data["subject"].as_str());
    mark.expect("a mark").to_owned()
}

/// Asserts what must hold of everything that a receiver got, and gives the number of duplicates.
fn judge(name: &str, deliveries: &[Delivery], marks: &BTreeSet<String>) -> usize {
    assert!(deliveries.iter().all(|one| one.is_signed_with(SECRET)), "{name}: a bad signature");
    let mut bodies: HashMap<String, &[u8]> = HashMap::new();
    let mut ids_of_marks: BTreeMap<String, String> = BTreeMap::new();
    let mut firsts = Vec::new();
    for one in deliveries {
        let id = one.id();
        let body = *bodies.entry(id.clone()).or_insert_with(|| {
            firsts.push((one.kind(), id.clone()));
            &one.body
        });
        assert_eq!(body, one.body, "{name}: the body of {id} changed");
        let known = ids_of_marks.entry(mark(one)).or_insert_with(|| id.clone());
        assert_eq!(*known, id, "{name}: one change has two events");
    }
    // Denied checks have a delivery queue of their own. Each queue keeps its order.
    for of_denials in [true, false] {
        let queue = firsts.iter().filter(|(kind, _)| (kind == "access.denied") == of_denials);
        assert!(queue.map(|(_, id)| id).is_sorted(), "{name}: first attempts are out of order");
    }
    let lost: Vec<_> = marks.iter().filter(|mark| !ids_of_marks.contains_key(*mark)).collect();
    assert!(lost.is_empty(), "{name}: lost {lost:?}");
    deliveries.len() - firsts.len()
}

fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("an address").port()
}

/// On a port that stays the same, so that a process is known to be what was killed before.
fn stage() -> Settings {
    settings()
        .set("LISTEN_ADDR", format!("127.0.0.1:{}", free_port()))
        .set("WEBHOOK_BACKOFF", "20ms")
        .set("WEBHOOK_MAX_FAILURES", "10000")
}

#[test]
fn kills_lose_no_event() {
    lose_no_event(8);
}

#[test]
#[ignore = "a kill loop: `.ci/long` runs it"]
fn hundreds_of_kills_lose_no_event() {
    lose_no_event(200);
}

fn lose_no_event(kills: usize) {
    let (settings, receivers) = (stage(), Receivers::start());
    let server = settings.start();
    for receiver in receivers.all() {
        let events = ["policy.rbac.changed", "access.denied"];
        register(&tenant(&server), &receiver.url("/"), &events);
    }
    let began = Instant::now();
    let (mut server, mut marks) = (server, BTreeSet::new());
    for number in 0..kills {
        marks.extend(round(server, &receivers, number));
        server = settings.start();
    }
    let deadline = Instant::now() + PATIENCE;
    let missing = |receiver: &Receiver| {
        let arrived: BTreeSet<_> = receiver.deliveries().iter().map(mark).collect();
        marks.difference(&arrived).count()
    };
    while receivers.all().iter().any(|one| missing(one) > 0) && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(server.stop().success());
    let duplicates: Vec<_> = ["prompt", "flaky"]
        .into_iter()
        .zip(receivers.all())
        .map(|(name, receiver)| judge(name, &receiver.deliveries(), &marks))
        .collect();
    // A busy machine may kill before the first change of most rounds.
    assert!(marks.len() >= kills / 8, "only {} changes were acknowledged", marks.len());
    say(&format!(
        "kills: {kills}, acknowledged events: {}, webhooks: 2, lost: 0, duplicates: {duplicates:?}, {} s",
        marks.len(),
        began.elapsed().as_secs()
    ));
}
