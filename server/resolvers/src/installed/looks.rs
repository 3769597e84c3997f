//! What has changed in a directory since the last looks. A file that is being copied looks different each time: a
//! change counts once it is the same in two looks.

use std::collections::BTreeMap;

use super::files::Print;

/// After so many attempts the pause between them does not get any longer: 64 looks.
const MAX_DOUBLINGS: u32 = 6;

/// What was seen of each name.
#[derive(Debug, Default)]
pub(super) struct Looks {
    /// Not before the first one, which takes everything as it is.
    looked: bool,
    failing: bool,
    names: BTreeMap<String, Seen>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    last: Option<Print>,
    /// What was handed out as a change.
    settled: Option<Print>,
    /// How many looks to wait until it is handed out again.
    again: Option<u32>,
    /// How often it was handed out again since it has changed.
    attempts: u32,
}

impl Looks {
    /// What has changed, given what there is now; without a print it is gone.
    pub(super) fn look(&mut self, found: BTreeMap<String, Print>) -> Vec<(String, Option<Print>)> {
        let at_once = !std::mem::replace(&mut self.looked, true);
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
            seen.again = seen.again.map(|looks| looks.saturating_sub(1));
            let is_new = now != seen.settled || seen.again == Some(0);
            if is_new && (at_once || now == seen.last) {
                (seen.settled, seen.again) = (now, None);
                changes.push((name.clone(), now));
            }
            seen.last = now;
        }
        self.names.retain(|_, seen| seen.last.is_some() || seen.settled.is_some());
        changes
    }

    /// Has every name that `which` picks come up as a change again.
    pub(super) fn forget(&mut self, which: impl Fn(&str) -> bool) {
        for (name, seen) in &mut self.names {
            if which(name) {
                seen.again = Some(0);
            }
        }
    }

    /// Has `name` come up as a change again after a pause, the longer the more often that was asked.
    pub(super) fn retry(&mut self, name: &str) {
        if let Some(seen) = self.names.get_mut(name) {
            seen.again = Some(1 << seen.attempts.min(MAX_DOUBLINGS));
            seen.attempts += 1;
        }
    }

    /// Takes note that there was nothing to see; true if that is new.
    pub(super) fn fail(&mut self) -> bool {
        !std::mem::replace(&mut self.failing, true)
    }
}

#[cfg(test)]
mod tests {
    use super::super::files::FileId;
    use super::*;

    fn print(size: u64) -> Print {
        let module = FileId { modified: (1, 2), size, inode: 3 };
        Print { module, manifest: None }
    }

    fn found(names: &[(&str, u64)]) -> BTreeMap<String, Print> {
        names.iter().map(|(name, size)| ((*name).to_owned(), print(*size))).collect()
    }

    fn change(name: &str, size: Option<u64>) -> (String, Option<Print>) {
        (name.to_owned(), size.map(print))
    }

    #[test]
    fn what_is_there_at_first_is_taken_at_once() {
        let mut looks = Looks::default();
        assert_eq!(looks.look(found(&[("a", 1)])), [change("a", Some(1))]);
        assert_eq!(looks.look(found(&[("a", 1)])), []);
    }

    #[test]
    fn a_change_counts_once_it_is_the_same_twice() {
        let mut looks = Looks::default();
        looks.look(found(&[("a", 1)]));
        for growing in [2, 3, 4] {
            assert_eq!(looks.look(found(&[("a", growing)])), [], "{growing}");
        }
        assert_eq!(looks.look(found(&[("a", 4)])), [change("a", Some(4))]);
        assert_eq!(looks.look(found(&[("a", 4)])), []);
        assert_eq!(looks.look(found(&[("a", 5)])), []);
        assert_eq!(looks.look(found(&[("a", 4)])), [], "as it was");
        assert_eq!(looks.look(found(&[("a", 4), ("b", 1)])), []);
        assert_eq!(looks.look(found(&[("a", 4), ("b", 1)])), [change("b", Some(1))]);
    }

    #[test]
    fn what_is_gone_twice_is_gone() {
        let mut looks = Looks::default();
        looks.look(found(&[("a", 1)]));
        assert_eq!(looks.look(found(&[])), []);
        assert_eq!(looks.look(found(&[("a", 1)])), [], "replaced, not removed");
        assert_eq!(looks.look(found(&[])), []);
        assert_eq!(looks.look(found(&[])), [change("a", None)]);
        assert_eq!(looks.look(found(&[])), []);
        // What was never taken needs not be given back.
        looks.look(found(&[("b", 1)]));
        looks.look(found(&[]));
        assert_eq!(looks.look(found(&[])), []);
    }

    #[test]
    fn what_is_tried_again_has_longer_and_longer_pauses() {
        let mut looks = Looks::default();
        let mut tried = Vec::new();
        for look in 0..200 {
            if !looks.look(found(&[("a", 1), ("b", 1)])).is_empty() {
                tried.push(look);
                looks.retry("a");
            }
        }
        assert_eq!(tried, [0, 1, 3, 7, 15, 31, 63, 127, 191]);
        // A change does not wait, and is as good as new.
        assert_eq!(looks.look(found(&[("a", 2), ("b", 1)])), []);
        assert_eq!(looks.look(found(&[("a", 2), ("b", 1)])), [change("a", Some(2))]);
        looks.retry("a");
        assert_eq!(looks.look(found(&[("a", 2), ("b", 1)])), [change("a", Some(2))]);
        assert_eq!(looks.look(found(&[("a", 2), ("b", 1)])), []);
    }

    #[test]
    fn what_is_forgotten_comes_up_again_and_failures_are_told_once() {
        let mut looks = Looks::default();
        looks.look(found(&[("a", 1), ("b", 1)]));
        looks.forget(|name| name == "b");
        assert_eq!(looks.look(found(&[("a", 1), ("b", 1)])), [change("b", Some(1))]);
        assert!(looks.fail());
        assert!(!looks.fail());
        looks.look(found(&[]));
        assert!(looks.fail());
    }
}
