//! The rows of files at rest that cannot be read. Each is counted once and left out, and what follows it is read.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::OnceLock;

use parking_lot::Mutex;

use crate::lost::Lost;
use crate::metrics::LogMetrics;

/// The rows that cannot be read, as far as somebody met them.
#[derive(Debug, Default)]
pub(crate) struct DamagedRows {
    /// By path and part.
    parts: Mutex<BTreeMap<(String, FilePart), RowRanges>>,
    metrics: OnceLock<LogMetrics>,
}

/// Ranges of rows, which ascend and have other rows between them.
type RowRanges = Vec<Range<usize>>;

/// A part of a file, whose rows have numbers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FilePart {
    /// The row group with this number.
    Group(usize),
    /// The rows of this tenant in a file whose groups are not known.
    Tenant(String),
}

impl DamagedRows {
    /// Counts what is found from now on in `metrics`.
    pub(crate) fn count_in(&self, metrics: LogMetrics) {
        // A place of files at rest belongs to one log.
        let _ = self.metrics.set(metrics);
    }

    /// Notes that rows of a part cannot be read, and counts those that nobody met before.
    pub(crate) fn note(
        &self,
        (path, part): (&str, FilePart),
        rows: impl IntoIterator<Item = Range<usize>>,
    ) {
        let mut parts = self.parts.lock();
        let known = parts.entry((path.to_owned(), part)).or_default();
        let before: usize = known.iter().map(Range::len).sum();
        known.extend(rows);
        known.sort_unstable_by_key(|rows| rows.start);
        // `dedup_by` passes the later range first, and removes it if this returns true.
        known.dedup_by(|next, last| {
            let follows = next.start <= last.end;
            if follows {
                last.end = last.end.max(next.end);
            }
            follows
        });
        let rows = known.iter().map(Range::len).sum::<usize>() - before;
        drop(parts);
        if rows > 0 {
            if let Some(metrics) = self.metrics.get() {
                metrics.lose(Lost::Damaged, rows as u64);
            }
            tracing::error!(%path, rows, "a file at rest is damaged: the decisions there are lost");
        }
    }

    /// Keeps the rows of a row group, which ascend, that can be read as far as somebody knows.
    pub(crate) fn retain_sound(&self, (path, group): (&str, usize), rows: &mut Vec<usize>) {
        let parts = self.parts.lock();
        let part = (path.to_owned(), FilePart::Group(group));
        let Some(damaged) = parts.get(&part) else { return };
        let mut damaged = damaged.iter().peekable();
        rows.retain(|row| {
            while damaged.next_if(|damaged| damaged.end <= *row).is_some() {}
            damaged.peek().is_none_or(|damaged| *row < damaged.start)
        });
    }

    /// Returns whether a row group has rows that cannot be read.
    pub(crate) fn are_in(&self, (path, group): (&str, usize)) -> bool {
        self.parts.lock().contains_key(&(path.to_owned(), FilePart::Group(group)))
    }

    /// Forgets the rows of a file that is deleted.
    pub(crate) fn forget(&self, path: &str) {
        self.parts.lock().retain(|(of, _), _| of != path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_is_counted_once_and_left_out() {
        let (rows, metrics) = (DamagedRows::default(), LogMetrics::default());
        rows.count_in(metrics.clone());
        for (damaged, count) in [(2..4, 2), (3..6, 4), (8..9, 5), (0..1, 6), (2..6, 6), (6..8, 8)] {
            rows.note(("a", FilePart::Group(0)), [damaged.clone()]);
            assert_eq!(metrics.lost(Lost::Damaged), count, "{damaged:?}");
        }
        let sound = |of| {
            let mut all = (0..11).collect();
            rows.retain_sound(of, &mut all);
            all
        };
        assert_eq!(sound(("a", 0)), [1, 9, 10]);
        assert_eq!((sound(("a", 1)).len(), sound(("b", 0)).len()), (11, 11));
        assert!(rows.are_in(("a", 0)) && !rows.are_in(("a", 1)));
        rows.forget("a");
        assert_eq!(sound(("a", 0)).len(), 11);
    }
}
