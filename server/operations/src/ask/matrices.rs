//! Decisions on subjects or roles × resources × actions (`docs/semantics.md`, section 15.2).

use chrono::{DateTime, Utc};
use portcullis_auth::CheckCaller;
use portcullis_bundle::matrix::cell_decision;
use portcullis_engine::matrix::{MatrixCell, PlanMatrix};
use portcullis_engine::relation::relation_of_subject;
use portcullis_engine::request::{Action, Attributes, Caller, Roles};
use portcullis_engine::{Check, Invalid, Plan, Supply};
use portcullis_model::apply::CellDecision;
use portcullis_model::matrix::{MAX_CELLS, MatrixRequest, MatrixSubject};
use portcullis_model::page::{Listed, Page};
use portcullis_model::resource::ResourceRecord;
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_runtime::min_revisions::MinRevisions;
use portcullis_runtime::searches::Awaited;
use portcullis_storage::{resources, tenants};
use serde::Serialize;
use tokio::time::Instant;
use uuid::Uuid;

use super::plan_by_plan::{PlanByPlan, Weighed};
use super::search::{Position, RequestMark};
use crate::decide::live_questions::LiveQuestion;
use crate::decide::open_scope::open_scope;
use crate::decide::past_plans::PastRules;
use crate::decide::plan_source::PlanSource;
use crate::people::directory::{self, NeededEntities};

/// The maximum number of evaluations of policies for one resource: a second or two.
const MAX_EVALUATIONS: usize = 5_000_000;
/// The most bytes of the texts of a page: the texts of 25,000 cells with short conditions.
const MAX_BYTES: usize = 8 << 20;
/// The place of the cursor in the body.
const CURSOR: &str = "/cursor";

/// A page of a matrix.
#[derive(Debug, Serialize)]
pub struct MatrixAnswer {
    /// The domain that the cells are about.
    pub domain: String,
    /// By resource, action and row.
    pub cells: Vec<MatrixAnswerCell>,
    /// Whether these are the last cells.
    pub complete: bool,
    /// The cursor of the next page; `None` after the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// The revision of the tenant that the page reflects.
    pub revision: u64,
    /// The revision of the entities; `None` if no decision needed them.
    #[serde(skip)]
    pub entities_revision: Option<u64>,
    /// Whether the rules changed since the page before.
    pub rules_changed: bool,
    /// `present` if rules of an earlier revision read the directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<&'static str>,
}

/// The decision on every request of a cell.
#[derive(Debug, Serialize)]
pub struct MatrixAnswerCell {
    /// The subject; `None` is anybody with the role.
    pub subject: Option<String>,
    /// The role, if the row is one; it may be a relation.
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

/// Decides the cells of `request` for the resources of one page, by rules and entities of the revisions `at_least` or later ones.
/// Emits no event.
///
/// # Errors
/// The caller may not see conditions, the cursor is of another request, the cells of one resource are too much for one page,
/// there are no plans that are new enough, or nobody waits any more.
pub async fn matrix(
    app: &App,
    caller: &CheckCaller,
    request: MatrixRequest,
    mark: &RequestMark,
    at_least: MinRevisions,
    awaited: &Awaited,
) -> Result<MatrixAnswer, OperationError> {
    let began = Instant::now();
    let named = request.domain.as_deref();
    caller.may_explain(named, &app.manager_roles)?;
    let (domain, tenant) = open_scope(app, caller, named)?;
    let at_least = app.reach(tenant, at_least).await?;
    let cursor = request.cursor.as_deref();
    let position = cursor.map(|cursor| mark.position(&app.keys, cursor, CURSOR)).transpose()?;
    let past = PastRules::read(app, tenant, request.at_revision).await?;
    let page = Columns::find(app, tenant, &request, past.as_ref(), position.as_ref()).await?;
    let plans = PlanSource::new(app, past.as_ref());
    let rows = request.rows.into_iter();
    let rows = rows.map(|row| MatrixRow::new(row, caller.for_check())).collect();
    let actions = request.actions;
    let (domain, now) = (domain.to_owned(), app.clock.now());
    let question = MatrixQuestion { rows, actions, domain, now, awaited };
    let report = PlanByPlan {
        plans,
        entities: &app.entities,
        tenant,
        // The rules are no older than the list of resources.
        at_least: plans.at_least(at_least.max(page.revision)),
        awaited,
        began,
        max_bytes: MAX_BYTES,
    };
    let names: Vec<&str> = page.resources.iter().map(|(_, name)| &**name).collect();
    let decided =
        report.decide(&names, |resource, plan, entities| question.cells(resource, plan, entities));
    let decided = decided.await?;
    let (revision, entities_revision) = (decided.revision, decided.entities_revision);
    let next = page.position_after(decided.of_resources.len(), revision);
    let next = next.map(|position| mark.cursor(&app.keys, &position));
    Ok(MatrixAnswer {
        domain: question.domain,
        cells: decided.of_resources.into_iter().flatten().collect(),
        complete: next.is_none(),
        next,
        revision,
        entities_revision,
        rules_changed: position.is_some_and(|at| at.revision != revision),
        directory: directory::present_beside_past(request.at_revision, entities_revision),
    })
}

/// The resources from which a page begins.
struct Columns {
    /// Each with its place, as a cursor names it.
    resources: Vec<(String, String)>,
    /// Whether there are more.
    more: bool,
    /// The revision at which the resources were registered; 0 if the request names them.
    revision: u64,
}

impl Columns {
    /// Finds the resources of `request` after `position`: those that it names, or the next registered ones.
    async fn find(
        app: &App,
        tenant: &str,
        request: &MatrixRequest,
        past: Option<&PastRules<'_>>,
        position: Option<&Position>,
    ) -> Result<Self, OperationError> {
        let last = position.map(|at| &*at.last);
        if let Some(names) = &request.resources {
            // A cursor serves the body that it was made for: its place is an index here, and an id below.
            let start = last.and_then(|last| last.parse::<usize>().ok()).map_or(0, |last| last + 1);
            let named = names.iter().enumerate().skip(start).take(request.columns);
            let resources = named.map(|(place, name)| (place.to_string(), name.clone())).collect();
            let more = names.len() > start.saturating_add(request.columns);
            return Ok(Self { resources, more, revision: 0 });
        }
        let after = last.and_then(|last| Uuid::parse_str(last).ok()).unwrap_or_default();
        let of_resource = request.rows.len() * request.actions.as_ref().map_or(1, Vec::len);
        // At least one resource, however many cells it has.
        let most = (MAX_CELLS / of_resource.max(1)).clamp(1, request.columns);
        let page = Page { after, limit: i64::try_from(most).unwrap_or(i64::MAX) };
        let (revision, listed) = match past {
            Some(past) => (past.revision(), past.resources(page)),
            None => registered(app, tenant, page).await?,
        };
        let records = listed.records.into_iter();
        let resources = records.map(|it| (it.id.to_string(), it.registration.name)).collect();
        Ok(Self { resources, more: listed.more, revision })
    }

