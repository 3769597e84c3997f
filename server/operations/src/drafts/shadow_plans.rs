//! Compiles the plans of drafts in shadow: the plans of their tenants' content, with the kinds of the draft replaced
//! (`docs/semantics.md`, section 18.3).

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use portcullis_bundle::Rulebook;
use portcullis_engine::TenantFacts;
use portcullis_model::relation_declaration::RelationDeclarations;
use portcullis_model::types::TypeRecord;
use portcullis_plan_cache::{NewPlan, OwnPatterns, WILDCARD};
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_runtime::plans::PlanError;
use portcullis_runtime::shadows::{Shadow, WantedPlans};
use portcullis_storage::plan_records::{self, StoredFacts};
use portcullis_storage::{drafts, shadows};
use tokio::time::Instant;

use super::content::content_with_draft;
use crate::content::content_rulebook::rulebook;
use crate::content::tenant_content::TenantContent;

/// The shortest time between two compilations of a draft.
const PAUSE: Duration = Duration::from_millis(200);
/// A pause is this many times as long as the compilation before, so that constant writes cost a tenth of a core.
const PAUSE_FACTOR: u32 = 9;
/// The longest pause, and the pause after a failure.
const MAX_PAUSE: Duration = Duration::from_secs(10);
/// The most plans that are compiled before a check wants them.
const MAX_FIRST: usize = 256;
/// The most resources and patterns of a draft with which resources without any share plans, as those that decide do.
const MAX_PATTERNS: usize = 10_000;

/// Compiles what checks want, for as long as the process runs.
pub async fn compile_for_ever(app: App) {
    loop {
        for shadow in app.shadows.wanting().await {
            let own = app.clone();
            app.background.spawn(async move { compile_wanted(&own, &shadow).await });
        }
    }
}

/// Compiles what checks of a tenant want, until they want nothing more.
async fn compile_wanted(app: &App, shadow: &Arc<Shadow>) {
    while let Some(wanted) = shadow.next_wanted() {
        let began = Instant::now();
        // Two contents are in memory.
        let outcome = match app.uploads.begin(&shadow.tenant).await {
            // The turn ends before the pause.
            Ok(_turn) => compile(app, shadow, wanted).await,
            Err(error) => Err(error),
        };
        let pause = match outcome {
            Ok(()) => (PAUSE_FACTOR * began.elapsed()).clamp(PAUSE, MAX_PAUSE),
            Err(_) => MAX_PAUSE,
        };
        tokio::time::sleep(pause).await;
    }
}

/// Compiles plans of a draft at the present revision, and loads the entities of the tenant if a plan reads them. The caller
/// has a turn for two contents in memory.
///
/// # Errors
/// The draft does not fit the content of the tenant any more, too much work of the tenant waits, or the store failed.
pub(crate) async fn compile(
    app: &App,
    shadow: &Arc<Shadow>,
    wanted: WantedPlans,
) -> Result<(), OperationError> {
    let outcome = compile_once(app, shadow, wanted).await;
    if let Err(error) = &outcome {
        tracing::debug!(tenant = &*shadow.tenant, %error, "cannot compile a draft in shadow");
    }
    shadow.note_fault(outcome.as_ref().err().map(fault));
    outcome
}

/// Returns what a manager may know of an error.
fn fault(error: &OperationError) -> String {
    match error {
        OperationError::Invalid(_) | OperationError::Conflict(_) => {
            format!("the draft does not fit the present content: {error}")
        }
        _ => "the draft cannot be compiled now; the log of the service says why".to_owned(),
    }
}

async fn compile_once(
    app: &App,
    shadow: &Arc<Shadow>,
    wanted: WantedPlans,
) -> Result<(), OperationError> {
    let mut tx = app.store.begin_read(&shadow.tenant).await?;
    let present = plan_records::facts(&mut tx).await?;
    let row = shadows::find(&mut tx).await?.filter(|row| row.shadow_id == shadow.id);
    let draft = match row {
        Some(_) => drafts::find(&mut tx, &shadow.draft).await?,
        None => None,
    };
    // The comparison is over.
    let Some(draft) = draft else { return Ok(tx.end().await?) };
    let state = TenantContent::load(&mut tx).await?;
    tx.end().await?;
    let (revision, relations, loads) = (state.revision, relations(&state.types), wanted.entities);
    let content = content_with_draft(app, state, draft).await?;
    let differ = relations != self::relations(&content.types);
    let plans = app
        .compilations
        .run(&shadow.tenant, move || compiled(&content, present, revision, &wanted));
    let plans = plans.await?;
    let loads = loads || plans.iter().any(|(_, new)| new.plan.directory_needs().any());
    shadow.note_relations(differ);
    app.shadows.keep(shadow, plans);
    if loads {
        app.entities.table(&shadow.tenant).await.map_err(PlanError::from)?;
    }
    Ok(())
}

/// Returns the relations of types that have any.
fn relations(types: &[TypeRecord]) -> Vec<(String, RelationDeclarations)> {
    let any = types.iter().filter(|one| !one.relations.is_empty());
    any.map(|one| (one.kind.clone(), one.relations.clone())).collect()
}

/// Compiles the plans that are wanted, each by its resource or pattern, and the plan of all other resources.
fn compiled(
    content: &TenantContent,
    present: StoredFacts,
    revision: u64,
    wanted: &WantedPlans,
) -> Vec<(String, NewPlan)> {
    let rules = rulebook(content, present.directory.is_some());
    let own = rules.facts().relations.clone();
    // Tuples mean what the present types say.
    let relations = own.map(|own| present.relations.unwrap_or(own));
    let facts = TenantFacts { relations, ..(**rules.facts()).clone() };
    let rules = rules.with_facts(facts);
    let patterns = patterns(&rules);
    let own =
        (patterns.len() <= MAX_PATTERNS).then(|| Arc::new(OwnPatterns::new(&patterns, revision)));
    let keys = wanted.resources.iter().map(|resource| {
        let shared = own.as_ref().and_then(|own| own.pattern_of(resource));
        shared.unwrap_or_else(|| resource.to_string())
    });
    let mut keys: BTreeSet<String> = keys.collect();
    keys.insert(WILDCARD.to_owned());
    if wanted.everything {
        keys.extend(patterns.into_iter().take(MAX_FIRST));
    }
    let plans = keys.into_iter().map(|key| {
        let plan = rules.plan(&key).renamed(&key, revision);
        let own = own.clone().filter(|_| key == WILDCARD);
        (key, NewPlan { plan, own })
    });
    plans.collect()
}

/// Returns the resources and patterns that rules and policies name, without `*`.
fn patterns(rules: &Rulebook) -> BTreeSet<String> {
    let of_rules = rules.rules().iter().map(|rule| &rule.tuple.obj);
    let of_policies = rules.policies().iter().map(|policy| &policy.resource);
    let all = of_rules.chain(of_policies).map(ToString::to_string);
    all.filter(|pattern| pattern != WILDCARD).collect()
}
