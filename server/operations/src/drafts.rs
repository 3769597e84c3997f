//! The use cases of drafts (`docs/semantics.md`, section 18.2).

mod content;
pub mod shadow_plans;
pub mod shadow_reports;

use std::sync::Arc;

use portcullis_auth::Manager;
use portcullis_bundle::{BundleDocument, DocumentContext};
use portcullis_engine::{Invalid, Json};
use portcullis_model::SignedRecord;
use portcullis_model::apply::{ApplyAnswer, PlanCounts};
use portcullis_model::draft::{DraftMode, DraftRecord};
use portcullis_model::fields::{boolean, variant};
use portcullis_model::input::{Field, Members, derived};
use portcullis_model::page::Listed;
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_runtime::shadows::{Shadow, WantedPlans};
use portcullis_storage::{Tx, drafts, shadows};
use serde_json::value::RawValue;
use tokio::time::Instant;

use crate::apply::{BundleOrigin, Replacement, counts_of, must_match, replace};
use crate::changes::etag::Precondition;
use crate::changes::gated_writes::limited_for;
use crate::changes::ownership::ChangeTerms;
use crate::changes::written::Stored;
use crate::content::tenant_content::TenantContent;
use content::{content_with_draft, stored_bundle};

const NOT_FOUND: OperationError = OperationError::NotFound("draft");

/// Most drafts of a tenant.
const MAX_DRAFTS: i64 = 20;

/// The body of `PUT /api/v1/drafts/{name}`.
#[derive(Debug)]
pub struct DraftBody {
    bundle: BundleDocument,
    text: Box<RawValue>,
    mode: DraftMode,
    shadow: bool,
}

/// A draft that was stored, with the numbers of changes that its publication makes at the moment.
#[derive(Debug)]
pub struct StoredDraft {
    pub record: DraftRecord,
    pub counts: PlanCounts,
}

impl DraftBody {
    /// Reads a request body.
    ///
    /// # Errors
    /// Every fault, by JSON pointer.
    pub fn parse(json: &Json<'_>, context: DocumentContext<'_>) -> Result<Self, Invalid> {
        context.parse(json, Self::declare)
    }

    /// Names the members of the body.
    pub fn declare(members: &mut Members<'_, '_>, context: DocumentContext<'_>) -> Option<Self> {
        let bundle = members.required("bundle", bundle(context));
        let mode = members.optional("mode", mode());
        let shadow = members.optional("shadow", boolean().default_is(false));
        let (bundle, text) = bundle?;
        let (mode, shadow) = (mode.unwrap_or_default(), shadow.unwrap_or(false));
        Some(Self { bundle, text, mode, shadow })
    }
}

/// Returns the reader of the mode of a draft.
fn mode<'j>() -> impl Field<'j, Value = DraftMode> {
    variant().default_is(DraftMode::default().into_str()).about(
        "`replace` deletes the records of the kinds that the bundle names and that are not in it, `merge` keeps them",
    )
}

/// A bundle with its text. It has no bytes of modules and no secrets, which no draft keeps.
fn bundle<'j>(
    context: DocumentContext<'_>,
) -> impl Field<'j, Value = (BundleDocument, Box<RawValue>)> {
    derived(
        BundleDocument::field(context),
        |bundle, json, at, problems| {
            for kind in ["resolvers", "webhooks"] {
                if json.get(kind).is_some_and(|list| *list != Json::Null) {
                    let what = format!("no `{kind}`, which a draft does not have: apply them");
                    problems.expected(&at.key(kind), what);
                }
            }
            let bundle = bundle.read(json, at, problems)?;
            Some((bundle, RawValue::from_string(json.to_string()).ok()?))
        },
        Field::schema,
    )
}

/// Stores the draft that `read` makes of a body in place of the one named `name`.
///
/// # Errors
/// The error of `read`; the precondition does not hold, the draft does not fit the present content, the tenant has too
/// many drafts, or the store failed.
pub async fn put<E: From<OperationError> + Send + 'static>(
    app: &App,
    caller: &Manager,
    name: &str,
    precondition: &Precondition,
    read: impl FnOnce() -> Result<DraftBody, E> + Send + 'static,
) -> Result<Stored<StoredDraft>, E> {
    let _turn = app.uploads.begin(caller.tenant()).await?;
    let body = app.compilations.run(caller.tenant(), read).await??;
    let stored = store(app, caller, name, precondition, body).await;
    Ok(stored.map_err(|error| limited_for(caller, error))?)
}

