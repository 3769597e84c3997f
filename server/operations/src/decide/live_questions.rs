//! The decision on a question of a tenant: the loop around [`OpenQuestion::judge`] that looks relations up and asks resolvers
//! (`docs/semantics.md`, section 2.6).

use std::mem;

use portcullis_engine::relation::RELATION;
use portcullis_engine::{AttributeRequest, Decision, Judged, OpenQuestion, Supply, Verdict};
use portcullis_resolvers::{Asked, CacheMode};
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;

use crate::people::directory::{NeededEntities, relations_among};

/// A question that the present directory of a tenant completes.
pub(crate) type LiveQuestion<'q> = OpenQuestion<'q, 'q, NeededEntities>;

/// Decides a question. Returns what the resolvers reported that had to be asked; the question has their answers.
///
/// # Errors
/// The stored types are corrupt, or too many checks of the tenant look at many relations.
pub(crate) async fn decide<'q>(
    asking: (&App, &str),
    question: &mut LiveQuestion<'q>,
    mode: CacheMode,
) -> Result<(Decision<'q>, Asked), OperationError> {
    let judged = question.judge()?;
    let requests = match decide_related(asking, question, judged).await? {
        Verdict::Decided(decision) => return Ok((decision, Asked::default())),
        Verdict::NeedsAttributes(requests) => requests,
    };
    look_up_inputs(asking, question, &requests).await?;
    let (app, tenant) = asking;
    let mut asked = app.resolvers.ask(tenant, &question.for_resolvers(), &requests, mode).await;
    question.add(mem::take(&mut asked.answers));
    Ok((question.settle(), asked))
}

/// Goes on with what is `judged`, until the question is decided or waits for resolvers alone.
///
/// # Errors
/// Those of [`decide`].
pub(crate) async fn decide_related<'q>(
    asking: (&App, &str),
    question: &mut LiveQuestion<'q>,
    judged: Judged<'q>,
) -> Result<Verdict<'q>, OperationError> {
    let requests = match judged {
        Judged::Decided(decision) => return Ok(Verdict::Decided(decision)),
        Judged::NeedsAnswers(requests) => return Ok(Verdict::NeedsAttributes(requests)),
        Judged::NeedsRelations(requests) => requests,
    };
    // Resolvers wait until the relations are known: these may already decide.
    for request in requests.iter().filter(|request| *request.namespace == *RELATION) {
        look_up(asking, question, &request.attributes).await?;
    }
    Ok(question.verdict())
}

/// Adds the relations `names` to the answers of a question, unless the tenant has none.
///
/// # Errors
/// Those of [`decide`].
pub(crate) async fn look_up(
    asking: (&App, &str),
    question: &mut LiveQuestion<'_>,
    names: &[Box<str>],
) -> Result<(), OperationError> {
    let Some(tenant) = question.plan.facts() else { return Ok(()) };
    let asked = (tenant, &question.sent);
    let answers = question.facts.look_up(asking, asked, names, &mut question.work).await?;
    answers.into_iter().for_each(|answers| question.add(answers));
    Ok(())
}

/// Looks up the relations that the resolvers of `requests` have as inputs, but for those that are known.
///
/// # Errors
/// Those of [`decide`].
pub(crate) async fn look_up_inputs(
    (app, tenant): (&App, &str),
    question: &mut LiveQuestion<'_>,
    requests: &[AttributeRequest],
) -> Result<(), OperationError> {
    if question.facts.graph(question.plan.facts())?.is_none() {
        return Ok(());
    }
    let mut names: Vec<Box<str>> = Vec::new();
    for request in requests {
        let inputs = app.resolvers.declared_inputs(tenant, request).await;
        let known = question.answers();
        let missing = relations_among(&inputs).filter(|name| known.get(RELATION, name).is_none());
        names.extend(missing.map(Box::from));
    }
    look_up((app, tenant), question, &names).await
}

/// Counts the attributes that the request sent and the directory or the token has instead.
pub(crate) fn count_overridden(app: &App, question: &LiveQuestion<'_>) {
    let overridden = question.supply().map_or(0, Supply::overridden);
    if overridden > 0 {
        let overridden = u64::try_from(overridden).unwrap_or(u64::MAX);
        app.metrics.attributes_overridden.inc_by(overridden);
    }
}