    /// Returns the position after the first `decided` resources; `None` if nothing comes after them.
    fn position_after(&self, decided: usize, revision: u64) -> Option<Position> {
        let goes_on = self.more || decided < self.resources.len();
        let (last, _) = self.resources.get(decided.checked_sub(1)?).filter(|_| goes_on)?;
        Some(Position { revision, last: last.clone() })
    }
}

/// Returns a page of the registered resources, and the revision at which they are.
async fn registered(
    app: &App,
    tenant: &str,
    page: Page,
) -> Result<(u64, Listed<ResourceRecord>), OperationError> {
    let mut tx = app.store.begin_read(tenant).await?;
    let revision = tenants::revision(&mut tx).await?;
    let listed = resources::list(&mut tx, page).await?;
    tx.end().await?;
    Ok((revision, listed))
}

/// The rows of a matrix, and what completes their checks.
struct MatrixQuestion<'q> {
    rows: Vec<MatrixRow>,
    /// `None` is the verb of each resource.
    actions: Option<Vec<String>>,
    domain: String,
    /// The instant of the checks that name the deciding rules.
    now: DateTime<Utc>,
    awaited: &'q Awaited,
}

/// A row of a matrix.
struct MatrixRow {
    subject: Option<String>,
    roles: RowRoles,
}

/// The roles of a row, before the directory completes them.
enum RowRoles {
    /// The roles in the request.
    Sent(Vec<String>),
    /// The roles of the caller's token: the row is the caller.
    Claimed(Vec<String>),
    LeftOut,
}

impl MatrixRow {
    fn new(row: MatrixSubject, caller: Option<Caller<'_>>) -> Self {
        let own = caller.filter(|caller| row.subject.as_deref() == Some(caller.subject));
        let roles = match (row.roles, own) {
            (Some(roles), _) => RowRoles::Sent(roles),
            (None, Some(caller)) => RowRoles::Claimed(caller.roles.to_vec()),
            (None, None) => RowRoles::LeftOut,
        };
        Self { subject: row.subject, roles }
    }

    /// Returns the relation that the row is, if the tenant of `plan` has relations.
    fn relation(&self, plan: &Plan) -> Option<&str> {
        plan.facts()?.relations.as_ref()?;
        relation_of_subject(self.role()?)
    }

    /// Returns the role of a row that is not a subject.
    fn role(&self) -> Option<&String> {
        match &self.roles {
            RowRoles::Sent(roles) if self.subject.is_none() => roles.first(),
            _ => None,
        }
    }
}

