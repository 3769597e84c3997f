//! The fewest edges by which instances hold.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::ground::Rule;

/// The shortest way in which an instance holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cost {
    /// The number of edges, each as often as it is used.
    edges: u64,
    pub(super) reason: Reason,
}

/// The last step of a way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reason {
    /// The edge of the rule.
    Base,
    /// The need with this index.
    Need(usize),
    /// All needs.
    All,
}

/// Returns the cost of each instance; `None` for one that does not hold. Dijkstra's algorithm, generalised to factors that
/// must all hold (Knuth 1977), level by level.
pub(super) fn costs(rules: &[Rule<'_>]) -> Vec<Option<Cost>> {
    let mut dependents: Vec<Vec<(usize, usize)>> = vec![Vec::new(); rules.len()];
    for (place, rule) in rules.iter().enumerate() {
        for (index, need) in rule.needs.iter().enumerate() {
            dependents[need.place].push((place, index));
        }
    }
    let mut order: Vec<(u32, usize)> = rules.iter().map(|rule| rule.level).zip(0..).collect();
    order.sort_unstable();
    let mut costs: Vec<Option<Cost>> = vec![None; rules.len()];
    for level in order.chunk_by(|a, b| a.0 == b.0) {
        let mut open = BinaryHeap::new();
        for (_, place) in level {
            let rule = &rules[*place];
            let base = rule.base.iter().map(|_| Cost { edges: 1, reason: Reason::Base });
            let needs = (0..rule.needs.len()).filter_map(|index| by_need(rule, index, &costs));
            let all = base.chain(needs).chain(by_all(rule, &costs));
            open.extend(all.map(|cost| Reverse((cost, *place))));
        }
        while let Some(Reverse((cost, place))) = open.pop() {
            // A way that is not longer came before.
            if costs[place].is_some() {
                continue;
            }
            costs[place] = Some(cost);
            for (dependent, index) in &dependents[place] {
                let rule = &rules[*dependent];
                // Rules of higher levels are looked at with their own level.
                if rule.level == rules[place].level {
                    let cost = by_need(rule, *index, &costs).or_else(|| by_all(rule, &costs));
                    open.extend(cost.map(|cost| Reverse((cost, *dependent))));
                }
            }
        }
    }
    costs
}

/// Returns the cost by one need, if one is enough.
fn by_need(rule: &Rule<'_>, index: usize, costs: &[Option<Cost>]) -> Option<Cost> {
    let need = rule.needs.get(index).filter(|_| !rule.is_all)?;
    let edges = costs[need.place]?.edges + u64::from(need.edge.is_some());
    Some(Cost { edges, reason: Reason::Need(index) })
}

/// Returns the cost by all needs, if all are necessary and those behind a `!` do not hold.
fn by_all(rule: &Rule<'_>, costs: &[Option<Cost>]) -> Option<Cost> {
    let mut edges: u64 = 0;
    for need in rule.needs.iter().filter(|_| rule.is_all) {
        match (need.is_negative, costs[need.place]) {
            (false, Some(cost)) => edges = edges.saturating_add(cost.edges),
            (true, None) => {}
            _ => return None,
        }
    }
    rule.is_all.then_some(Cost { edges, reason: Reason::All })
}
