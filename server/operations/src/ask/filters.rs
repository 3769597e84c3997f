//! Plans of lists: one check for all rows, as a condition over them (`docs/semantics.md`, section 14).

use std::collections::{BTreeMap, BTreeSet};

use portcullis_auth::CheckCaller;
use portcullis_directory::{PlannedRows, RelationsOfRows};
use portcullis_engine::condition::AttributePath;
use portcullis_engine::filter::{Filter, InexactPolicy, RowAttributes};
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::matrix::{OpenPolicy, Outcome, Residual};
use portcullis_engine::relation::RELATION;
use portcullis_engine::sql::{self, Columns, RowRelations, SqlParam};
use portcullis_engine::{
    AttributeAnswers, AttributeRequest, Check, CheckKind, Condition, Effect, Json, expression,
};
use portcullis_fairness::run_in_place;
use portcullis_model::filter::{FilterRequest, SqlOptions};
use portcullis_resolvers::CacheMode;
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_runtime::filter_refusal::FilterRefusal;
use portcullis_runtime::min_revisions::MinRevisions;
use portcullis_storage::types;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use uuid::Uuid;

use crate::content::types::compiled;
use crate::decide::action_terms::must_take_action;
use crate::decide::live_questions::LiveQuestion;
use crate::decide::open_scope::open_scope;
use crate::people::directory::NeededEntities;

/// The decision on a check for all rows.
#[derive(Debug, Serialize)]
pub struct FilterAnswer {
    /// `always`, `never` or `conditional`.
    pub kind: &'static str,
    /// The policies that decide each row; `None` if no row differs.
    pub condition: Option<FilterCondition>,
    /// The attributes of rows that the condition reads.
    pub reads: Vec<String>,
    /// The known attributes that the condition still names; `null` is absent.
    pub known: BTreeMap<String, Option<Json<'static>>>,
    /// The condition in SQL, if it was wanted.
    pub sql: Option<FilterSql>,
    /// Whether the condition holds for exactly the allowed rows.
    pub exact: bool,
    /// The policies for which rows need their own check; empty if the condition is exact.
    pub check: Vec<InexactPolicy>,
    /// The revision of the tenant that the answer reflects.
    pub revision: u64,
    /// The revision of the entities; `None` if the plan needs none.
    #[serde(skip)]
    pub entities_revision: Option<u64>,
}

/// The policies that decide each row. The first that applies decides.
#[derive(Debug, Serialize)]
pub struct FilterCondition {
    /// The condition under which a row is allowed.
    pub text: Option<String>,
    pub policies: Vec<FilterPolicy>,
    /// The decision on a row to which no policy applies.
    pub otherwise: Effect,
}

/// A policy that decides rows.
#[derive(Debug, Serialize)]
pub struct FilterPolicy {
    pub id: Uuid,
    pub name: String,
    pub effect: Effect,
    /// The rest of its condition, as an expression.
    pub text: String,
    /// The rest of its condition, as a tree.
    pub condition: Box<RawValue>,
}

/// A condition in SQL.
#[derive(Debug, Serialize)]
pub struct FilterSql {
    pub text: String,
    pub params: Vec<SqlParam>,
}

/// Decides the check of `request` for all rows, by rules and entities of the revisions `at_least` or later ones. Emits no event.
///
/// # Errors
/// The caller may not see conditions, there is no plan that is new enough, or the condition has no exact form.
pub async fn filter(
    app: &App,
    caller: &CheckCaller,
    request: &FilterRequest<'_>,
    at_least: MinRevisions,
) -> Result<FilterAnswer, OperationError> {
    let body = request.check;
    let shows_conditions =
        caller.may_plan(body.domain, &app.manager_roles, request.sql.is_some())?;
    let (domain, tenant) = open_scope(app, caller, body.domain)?;
    let check = Check::new(body, domain, caller.for_check(), app.clock.now());
    if let Some(options) = &request.sql {
        check_columns(app, tenant, &check, &options.columns).await?;
    }
    let at_least = app.reach(tenant, at_least).await?;
    let cached = app.plans.find(tenant, check.resource, at_least).await?;
    let plan = cached.plan();
    let entities = NeededEntities::load(app, tenant, plan, CheckKind::Combined).await?;
    must_take_action(plan, &check, "")?;
    let question = LiveQuestion::combined(plan, &entities, check);
    let completed = question.completed();
    // Without answers, the filter names those that it needs.
    let mut filter = plan.filter(&completed, &AttributeAnswers::default(), &request.rows);
    let has_relations = plan.facts().is_some_and(|facts| facts.relations.is_some());
    // Without relations the namespace may be a resolver's.
    let (relations, requests): (Vec<_>, Vec<_>) = filter
        .requests
        .iter()
        .partition(|request| has_relations && *request.namespace == *RELATION);
    let names: Vec<Box<str>> =
        relations.into_iter().flat_map(|request| &request.attributes).cloned().collect();
    let columns = request.sql.as_ref().map(|sql| &sql.columns);
    let rows = PlannedRows { check: &check, attributes: &request.rows, columns };
    let relations = match &names[..] {
        [] => RelationsOfRows::default(),
        names => {
            // The relations of all rows are never quick, so that a turn is taken at once.
            let _turn = app.walks.begin(tenant).await?;
            run_in_place(|| entities.relations_of_rows(plan, rows, names))?
        }
    };
    // A caller that accepts a superset checks the rows itself.
    if let Some(reason) = relations.too_large.filter(|_| !request.accepts_superset) {
        return Err(FilterRefusal::TooManyObjects(reason).into());
    }
    let mut answers = relations.answers;
    let requests = answerable(app, tenant, requests, &request.rows).await;
    if !requests.is_empty() {
        let asked = app.resolvers.ask(tenant, &completed, &requests, CacheMode::Use).await;
        answers.extend(asked.answers);
    }
    // Without answers the first filter stands.
    if !answers.is_empty() {
        filter = plan.filter(&completed, &answers, &request.rows);
    }
    let entities_revision = entities.revision();
    let whole = answer(&filter, &relations.of_rows, request, cached.revision());
    let answer = if shows_conditions { whole? } else { without_conditions(whole)? };
    Ok(FilterAnswer { entities_revision, ..answer })
}

