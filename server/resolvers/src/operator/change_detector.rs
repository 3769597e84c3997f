//! Detects changes of the files of a directory. A file that is being copied differs in each round, so a change counts
//! once it is the same in two rounds.

use std::collections::BTreeMap;

use super::files::Fingerprint;

/// After this number of attempts the pause between them does not get any longer: 64 rounds.
const MAX_DOUBLINGS: u32 = 6;

/// Compares the files of a directory with the files of earlier rounds.
#[derive(Debug, Default)]
pub(super) struct ChangeDetector {
    /// `false` before the first round, which reports every file at once.
    has_observed: bool,
    failing: bool,
    names: BTreeMap<String, Seen>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    last: Option<Fingerprint>,
    /// The fingerprint that was reported last.
    settled: Option<Fingerprint>,
    /// Rounds until it is reported again.
    again: Option<u32>,
    /// The number of repeated reports since its last change.
    attempts: u32,
}

impl ChangeDetector {
    /// Returns the stable changes, given the files of this round. A name without a fingerprint is gone.
    pub(super) fn observe(
        &mut self,
        found: BTreeMap<String, Fingerprint>,
    ) -> Vec<(String, Option<Fingerprint>)> {
        let at_once = !std::mem::replace(&mut self.has_observed, true);
        self.failing = false;
        for name in found.keys() {
            self.names.entry(name.clone()).or_default();
        }
        let mut changes = Vec::new();
        for (name, seen) in &mut self.names {
            let now = found.get(name).copied();
            if now != seen.settled {
                seen.attempts = 0;
            }
            seen.again = seen.again.map(|rounds| rounds.saturating_sub(1));
            let is_new = now != seen.settled || seen.again == Some(0);
            // A file that is still being written differs from the round before.
            if is_new && (at_once || now == seen.last) {
                (seen.settled, seen.again) = (now, None);
                changes.push((name.clone(), now));
            }
            seen.last = now;
        }
        // A file that is gone stays until its removal is reported.
        self.names.retain(|_, seen| seen.last.is_some() || seen.settled.is_some());
        changes
    }

    /// Reports every name that `which` picks as a change in the next round.
    pub(super) fn forget(&mut self, which: impl Fn(&str) -> bool) {
        for (name, seen) in &mut self.names {
            if which(name) {
                seen.again = Some(0);
            }
        }
    }

    /// Reports `name` as a change again after a pause, which doubles with each attempt.
    pub(super) fn retry(&mut self, name: &str) {
        if let Some(seen) = self.names.get_mut(name) {
            seen.again = Some(1 << seen.attempts.min(MAX_DOUBLINGS));
            seen.attempts += 1;
        }
    }

    /// Records that the directory cannot be read. Returns whether the round before was readable.
    pub(super) fn fail(&mut self) -> bool {
        !std::mem::replace(&mut self.failing, true)
    }
}

#[cfg(test)]
mod tests {
    use super::super::files::FileId;
    use super::*;

    fn fingerprint(size: u64) -> Fingerprint {
        let module = FileId { modified: (1, 2), size, inode: 3 };
        Fingerprint { module, manifest: None }
    }

    fn found(names: &[(&str, u64)]) -> BTreeMap<String, Fingerprint> {
        names.iter().map(|(name, size)| ((*name).to_owned(), fingerprint(*size))).collect()
    }

    fn change(name: &str, size: Option<u64>) -> (String, Option<Fingerprint>) {
        (name.to_owned(), size.map(fingerprint))
    }

    #[test]
    fn files_of_the_first_read_are_reported_at_once() {
        let mut detector = ChangeDetector::default();
        assert_eq!(detector.observe(found(&[("a", 1)])), [change("a", Some(1))]);
        assert_eq!(detector.observe(found(&[("a", 1)])), []);
    }

    #[test]
    fn a_change_counts_once_it_is_the_same_twice() {
        let mut detector = ChangeDetector::default();
        detector.observe(found(&[("a", 1)]));
        for growing in [2, 3, 4] {
            assert_eq!(detector.observe(found(&[("a", growing)])), [], "{growing}");
        }
        assert_eq!(detector.observe(found(&[("a", 4)])), [change("a", Some(4))]);
        assert_eq!(detector.observe(found(&[("a", 4)])), []);
        assert_eq!(detector.observe(found(&[("a", 5)])), []);
        assert_eq!(detector.observe(found(&[("a", 4)])), [], "as it was");
        assert_eq!(detector.observe(found(&[("a", 4), ("b", 1)])), []);
        assert_eq!(detector.observe(found(&[("a", 4), ("b", 1)])), [change("b", Some(1))]);
    }

    #[test]
    fn a_file_missing_in_two_reads_is_removed() {
        let mut detector = ChangeDetector::default();
        detector.observe(found(&[("a", 1)]));
        assert_eq!(detector.observe(found(&[])), []);
        assert_eq!(detector.observe(found(&[("a", 1)])), [], "replaced, not removed");
        assert_eq!(detector.observe(found(&[])), []);
        assert_eq!(detector.observe(found(&[])), [change("a", None)]);
        assert_eq!(detector.observe(found(&[])), []);
        // What was never taken needs not be given back.
        detector.observe(found(&[("b", 1)]));
        detector.observe(found(&[]));
        assert_eq!(detector.observe(found(&[])), []);
    }

    #[test]
    fn retries_have_growing_pauses() {
        let mut detector = ChangeDetector::default();
        let mut tried = Vec::new();
        for round in 0..200 {
            if !detector.observe(found(&[("a", 1), ("b", 1)])).is_empty() {
                tried.push(round);
                detector.retry("a");
            }
        }
        assert_eq!(tried, [0, 1, 3, 7, 15, 31, 63, 127, 191]);
        // A change does not wait, and is as good as new.
        assert_eq!(detector.observe(found(&[("a", 2), ("b", 1)])), []);
        assert_eq!(detector.observe(found(&[("a", 2), ("b", 1)])), [change("a", Some(2))]);
        detector.retry("a");
        assert_eq!(detector.observe(found(&[("a", 2), ("b", 1)])), [change("a", Some(2))]);
        assert_eq!(detector.observe(found(&[("a", 2), ("b", 1)])), []);
    }

    #[test]
    fn a_forgotten_file_is_reported_again_and_a_failure_once() {
        let mut detector = ChangeDetector::default();
        detector.observe(found(&[("a", 1), ("b", 1)]));
        detector.forget(|name| name == "b");
        assert_eq!(detector.observe(found(&[("a", 1), ("b", 1)])), [change("b", Some(1))]);
        assert!(detector.fail());
        assert!(!detector.fail());
        detector.observe(found(&[]));
        assert!(detector.fail());
    }
}
