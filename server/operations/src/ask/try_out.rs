//! The call of a resolver for a sample check.

use portcullis_auth::Manager;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::{AttributeAnswers, Check, CheckBody, Invalid};
use portcullis_model::resolver::StoredResolver;
use portcullis_resolver_host::{CallOutcome, WantedAttributes};
use portcullis_resolvers::LoadFailure;
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use uuid::Uuid;

use crate::content::resolvers::{NOT_FOUND, must_be_own};
use crate::decide::live_questions::{LiveQuestion, look_up};
use crate::people::directory::{NeededEntities, relations_among};

/// The result of a sample check.
#[derive(Debug)]
pub enum TryOutResult {
    /// The module was called for these attributes.
    Called { outcome: CallOutcome, wanted: Vec<Box<str>> },
    /// The stored resolver cannot be loaded.
    NotLoaded(LoadFailure),
}

/// Calls a resolver of the caller's tenant for a sample check: past the cache and the breaker, and also if the resolver
/// is disabled. `attributes` names those to ask for, without the namespace; `None` stands for all.
///
/// # Errors
/// The tenant has no such resolver, the module declares no such attribute, or the resolver cannot be loaded at the
/// moment.
pub async fn try_out(
    app: &App,
    caller: &Manager,
    id: Uuid,
    check: CheckBody<'_>,
    attributes: Option<Vec<String>>,
) -> Result<TryOutResult, OperationError> {
    must_be_own(app, caller.tenant(), id)?;
    let (stored, binding) = match app.resolvers.load(caller.tenant(), id).await {
        Ok(found) => found.ok_or(NOT_FOUND)?,
        // It may work soon, so that it says nothing about the resolver.
        Err(failure) if failure.is_passing() => return Err(failure.into()),
        Err(failure) => return Ok(TryOutResult::NotLoaded(failure)),
    };
    let wanted = wanted(attributes, &stored)?;
    let domain = check.domain.unwrap_or(caller.domain());
    let check = Check::new(check, domain, None, app.clock.now());
    let relations = relations(app, caller.tenant(), &check, &stored).await?;
    let check = Check { relations: Some(&relations), ..check };
    let asked = WantedAttributes { tenant: caller.tenant(), check: &check, names: &wanted };
    let outcome = app.resolvers.try_out(&binding, asked).await;
    Ok(TryOutResult::Called { outcome, wanted })
}

/// Returns the relations of the check that the inputs of the module name.
async fn relations(
    app: &App,
    tenant: &str,
    check: &Check<'_>,
    stored: &StoredResolver,
) -> Result<AttributeAnswers, OperationError> {
    let names: Vec<Box<str>> = relations_among(&stored.module.inputs).map(Box::from).collect();
    if names.is_empty() {
        return Ok(AttributeAnswers::default());
    }
    let cached = app.plans.find(tenant, check.resource, 0).await?;
    let entities = NeededEntities::load_all(app, tenant, cached.plan()).await?;
    let mut question = LiveQuestion::combined(cached.plan(), &entities, *check);
    look_up((app, tenant), &mut question, &names).await?;
    Ok(question.into_answers())
}

/// Returns the attributes to ask for, each once.
fn wanted(named: Option<Vec<String>>, stored: &StoredResolver) -> Result<Vec<Box<str>>, Invalid> {
    let declared: Vec<_> =
        stored.module.attributes.iter().map(|declared| &*declared.name).collect();
    let Some(named) = named else { return Ok(declared.into_iter().map(Box::from).collect()) };
    let mut problems = Problems::default();
    let names: Vec<_> = declared.iter().map(|name| format!("`{name}`")).collect();
    let one_of = format!("one of {}", names.join(", "));
    let root = Place::root();
    let list = root.key("attributes");
    let mut wanted: Vec<Box<str>> = Vec::new();
    for (index, name) in named.into_iter().enumerate() {
        if !declared.contains(&&*name) {
            problems.expected(&list.index(index), &*one_of);
        } else if !wanted.iter().any(|wanted| **wanted == *name) {
            wanted.push(name.into());
        }
    }
    problems.finish(Some(wanted))
}