/// Refuses columns of attributes that the types of the tenant do not declare, or declare otherwise. An attribute that stands for
/// the tuples of a relation needs no declaration.
async fn check_columns(
    app: &App,
    tenant: &str,
    check: &Check<'_>,
    columns: &Columns,
) -> Result<(), OperationError> {
    if columns.is_empty() {
        return Ok(());
    }
    let stored = app.read(tenant, async |tx| types::all(tx).await).await?;
    let of = check.resource_type();
    let relations = stored.iter().filter(|record| record.kind == of);
    let relations = relations.flat_map(|record| record.relations.values());
    let of_relations: BTreeSet<&str> =
        relations.filter_map(|relation| relation.0.request.as_deref()).collect();
    let (mut problems, root) = (Problems::default(), Place::root());
    columns.check(
        (&compiled(&stored), of),
        |path| matches!(path, AttributePath::Resource(name) if of_relations.contains(&**name)),
        &root.key("columns"),
        &mut problems,
    );
    Ok(problems.into_result()?)
}

/// Returns what a caller sees who may not see conditions: neither they, nor which policies have them.
fn without_conditions(
    whole: Result<FilterAnswer, FilterRefusal>,
) -> Result<FilterAnswer, FilterRefusal> {
    match whole {
        Ok(whole) => {
            Ok(FilterAnswer { condition: None, known: BTreeMap::new(), check: Vec::new(), ..whole })
        }
        Err(FilterRefusal::NotExact(policies)) => {
            let reasons: BTreeSet<String> =
                policies.into_iter().flat_map(|policy| policy.reasons).collect();
            Err(FilterRefusal::NotExactFor(reasons))
        }
        Err(refusal) => Err(refusal),
    }
}

/// Returns the requests to resolvers whose inputs are known: no row changes their answers.
async fn answerable(
    app: &App,
    tenant: &str,
    requests: Vec<&AttributeRequest>,
    rows: &RowAttributes,
) -> Vec<AttributeRequest> {
    let mut answerable = Vec::new();
    for request in requests {
        let inputs = app.resolvers.declared_inputs(tenant, request).await;
        let is_of_rows = inputs
            .iter()
            .filter_map(|input| input.split_once('.'))
            .any(|(kind, name)| kind == RELATION || rows.has_input(kind, name));
        if !is_of_rows {
            answerable.push(request.clone());
        }
    }
    answerable
}

fn answer(
    filter: &Filter<'_>,
    relations: &RowRelations,
    request: &FilterRequest<'_>,
    revision: u64,
) -> Result<FilterAnswer, FilterRefusal> {
    let (kind, condition) = match &filter.outcome {
        Outcome::Allow => ("always", None),
        Outcome::Deny => ("never", None),
        Outcome::Depends(residual) => ("conditional", Some(condition(residual)?)),
    };
    let (sql, check) = match &request.sql {
        None => (None, filter.unresolved()),
        Some(options) => {
            let sql = written(filter, relations, options)?;
            (Some(FilterSql { text: sql.text, params: sql.params }), sql.inexact)
        }
    };
    if !check.is_empty() && !request.accepts_superset {
        return Err(FilterRefusal::NotExact(check));
    }
    let known = filter.known.iter();
    Ok(FilterAnswer {
        kind,
        condition,
        reads: filter.reads().iter().map(ToString::to_string).collect(),
        known: known.map(|(path, value)| (path.to_owned(), value.cloned())).collect(),
        sql,
        exact: check.is_empty(),
        check,
        revision,
        entities_revision: None,
    })
}

fn written(
    filter: &Filter<'_>,
    relations: &RowRelations,
    options: &SqlOptions,
) -> Result<sql::Sql, FilterRefusal> {
    let SqlOptions { dialect, placeholders, columns } = options;
    let written = sql::write(filter, columns, relations, (*dialect, *placeholders));
    written.map_err(|_| FilterRefusal::TooLarge)
}

fn condition(residual: &Residual<'_>) -> Result<FilterCondition, FilterRefusal> {
    let open = residual.open_policies().ok_or(FilterRefusal::TooLarge)?;
    Ok(FilterCondition {
        text: residual.text().map(str::to_owned),
        policies: open.map(policy).collect::<Result<_, _>>()?,
        otherwise: residual.otherwise(),
    })
}

fn policy(OpenPolicy { policy, condition }: OpenPolicy<'_>) -> Result<FilterPolicy, FilterRefusal> {
    Ok(FilterPolicy {
        id: policy.id,
        name: policy.name.to_string(),
        effect: policy.effect,
        text: expression::print(condition),
        condition: tree(condition).ok_or(FilterRefusal::TooLarge)?,
    })
}

/// Returns the tree of a condition. A tree has no operator for a search, so that searches become whole patterns.
fn tree(condition: &Condition) -> Option<Box<RawValue>> {
    let condition = condition.clone().without_searches();
    to_raw_value(&condition.to_json()?).ok()
}
