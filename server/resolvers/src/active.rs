//! An active resolver of one tenant: its cached answers, its circuit breaker, and its calls.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use portcullis_engine::{AttributeAnswer, Check, Json};
use portcullis_resolver_host::{
    AnsweredAttribute, CallError, CallOutcome, Request, WantedAttributes,
};

use crate::attributes::{self, Known, Scope};
use crate::binding::Binding;
use crate::breaker::{Breaker, BreakerState, End, Turn};
use crate::measurements::{Statistics, outcome};
use crate::missed::Missed;
use crate::report::{AnswerSource, Call};
use crate::runtime::ResolverRuntime;
use crate::values::json;

/// An active resolver of one tenant.
#[derive(Debug)]
pub(crate) struct ActiveResolver {
    binding: Binding,
    guard: Mutex<Guard>,
    /// Shared with the earlier versions, whose calls are included.
    statistics: Arc<Statistics>,
}

/// The entry of a resolver in the registry.
#[derive(Clone, Debug)]
pub(crate) enum RegistryEntry {
    Active(Arc<ActiveResolver>),
    /// It cannot be called; the text completes "resolver `geo` …".
    Unavailable(Arc<str>),
}

#[derive(Debug)]
struct Guard {
    breaker: Breaker,
    /// The last failure: the reason of an open breaker.
    failure: Option<CallError>,
}

/// The answers of a resolver to one check.
#[derive(Debug)]
pub(crate) struct ResolverAnswers {
    /// In the order of the request.
    pub(crate) attributes: Vec<(Box<str>, AttributeAnswer, AnswerSource)>,
    pub(crate) cause: Option<Box<str>>,
    pub(crate) call: Option<Call>,
}

