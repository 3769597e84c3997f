//! Paths: the edges by which parts of a line hold.

use hashbrown::HashSet;

use super::answer::{Branch, PathEdge};
use super::costs::{Cost, Reason};
use super::ground::{Ground, Need, Rule};

/// The maximum number of branches. People read a few.
const MAX_BRANCHES: usize = 64;
/// The maximum number of edges in all paths.
const MAX_PATHS: usize = 10_000;

/// Collects the branches of an explanation.
pub(super) struct Proof<'p, 'e> {
    ground: &'p Ground<'e>,
    rules: &'p [Rule<'e>],
    costs: &'p [Option<Cost>],
    branches: Vec<Branch<'e>>,
    is_complete: bool,
    /// The instances that hold and whose paths are to be found.
    open: Vec<Task<'e>>,
    /// The number of edges that paths may still have.
    edges: usize,
    /// The instances behind a `!` that were looked at.
    known: HashSet<usize>,
}

/// An instance that holds.
struct Task<'e> {
    place: usize,
    part: &'e str,
    is_negated: bool,
    /// The edges that lead there.
    path: Vec<PathEdge<'e>>,
}

impl<'p, 'e> Proof<'p, 'e> {
    /// Starts with rules of the ground, and what they cost.
    pub(super) fn new(
        ground: &'p Ground<'e>,
        rules: &'p [Rule<'e>],
        costs: &'p [Option<Cost>],
    ) -> Self {
        Self {
            ground,
            rules,
            costs,
            branches: Vec::new(),
            is_complete: true,
            open: Vec::new(),
            edges: MAX_PATHS,
            known: HashSet::new(),
        }
    }

    /// Returns the branches, and whether there is no other.
    pub(super) fn finish(self) -> (Vec<Branch<'e>>, bool) {
        (self.branches, self.is_complete)
    }

    /// Finds the paths by which the first instance holds.
    pub(super) fn holds(&mut self) {
        self.open.push(Task { place: 0, part: self.part(0), is_negated: false, path: Vec::new() });
        self.run();
    }

    /// Finds the factors of the object that hold and that do not, where the first instance does not hold.
    pub(super) fn holds_not(&mut self) {
        let (mut known, mut next) = (vec![0], 0);
        while let Some(place) = known.get(next).copied() {
            next += 1;
            let rule = &self.rules[place];
            for need in &rule.needs {
                if rule.is_all {
                    self.factor(*need, false, &[]);
                // Only parts about the same object: an edge leads to another one.
                } else if need.edge.is_none() && !known.contains(&need.place) {
                    known.push(need.place);
                }
            }
        }
        self.run();
    }

    fn part(&self, place: usize) -> &'e str {
        self.ground.graph.schema.text(self.ground.instances.get(place).term)
    }

    fn run(&mut self) {
        while let Some(task) = self.open.pop() {
            if self.follow(task).is_none() {
                self.is_complete = false;
            }
        }
    }

    /// Follows the shortest way of an instance to its end, or to where it branches. `None` if it has too many edges.
    fn follow(&mut self, Task { mut place, part, is_negated, mut path }: Task<'e>) -> Option<()> {
        while let Some(cost) = self.costs[place] {
            self.edges = self.edges.checked_sub(1)?;
            let rule = &self.rules[place];
            match cost.reason {
                Reason::Base => {
                    path.extend(rule.base);
                    self.branches.push(Branch { part, is_negated, holds: true, path });
                    return Some(());
                }
                Reason::Need(index) => {
                    let need = rule.needs[index];
                    path.extend(self.ground.need_edge(place, need));
                    place = need.place;
                }
                Reason::All => {
                    // The last one that is opened is followed first.
                    for need in rule.needs.iter().rev() {
                        // Each factor takes a copy of the path.
                        self.edges = self.edges.checked_sub(path.len())?;
                        self.factor(*need, is_negated, &path);
                    }
                    return Some(());
                }
            }
        }
        Some(())
    }

    /// Adds the branch of a factor, to which the edges of `path` lead.
    fn factor(&mut self, need: Need, is_negated: bool, path: &[PathEdge<'e>]) {
        if self.branches.len() + self.open.len() == MAX_BRANCHES {
            self.is_complete = false;
            return;
        }
        // Two negations, one below the other, cancel out.
        let (part, is_negated) = (self.part(need.place), is_negated != need.is_negative);
        if self.costs[need.place].is_some() {
            self.open.push(Task { place: need.place, part, is_negated, path: path.to_vec() });
            return;
        }
        self.branches.push(Branch { part, is_negated, holds: false, path: Vec::new() });
        if need.is_negative {
            self.keep_false(need.place, is_negated);
        }
    }

    /// Adds what keeps an instance from holding: each `!` below it without which all other factors would hold.
    fn keep_false(&mut self, place: usize, is_negated: bool) {
        let mut open = vec![place];
        while let Some(place) = open.pop() {
            if !self.known.insert(place) {
                continue;
            }
            let rule = &self.rules[place];
            let mut positive = rule.needs.iter().filter(|need| !need.is_negative);
            let is_kept = rule.is_all && positive.all(|need| self.is_met(need));
            let by = rule.needs.iter().find(|need| need.is_negative && self.is_met(need));
            if let Some(need) = by.filter(|_| is_kept) {
                self.factor(*need, is_negated, &[]);
            }
            open.extend(rule.needs.iter().map(|need| need.place));
        }
    }

    /// Returns whether the instance that is needed holds, whatever the sign of the need.
    fn is_met(&self, need: &Need) -> bool {
        self.costs[need.place].is_some()
    }
}
