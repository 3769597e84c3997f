//! The dispatcher with a clock that is put forward and back, on every database.

use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use chrono::DateTime;
use portcullis_egress::{Client, EgressConfig, Names};
use portcullis_fairness::TurnQueue;
use portcullis_model::Timestamp;
use portcullis_model::clock::Clock;
use portcullis_model::egress_rules::EgressRules;
use portcullis_model::event::Event;
use portcullis_model::ids::Ids;
use portcullis_model::jitter::Jitter;
use portcullis_model::page::Page;
use portcullis_model::webhook::{EventType, WebhookRecord};
use portcullis_storage::encryption::{Context, KeyRing};
use portcullis_storage::testing::{TestDatabase, on_every_database};
use portcullis_storage::{Store, attempts, events, webhooks};
use prometheus_client::registry::Registry;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinHandle;
use uuid::Uuid;

use crate::config::WebhookConfig;
use crate::delivery_worker::{DeliveryWorker, TRANSACTIONS};
use crate::dispatcher::Dispatcher;
use crate::metrics::DeliveryMetrics;
use crate::schedule::Schedule;

on_every_database!(
    a_retry_waits_for_the_clock_and_no_first_attempt_does,
    a_receiver_lengthens_the_pause_before_a_retry,
    a_clock_that_is_put_back_stops_nothing,
    a_clock_that_is_put_forward_has_no_attempt_made_twice,
    denied_checks_go_out_one_at_a_time_in_order,
    no_more_denied_checks_are_sent_at_once_than_allowed,
    after_a_failure_a_batch_begins_no_attempt,
    slow_names_of_a_tenant_hold_up_no_other,
);

const T0: i64 = 1_700_000_000_000;
const DAY: i64 = 24 * 60 * 60 * 1_000;
const TENANT: &str = "acme";

/// A dispatcher with one webhook, and the receiver of its requests.
struct Stage {
    store: Store,
    now: Arc<AtomicI64>,
    wake: Arc<Notify>,
    webhook: Uuid,
    requests: UnboundedReceiver<Request>,
    dispatcher: JoinHandle<()>,
    worker: Arc<DeliveryWorker>,
}

/// A request that waits for its answer.
struct Request {
    event: Uuid,
    stream: TcpStream,
}

impl Request {
    async fn answer(self, status: u16) {
        self.answer_with(status, "").await;
    }

    /// Answers with more lines of a header.
    async fn answer_with(mut self, status: u16, header: &str) {
        let answer = format!(
            "HTTP/1.1 {status} X\r\n{header}content-length: 0\r\nconnection: close\r\n\r\n"
        );
        self.stream.write_all(answer.as_bytes()).await.expect("it waits");
    }
}

async fn accept(listener: TcpListener, requests: UnboundedSender<Request>) {
    while let Ok((mut stream, _)) = listener.accept().await {
        let (mut head, mut buffer) = (String::new(), [0; 4_096]);
        while !head.contains("\r\n\r\n") {
            let read = stream.read(&mut buffer).await.expect("a request");
            head += &String::from_utf8_lossy(&buffer[..read]);
        }
        let id = head.split("webhook-id: ").nth(1).and_then(|rest| rest.lines().next());
        let event = id.and_then(|id| id.parse().ok()).expect("a delivery names its event");
        if requests.send(Request { event, stream }).is_err() {
            return;
        }
    }
}

impl Stage {
    async fn on(database: &TestDatabase) -> Self {
        Self::with(database, 1, ("127.0.0.1", Names::default())).await
    }

    /// A dispatcher that sends so many denied checks at a time, to the host of this name.
    async fn with(
        database: &TestDatabase,
        denials_at_once: usize,
        (host, names): (&str, Names),
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("bound").port();
        let url = format!("http://{host}:{port}/");
        let (sender, requests) = unbounded_channel();
        tokio::spawn(accept(listener, sender));
        let (store, now) = (database.open().await, Arc::new(AtomicI64::new(T0)));
        let keys = KeyRing::parse(&KeyRing::generate_key().expect("a key")).expect("valid");
        let webhook = Uuid::from_u128(1);
        insert(&store, &keys, TENANT, webhook, url).await;
        let client = client(names);
        let worker = worker(store.clone(), client, keys, Arc::clone(&now), denials_at_once);
        let worker = Arc::new(worker);
        let wake = Arc::new(Notify::new());
        let dispatcher = Dispatcher::new(Arc::clone(&worker), String::new(), Arc::clone(&wake));
        let dispatcher = tokio::spawn(dispatcher.run());
        Self { store, now, wake, webhook, requests, dispatcher, worker }
    }

    async fn event(&self) -> Uuid {
        let at = Timestamp::from_millis(self.now.load(Ordering::SeqCst));
        let mut tx = self.store.write(TENANT, T0).await.expect("begins");
        tx.record(Event::test(self.webhook, at));
        let written = events::write(&mut tx).await.expect("works");
        tx.commit().await.expect("commits");
        self.wake.notify_one();
        written[0]
    }

