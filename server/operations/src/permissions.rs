//! The permissions of a subject on registered resources (`docs/semantics.md`, section 15.1).

use portcullis_auth::CheckCaller;
use portcullis_engine::filter::RowAttributes;
use portcullis_engine::matrix::Outcome;
use portcullis_engine::resource::split_resource;
use portcullis_engine::{AttributeAnswers, Check, CheckBody, Invalid, Plan};
use portcullis_model::page::{Listed, Page};
use portcullis_model::permissions::PermissionsRequest;
use portcullis_model::resource::ResourceRecord;
use portcullis_storage::{resources, tenants};
use serde::Serialize;
use uuid::Uuid;

use crate::app::App;
use crate::common_plans::{CommonPlans, find_all};
use crate::directory::{self, NeededEntities};
use crate::error::OperationError;
use crate::etag::entity_tag;
use crate::metrics::CheckKind;
use crate::open_scope::open_scope;

/// The maximum number of resources on a page: each has a plan, which may have to be loaded.
const MAX_PAGE: i64 = 200;

/// The missing part of a request by a service key; completes "expected …".
const SUBJECT_OF_KEY: &str =
    "the subject whose permissions are listed, because a service key is none";

/// A permission: the decision on the verb of a registered resource.
#[derive(Debug, Serialize)]
pub struct ResourcePermission {
    #[serde(skip)]
    pub id: Uuid,
    pub resource: String,
    pub action: String,
    /// `allow`, `deny` or `depends`.
    pub decision: &'static str,
    /// The attributes on which the decision depends.
    pub depends_on: Vec<String>,
}

/// A page of permissions.
#[derive(Debug)]
pub struct PermissionPage {
    pub listed: Listed<ResourcePermission>,
    /// The revision of the tenant that the page reflects.
    pub revision: u64,
    /// The tag of the page; `None` if decisions depend on the present or on resolvers.
    pub tag: Option<String>,
}

/// Lists the permissions of the subject of `request`, by rules of revision `at_least` or a later one. Emits no event.
///
/// # Errors
/// The caller may not ask about the subject or the domain, or there are no plans that are new enough.
pub async fn list(
    app: &App,
    caller: &CheckCaller,
    request: &PermissionsRequest<'_>,
    page: Page,
    at_least: u64,
) -> Result<PermissionPage, OperationError> {
    let subject = request.subject.or(caller.subject());
    let subject = subject.ok_or_else(|| Invalid::missing("subject", SUBJECT_OF_KEY))?;
    caller.may_ask_about(subject, request.domain, &app.manager_roles)?;
    let (domain, tenant) = open_scope(app, caller, request.domain)?;
    let page = Page { limit: page.limit.min(MAX_PAGE), ..page };
    let mut tx = app.store.read(tenant).await?;
    let revision = tenants::revision(&mut tx).await?;
    let Listed { records, more } = resources::list(&mut tx, page).await?;
    tx.end().await?;
    let names: Vec<&str> = records.iter().map(|record| &*record.registration.name).collect();
    let CommonPlans { plans, revision } =
        find_all(&app.plans, tenant, &names, at_least.max(revision)).await?;
    let all = plans.iter().map(|cached| cached.plan());
    let entities = NeededEntities::load_for(app, tenant, all, CheckKind::Combined).await?;
    let now = app.clock.now();
    let permission = |(record, plan): (&ResourceRecord, &Plan)| {
        let resource = &*record.registration.name;
        let action = split_resource(resource).map_or("", |(_, verb)| verb);
        let attributes = request.attributes;
        let body = CheckBody { subject, resource, action, domain: None, attributes };
        let check = Check::new(body, domain, caller.of_check(), now);
        let supply = entities.supply(plan, CheckKind::Combined, &check);
        decide(record.id, plan, &directory::completed(supply.as_ref(), check))
    };
    let all = records.iter().zip(plans.iter().map(|cached| cached.plan()));
    let records: Vec<ResourcePermission> = all.map(permission).collect();
    let is_volatile = plans.iter().any(|cached| cached.plan().is_volatile());
    let tag = (!is_volatile).then(|| entity_tag(&(revision, tenant, subject, &records, more)));
    Ok(PermissionPage { listed: Listed { records, more }, revision, tag })
}

/// Decides a check whose further attributes are unknown.
fn decide(id: Uuid, plan: &Plan, check: &Check<'_>) -> ResourcePermission {
    let filter = plan.filter(check, &AttributeAnswers::default(), &RowAttributes::unsupplied());
    let decision = match &filter.outcome {
        Outcome::Allow => "allow",
        Outcome::Deny => "deny",
        Outcome::Depends(_) => "depends",
    };
    ResourcePermission {
        id,
        resource: check.resource.to_owned(),
        action: check.action.to_owned(),
        decision,
        depends_on: filter.reads().iter().map(ToString::to_string).collect(),
    }
}
