//! A segment tree: finds all stored intervals that contain a number.

use std::ops::Bound;

use super::access_paths::Interval;
use super::ranks::Rank;
use crate::number::Number;

/// A segment tree in an array. Each interval is stored at the nodes that together cover it: a logarithmic number.
#[derive(Debug, Default)]
pub(super) struct Ranges {
    /// The numbers at which an interval begins or ends, sorted.
    bounds: Box<[Number]>,
    /// The parent of node `n` is node `n / 2`. The leaves fill the second half: gap, bound, gap, bound, …, gap.
    nodes: Box<[Box<[Rank]>]>,
}

impl Ranges {
    /// Builds the tree from intervals and their ranks, which ascend.
    pub(super) fn new(intervals: &[(Interval, Rank)]) -> Self {
        let ends = intervals.iter().flat_map(|(interval, _)| [interval.low, interval.high]);
        let mut bounds: Vec<Number> = ends.filter_map(number).collect();
        bounds.sort_unstable();
        bounds.dedup();
        let mut ranges = Self { bounds: bounds.into(), nodes: Box::default() };
        let leaves = ranges.leaves();
        let mut nodes: Vec<Vec<Rank>> = vec![Vec::new(); 2 * leaves];
        for (interval, rank) in intervals {
            let (first, last) = ranges.covered(interval);
            let (mut low, mut high) = (first + leaves, last + 1 + leaves);
            // Climb from both ends. A node is stored where its parent would reach beyond the interval.
            while low < high {
                if low % 2 == 1 {
                    nodes[low].push(*rank);
                    low += 1;
                }
                if high % 2 == 1 {
                    high -= 1;
                    nodes[high].push(*rank);
                }
                (low, high) = (low / 2, high / 2);
            }
        }
        ranges.nodes = nodes.into_iter().map(Vec::into_boxed_slice).collect();
        ranges
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
        if self.nodes.is_empty() {
            return;
        }
        let mut node = self.leaf(number) + self.leaves();
        while node > 0 {
            visit(&self.nodes[node]);
            node /= 2;
        }
    }

    /// Returns the heap bytes, for the weight of a plan.
    pub(super) fn weight(&self) -> usize {
        let nodes: usize = self.nodes.iter().map(|node| size_of_val::<[Rank]>(node)).sum();
        size_of_val::<[Number]>(&self.bounds) + self.nodes.len() * size_of::<Box<[Rank]>>() + nodes
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