    /// Stores denied checks in one transaction, and returns the ids of their events.
    async fn denials(&self, count: usize) -> Vec<Uuid> {
        let mut tx = self.store.write(TENANT, T0).await.expect("begins");
        for _ in 0..count {
            let mut event = Event::test(self.webhook, Timestamp::from_millis(T0));
            event.kind = EventType::AccessDenied;
            tx.record(event);
        }
        let written = events::write(&mut tx).await.expect("works");
        tx.commit().await.expect("commits");
        self.wake.notify_one();
        written
    }

    fn put_clock(&self, now: i64) {
        self.now.store(now, Ordering::SeqCst);
        self.wake.notify_one();
    }

    async fn request(&mut self) -> Request {
        let request = tokio::time::timeout(Duration::from_secs(20), self.requests.recv()).await;
        request.expect("it comes in time").expect("it comes")
    }

    /// Waits until an attempt is written down.
    async fn recorded(&self) {
        loop {
            let mut tx = self.store.begin_read(TENANT).await.expect("begins");
            let attempts = attempts::list(&mut tx, self.webhook, Page::FIRST).await;
            tx.end().await.expect("ends");
            if !attempts.expect("works").records.is_empty() {
                return;
            }
            tokio::task::yield_now().await;
        }
    }

    async fn stop(self) {
        self.worker.stop();
        self.wake.notify_one();
        self.dispatcher.await.expect("no panic");
    }
}

async fn insert(store: &Store, keys: &KeyRing, tenant: &str, id: Uuid, url: String) {
    let record = WebhookRecord {
        managed_by: None,
        id,
        url,
        events: vec![EventType::WebhookTest],
        tenant_id: tenant.to_owned(),
        created_by: "ann".to_owned(),
        created_at: Timestamp::from_millis(T0),
        updated_at: None,
    };
    let secret = keys.encrypt(Context::for_webhook_secret(tenant, id), b"a-secret-of-sixteen");
    let mut tx = store.write(tenant, T0).await.expect("begins");
    webhooks::insert(&mut tx, &record, &secret.expect("encrypts")).await.expect("works");
    tx.commit().await.expect("commits");
}

/// A client that may deliver to this machine.
fn client(names: Names) -> Client {
    let allow = vec!["127.0.0.0/8".parse().expect("a network")];
    let rules = EgressRules { allow_http: true, allow };
    let egress = EgressConfig { rules, names, ..EgressConfig::default() };
    Client::guarded(&egress, WebhookConfig::default().timeout).expect("a client")
}

fn worker(
    store: Store,
    client: Client,
    keys: KeyRing,
    now: Arc<AtomicI64>,
    denials_at_once: usize,
) -> DeliveryWorker {
    let config = WebhookConfig::default();
    DeliveryWorker {
        store,
        client,
        timeout: config.timeout,
        denials_at_once,
        keys,
        clock: Clock::new(move || {
            DateTime::from_timestamp_millis(now.load(Ordering::SeqCst)).expect("an instant")
        }),
        ids: Ids::new(),
        schedule: Schedule::new(&config, Jitter::new(|| 0.0)),
        holder: "this".to_owned(),
        transactions: TurnQueue::new(TRANSACTIONS),
        stopping: AtomicBool::new(false),
        metrics: DeliveryMetrics::register(&mut Registry::default()),
    }
}

async fn a_retry_waits_for_the_clock_and_no_first_attempt_does(database: TestDatabase) {
    let mut stage = Stage::on(&database).await;
    let first = stage.event().await;
    let request = stage.request().await;
    assert_eq!(request.event, first);
    request.answer(500).await;
    for now in [T0, T0 + 9_999] {
        stage.put_clock(now);
        let other = stage.event().await;
        let request = stage.request().await;
        assert_eq!(request.event, other, "the retry is not due yet");
        request.answer(200).await;
    }
    stage.put_clock(T0 + 10_000);
    let retry = stage.request().await;
    assert_eq!(retry.event, first);
    retry.answer(200).await;
    stage.stop().await;
}

async fn a_receiver_lengthens_the_pause_before_a_retry(database: TestDatabase) {
    let mut stage = Stage::on(&database).await;
    let first = stage.event().await;
    stage.request().await.answer_with(429, "retry-after: 86400\r\n").await;
    // An hour at most. The other event of the present comes after the failure is recorded.
    for now in [T0, T0 + 10_000, T0 + 3_599_999] {
        stage.put_clock(now);
        let other = stage.event().await;
        let request = stage.request().await;
        assert_eq!(request.event, other, "the retry is not due yet");
        request.answer(200).await;
    }
    stage.put_clock(T0 + 3_600_000);
    let retry = stage.request().await;
    assert_eq!(retry.event, first);
    retry.answer(200).await;
    stage.stop().await;
}