async fn store(
    app: &App,
    caller: &Manager,
    name: &str,
    precondition: &Precondition,
    body: DraftBody,
) -> Result<Stored<StoredDraft>, OperationError> {
    must_match(caller, &body.bundle)?;
    let by = app.authored_by(caller.actor());
    let record = DraftRecord {
        name: name.to_owned(),
        tenant_id: caller.tenant().to_owned(),
        bundle: body.text,
        domain: caller.domain().to_owned(),
        mode: body.mode,
        shadow: body.shadow,
        created_by: by.actor.clone(),
        created_at: by.at,
        updated_by: None,
        updated_at: None,
    };
    let state = app.read(caller.tenant(), async |tx| TenantContent::load(tx).await).await?;
    let (own, origin) = (app.clone(), BundleOrigin::from(&record));
    // Before the turn to write, so that no other write of the tenant waits for it.
    let counts = app
        .compilations
        .run(caller.tenant(), move || counts_of(&own, state, &origin, &body.bundle));
    let counts = counts.await??;
    let turn = app.turn(caller).await?;
    let mut tx = app.write_in(turn, caller, &by).await?;
    let old = drafts::find(&mut tx, name).await?;
    precondition.check_stored(old.as_ref())?;
    let is_new = old.is_none();
    if is_new && drafts::count(&mut tx).await? >= MAX_DRAFTS {
        let what = format!("the tenant has {MAX_DRAFTS} drafts already; delete one first");
        return Err(OperationError::Conflict(what));
    }
    if record.shadow {
        must_be_the_only_shadow(&mut tx, name).await?;
    }
    let record = match old {
        None => record,
        // A draft that says the same is not written, so that its comparison goes on.
        Some(old) if old.says(&record) => {
            tx.end().await?;
            return Ok(Stored { record: StoredDraft { record: old, counts }, is_new });
        }
        Some(DraftRecord { created_by, created_at, .. }) => {
            DraftRecord { created_by, created_at, ..record.signed(&by) }
        }
    };
    // A draft that changes is compared anew: the counts of the one before say nothing about it.
    let shadow_id = record.shadow.then(|| app.ids.next(by.at));
    drafts::store(&mut tx, &record, shadow_id).await?;
    app.commit(tx).await?;
    let shadow = follow_shadow(app, caller.tenant()).await;
    if let Some(shadow) = shadow.filter(|_| record.shadow) {
        // A failure is a part of the report.
        let _ = shadow_plans::compile(app, &shadow, WantedPlans::everything()).await;
    }
    Ok(Stored { record: StoredDraft { record, counts }, is_new })
}

/// Refuses a second draft in shadow: each costs every check of the tenant.
async fn must_be_the_only_shadow(tx: &mut Tx, name: &str) -> Result<(), OperationError> {
    let Some(other) = shadows::find(tx).await?.filter(|other| other.name != name) else {
        return Ok(());
    };
    let what = format!(
        "the draft `{}` is in shadow already, and a tenant has one at a time; store that one with `shadow: false` first",
        other.name
    );
    Err(OperationError::Conflict(what))
}

/// Begins or ends the comparison of the tenant's checks with a draft, and returns the one that is under way. If that fails, it
/// happens within seconds.
async fn follow_shadow(app: &App, tenant: &str) -> Option<Arc<Shadow>> {
    app.reread_shadow(tenant).await.unwrap_or_else(|error| {
        tracing::warn!(tenant, %error, "cannot read the draft in shadow");
        None
    })
}

/// Lists the drafts of the caller's tenant, in the order of names.
///
/// # Errors
/// The store failed.
pub async fn list(
    app: &App,
    caller: &Manager,
    after: &str,
    limit: i64,
) -> Result<Listed<DraftRecord>, OperationError> {
    app.read(caller.tenant(), async |tx| drafts::list(tx, after, limit).await).await
}

/// Returns a draft of the caller's tenant.
///
/// # Errors
/// The tenant has no such draft, or the store failed.
pub async fn get(app: &App, caller: &Manager, name: &str) -> Result<DraftRecord, OperationError> {
    app.read(caller.tenant(), async |tx| drafts::find(tx, name).await?.ok_or(NOT_FOUND)).await
}

/// Deletes a draft.
///
/// # Errors
/// The tenant has no such draft, the precondition does not hold, or the store failed.
pub async fn delete(
    app: &App,
    caller: &Manager,
    name: &str,
    precondition: &Precondition,
) -> Result<(), OperationError> {
    let by = app.authored_by(caller.actor());
    let turn = app.turn(caller).await?;
    let mut tx = app.write_in(turn, caller, &by).await?;
    let record = drafts::find(&mut tx, name).await?.ok_or(NOT_FOUND)?;
    precondition.check(&record)?;
    drafts::delete(&mut tx, &record, false).await?;
    app.commit(tx).await?;
    follow_shadow(app, caller.tenant()).await;
    Ok(())
}

/// Makes the content of the caller's tenant the present one with the kinds of a draft, in one revision. The draft goes.
///
/// # Errors
/// The tenant has no such draft, the precondition does not hold, the draft changes managed objects and is not forced, or
/// it is refused as an apply is.
pub async fn publish(
    app: &App,
    caller: &Manager,
    name: &str,
    terms: &ChangeTerms,
    ready_by: Instant,
) -> Result<ApplyAnswer, OperationError> {
    let draft = get(app, caller, name).await?;
    terms.precondition.check(&draft)?;
    let bundle = stored_bundle(app, &draft).await?;
    let replacement = Replacement::Draft { draft: &draft, bundle: &bundle, force: terms.force };
    // It deletes the draft, so that a comparison with it ends.
    let answer = replace(app, caller, replacement, false, ready_by).await?;
    follow_shadow(app, caller.tenant()).await;
    Ok(answer)
}

/// Returns the content of a tenant as the draft `name` makes it.
///
/// # Errors
/// The tenant has no such draft, it does not fit the present content any more, or the store failed.
pub async fn candidate(
    app: &App,
    tenant: &str,
    name: &str,
) -> Result<TenantContent, OperationError> {
    let mut tx = app.store.begin_read(tenant).await?;
    let draft = drafts::find(&mut tx, name).await?.ok_or(NOT_FOUND)?;
    let state = TenantContent::load(&mut tx).await?;
    tx.end().await?;
    content_with_draft(app, state, draft).await
}
