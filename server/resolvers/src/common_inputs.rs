//! Attribute requests of many checks: each resolver is asked once for all requests with the same inputs
//! (`docs/semantics.md`, section 11.3).

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use futures_util::{StreamExt, stream};
use portcullis_engine::{AttributeAnswers, AttributeRequest, Check, ResolverRef};
use portcullis_model::resolver::ResolverOrigin;

use crate::active::{RegistryEntry, ResolverAnswers};
use crate::registry::{CacheMode, Registry};
use crate::report::AnswerOrigin;

/// The most calls of resolvers at the same time for one batch, so that a batch leaves instances to other checks.
const MAX_CALLS: usize = 8;

/// A check that cannot be decided without resolvers.
#[derive(Debug)]
pub struct OpenCheck<'c> {
    pub check: &'c Check<'c>,
    pub requests: Vec<AttributeRequest>,
}

/// A resolver as a plan names it.
type Named<'o> = (&'o str, Option<ResolverRef>);

/// Everything on which the answer to an attribute request depends: the resolver, the attributes, and the inputs.
#[derive(PartialEq, Eq, Hash)]
struct Question<'o> {
    resolver: Named<'o>,
    attributes: &'o [Box<str>],
    inputs: Arc<[u8]>,
}

/// The answers to the attribute requests of many checks.
#[derive(Debug)]
pub struct CommonAnswers {
    /// The answers to each question.
    answered: Vec<(Box<str>, ResolverAnswers)>,
    /// The questions of each check.
    asked: Vec<Vec<usize>>,
}

impl CommonAnswers {
    /// Returns the answers for the check at `index`. They are a copy, so that many checks with the same large answer do
    /// not hold it many times.
    pub fn for_check(&self, index: usize) -> AttributeAnswers {
        let mut answers = AttributeAnswers::default();
        for question in self.asked.get(index).into_iter().flatten() {
            let Some((namespace, found)) = self.answered.get(*question) else { continue };
            for (name, answer, _) in &found.attributes {
                answers.insert(namespace, name, answer.clone());
            }
        }
        answers
    }

    /// Returns the origins of the answers for the check at `index`, one for each resolver.
    pub fn origins(&self, index: usize) -> Vec<AnswerOrigin<'_>> {
        let questions = self.asked.get(index).into_iter().flatten();
        let answered = questions.filter_map(|question| self.answered.get(*question));
        let origins = answered.map(|(namespace, found)| {
            let sources = found.attributes.iter().map(|(_, _, source)| *source);
            AnswerOrigin::new(namespace, sources, found.call.as_ref())
        });
        origins.collect()
    }
}

/// Answers the attribute requests of `checks`.
pub(crate) async fn ask_all(
    registry: &Registry,
    tenant: &str,
    checks: &[OpenCheck<'_>],
) -> CommonAnswers {
    // Each resolver is looked up once: two versions of it could have different inputs.
    let mut resolvers: HashMap<Named<'_>, Option<(ResolverOrigin, RegistryEntry)>> = HashMap::new();
    let mut questions: HashMap<Question<'_>, usize> = HashMap::new();
    let mut askers = Vec::new();
    let mut asked = Vec::with_capacity(checks.len());
    for open in checks {
        let of_check = open.requests.iter().map(|request| {
            let named = (&*request.namespace, request.resolver);
            let entry = resolvers.entry(named).or_insert_with(|| registry.find(tenant, request));
            let inputs = inputs(entry.as_ref(), tenant, open.check);
            let question = Question { resolver: named, attributes: &request.attributes, inputs };
            *questions.entry(question).or_insert_with(|| {
                askers.push((named, open.check, request));
                askers.len() - 1
            })
        });
        asked.push(of_check.collect());
    }
    let mut calls: Vec<BoxFuture<'_, (Box<str>, ResolverAnswers)>> =
        Vec::with_capacity(askers.len());
    for (named, check, request) in askers {
        let entry = resolvers.get(&named).and_then(Option::as_ref);
        calls.push(Box::pin(async move {
            let (_, found) =
                registry.ask_entry(entry, tenant, check, request, CacheMode::Use).await;
            (request.namespace.clone(), found)
        }));
    }
    // `buffered` keeps the order, so that the index of a question finds its answer.
    let answered = stream::iter(calls).buffered(MAX_CALLS).collect().await;
    CommonAnswers { answered, asked }
}

fn inputs(
    entry: Option<&(ResolverOrigin, RegistryEntry)>,
    tenant: &str,
    check: &Check<'_>,
) -> Arc<[u8]> {
    match entry {
        Some((_, RegistryEntry::Active(resolver))) => resolver.inputs(tenant, check),
        // Nothing is called, so the cause is the same for every check.
        _ => Arc::default(),
    }
}