impl MatrixQuestion<'_> {
    /// Decides the cells of one resource.
    fn cells(
        &self,
        resource: &str,
        plan: &Plan,
        entities: &NeededEntities,
    ) -> Result<Vec<MatrixAnswerCell>, OperationError> {
        let actions = match &self.actions {
            Some(sent) => sent.iter().map(|action| Action::Plain(action)).collect(),
            None => vec![Action::of(None, resource)],
        };
        let mut shared = PlanMatrix::new(plan, Attributes::default());
        let (mut cells, mut evaluations, mut bytes) = (Vec::new(), MAX_EVALUATIONS, MAX_BYTES);
        for action in actions {
            let shown = &*action.text();
            for row in &self.rows {
                self.awaited.check()?;
                let of_cell = CellPlan { resource, action, shown, plan, entities };
                let cell = self.cell(row, &of_cell, &mut shared, &mut evaluations)?;
                bytes = bytes.checked_sub(cell.weight()).ok_or_else(|| too_large(resource))?;
                cells.push(cell);
            }
        }
        Ok(cells)
    }

    /// Decides one cell. `shared` serves the rows without their own attributes. Takes the evaluations from those that
    /// are `left`.
    fn cell<'p>(
        &self,
        row: &MatrixRow,
        of: &CellPlan<'p, '_>,
        shared: &mut PlanMatrix<'p, '_>,
        left: &mut usize,
    ) -> Result<MatrixAnswerCell, OperationError> {
        let relation = row.relation(of.plan);
        // A row that is a relation is no role: its cell names the relation.
        let sent: Vec<&str> = match &row.roles {
            RowRoles::Sent(roles) if relation.is_none() => {
                roles.iter().map(String::as_str).collect()
            }
            RowRoles::Sent(_) | RowRoles::Claimed(_) | RowRoles::LeftOut => Vec::new(),
        };
        let check = Check {
            subject: row.subject.as_deref().unwrap_or_default(),
            subject_type: None,
            resource: of.resource,
            action: of.action,
            domain: &self.domain,
            roles: match &row.roles {
                RowRoles::Sent(_) => Roles::Listed(&sent),
                RowRoles::Claimed(roles) => Roles::Claimed(roles),
                RowRoles::LeftOut => Roles::Supplied(&[]),
            },
            attributes: Attributes::default(),
            claims: None,
            now: self.now,
            relations: None,
            expected: None,
        };
        let question = LiveQuestion::combined(of.plan, of.entities, check);
        let completed = question.completed();
        let roles: Vec<String> = completed.roles.iter().map(str::to_owned).collect();
        let (subject, domain) = (row.subject.as_deref(), Some(&*self.domain));
        let cell = MatrixCell { subject, roles: &roles, relation, domain, action: Some(of.action) };
        // Attributes of the directory are the row's alone, so that its cells share no work with others.
        let has_own = question.supply().is_some_and(Supply::has_attributes);
        let mut own = has_own.then(|| PlanMatrix::new(of.plan, completed.attributes));
        // A matrix of its own is made for one cell, which pays for all of it.
        let evaluated = own.as_ref().map_or(shared.cost_per_cell(), PlanMatrix::cost);
        *left = left.checked_sub(evaluated).ok_or_else(|| too_large(of.resource))?;
        let (decision, rule_id) = match &mut own {
            Some(own) => decided(own, &cell, self.now),
            None => decided(shared, &cell, self.now),
        };
        Ok(shown(row, of, decision, rule_id))
    }
}

/// The plan that decides a cell, and what completes its check.
struct CellPlan<'p, 'c> {
    resource: &'c str,
    action: Action<'c>,
    /// The action in the answer.
    shown: &'c str,
    plan: &'p Plan,
    entities: &'p NeededEntities,
}

/// Returns the decision on a cell, and what decides it; `None` if that is conditional.
fn decided(
    matrix: &mut PlanMatrix<'_, '_>,
    cell: &MatrixCell<'_>,
    now: DateTime<Utc>,
) -> (CellDecision, Option<String>) {
    let decision = cell_decision(&matrix.outcome(cell));
    let is_open = matches!(decision, CellDecision::Depends { .. });
    let rule_id = (!is_open).then(|| matrix.matched_rule_id(cell, now));
    (decision, rule_id)
}

fn too_large(resource: &str) -> OperationError {
    let what = format!(
        "fewer roles, subjects or actions: the cells of `{resource}` take more than {MAX_EVALUATIONS} evaluations of \
         policies, or more than {} MiB",
        MAX_BYTES >> 20
    );
    Invalid::expected("/resources", what).into()
}

fn shown(
    row: &MatrixRow,
    of: &CellPlan<'_, '_>,
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
        resource: of.resource.to_owned(),
        action: of.shown.to_owned(),
        decision,
        rule_id,
        condition,
        policies,
    }
}

impl Weighed for Vec<MatrixAnswerCell> {
    fn weight(&self) -> usize {
        self.iter().map(MatrixAnswerCell::weight).sum()
    }
}

impl MatrixAnswerCell {
    /// Returns the bytes that the cell takes until it is sent.
    fn weight(&self) -> usize {
        let texts = [&self.subject, &self.role, &self.rule_id, &self.condition];
        let texts = texts.into_iter().flatten().chain([&self.resource, &self.action]);
        let texts = texts.chain(&self.policies).map(|text| size_of::<String>() + text.len());
        size_of::<Self>() + texts.sum::<usize>()
    }
}
