//! Bundles: plan, apply and export (`docs/semantics.md`, section 10).

use std::time::Duration;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::CONTENT_TYPE;
use http::{HeaderValue, StatusCode};
use portcullis_bundle::{DocumentContext, describe};
use portcullis_http::body::JsonBody;
use portcullis_http::callers::{Allowed, BundleRead, BundleSend, DryRun};
use portcullis_http::deadline::Deadline;
use portcullis_http::error::ApiError;
use portcullis_http::live_credential::LiveCredential;
use portcullis_http::page_stream::{AfterFailure, PageStream};
use portcullis_http::query::{Query, QueryParameters, QueryReader};
use portcullis_http::respond::revision_header;
use portcullis_http::text_answer::Json;
use portcullis_model::apply::ApplyAnswer;
use portcullis_model::named_condition::NewCondition;
use portcullis_model::owner::is_owner;
use portcullis_model::policy::NewPolicy;
use portcullis_model::resolver::WantedResolver;
use portcullis_model::resource::Registration;
use portcullis_model::role::NewRole;
use portcullis_model::rule::NewRule;
use portcullis_model::settings::TenantSettings;
use portcullis_model::types::NewType;
use portcullis_model::wanted_webhook::WantedWebhook;
use portcullis_model::{document, schema};
use portcullis_operations::apply::{self, ApplyRequest};
use portcullis_runtime::app::App;
use serde_json::json;

use crate::openapi::{Conflict, QuotaExceeded};

/// The terms of an export. Meanwhile it has a connection of the database, and its snapshot; two clients that take nothing hold
/// the turns of all others.
const EXPORT: PageStream = PageStream {
    longest: Duration::from_secs(60),
    stall: Duration::from_secs(10),
    waiting: 64 * 1024,
    is_live: false,
    // No client takes a part for the whole.
    after_failure: AfterFailure::Disconnect,
};

/// Makes the content of an owner that of a bundle, or plans it.
///
/// The whole is one transaction and one revision. A service key needs the write permission of each kind that the bundle
/// has, `policies:write` for settings and cases, and `policies:force` for `force` and `allow_deletes`. Without the read
/// permissions it gets counts and codes alone. A dry run needs the read permission of each kind, and also the write
/// permission of a kind of which the bundle has bytes of a module or the value of a secret.
#[utoipa::path(
    post, path = "/api/v1/apply", tag = "Policies as code", operation_id = "apply", request_body = ApplyBody,
    responses(
        (status = 200, description = "The plan, and whether it was carried out", body = ApplyAnswer,
            headers(("X-Policy-Revision"))),
        (status = 202, description = "The plan, which waits for a second manager as `proposal`",
            body = ApplyAnswer, headers(("X-Policy-Revision"))),
        Conflict, QuotaExceeded,
    ),
)]
pub(super) async fn run(
    State(app): State<App>,
    caller: Allowed<BundleSend>,
    Query(DryRun(dry_run)): Query<DryRun>,
    deadline: Deadline,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let (domain, egress) = (caller.domain().to_owned(), app.egress.rules.clone());
    let read = move || -> Result<(ApplyRequest, String), ApiError> {
        let context = DocumentContext { domain: &domain, egress: &egress };
        let json = body.parse()?;
        // A proposal keeps this text.
        Ok((ApplyRequest::parse(&json, context)?, json.to_string()))
    };
    Ok(answered(apply::apply_body(&app, &caller, read, dry_run, deadline.instant()).await?))
}

/// Answers with a plan: 202 if it waits for a second manager.
pub(super) fn answered(answer: ApplyAnswer) -> Response {
    let status = if answer.proposal.is_some() { StatusCode::ACCEPTED } else { StatusCode::OK };
    (status, revision_header(answer.revision), Json(answer)).into_response()
}

/// Shows the content of the tenant as a bundle.
///
/// It has no ids and no secrets, and leaves out the rules of default roles. The same content gives the same bytes.
#[utoipa::path(
    get, path = "/api/v1/export", tag = "Policies as code", operation_id = "export",
    responses(
        (status = 200, description = "The bundle", body = ExportAnswer,
            headers(("X-Policy-Revision"))),
        Conflict,
    ),
)]
pub(super) async fn export(
    State(app): State<App>,
    caller: Allowed<BundleRead>,
    credential: LiveCredential,
    Query(OwnerFilter(owner)): Query<OwnerFilter>,
) -> Result<Response, ApiError> {
    let export = apply::export(&app, &caller, owner).await?;
    let json = [(CONTENT_TYPE, HeaderValue::from_static("application/json"))];
    let revision = revision_header(export.revision());
    let answer = EXPORT.answer(credential, move |pieces| async move {
        // Its place is taken as long as the export is read.
        let _caller = caller;
        export.write(pieces).await
    })?;
    Ok((json, revision, answer).into_response())
}

/// The query parameter of [`export`].
pub(super) struct OwnerFilter(Option<String>);

impl QueryParameters for OwnerFilter {
    fn declare(query: &mut QueryReader<'_>) -> Result<Self, ApiError> {
        let owner = query.optional(
            "owner",
            "Only the objects of this owner",
            || portcullis_model::input::Field::schema(&portcullis_model::owner::owner()),
            |text| is_owner(text).then(|| text.to_owned()),
            "have 1 to 256 printable characters without white space",
        );
        owner.map(Self)
    }
}

/// The body of [`run`], as the document describes it.
struct ApplyBody;

document!(
    ApplyBody,
    naming NewType, NewCondition, Registration, NewRule, NewRole, NewPolicy, WantedResolver, WantedWebhook, TenantSettings
    => {
    describe(ApplyRequest::declare)
        .example(json!({
            "owner": "git:github.com/acme/authz",
            "source": {"commit": "3f2c", "ref": "main", "url": "https://github.com/acme/authz"},
            "bundle": {
                "resources": [{"name": "x-ray:read", "defaultRoles": ["doctor"]}],
                "policies": [{
                    "name": "visitors-by-day", "resource": "visit:register", "effect": "deny",
                    "priority": 10, "when": "user.shift == \"night\"",
                }],
            },
        }))
});

/// The answer of [`export`], as the document describes it.
struct ExportAnswer;

document!(ExportAnswer => {
    schema::record()
        .field("revision", schema::integer(0, i64::MAX))
        .field("bundle", schema::any_object("As the `bundle` of an apply"))
        .example(json!({
            "revision": 812,
            "bundle": {
                "resources": [{"name": "x-ray:read", "defaultRoles": ["doctor"]}],
                "rules": [], "roles": [], "policies": [], "resolvers": [], "webhooks": [],
                "settings": {"gates": {"cases": false, "approval": false}, "max_deletes": 20, "owners": {}, "directory_wins": false},
                "cases": [], "users": [],
            },
        }))
});
