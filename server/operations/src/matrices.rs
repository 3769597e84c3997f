//! Decisions on subjects or roles × resources × actions (`docs/semantics.md`, section 15.2).

use std::sync::Arc;

use chrono::DateTime;
use portcullis_auth::CheckCaller;
use portcullis_bundle::matrix::CellDecision;
use portcullis_engine::matrix::{MatrixCell, PlanMatrix};
use portcullis_engine::request::{Attributes, Caller, Roles};
use portcullis_engine::resource::split_resource;
use portcullis_engine::{Check, Invalid, Plan, Supply};
use portcullis_model::matrix::{MatrixRequest, MatrixSubject};
use portcullis_model::page::Page;
use portcullis_plan_cache::CachedPlan;
use portcullis_storage::resources;
use serde::Serialize;

use crate::app::App;
use crate::common_plans::{CommonPlans, find_all};
use crate::directory::{self, NeededEntities};
use crate::error::OperationError;
use crate::metrics::CheckKind;
use crate::open_scope::open_scope;

/// The maximum number of cells: 50 roles × 500 actions.
const MAX_CELLS: usize = 25_000;
/// The maximum number of evaluations of policies: a second or two.
const MAX_EVALUATIONS: usize = 5_000_000;

/// The decisions of a matrix.
#[derive(Debug, Serialize)]
pub struct MatrixAnswer {
    /// The domain that the cells are about.
    pub domain: String,
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
    let all = plans.iter().map(|cached| cached.plan());
    let entities = NeededEntities::load_for(app, tenant, all, CheckKind::Combined).await?;
    let rows = request.rows.into_iter().map(|row| Row::new(row, caller.of_check())).collect();
    let domain = domain.to_owned();
    let question = MatrixQuestion { rows, domain: domain.clone(), entities };
    let work = move || cells(&columns, &plans, &question);
    let cells = app.plans.compilations().policy(tenant, work).await??;
    Ok(MatrixAnswer { domain, cells, revision })
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

/// The rows of a matrix, and what completes their checks.
struct MatrixQuestion {
    rows: Vec<Row>,
    domain: String,
    entities: NeededEntities,
}

/// A row of a matrix.
struct Row {
    subject: Option<String>,
    roles: RowRoles,
}

/// The roles of a row, before the directory completes them.
enum RowRoles {
    /// Those of the request.
    Sent(Vec<String>),
    /// Those of the caller's token: the row is the caller.
    Claimed(Vec<String>),
    LeftOut,
}

impl Row {
    fn new(row: MatrixSubject, caller: Option<Caller<'_>>) -> Self {
        let is_caller = |caller: &Caller<'_>| row.subject.as_deref() == Some(caller.subject);
        let roles = match (row.roles, caller.filter(is_caller)) {
            (Some(roles), _) => RowRoles::Sent(roles),
            (None, Some(caller)) => RowRoles::Claimed(caller.roles.to_vec()),
            (None, None) => RowRoles::LeftOut,
        };
        Self { subject: row.subject, roles }
    }

    /// Returns the role of a row that is no subject.
    fn role(&self) -> Option<&String> {
        match &self.roles {
            RowRoles::Sent(roles) if self.subject.is_none() => roles.first(),
            _ => None,
        }
    }
}

fn cells(
    columns: &[(String, String)],
    plans: &[Arc<CachedPlan>],
    question: &MatrixQuestion,
) -> Result<Vec<MatrixAnswerCell>, OperationError> {
    let mut cells = Vec::with_capacity(columns.len() * question.rows.len());
    let mut left = MAX_EVALUATIONS;
    for (column, cached) in columns.iter().zip(plans) {
        let mut shared = PlanMatrix::new(cached.plan(), Attributes::default());
        for row in &question.rows {
            cells.push(cell(row, column, cached.plan(), question, &mut shared, &mut left)?);
        }
    }
    Ok(cells)
}

/// Decides one cell. `shared` serves the rows without attributes of their own. Takes the evaluations from those that are
/// `left`.
fn cell<'p>(
    row: &Row,
    (resource, action): &(String, String),
    plan: &'p Plan,
    question: &MatrixQuestion,
    shared: &mut PlanMatrix<'p, '_>,
    left: &mut usize,
) -> Result<MatrixAnswerCell, OperationError> {
    let sent: Vec<&str> = match &row.roles {
        RowRoles::Sent(roles) => roles.iter().map(String::as_str).collect(),
        RowRoles::Claimed(_) | RowRoles::LeftOut => Vec::new(),
    };
    let check = Check {
        subject: row.subject.as_deref().unwrap_or_default(),
        resource,
        action,
        domain: &question.domain,
        roles: match &row.roles {
            RowRoles::Sent(_) => Roles::Listed(&sent),
            RowRoles::Claimed(roles) => Roles::Claimed(roles),
            RowRoles::LeftOut => Roles::Supplied(&[]),
        },
        attributes: Attributes::default(),
        claims: None,
        now: DateTime::UNIX_EPOCH,
    };
    let supply = question.entities.supply(plan, CheckKind::Combined, &check);
    let completed = directory::completed(supply.as_ref(), check);
    let roles: Vec<String> = completed.roles.iter().map(str::to_owned).collect();
    let (subject, domain) = (row.subject.as_deref(), Some(&*question.domain));
    let cell = MatrixCell { subject, roles: &roles, domain, action: Some(action) };
    let has_own = supply.as_ref().is_some_and(Supply::has_attributes);
    let mut own = has_own.then(|| PlanMatrix::new(plan, completed.attributes));
    let evaluated = own.as_ref().map_or(shared.policies_per_cell(), PlanMatrix::policies);
    *left = left.checked_sub(evaluated).ok_or_else(too_many_policies)?;
    let (decision, rule_id) = match &mut own {
        Some(own) => decided(own, &cell),
        None => decided(shared, &cell),
    };
    Ok(shown(row, resource, action, decision, rule_id))
}

/// Returns the decision on a cell, and what decides it; `None` if that is conditional.
fn decided(
    matrix: &mut PlanMatrix<'_, '_>,
    cell: &MatrixCell<'_>,
) -> (CellDecision, Option<String>) {
    let decision = CellDecision::from(&matrix.outcome(cell));
    let is_open = matches!(decision, CellDecision::Depends { .. });
    let rule_id = (!is_open).then(|| matrix.matched_rule_id(cell));
    (decision, rule_id)
}

fn too_many_policies() -> OperationError {
    let what = "fewer roles or resources: their policies are more than are decided at once";
    Invalid::expected("/resources", what).into()
}

fn shown(
    row: &Row,
    resource: &str,
    action: &str,
    decision: CellDecision,
    rule_id: Option<String>,
) -> MatrixAnswerCell {
    let (decision, condition, policies) = match decision {
        CellDecision::Allow => ("allow", None, Vec::new()),
        CellDecision::Deny => ("deny", None, Vec::new()),
        CellDecision::Depends { condition, policies, .. } => ("conditional", condition, policies),
    };
    MatrixAnswerCell {
        subject: row.subject.clone(),
        role: row.role().cloned(),
        resource: resource.to_owned(),
        action: action.to_owned(),
        decision,
        rule_id,
        condition,
        policies,
    }
}
