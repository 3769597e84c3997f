//! A resolver in service for one tenant: its answers in the cache, its breaker, and its calls.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use portcullis_engine::{AttributeAnswer, Check, Json, Number};
use portcullis_resolver_host::{AnsweredAttribute, CallError, CallOutcome, Request, Value};

use super::attributes::{self, Known, Scope};
use super::bound::{Bound, Workshop};
use super::breaker::{Breaker, BreakerState, End, Turn};
use super::report::{Call, Source};
use super::statistics::{Statistics, outcome};

/// A resolver in service.
#[derive(Debug)]
pub(super) struct Live {
    bound: Bound,
    guard: Mutex<Guard>,
    /// Those of the versions before it are among them.
    statistics: Arc<Statistics>,
}

#[derive(Debug)]
struct Guard {
    breaker: Breaker,
    /// The last failure, which is why it is open when it is.
    failure: Option<CallError>,
}

/// What end of asking it.
pub(super) struct Found {
    /// In the order in which they were wanted.
    pub(super) attributes: Vec<(Box<str>, AttributeAnswer, Source)>,
    pub(super) cause: Option<Box<str>>,
    pub(super) call: Option<Call>,
}

/// Why there is no answer of a call.
#[derive(Debug)]
enum Missed {
    /// The call failed.
    Failed(CallError),
    /// It was not made: calls before it failed, the last of them so.
    Suspended { wait: Duration, failure: Option<CallError> },
}

impl Found {
    /// Nobody could be asked.
    pub(super) fn nothing(wanted: &[Box<str>], cause: String) -> Self {
        let cause: Box<str> = cause.into();
        let failed = || (AttributeAnswer::Failed(cause.clone()), Source::Nowhere);
        let attributes = wanted.iter().map(|name| {
            let (resolved, source) = failed();
            (name.clone(), resolved, source)
        });
        Self { attributes: attributes.collect(), cause: Some(cause), call: None }
    }

    /// With causes that name the resolver, so that they say enough in a decision's reason.
    pub(super) fn said_by(mut self, namespace: &str) -> Self {
        let named =
            |cause: &mut Box<str>| *cause = format!("resolver `{namespace}`: {cause}").into();
        for (_, resolved, _) in &mut self.attributes {
            if let AttributeAnswer::Failed(cause) = resolved {
                named(cause);
            }
        }
        self.cause.as_mut().map(named);
        self
    }
}

impl Live {
    /// Puts a resolver into service.
    pub(super) fn new(bound: Bound, statistics: Arc<Statistics>) -> Self {
        let guard = Mutex::new(Guard { breaker: Breaker::new(), failure: None });
        Self { bound, guard, statistics }
    }

    /// What its breaker does at `now`.
    pub(super) fn breaker(&self, now: Duration) -> BreakerState {
        self.guard().breaker.state(now)
    }

    /// Looks every attribute up, and calls the module for those that are missing.
    pub(super) async fn ask(
        &self,
        workshop: &Workshop,
        tenant: &str,
        check: &Check<'_>,
        wanted: &[Box<str>],
    ) -> Found {
        let now = workshop.now();
        let module = self.bound.resolver.module();
        let mut request = module.request(tenant, check, wanted, self.bound.timeout);
        let inputs = attributes::inputs(&request);
        let scope = Scope { generation: self.bound.generation, tenant, inputs: &inputs };
        let known: Vec<_> =
            wanted.iter().map(|name| workshop.answers.get(scope, name, now)).collect();
        let is_declared =
            |name: &str| module.descriptor().attributes.iter().any(|spec| spec.name == name);
        let missing = wanted.iter().zip(&known);
        let missing = missing
            .filter(|(name, known)| !matches!(known, Some(Known::Fresh(_))) && is_declared(name));
        request.wanted = missing.map(|(name, _)| (**name).to_owned()).collect();
        let asked = !request.wanted.is_empty();
        let (result, call) =
            if asked { self.call(workshop, request).await } else { (Ok(Vec::new()), None) };
        let answers: Result<Vec<_>, _> = result.map(|answers| {
            let keep = |answer: AnsweredAttribute| {
                let value = answer.value.map(json);
                let (terms, ttl) = (self.bound.terms, answer.ttl);
                workshop.answers.put(scope, &answer.name, value.clone(), ttl, terms, now);
                (answer.name, value)
            };
            answers.into_iter().map(keep).collect()
        });
        let found = wanted.iter().zip(known).map(|(name, known)| {
            let (resolved, source) = match (known, &answers) {
                (Some(Known::Fresh(value)), _) => (resolved(value), Source::Cache),
                (Some(Known::Stale(value)), Err(missed)) if missed.is_unavailable() => {
                    (resolved(value), Source::Stale)
                }
                (_, Err(missed)) => {
                    (AttributeAnswer::Failed(missed.summary().into()), Source::Nowhere)
                }
                (_, Ok(answers)) => match answers.iter().find(|(answer, _)| **answer == **name) {
                    Some((_, value)) => (resolved(value.clone()), Source::Call),
                    None if is_declared(name) => {
                        (AttributeAnswer::Failed("not answered".into()), Source::Nowhere)
                    }
                    None => (AttributeAnswer::Failed("not declared".into()), Source::Nowhere),
                },
            };
            (name.clone(), resolved, source)
        });
        let attributes: Vec<_> = found.collect();
        self.count(workshop, &attributes);
        let cause = answers.err().map(|missed| missed.cause().into());
        Found { attributes, cause, call }
    }

