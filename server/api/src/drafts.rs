//! Drafts: bundles beside the content that decides (`docs/semantics.md`, section 18.2).

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use portcullis_bundle::{DocumentContext, describe};
use portcullis_http::body::JsonBody;
use portcullis_http::callers::{Allowed, PoliciesRead, PoliciesWrite};
use portcullis_http::deadline::Deadline;
use portcullis_http::error::ApiError;
use portcullis_http::etag::{self, IfMatch, WriteCondition};
use portcullis_http::force::Terms;
use portcullis_http::paging::PageQuery;
use portcullis_http::parameters::parameter;
use portcullis_http::path::{NamedRecord, RecordName};
use portcullis_http::query::Query;
use portcullis_http::respond::tagged;
use portcullis_http::text_answer::Json;
use portcullis_model::apply::{ApplyAnswer, PlanCounts};
use portcullis_model::draft::{DraftRecord, MAX_DRAFT_NAME, is_draft_name};
use portcullis_model::shadow::ShadowReport;
use portcullis_model::{Timestamp, document, schema};
use portcullis_operations::drafts::shadow_reports::{self, ShadowOutcomes};
use portcullis_operations::drafts::{self, DraftBody, StoredDraft};
use portcullis_operations::written::Stored;
use portcullis_runtime::app::App;
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;
use utoipa::openapi::path::{Parameter, ParameterIn};

use crate::apply::answered;
use crate::openapi::{Conflict, PreconditionFailed, QuotaExceeded};

/// A draft that a path names.
pub(super) struct Draft;

impl NamedRecord for Draft {
    const WHAT: &'static str = "draft";

    fn is_name(text: &str) -> bool {
        is_draft_name(text)
    }

    fn parameter() -> Parameter {
        let name = schema::text(MAX_DRAFT_NAME).pattern(Some(r"^[A-Za-z0-9._-]+$"));
        parameter(ParameterIn::Path, "name", name, "The name of the draft")
    }
}

/// Stores a draft in place of the one with its name.
///
/// Its bundle replaces the kinds that it names, whoever owns them; with `mode` `merge` the records that it does not name stay. It
/// has no resolvers and no webhooks, and must fit the present content, as the bundle of an apply. `counts` has the numbers of
/// changes that its publication makes at the moment.
#[utoipa::path(
    put, path = "/api/v1/drafts/{name}", tag = "Drafts", operation_id = "putDraft",
    request_body = SentDraft,
    responses(
        (status = 200, description = "The draft", body = CountedDraft, headers(("ETag"))),
        (status = 201, description = "The draft, which is new", body = CountedDraft, headers(("ETag"))),
        Conflict, PreconditionFailed, QuotaExceeded,
    ),
)]
pub(super) async fn put(
    State(app): State<App>,
    caller: Allowed<PoliciesWrite>,
    name: RecordName<Draft>,
    WriteCondition(precondition): WriteCondition,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let name = name.known()?;
    let (domain, egress) = (caller.domain().to_owned(), app.egress.rules.clone());
    let stored = drafts::put(&app, &caller, name, &precondition, move || {
        let context = DocumentContext { domain: &domain, egress: &egress };
        Ok::<_, ApiError>(DraftBody::parse(&body.parse()?, context)?)
    });
    let Stored { record: StoredDraft { record: draft, counts }, is_new } = stored.await?;
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, etag::header(&draft), Json(CountedDraft { draft, counts })).into_response())
}

/// A draft that was stored.
#[derive(Serialize, ToSchema)]
#[schema(examples(json!({
    "name": "stricter-nights", "bundle": {"policies": []}, "mode": "merge", "shadow": true, "created_by": "ines-admin",
    "created_at": "2026-05-16T09:30:00.000Z", "updated_by": null, "updated_at": null,
    "counts": {"create": 1, "update": 0, "delete": 0, "adopt": 0, "unchanged": 2},
})))]
struct CountedDraft {
    #[serde(flatten)]
    draft: DraftRecord,
    /// The numbers of changes that its publication makes at the moment.
    counts: PlanCounts,
}

/// Lists the drafts of the tenant, in the order of names.
#[utoipa::path(
    get, path = "/api/v1/drafts", tag = "Drafts", operation_id = "listDrafts",
    responses((status = 200, description = "A page", body = [DraftRecord], headers(("Link")))),
)]
pub(super) async fn list(
    State(app): State<App>,
    caller: Allowed<PoliciesRead>,
    Query(page): Query<PageQuery<String>>,
) -> Result<Response, ApiError> {
    let page = page.in_list("drafts", caller.tenant(), "")?;
    let listed = drafts::list(&app, &caller, page.after(), page.limit()).await?;
    Ok(page.respond(listed, |draft| draft.name.clone()))
}

