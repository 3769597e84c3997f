//! Decisions on subjects or roles × resources × actions (`docs/semantics.md`, section 15.2).

use std::sync::Arc;

use portcullis_auth::CheckCaller;
use portcullis_bundle::matrix::CellDecision;
use portcullis_engine::Invalid;
use portcullis_engine::matrix::{MatrixCell, PlanMatrix};
use portcullis_engine::request::Attributes;
use portcullis_engine::resource::split_resource;
use portcullis_model::matrix::{MatrixRequest, MatrixSubject};
use portcullis_model::page::Page;
use portcullis_plan_cache::CachedPlan;
use portcullis_storage::resources;
use serde::Serialize;

use crate::app::App;
use crate::common_plans::{CommonPlans, find_all};
use crate::error::OperationError;
use crate::open_scope::open_scope;

/// The maximum number of cells: 50 roles × 500 actions.
const MAX_CELLS: usize = 25_000;
/// The maximum number of evaluations of policies: a second or two.
const MAX_EVALUATIONS: usize = 5_000_000;

/// The decisions of a matrix.
#[derive(Debug, Serialize)]
pub struct MatrixAnswer {
    /// By resource, action and row.
    pub cells: Vec<MatrixAnswerCell>,
    /// The revision of the tenant that the answer reflects.
    pub revision: u64,
}

/// The decision on every request of a cell.
#[derive(Debug, Serialize)]
pub struct MatrixAnswerCell {
    /// The subject; `None` is anybody with the role.
    pub subject: Option<String>,
    /// The role, if the row is one.
    pub role: Option<String>,
    pub resource: String,
    pub action: String,
    /// `allow`, `deny` or `conditional`.
    pub decision: &'static str,
    /// The policy or rule that decides a request without attributes; `None` if the decision is conditional.
    pub rule_id: Option<String>,
    /// The condition under which a request is allowed; `None` if it is too large to be shown.
    pub condition: Option<String>,
    /// The names of the first policies on which a conditional decision depends.
    pub policies: Vec<String>,
}

/// Decides every cell of `request`, by rules of revision `at_least` or a later one. Emits no event.
///
/// # Errors
/// The caller may not see conditions, there are too many cells, or there are no plans that are new enough.
pub async fn matrix(
    app: &App,
    caller: &CheckCaller,
    mut request: MatrixRequest,
    at_least: u64,
) -> Result<MatrixAnswer, OperationError> {
    let named = request.domain.take();
    caller.may_explain(named.as_deref(), &app.manager_roles)?;
    let (domain, tenant) = open_scope(app, caller, named.as_deref())?;
    let resources = match request.resources.take() {
        Some(resources) => resources,
        None => registered(app, tenant).await?,
    };
    let columns = columns(resources, request.actions.as_deref());
    if columns.len().saturating_mul(request.rows.len()) > MAX_CELLS {
        let what = format!("at most {MAX_CELLS} cells, which are rows × resources × actions");
        return Err(Invalid::expected("/resources", what).into());
    }
    let names: Vec<&str> = columns.iter().map(|(resource, _)| &**resource).collect();
    let CommonPlans { plans, revision } = find_all(&app.plans, tenant, &names, at_least).await?;
    let domain = domain.to_owned();
    let work = move || cells(&columns, &plans, &request.rows, &domain);
    let cells = app.plans.compilations().policy(tenant, work).await??;
    Ok(MatrixAnswer { cells, revision })
}

/// Returns the names of the tenant's registered resources.
async fn registered(app: &App, tenant: &str) -> Result<Vec<String>, OperationError> {
    let limit = i64::try_from(MAX_CELLS).unwrap_or(i64::MAX);
    let mut tx = app.store.read(tenant).await?;
    let listed = resources::list(&mut tx, Page { limit, ..Page::FIRST }).await?;
    tx.end().await?;
    Ok(listed.records.into_iter().map(|record| record.registration.name).collect())
}

/// Returns each resource with each action; its verb if there are none.
fn columns(resources: Vec<String>, actions: Option<&[String]>) -> Vec<(String, String)> {
    let mut columns = Vec::new();
    for resource in resources {
        match actions {
            Some(actions) => {
                columns.extend(actions.iter().map(|action| (resource.clone(), action.clone())));
            }
            None => {
                let verb = split_resource(&resource).map_or("", |(_, verb)| verb).to_owned();
                columns.push((resource, verb));
            }
        }
    }
    columns
}

fn cells(
    columns: &[(String, String)],
    plans: &[Arc<CachedPlan>],
    rows: &[MatrixSubject],
    domain: &str,
) -> Result<Vec<MatrixAnswerCell>, OperationError> {
    let mut cells = Vec::with_capacity(columns.len() * rows.len());
    let mut left = MAX_EVALUATIONS;
    for ((resource, action), cached) in columns.iter().zip(plans) {
        let mut matrix = PlanMatrix::new(cached.plan(), Attributes::default());
        let needed = matrix.policies_per_cell().saturating_mul(rows.len());
        left = left.checked_sub(needed).ok_or_else(too_many_policies)?;
        for row in rows {
            let (subject, roles) = (row.subject.as_deref(), row.roles.as_slice());
            let cell = MatrixCell { subject, roles, domain: Some(domain), action: Some(action) };
            let outcome = CellDecision::from(&matrix.outcome(&cell));
            cells.push(shown(row, resource, action, outcome, || matrix.matched_rule_id(&cell)));
        }
    }
    Ok(cells)
}

fn too_many_policies() -> OperationError {
    let what = "fewer roles or resources: their policies are more than are decided at once";
    Invalid::expected("/resources", what).into()
}

fn shown(
    row: &MatrixSubject,
    resource: &str,
    action: &str,
    outcome: CellDecision,
    rule: impl FnOnce() -> String,
) -> MatrixAnswerCell {
    let role = row.roles.first().filter(|_| row.subject.is_none());
    let (decision, rule_id, condition, policies) = match outcome {
        CellDecision::Allow => ("allow", Some(rule()), None, Vec::new()),
        CellDecision::Deny => ("deny", Some(rule()), None, Vec::new()),
        CellDecision::Depends { condition, policies, .. } => {
            ("conditional", None, condition, policies)
        }
    };
    MatrixAnswerCell {
        subject: row.subject.clone(),
        role: role.cloned(),
        resource: resource.to_owned(),
        action: action.to_owned(),
        decision,
        rule_id,
        condition,
        policies,
    }
}
