//! A segment tree: finds all stored intervals that contain a number.

use std::ops::Bound;

use super::interval::Interval;
use super::ranks::Rank;
use crate::number::Number;

/// A segment tree in an array. Each interval is stored at the nodes that together cover it: a logarithmic number.
#[derive(Debug, Default)]
pub(super) struct Ranges {
    /// The numbers at which an interval begins or ends, sorted.
    bounds: Box<[Number]>,
    /// The parent of node `n` is node `n / 2`. The leaves fill the second half: gap, bound, gap, bound, …, gap. The ranks of
    /// a node begin here, and end where the ranks of the next node begin.
    starts: Box<[u32]>,
    /// The ranks of all nodes, in one block.
    ranks: Box<[Rank]>,
}

impl Ranges {
    /// Builds the tree from intervals and their ranks, which ascend.
    pub(super) fn new(intervals: &[(Interval, Rank)]) -> Self {
        if intervals.is_empty() {
            return Self::default();
        }
        let ends = intervals.iter().flat_map(|(interval, _)| [interval.low, interval.high]);
        let mut bounds: Vec<Number> = ends.filter_map(number).collect();
        bounds.sort_unstable();
        bounds.dedup();
        let mut ranges = Self { bounds: bounds.into(), ..Self::default() };
        let covered: Vec<_> =
            intervals.iter().map(|(interval, _)| ranges.covered(interval)).collect();
        // Counts the ranks of each node, so that each list has its place before it is filled.
        // One more, where the ranks of the last node end.
        let mut starts = vec![0; 2 * ranges.leaves() + 1];
        for interval in &covered {
            ranges.for_each_node(*interval, |node| starts[node] += 1);
        }
        let mut total = 0;
        for start in &mut starts {
            total += *start;
            *start = total;
        }
        // Each list is filled from its end, where its start is now.
        let mut ranks: Vec<Rank> = vec![0; total as usize];
        // In reverse, so that the ranks of each node ascend.
        for (interval, (_, rank)) in covered.iter().zip(intervals).rev() {
            ranges.for_each_node(*interval, |node| {
                starts[node] -= 1;
                ranks[starts[node] as usize] = *rank;
            });
        }
        ranges.starts = starts.into();
        ranges.ranks = ranks.into();
        ranges
    }

    /// Passes each node that stores an interval from the first to the last leaf.
    fn for_each_node(&self, (first, last): (usize, usize), mut visit: impl FnMut(usize)) {
        let leaves = self.leaves();
        let (mut low, mut high) = (first + leaves, last + 1 + leaves);
        // Climb from both ends. A node is stored where its parent would reach beyond the interval.
        while low < high {
            if low % 2 == 1 {
                visit(low);
                low += 1;
            }
            if high % 2 == 1 {
                high -= 1;
                visit(high);
            }
            (low, high) = (low / 2, high / 2);
        }
    }

    fn leaves(&self) -> usize {
        2 * self.bounds.len() + 1
    }

    /// Returns the first and the last leaf of an interval. The last may come before the first if it is empty.
    fn covered(&self, interval: &Interval) -> (usize, usize) {
        let first = match interval.low {
            Bound::Unbounded => 0,
            Bound::Included(bound) => self.leaf(bound),
            Bound::Excluded(bound) => self.leaf(bound) + 1,
        };
        let last = match interval.high {
            Bound::Unbounded => self.leaves() - 1,
            Bound::Included(bound) => self.leaf(bound),
            // A bound's own leaf is odd, so there is a gap before it.
            Bound::Excluded(bound) => self.leaf(bound) - 1,
        };
        (first, last)
    }

    /// Returns the leaf of a number: a bound has an odd index, a gap an even one.
    fn leaf(&self, number: Number) -> usize {
        match self.bounds.binary_search(&number) {
            Ok(bound) => 2 * bound + 1,
            Err(gap) => 2 * gap,
        }
    }

    /// Visits the ranks of every interval that contains `number`, in lists by ascending rank.
    pub(super) fn visit<'p>(&'p self, number: Number, mut visit: impl FnMut(&'p [Rank])) {
        if self.starts.is_empty() {
            return;
        }
        let mut node = self.leaf(number) + self.leaves();
        // The root is node 1. There is no node 0.
        while node > 0 {
            visit(&self.ranks[self.starts[node] as usize..self.starts[node + 1] as usize]);
            node /= 2;
        }
    }

    /// Returns the heap bytes, for the weight of a plan.
    pub(super) fn weight(&self) -> usize {
        size_of_val::<[Number]>(&self.bounds)
            + size_of_val::<[u32]>(&self.starts)
            + size_of_val::<[Rank]>(&self.ranks)
    }
}

/// Returns the number of a bound; `None` if it is unbounded.
fn number(bound: Bound<Number>) -> Option<Number> {
    match bound {
        Bound::Included(number) | Bound::Excluded(number) => Some(number),
        Bound::Unbounded => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_interval_around_a_number_is_found() {
        let bound = |value: u64, kind: u64| match kind {
            0 => Bound::Included(Number::from(value)),
            1 => Bound::Excluded(Number::from(value)),
            _ => Bound::Unbounded,
        };
        let mut intervals = Vec::new();
        for (low, high) in (0..6).flat_map(|low| (0..6).map(move |high| (low, high))) {
            for kinds in 0..9 {
                let interval =
                    Interval { low: bound(low, kinds / 3), high: bound(high, kinds % 3) };
                intervals.push((interval, Rank::try_from(intervals.len()).expect("few")));
            }
        }
        let ranges = Ranges::new(&intervals);
        for half in -1..13 {
            let number = Number::from_f64(f64::from(half) / 2.0).expect("finite");
            let mut found: Vec<Rank> = Vec::new();
            ranges.visit(number, |ranks| found.extend(ranks));
            found.sort_unstable();
            let holds = |interval: &Interval| {
                std::ops::RangeBounds::contains(&(interval.low, interval.high), &number)
            };
            let expected: Vec<Rank> =
                intervals.iter().filter(|(i, _)| holds(i)).map(|(_, rank)| *rank).collect();
            assert_eq!(found, expected, "{number}");
        }
    }
}