    /// Calls the module, if its breaker lets the call through.
    async fn call(
        &self,
        workshop: &Workshop,
        request: Request,
    ) -> (Result<Vec<AnsweredAttribute>, Missed>, Option<Call>) {
        let admitted = match self.admit(workshop) {
            Ok(admitted) => admitted,
            Err(missed) => {
                workshop.metrics.suspended.inc();
                return (Err(missed), None);
            }
        };
        let CallOutcome { result, log, elapsed, memory_bytes } =
            workshop.host.resolve(&self.bound.resolver, request).await;
        self.statistics.called(&result, elapsed, workshop.clock.now().into());
        workshop.metrics.called(outcome(&result), elapsed);
        admitted.settle(&result);
        (result.map_err(Missed::Failed), Some(Call { elapsed, memory_bytes, log }))
    }

    fn admit<'l>(&'l self, workshop: &'l Workshop) -> Result<Admitted<'l>, Missed> {
        let mut guard = self.guard();
        match guard.breaker.admit(workshop.now()) {
            Ok(turn) => Ok(Admitted { live: self, workshop, turn, end: End::Nothing }),
            Err(wait) => Err(Missed::Suspended { wait, failure: guard.failure.clone() }),
        }
    }

    fn count(&self, workshop: &Workshop, attributes: &[(Box<str>, AttributeAnswer, Source)]) {
        let of = |wanted: &[Source]| {
            let found = attributes.iter().filter(|(_, _, source)| wanted.contains(source));
            found.count() as u64
        };
        let (hits, stale) = (of(&[Source::Cache]), of(&[Source::Stale]));
        self.statistics.found(hits, stale);
        workshop.metrics.hits.inc_by(hits);
        workshop.metrics.stale.inc_by(stale);
        workshop.metrics.misses.inc_by(of(&[Source::Call, Source::Nowhere]));
    }

    fn guard(&self) -> MutexGuard<'_, Guard> {
        self.guard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call that the breaker let through. It is settled when it is dropped, also because whoever asked has gone.
struct Admitted<'l> {
    live: &'l Live,
    workshop: &'l Workshop,
    turn: Turn,
    end: End,
}

impl Admitted<'_> {
    fn settle(mut self, result: &Result<Vec<AnsweredAttribute>, CallError>) {
        self.end = match result {
            // Whoever finds fault with a request is at work.
            Ok(_) | Err(CallError::Invalid(_)) => End::Answer,
            Err(CallError::Busy(_) | CallError::Host) => End::Nothing,
            Err(error) => {
                self.live.guard().failure = Some(error.clone());
                End::Failure
            }
        };
    }
}

impl Drop for Admitted<'_> {
    fn drop(&mut self) {
        let now = self.workshop.now();
        if self.live.guard().breaker.settle(self.turn, self.end, now) {
            self.workshop.metrics.openings.inc();
        }
    }
}

impl Missed {
    /// Whether the source is what fails: the module said so in this call, or in the one after which no more are made.
    fn is_unavailable(&self) -> bool {
        let (Self::Failed(error) | Self::Suspended { failure: Some(error), .. }) = self else {
            return false;
        };
        matches!(error, CallError::Unavailable(_))
    }
}

impl Missed {
    /// For everybody who may see a decision.
    fn summary(&self) -> String {
        self.told(CallError::summary)
    }

    /// For whoever manages the tenant.
    fn cause(&self) -> String {
        self.told(CallError::to_string)
    }

    fn told(&self, tell: fn(&CallError) -> String) -> String {
        match self {
            Self::Failed(error) => tell(error),
            Self::Suspended { wait, failure } => {
                let how_long = match wait.as_secs_f64().ceil() {
                    0.0 => "while one call tries it out".to_owned(),
                    seconds => format!("for {seconds} s"),
                };
                let last = failure.as_ref().map(|last| format!(", the last one: {}", tell(last)));
                let last = last.unwrap_or_default();
                format!("suspended {how_long}, because calls failed{last}")
            }
        }
    }
}

fn resolved(value: Option<Json<'static>>) -> AttributeAnswer {
    value.map_or(AttributeAnswer::Absent, AttributeAnswer::Value)
}

/// The value as conditions see it. The host has made sure that numbers are finite.
pub fn json(value: Value) -> Json<'static> {
    let number = |number| Number::from_f64(number).map_or(Json::Null, Json::Number);
    let text = |text: String| Json::String(text.into());
    match value {
        Value::Text(value) => text(value),
        Value::Number(value) => number(value),
        Value::Boolean(value) => Json::Bool(value),
        Value::Texts(items) => Json::Array(items.into_iter().map(text).collect()),
        Value::Numbers(items) => Json::Array(items.into_iter().map(number).collect()),
    }
}
