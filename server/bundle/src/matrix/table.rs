//! The outcomes of one set of rules and policies as a table.

use std::collections::{BTreeSet, HashMap};

use portcullis_engine::ResourcePattern;
use portcullis_engine::matrix::{Outcome, PlanMatrix};
use portcullis_engine::request::{Action, Attributes};
use portcullis_model::apply::CellDecision;
use serde::Serialize;

use super::axes::{Axes, Wanted};
use super::budget::Budget;
use super::decision_set::DecisionSet;
use super::grid::Grid;
use super::outcome::{by_purpose, cell_decision};

/// The part of a table that is wanted.
#[derive(Clone, Debug, Default)]
pub struct MatrixFilter {
    /// The roles; all if empty.
    pub roles: Vec<String>,
    /// The resources, or patterns of resources; all if empty.
    pub resources: Vec<ResourcePattern>,
}

impl MatrixFilter {
    /// Returns whether a resource, or a pattern that stands for resources, is wanted.
    fn wants(&self, name: &str) -> bool {
        self.resources.is_empty()
            || self.resources.iter().any(|it| it.matches(name) || it.to_string() == *name)
    }
}

/// The outcomes of cells. A cell without a row is denied.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MatrixTable {
    /// True if nothing is left out.
    pub complete: bool,
    /// The part that is left out, and why.
    pub note: Option<String>,
    /// The rows, by resource, role, domain and action.
    pub cells: Vec<MatrixRow>,
    /// The rows about actions that are not the verb of the resource, and that no rule or policy on it names.
    #[serde(skip)]
    pub others: Vec<MatrixRow>,
}

/// Cells with one outcome. In `role`, `domain` and `action`, `*` is every one, and `None` is each that no rule or condition
/// names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MatrixRow {
    /// The role.
    pub role: Option<String>,
    /// The domain.
    pub domain: Option<String>,
    /// The resource, or a pattern for the resources that nothing names.
    pub resource: String,
    /// The action.
    pub action: Option<String>,
    /// The outcome.
    #[serde(flatten)]
    pub outcome: CellDecision,
}

/// Decides every cell of the resources that are registered or named.
pub fn table(set: &DecisionSet<'_>, filter: &MatrixFilter) -> MatrixTable {
    let resources: BTreeSet<&str> = set.resources().filter(|name| filter.wants(name)).collect();
    let mut budget = Budget::new();
    let mut cells = Vec::new();
    for resource in resources {
        let wanted = Wanted { roles: &filter.roles, ..Wanted::default() };
        cells.extend(rows_of(resource, set, &wanted, &mut budget).unwrap_or_default());
    }
    MatrixTable::new(cells, &budget)
}

/// Decides one action on one resource for every role in one domain.
pub fn who_can(
    set: &DecisionSet<'_>,
    domain: &str,
    action: Action<'_>,
    resource: &str,
) -> MatrixTable {
    let mut budget = Budget::new();
    let wanted = Wanted { domain: Some(domain), action: Some(action), ..Wanted::default() };
    let rows = rows_of(resource, set, &wanted, &mut budget).unwrap_or_default();
    // Each axis has the wanted value alone, which lines show as `*`.
    let named = rows.into_iter().map(|(is_about, row)| {
        let (domain, action) = (Some(domain.to_owned()), Some(action.text().into_owned()));
        (is_about, MatrixRow { domain, action, ..row })
    });
    MatrixTable::new(named.collect(), &budget)
}

/// Decides for one subject with these roles, in one domain, every action on the resources that are registered or named.
pub fn what_can(
    set: &DecisionSet<'_>,
    domain: &str,
    subject: &str,
    roles: &[String],
) -> MatrixTable {
    let resources: BTreeSet<&str> = set.resources().collect();
    let wanted = Wanted { subject: Some(subject), roles, domain: Some(domain), action: None };
    let mut budget = Budget::new();
    let mut cells = Vec::new();
    for resource in resources {
        cells.extend(rows_of(resource, set, &wanted, &mut budget).unwrap_or_default());
    }
    let named = cells.into_iter().map(|(is_about, row)| {
        let (role, domain) = (Some(subject.to_owned()), Some(domain.to_owned()));
        (is_about, MatrixRow { role, domain, ..row })
    });
    MatrixTable::new(named.collect(), &budget)
}

impl MatrixTable {
    /// Makes the table of rows, each with whether it is about what its resource is for.
    fn new(rows: Vec<(bool, MatrixRow)>, budget: &Budget<'_>) -> Self {
        let note = budget.note();
        let (cells, others) = by_purpose(rows);
        Self { complete: note.is_none(), note, cells, others }
    }
}

/// Returns the rows of one resource, of the cells that are wanted, each with whether it is about what the resource is for.
/// `None` if they do not fit into the budget, which notes that.
fn rows_of<'s>(
    resource: &'s str,
    set: &DecisionSet<'s>,
    wanted: &Wanted<'s>,
    budget: &mut Budget<'s>,
) -> Option<Vec<(bool, MatrixRow)>> {
    let matching = set.matching(resource);
    let axes = Axes::new(resource, &[(&matching, set.inclusions)], set.inclusions);
    let axes = axes.narrowed(wanted, matching.has_relations());
    // This comes before the plan is compiled, which is a part of the work.
    budget.take_resource(resource, matching.policies.len(), axes.cells())?;
    let plan = matching.plan(resource);
    let mut matrix = PlanMatrix::new(&plan, Attributes::default());
    budget.take_evaluations(resource, matrix.cost_per_cell(), axes.cells())?;
    let mut grid = Grid::new(&axes);
    let mut known = HashMap::new();
    axes.for_each(|place, cell| {
        let outcome = matrix.outcome(&cell);
        if matches!(outcome, Outcome::Deny) {
            return;
        }
        // A cell of the value 0 has no line, so that values begin at 1.
        let next = known.len() + 1;
        grid.set(place, *known.entry(cell_decision(&outcome)).or_insert(next));
    });
    let outcomes: HashMap<_, _> = known.iter().map(|(outcome, value)| (*value, outcome)).collect();
    let rows = grid.lines().into_iter().filter_map(|line| {
        let outcome = outcomes.get(&line.value).copied()?.clone();
        let (role, domain, action) = (line.role, line.domain, line.action);
        let is_about = axes.are_about(action.as_deref());
        let resource = resource.to_owned();
        Some((is_about, MatrixRow { role, domain, resource, action, outcome }))
    });
    Some(rows.collect())
}
