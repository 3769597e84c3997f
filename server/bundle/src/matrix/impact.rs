//! The change of decisions between two sets of rules and policies.

use std::collections::{BTreeSet, HashMap};

use portcullis_engine::matrix::{MatrixCell, PlanMatrix};
use portcullis_engine::request::Attributes;
use portcullis_model::apply::{ImpactChange, ImpactReport};

use super::axes::Axes;
use super::budget::Budget;
use super::decision_set::{DecisionSet, patterns_of};
use super::grid::Grid;
use super::outcome::{by_purpose, cell_decision, is_same};

/// The maximum number of changes in a list. Nobody reads more, and each may take kilobytes.
const MAX_CHANGES: usize = 1_000;

/// Compares what two sets of rules and policies decide, with the roles that roles include in each. Once `may_go_on`, which
/// is asked before each resource, returns false, the others are left out.
pub fn impact(
    before: &DecisionSet<'_>,
    after: &DecisionSet<'_>,
    may_go_on: impl Fn() -> bool,
) -> ImpactReport {
    let changed = before.changed_patterns(after);
    let resources: BTreeSet<&str> = before
        .resources()
        .chain(after.resources())
        .filter(|name| patterns_of(name).iter().any(|pattern| changed.contains(&**pattern)))
        .collect();
    let mut budget = Budget::new();
    let mut changes: Vec<(bool, ImpactChange)> = Vec::new();
    for resource in resources {
        if !may_go_on() {
            budget.leave_out(resource);
            continue;
        }
        changes.extend(changes_of(resource, before, after, &mut budget).unwrap_or_default());
    }
    let all = changes.len();
    changes.truncate(MAX_CHANGES);
    let (changes, others) = by_purpose(changes);
    let cut =
        (all > MAX_CHANGES).then(|| format!("only {MAX_CHANGES} of {all} changes are listed"));
    let notes: Vec<String> = budget.note().into_iter().chain(cut).collect();
    ImpactReport {
        complete: notes.is_empty(),
        note: (!notes.is_empty()).then(|| notes.join("; ")),
        changes,
        others,
    }
}

/// Returns the changes of one resource, each with whether it is about what the resource is for. `None` if they do not fit into
/// the budget, which notes that.
fn changes_of<'s>(
    resource: &'s str,
    before: &DecisionSet<'s>,
    after: &DecisionSet<'s>,
    budget: &mut Budget<'s>,
) -> Option<Vec<(bool, ImpactChange)>> {
    let (old, new) = (before.matching(resource), after.matching(resource));
    let sets = [(&old, before.inclusions), (&new, after.inclusions)];
    let axes = Axes::new(resource, &sets, after.inclusions);
    let old_roles = axes.roles_by(before.inclusions);
    // This comes before the plans are compiled, which is a part of the work.
    budget.take_resource(resource, old.policies.len() + new.policies.len(), axes.cells())?;
    let (old, new) = (old.plan(resource), new.plan(resource));
    let mut old = PlanMatrix::new(&old, Attributes::default());
    let mut new = PlanMatrix::new(&new, Attributes::default());
    let per_cell = old.cost_per_cell() + new.cost_per_cell();
    budget.take_evaluations(resource, per_cell, axes.cells())?;
    let mut grid = Grid::new(&axes);
    let mut known = HashMap::new();
    axes.for_each(|place, cell| {
        let roles = old_roles.get(place[0]).map_or(cell.roles, Vec::as_slice);
        let (was, is) = (old.outcome(&MatrixCell { roles, ..cell }), new.outcome(&cell));
        if is_same((&was, before), (&is, after)) {
            return;
        }
        // A cell of the value 0 has no line, so that values begin at 1.
        let next = known.len() + 1;
        let pair = (cell_decision(&was), cell_decision(&is));
        grid.set(place, *known.entry(pair).or_insert(next));
    });
    let pairs: HashMap<_, _> = known.iter().map(|(pair, value)| (*value, pair)).collect();
    let changes = grid.lines().into_iter().filter_map(|line| {
        let (before, after) = pairs.get(&line.value).copied()?.clone();
        let (role, domain, action) = (line.role, line.domain, line.action);
        let is_about = axes.are_about(action.as_deref());
        let resource = resource.to_owned();
        Some((is_about, ImpactChange { role, domain, resource, action, before, after }))
    });
    Some(changes.collect())
}
