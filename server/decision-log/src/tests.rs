//! Tests of the log from outside: append, crash, query.

mod append;
mod at_rest;
mod bounds;
mod bucket;
mod counts;
mod crashes;
mod damaged;
mod erasures;
mod feeds;
mod kills;
mod layout;
mod limits;
mod others;
mod pruned;
mod replaced;
mod shared;
mod unnamed;

use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};

use portcullis_engine::request::{Action, AttributeMap, Attributes};
use portcullis_engine::value::AttributeValue;
use portcullis_engine::{Effect, Json, MatchedRuleId, json};
use portcullis_model::Timestamp;
use portcullis_model::clock::Clock;
use portcullis_model::decision::{CallerKind, DecisionRecord, DecisionSelection, Via};
use portcullis_model::ids::Ids;
use uuid::Uuid;

use crate::{
    DecisionLog, DecisionPage, LogConfig, LogMetrics, LogOpenError, ReadLimit, RecordMembers,
    RecordedCaller, RecordedDecision, RegisteredResources,
};

/// The instant of the first decision: noon.
pub(crate) const NOON: i64 = 1_779_192_000_000;
pub(crate) const PAGE: DecisionPage = DecisionPage { before: None, limit: 1_000 };

/// The attributes of a check in JSON.
pub(crate) const SENT: &str = r#"{"user": {"pin": 1, "department": "er \"3\"", "teams": ["a", 2]}, "resource": {"vip": false}}"#;

pub(crate) fn sent<'a>(json: &'a Json<'static>) -> Attributes<'a> {
    let of = |name| {
        let members = json.get(name).and_then(Json::as_object).unwrap_or_default();
        AttributeMap::from_members(members)
    };
    Attributes { user: of("user"), resource: of("resource"), ..Attributes::default() }
}

/// A denied check of `subject`.
pub(crate) fn denial<'a>(
    id: Uuid,
    subject: &'a str,
    attributes: Attributes<'a>,
) -> RecordedDecision<'a> {
    RecordedDecision {
        id,
        at: Timestamp::from_id(id),
        tenant: "acme",
        revision: 812,
        entities_revision: 40,
        via: Via::Check,
        request_id: "req-1",
        caller: Some(RecordedCaller { kind: CallerKind::Key, sub: "svc", iss: None }),
        subject,
        domain: "acme",
        resource: "chart:read",
        action: Action::Plain("read"),
        attributes,
        reads: &|_, name| name == "department",
        token: Some(&|members| members.attribute("token", "ward", AttributeValue::Text("er"))),
        directory: None,
        relations: Some(&|members| members.boolean("viewer", true)),
        resolved: Some(&|members| {
            members.object("geo", |geo| {
                let country = AttributeValue::Text("DE");
                geo.object("values", |values| values.attribute("geo", "country", country));
                geo.text("source", "call");
            });
        }),
        decision: Effect::Deny,
        rule: MatchedRuleId(None),
        reason: &"no RBAC rule allows it",
        undetermined: &|list| list.text("resource.vip"),
        expected: None,
        shadow: None,
        us: 7,
        texts: None,
    }
}

/// Ids of the instants `NOON`, `NOON` + 1 ms, …
#[derive(Default)]
pub(crate) struct Numbered(Ids, AtomicI64);

impl Numbered {
    pub(crate) fn next(&self) -> Uuid {
        self.0.next(Timestamp::from_millis(NOON + self.1.fetch_add(1, Ordering::Relaxed)))
    }
}

pub(crate) fn config(folder: &Path, max_bytes: u64) -> LogConfig {
    let noon = Timestamp::from_millis(NOON);
    let clock = Clock::new(move || noon.to_string().parse().expect("an instant"));
    LogConfig { folder: folder.to_owned(), max_bytes, archive: None, clock }
}

pub(crate) fn open(folder: &Path) -> (DecisionLog, LogMetrics) {
    let metrics = LogMetrics::default();
    // A process that another test starts holds the lock of an earlier log until it runs its own program.
    let opened =
        std::iter::repeat_with(|| DecisionLog::open(config(folder, u64::MAX), metrics.clone()));
    let mut opened = opened.take(10_000).inspect(|_| std::thread::yield_now());
    let log = opened.find(|log| !matches!(log, Err(LogOpenError::InUse(_))));
    (log.expect("is free").expect("opens"), metrics)
}

pub(crate) fn attributes() -> Json<'static> {
    json::parse(SENT.as_bytes()).expect("valid").into_owned()
}

/// Returns all records of the tenant `acme`, newest first.
pub(crate) async fn all(log: &DecisionLog) -> Vec<DecisionRecord> {
    log.query("acme", &DecisionSelection::default(), PAGE, ReadLimit::none())
        .await
        .expect("reads")
        .into
        .records
}
