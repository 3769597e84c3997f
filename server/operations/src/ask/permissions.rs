//! The permissions of a subject on registered resources (`docs/semantics.md`, section 15.1).

use portcullis_auth::CheckCaller;
use portcullis_engine::action::Action;
use portcullis_engine::filter::RowAttributes;
use portcullis_engine::matrix::Outcome;
use portcullis_engine::relation::{RELATION, RelationTarget};
use portcullis_engine::{AttributeAnswers, Check, CheckBody, Invalid, Plan};
use portcullis_model::page::{Listed, MAX_PAGE_BYTES, Page};
use portcullis_model::permissions::PermissionsRequest;
use portcullis_runtime::app::App;
use portcullis_runtime::entity_tables::EntitiesError;
use portcullis_runtime::error::OperationError;
use portcullis_runtime::min_revisions::MinRevisions;
use portcullis_runtime::searches::Awaited;
use portcullis_storage::{resources, tenants};
use serde::Serialize;
use tokio::time::Instant;
use uuid::Uuid;

use super::plan_by_plan::{PlanByPlan, Weighed};
use crate::changes::etag::entity_tag;
use crate::decide::live_questions::LiveQuestion;
use crate::decide::open_scope::open_scope;
use crate::decide::plan_source::PlanSource;
use crate::people::directory::NeededEntities;

/// The maximum number of resources on a page. Each has a plan, which may have to be loaded.
const MAX_PAGE: i64 = 200;

/// The missing part of a request by a service key; completes "expected …".
const SUBJECT_OF_KEY: &str = "`subject` (a service key is not a subject)";

/// A permission: the decision on the verb of a registered resource.
#[derive(Debug, Serialize)]
pub struct ResourcePermission {
    pub resource: String,
    pub action: String,
    /// `allow`, `deny` or `depends`.
    pub decision: &'static str,
    /// The attributes on which the decision depends.
    pub depends_on: Vec<String>,
    /// Whether the decision depends on the present or on resolvers.
    #[serde(skip)]
    is_volatile: bool,
}

/// A page of permissions.
#[derive(Debug)]
pub struct PermissionPage {
    pub permissions: Vec<ResourcePermission>,
    /// The id of the resource after which the next page begins; `None` after the last page.
    pub next: Option<Uuid>,
    /// The revision of the tenant that the page reflects.
    pub revision: u64,
    /// The revision of the entities; `None` if no decision needed them.
    pub entities_revision: Option<u64>,
    /// The tag of the page; `None` if decisions depend on the present or on resolvers.
    pub tag: Option<String>,
}

/// Lists the permissions of the subject of `request`, by rules and entities of the revisions `at_least` or later ones. Emits no
/// event.
///
/// # Errors
/// The caller may not ask about the subject or the domain, there are no plans that are new enough, or nobody waits any more.
pub async fn list(
    app: &App,
    caller: &CheckCaller,
    request: &PermissionsRequest<'_>,
    page: Page,
    at_least: MinRevisions,
    awaited: &Awaited,
) -> Result<PermissionPage, OperationError> {
    let subject = request.subject.or(caller.subject());
    let subject = subject.ok_or_else(|| Invalid::missing("subject", SUBJECT_OF_KEY))?;
    caller.may_search(Some(subject), request.domain, &app.manager_roles)?;
    let (domain, tenant) = open_scope(app, caller, request.domain)?;
    let page = Page { limit: page.limit.min(MAX_PAGE), ..page };
    let at_least = app.reach(tenant, at_least).await?;
    let began = Instant::now();
    let mut tx = app.store.begin_read(tenant).await?;
    let revision = tenants::revision(&mut tx).await?;
    let Listed { records, more } = resources::list(&mut tx, page).await?;
    tx.end().await?;
    let now = app.clock.now();
    let report = PlanByPlan {
        plans: PlanSource::Present(&app.plans),
        entities: &app.entities,
        tenant,
        // The rules are no older than the list of resources.
        at_least: at_least.max(revision),
        awaited,
        began,
        max_bytes: MAX_PAGE_BYTES,
    };
    let names: Vec<&str> = records.iter().map(|record| &*record.registration.name).collect();
    let decided = report.decide(&names, |resource, plan, entities| {
        let body = CheckBody {
            subject,
            subject_type: None,
            resource,
            action: Action::of(None, resource),
            domain: None,
            attributes: request.attributes,
            expected: None,
        };
        let check = Check::new(body, domain, caller.for_check(), now);
        Ok(decide(plan, entities, &check)?)
    });
    let decided = decided.await?;
    let (permissions, revision) = (decided.of_resources, decided.revision);
    let entities_revision = decided.entities_revision;
    let more = more || permissions.len() < records.len();
    let next = permissions.len().checked_sub(1).and_then(|last| records.get(last));
    let next = next.filter(|_| more).map(|last| last.id);
    // A tag promises the same page for the same revisions.
    let is_volatile = permissions.iter().any(|one| one.is_volatile);
    let tag = (!is_volatile).then(|| entity_tag(&(revision, tenant, subject, &permissions, next)));
    Ok(PermissionPage { permissions, next, revision, entities_revision, tag })
}

/// Decides the check `sent`, whose further attributes are unknown. Relations are known, unless the object is not.
fn decide(
    plan: &Plan,
    entities: &NeededEntities,
    sent: &Check<'_>,
) -> Result<ResourcePermission, EntitiesError> {
    let question = LiveQuestion::combined(plan, entities, *sent);
    let check = question.completed();
    let rows = RowAttributes::unsupplied();
    let mut filter = plan.filter(&check, &AttributeAnswers::default(), &rows);
    let relations = filter.requests.iter().filter(|request| *request.namespace == *RELATION);
    let names = relations.flat_map(|request| &request.attributes).filter(|name| {
        let is_fixed = matches!(RelationTarget::parse(name), RelationTarget::OfObject { .. });
        is_fixed || sent.resource_named().is_some()
    });
    let names: Vec<Box<str>> = names.cloned().collect();
    if !names.is_empty() {
        let answers = entities.relations(plan, sent, &names)?;
        filter = plan.filter(&check, &answers, &rows);
    }
    let decision = match &filter.outcome {
        Outcome::Allow => "allow",
        Outcome::Deny => "deny",
        Outcome::Depends(_) => "depends",
    };
    Ok(ResourcePermission {
        resource: check.resource.to_owned(),
        action: check.action.text().into_owned(),
        decision,
        depends_on: filter.reads().iter().map(ToString::to_string).collect(),
        is_volatile: plan.is_volatile(),
    })
}

impl Weighed for ResourcePermission {
    fn weight(&self) -> usize {
        let texts = [&self.resource, &self.action].into_iter().chain(&self.depends_on);
        size_of::<Self>() + texts.map(|text| size_of::<String>() + text.len()).sum::<usize>()
    }
}