/// The name of an answered attribute, and its value; `None` if it is absent.
type Value = (String, Option<Json<'static>>);

impl ResolverAnswers {
    /// Returns a failure for every wanted attribute: no resolver could be called.
    pub(crate) fn nothing(wanted: &[Box<str>], cause: String) -> Self {
        let cause: Box<str> = cause.into();
        let attributes = wanted.iter().map(|name| {
            (name.clone(), AttributeAnswer::Failed(cause.clone()), AnswerSource::Nowhere)
        });
        Self { attributes: attributes.collect(), cause: Some(cause), call: None }
    }

    /// Adds the name of the resolver to the causes, because they appear in the reason of a decision.
    pub(crate) fn with_namespace(mut self, namespace: &str) -> Self {
        let of_attributes = self.attributes.iter_mut().filter_map(|(_, resolved, _)| {
            if let AttributeAnswer::Failed(cause) = resolved { Some(cause) } else { None }
        });
        for cause in of_attributes.chain(&mut self.cause) {
            *cause = format!("resolver `{namespace}`: {cause}").into();
        }
        self
    }
}

impl ActiveResolver {
    /// Returns an active resolver with a closed breaker.
    pub(crate) fn new(binding: Binding, statistics: Arc<Statistics>) -> Self {
        let guard = Mutex::new(Guard { breaker: Breaker::new(), failure: None });
        Self { binding, guard, statistics }
    }

    /// Returns the state of the breaker at `now`.
    pub(crate) fn breaker(&self, now: Duration) -> BreakerState {
        self.guard.lock().breaker.state(now)
    }

    /// Returns the inputs of `check` for this resolver, as bytes. Checks with equal inputs have equal answers.
    pub(crate) fn inputs(&self, tenant: &str, check: &Check<'_>) -> Arc<[u8]> {
        let module = self.binding.resolver.module();
        // The inputs do not depend on the names.
        let wanted = WantedAttributes { tenant, check, names: &[] };
        attributes::inputs(&module.request(wanted, self.binding.timeout))
    }

    /// Returns the inputs that the module declares.
    pub(crate) fn declared_inputs(&self) -> &[String] {
        &self.binding.resolver.module().descriptor.inputs
    }

    /// Looks up every attribute in the cache, and calls the module for those that are missing.
    pub(crate) async fn ask(
        &self,
        runtime: &ResolverRuntime,
        wanted: WantedAttributes<'_>,
    ) -> ResolverAnswers {
        let now = runtime.now();
        let module = self.binding.resolver.module();
        let mut request = module.request(wanted, self.binding.timeout);
        let inputs = attributes::inputs(&request);
        let WantedAttributes { tenant, names: wanted, .. } = wanted;
        let scope = Scope { generation: self.binding.generation, tenant, inputs: &inputs };
        let known: Vec<_> =
            wanted.iter().map(|name| runtime.answers.get(scope, name, now)).collect();
        let missing = wanted.iter().zip(&known);
        let missing = missing
            // A stale answer is asked for again. It serves only if the source is unavailable.
            .filter(|(name, known)| !matches!(known, Some(Known::Fresh(_))) && self.declares(name));
        request.wanted = missing.map(|(name, _)| (**name).to_owned()).collect();
        let asked = !request.wanted.is_empty();
        let (result, call) =
            // Without a missing attribute the breaker is not asked, so that an open one hides no cached answer.
            if asked { self.call(runtime, request).await } else { (Ok(Vec::new()), None) };
        let answers: Result<Vec<Value>, _> = result.map(|answers| {
            let kept = answers.into_iter().map(|answer| {
                let value = answer.value.map(json);
                let (terms, ttl) = (self.binding.terms, answer.ttl);
                // Its time begins before the call: from then on the source may have another value.
                runtime.answers.put(scope, &answer.name, value.clone(), ttl, terms, now);
                (answer.name, value)
            });
            kept.collect()
        });
        let attributes = self.attributes(wanted, known, &answers);
        self.count(runtime, &attributes);
        let cause = answers.err().map(|missed| missed.cause().into());
        ResolverAnswers { attributes, cause, call }
    }

    /// Calls the module for every attribute, past the cache, and counts nothing. An open breaker refuses the call, and no
    /// call moves the breaker.
    pub(crate) async fn ask_uncached(
        &self,
        runtime: &ResolverRuntime,
        wanted: WantedAttributes<'_>,
    ) -> ResolverAnswers {
        let declared = wanted.names.iter().filter(|name| self.declares(name));
        let declared: Vec<_> = declared.cloned().collect();
        let suspended = self.suspended(runtime.now());
        let (answers, call) = if declared.is_empty() {
            (Ok(Vec::new()), None)
        } else if let Some(missed) = suspended {
            (Err(missed), None)
        } else {
            let CallOutcome { result, log, elapsed, memory_bytes } = runtime
                .try_out(&self.binding, WantedAttributes { names: &declared, ..wanted })
                .await;
            let answers = result.map(|answers| {
                answers.into_iter().map(|answer| (answer.name, answer.value.map(json))).collect()
            });
            (answers.map_err(Missed::Failed), Some(Call { elapsed, memory_bytes, log }))
        };
        let unknown = wanted.names.iter().map(|_| None).collect();
        let attributes = self.attributes(wanted.names, unknown, &answers);
        let cause = answers.err().map(|missed| missed.cause().into());
        ResolverAnswers { attributes, cause, call }
    }

    /// Returns the answer for each wanted attribute, in this order: from the cache if it is `known` there, or else from
    /// the call.
    fn attributes(
        &self,
        wanted: &[Box<str>],
        known: Vec<Option<Known>>,
        answers: &Result<Vec<Value>, Missed>,
    ) -> Vec<(Box<str>, AttributeAnswer, AnswerSource)> {
        let found = wanted.iter().zip(known).map(|(name, known)| {
            let (resolved, source) = match (known, answers) {
                (Some(Known::Fresh(value)), _) => (resolved(value), AnswerSource::Cache),
                (Some(Known::Stale(value)), Err(missed)) if missed.is_unavailable() => {
                    (resolved(value), AnswerSource::Stale)
                }
                (_, Err(missed)) => {
                    (AttributeAnswer::Failed(missed.summary().into()), AnswerSource::Nowhere)
                }
                (_, Ok(answers)) => match answers.iter().find(|(answer, _)| **answer == **name) {
                    Some((_, value)) => (resolved(value.clone()), AnswerSource::Call),
                    None if self.declares(name) => {
                        (AttributeAnswer::Failed("not answered".into()), AnswerSource::Nowhere)
                    }
                    None => (AttributeAnswer::Failed("not declared".into()), AnswerSource::Nowhere),
                },
            };
            (name.clone(), resolved, source)
        });
        found.collect()
    }

    /// Returns whether the module declares an attribute of this name.
    fn declares(&self, name: &str) -> bool {
        let declared = &self.binding.resolver.module().descriptor.attributes;
        declared.iter().any(|spec| spec.name == name)
    }

    /// Calls the module, if the breaker lets the call through.
    async fn call(
        &self,
        runtime: &ResolverRuntime,
        request: Request,
    ) -> (Result<Vec<AnsweredAttribute>, Missed>, Option<Call>) {
        let admitted = match self.admit(runtime) {
            Ok(admitted) => admitted,
            Err(missed) => {
                runtime.metrics.suspended.inc();
                return (Err(missed), None);
            }
        };
        let CallOutcome { result, log, elapsed, memory_bytes } =
            runtime.host.resolve(&self.binding.resolver, request).await;
        self.statistics.called(&result, elapsed, runtime.clock.now().into());
        runtime.metrics.called(outcome(&result), elapsed);
        admitted.settle(&result);
        (result.map_err(Missed::Failed), Some(Call { elapsed, memory_bytes, log }))
    }

    /// Returns the refusal of an open breaker.
    fn suspended(&self, now: Duration) -> Option<Missed> {
        let guard = self.guard.lock();
        match guard.breaker.state(now) {
            BreakerState::Open(wait) => {
                Some(Missed::Suspended { wait, failure: guard.failure.clone() })
            }
            // A half-open breaker lets this call through, but its outcome settles nothing.
            BreakerState::Closed | BreakerState::HalfOpen => None,
        }
    }

    fn admit<'a>(&'a self, runtime: &'a ResolverRuntime) -> Result<BreakerPass<'a>, Missed> {
        let mut guard = self.guard.lock();
        match guard.breaker.admit(runtime.now()) {
            // This is the end of a call whose check is given up.
            Ok(turn) => Ok(BreakerPass { resolver: self, runtime, turn, end: End::Nothing }),
            Err(wait) => Err(Missed::Suspended { wait, failure: guard.failure.clone() }),
        }
    }

    fn count(
        &self,
        runtime: &ResolverRuntime,
        attributes: &[(Box<str>, AttributeAnswer, AnswerSource)],
    ) {
        let (mut hits, mut stale, mut misses) = (0, 0, 0);
        for (_, _, source) in attributes {
            match source {
                AnswerSource::Cache => hits += 1,
                AnswerSource::Stale => stale += 1,
                AnswerSource::Call | AnswerSource::Nowhere => misses += 1,
            }
        }
        self.statistics.found(hits, stale);
        runtime.metrics.hits.inc_by(hits);
        runtime.metrics.stale.inc_by(stale);
        runtime.metrics.misses.inc_by(misses);
    }
}

/// A call that the breaker let through. It is settled when it is dropped, also if the check was given up.
struct BreakerPass<'a> {
    resolver: &'a ActiveResolver,
    runtime: &'a ResolverRuntime,
    turn: Turn,
    end: End,
}

impl BreakerPass<'_> {
    fn settle(mut self, result: &Result<Vec<AnsweredAttribute>, CallError>) {
        self.end = match result {
            // A resolver that rejects a request is working.
            Ok(_) | Err(CallError::Invalid(_)) => End::Answer,
            // These say nothing about the resolver, which was not called.
            Err(CallError::Busy(_) | CallError::Host) => End::Nothing,
            Err(error) => {
                // Set before the breaker is settled, so that an open breaker always has a reason.
                self.resolver.guard.lock().failure = Some(error.clone());
                End::Failure
            }
        };
    }
}

impl Drop for BreakerPass<'_> {
    fn drop(&mut self) {
        let now = self.runtime.now();
        if self.resolver.guard.lock().breaker.settle(self.turn, self.end, now) {
            self.runtime.metrics.openings.inc();
        }
    }
}

fn resolved(value: Option<Json<'static>>) -> AttributeAnswer {
    value.map_or(AttributeAnswer::Absent, AttributeAnswer::Value)
}
