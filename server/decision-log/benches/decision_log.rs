//! Measures what a record costs a check, and compares it with its bar: `cargo bench -p portcullis-decision-log`.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a measurement fails by a panic and prints its figures"
)]

use std::time::{Duration, Instant};

use portcullis_decision_log::{
    DecisionLog, LogConfig, LogMetrics, RecordedCaller, RecordedDecision,
};
use portcullis_engine::request::{AttributeMap, Attributes};
use portcullis_engine::{Effect, Json, MatchedRuleId, json};
use portcullis_model::Timestamp;
use portcullis_model::clock::Clock;
use portcullis_model::decision::{CallerKind, Via};
use portcullis_model::ids::Ids;
use rustix::time::{ClockId, clock_gettime};
use uuid::Uuid;

/// Records of a measurement.
const RECORDS: usize = 400_000;
/// Records between two pauses: a service has other work than records.
const BURST: usize = 2_000;
/// Most time of an asynchronous record on the way of its check.
const APPEND_BAR: Duration = Duration::from_nanos(300);
/// The attributes of a check of the sample hospital.
const SENT: &str = r#"{"user": {"roles": ["nurse"], "department": "emergency", "on_shift": true},
    "resource": {"patient": "p-48213", "ward": "er", "vip": false}, "context": {"purpose": "treatment"}}"#;

fn main() {
    let folder = tempfile::tempdir().expect("a folder");
    let (clock, metrics) = (Clock::system(), LogMetrics::default());
    let folder = folder.path().to_owned();
    let config = LogConfig { folder, max_bytes: u64::MAX, archive: None, clock: clock.clone() };
    let log = DecisionLog::open(config, metrics.clone()).expect("opens");
    let sent = json::parse(SENT.as_bytes()).expect("valid");
    let ids = Ids::new();
    let made: Vec<Uuid> = (0..RECORDS).map(|_| ids.next(clock.now().into())).collect();

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    let mut spent = Duration::ZERO;
    for burst in made.chunks(BURST) {
        let began = worked();
        for (n, id) in burst.iter().enumerate() {
            log.append(&decision(*id, n, &sent), None).expect("is kept");
        }
        spent += worked() - began;
        let last = log.append_durably(&decision(burst[0], 0, &sent), None).expect("is taken");
        runtime.block_on(last.written()).expect("is written");
    }
    let each = spent / u32::try_from(RECORDS).expect("fits");
    println!("append: {each:?} a record, bar {APPEND_BAR:?}");

    let began = Instant::now();
    const DURABLE: u32 = 500;
    for id in &made[..DURABLE as usize] {
        let pending = log.append_durably(&decision(*id, 0, &sent), None).expect("is taken");
        runtime.block_on(pending.written()).expect("is written");
    }
    println!("append and wait, alone: {:?} a record", began.elapsed() / DURABLE);
    assert!(each <= APPEND_BAR, "an append takes {each:?}");
}

/// Returns the time that this thread worked, without what other threads take.
fn worked() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.try_into().expect("is positive")
}

fn decision<'a>(id: Uuid, number: usize, sent: &'a Json<'a>) -> RecordedDecision<'a> {
    let of = |name| {
        AttributeMap::of_members(sent.get(name).and_then(Json::as_object).unwrap_or_default())
    };
    let attributes = Attributes {
        user: of("user"),
        resource: of("resource"),
        action: of("action"),
        context: of("context"),
    };
    const SUBJECTS: [&str; 4] =
        ["dana@example.org", "eve@example.org", "ann@example.org", "bo@example.org"];
    RecordedDecision {
        id,
        at: Timestamp::of(id),
        tenant: "hospital",
        revision: 812,
        entities_revision: 40,
        via: Via::Check,
        request_id: "019e301f-05c0-7a4e-9c1b-5f0e8d3a7b64",
        caller: Some(RecordedCaller { kind: CallerKind::Key, sub: "svc-charts", iss: None }),
        subject: SUBJECTS[number % SUBJECTS.len()],
        domain: "hospital",
        resource: "chart:read",
        action: "read",
        attributes,
        reads: &|_, _| true,
        token: None,
        directory: Some(&|members| members.texts("roles", ["nurse", "staff"])),
        relations: None,
        resolved: None,
        decision: Effect::Allow,
        rule: MatchedRuleId(Some(id)),
        reason: &"ABAC policy `own ward` allows: its condition is true",
        undetermined: &|_| {},
        expected: None,
        shadow: None,
        us: 7,
    }
}