async fn a_clock_that_is_put_back_stops_nothing(database: TestDatabase) {
    let mut stage = Stage::on(&database).await;
    let failed = stage.event().await;
    stage.request().await.answer(500).await;
    stage.recorded().await;
    stage.put_clock(T0 - DAY);
    let mut expected = vec![failed];
    for _ in 0..3 {
        expected.push(stage.event().await);
    }
    let mut seen = Vec::new();
    for _ in 0..4 {
        let request = stage.request().await;
        seen.push(request.event);
        request.answer(200).await;
    }
    // The retry waits for no clock that may never come again; the order of the others is that of commit.
    let firsts: Vec<_> = seen.iter().copied().filter(|event| *event != failed).collect();
    assert_eq!(firsts, expected[1..]);
    assert!(seen.contains(&failed));
    stage.stop().await;
}

async fn a_clock_that_is_put_forward_has_no_attempt_made_twice(database: TestDatabase) {
    let mut stage = Stage::on(&database).await;
    let first = stage.event().await;
    let held = stage.request().await;
    assert_eq!(held.event, first);
    stage.put_clock(T0 + DAY);
    let second = stage.event().await;
    // The lease is over by this clock; but the attempt is this process's own, and under way.
    held.answer(200).await;
    let next = stage.request().await;
    assert_eq!(next.event, second);
    next.answer(200).await;
    stage.stop().await;
}

async fn denied_checks_go_out_one_at_a_time_in_order(database: TestDatabase) {
    let mut stage = Stage::on(&database).await;
    // More than a batch.
    let events = stage.denials(300).await;
    for event in events {
        let request = stage.request().await;
        assert_eq!(request.event, event);
        assert!(stage.requests.try_recv().is_err(), "the next one waits for the answer");
        request.answer(200).await;
    }
    stage.stop().await;
}

async fn no_more_denied_checks_are_sent_at_once_than_allowed(database: TestDatabase) {
    let mut stage = Stage::with(&database, 4, ("127.0.0.1", Names::default())).await;
    let events = stage.denials(6).await;
    let mut held = Vec::new();
    for _ in 0..4 {
        held.push(stage.request().await);
    }
    let mut begun: Vec<_> = held.iter().map(|request| request.event).collect();
    begun.sort_unstable();
    assert_eq!(begun, events[..4], "the first ones begin first");
    assert!(stage.requests.try_recv().is_err());
    for request in held {
        request.answer(200).await;
    }
    let rest = [stage.request().await, stage.request().await];
    let mut begun: Vec<_> = rest.iter().map(|request| request.event).collect();
    begun.sort_unstable();
    assert_eq!(begun, events[4..]);
    for request in rest {
        request.answer(200).await;
    }
    stage.stop().await;
}

async fn after_a_failure_a_batch_begins_no_attempt(database: TestDatabase) {
    let mut stage = Stage::on(&database).await;
    let events = stage.denials(3).await;
    for (event, status) in [(events[0], 200), (events[1], 500)] {
        let request = stage.request().await;
        assert_eq!(request.event, event);
        request.answer(status).await;
    }
    // The rest of the batch is still due, and comes once, after the failure is recorded.
    let request = stage.request().await;
    assert_eq!(request.event, events[2]);
    let mut tx = stage.store.begin_read(TENANT).await.expect("begins");
    let attempts = attempts::list(&mut tx, stage.webhook, Page::FIRST).await;
    tx.end().await.expect("ends");
    let recorded: Vec<_> =
        attempts.expect("works").records.iter().map(|one| one.event_id).collect();
    assert_eq!(recorded, [events[1], events[0]]);
    request.answer(200).await;
    stage.stop().await;
}

async fn slow_names_of_a_tenant_hold_up_no_other(database: TestDatabase) {
    // The name server does not answer for the names of the one tenant until the end.
    let answers = Arc::new(Semaphore::new(0));
    let asked = Arc::clone(&answers);
    let names = Names::new(move |name| {
        let asked = Arc::clone(&asked);
        Box::pin(async move {
            if name == "quick.example" {
                return Ok(vec![Ipv4Addr::LOCALHOST.into()]);
            }
            let _closed = asked.acquire_owned().await;
            Err(io::Error::other("no answer"))
        })
    });
    let mut stage = Stage::with(&database, 1, ("quick.example", names.clone())).await;
    // More than there are places for lookups.
    for number in 2..102 {
        let (id, url) = (Uuid::from_u128(number), format!("http://slow-{number}.example/"));
        insert(&stage.store, &stage.worker.keys, "noisy", id, url).await;
    }
    let mut tx = stage.store.write("noisy", T0).await.expect("begins");
    for number in 2..102 {
        tx.record(Event::test(Uuid::from_u128(number), Timestamp::from_millis(T0)));
    }
    tx.commit().await.expect("commits");
    stage.wake.notify_one();
    // On a busy machine the first ones have given up before the last ones begin.
    let begun = || names.measure().names as u64 + names.measure().late;
    while begun() < 100 {
        tokio::task::yield_now().await;
    }
    let event = stage.event().await;
    let request = stage.request().await;
    assert_eq!(request.event, event);
    request.answer(200).await;
    answers.close();
    stage.stop().await;
}