/// Shows a draft.
#[utoipa::path(
    get, path = "/api/v1/drafts/{name}", tag = "Drafts", operation_id = "getDraft",
    responses((status = 200, description = "The draft", body = DraftRecord, headers(("ETag")))),
)]
pub(super) async fn show(
    State(app): State<App>,
    caller: Allowed<PoliciesRead>,
    name: RecordName<Draft>,
) -> Result<Response, ApiError> {
    Ok(tagged(drafts::get(&app, &caller, name.known()?).await?))
}

/// Deletes a draft.
#[utoipa::path(
    delete, path = "/api/v1/drafts/{name}", tag = "Drafts", operation_id = "deleteDraft",
    responses((status = 204, description = "It is gone"), PreconditionFailed),
)]
pub(super) async fn delete(
    State(app): State<App>,
    caller: Allowed<PoliciesWrite>,
    name: RecordName<Draft>,
    IfMatch(precondition): IfMatch,
) -> Result<Response, ApiError> {
    drafts::delete(&app, &caller, name.known()?, &precondition).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Shows what checks would have been decided otherwise by a draft in shadow.
///
/// The counts begin anew when the draft changes. Those of other processes are up to ten seconds old.
#[utoipa::path(
    get, path = "/api/v1/drafts/{name}/shadow", tag = "Drafts", operation_id = "getDraftShadow",
    responses((status = 200, description = "The outcome so far", body = ShadowAnswer), Conflict),
)]
pub(super) async fn show_shadow(
    State(app): State<App>,
    caller: Allowed<PoliciesRead>,
    name: RecordName<Draft>,
) -> Result<Json<ShadowAnswer>, ApiError> {
    let name = name.known()?;
    let ShadowOutcomes { since, report, fault } = shadow_reports::get(&app, &caller, name).await?;
    Ok(Json(ShadowAnswer { draft: name.to_owned(), since, report, error: fault }))
}

/// The outcome of a comparison of checks with a draft, so far.
#[derive(Serialize, ToSchema)]
#[schema(examples(json!({
    "draft": "stricter-nights", "since": "2026-05-16T09:30:00.000Z", "checks": 412_233, "allow_to_deny": 15, "deny_to_allow": 0,
    "rule_changed": 340, "not_ready": 3, "not_comparable": 0,
    "groups": [{
        "change": "allow_to_deny", "resource": "visit:register", "action": "register", "before": "own-visits",
        "after": "visitors-by-day", "count": 15, "samples": ["019e301f-05c0-7a4e-9c1b-5f0e8d3a7b70"],
    }],
    "complete": true,
})))]
pub(super) struct ShadowAnswer {
    draft: String,
    /// The instant from which on checks are compared.
    since: Timestamp,
    #[serde(flatten)]
    report: ShadowReport,
    /// The reason why no check is compared now; absent if checks are.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Makes a draft the content of the tenant, as one revision. The draft goes.
///
/// The gates of the tenant judge it as they judge an apply. Managed objects change only with `force`.
#[utoipa::path(
    post, path = "/api/v1/drafts/{name}/publish", tag = "Drafts", operation_id = "publishDraft",
    responses(
        (status = 200, description = "What was carried out", body = ApplyAnswer,
            headers(("X-Policy-Revision"))),
        Conflict, PreconditionFailed, QuotaExceeded,
    ),
)]
pub(super) async fn publish(
    State(app): State<App>,
    caller: Allowed<PoliciesWrite>,
    name: RecordName<Draft>,
    Terms(terms): Terms,
    deadline: Deadline,
) -> Result<Response, ApiError> {
    let (name, ready_by) = (name.known()?, deadline.instant());
    Ok(answered(drafts::publish(&app, &caller, name, &terms, ready_by).await?))
}

/// The body of [`put`], as the document describes it.
struct SentDraft;

document!(SentDraft => {
    describe(DraftBody::declare)
        .example(json!({
            "bundle": {"policies": [{
                "name": "visitors-by-day", "resource": "visit:register", "effect": "deny",
                "priority": 10, "when": "user.shift == \"night\"",
            }]},
            "mode": "merge",
            "shadow": true,
        }))
});
