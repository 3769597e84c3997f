//! Conditions on the items of a list (`docs/semantics.md`, section 4.10).

use super::{AttributePath, Condition, Predicate, Test};
use crate::invalid::{Place, Problems};

// Each completes "expected …".
pub(crate) const STRAY_ITEM: &str = "an attribute such as `user.groups`: `item` stands only in the condition of `ANY` and `ALL`, \
    written `any(user.groups, item == \"x\")`";
pub(crate) const ITEM_EXISTS: &str = "a comparison: an item always exists";
pub(crate) const ITEM_IS_PRESENT: &str = "no default for a test of `item`, which is never absent";
pub(crate) const NESTED: &str = "no condition on items within another one";
pub(crate) const NO_ITEM: &str = "a condition that tests `item`";

impl Condition {
    /// Returns whether the tree at `at` uses `item`, and conditions on items, where they can be. Notes each fault.
    pub(crate) fn check_items(&self, at: &Place<'_>, problems: &mut Problems) -> bool {
        self.check_items_of(false, at, problems)
    }

    /// Checks as [`Condition::check_items`] does. `is_of_item` says whether the tree is asked about an item.
    fn check_items_of(&self, is_of_item: bool, at: &Place<'_>, problems: &mut Problems) -> bool {
        match self {
            Self::And(children) | Self::Or(children) => {
                let places = at.key("children");
                let mut is_sound = true;
                for (index, child) in children.iter().enumerate() {
                    is_sound &= child.check_items_of(is_of_item, &places.index(index), problems);
                }
                is_sound
            }
            Self::Not(child) => child.check_items_of(is_of_item, &at.key("child"), problems),
            Self::Test(test) if is_of_item => test.check_of_item(at, problems),
            Self::Test(test) => test.check_of_tree(at, problems),
            // Where a name is used, the table of names checks it.
            Self::Named(_) => true,
        }
    }
}

impl Test {
    /// Checks a test that stands outside of conditions on items.
    fn check_of_tree(&self, at: &Place<'_>, problems: &mut Problems) -> bool {
        let mut is_sound = true;
        let value = at.key("value");
        let right = self.predicate.right_attribute();
        for (path, side) in [(Some(&self.attribute), at), (right, &value)] {
            if path == Some(&AttributePath::Item) {
                problems.expected(&side.key("attribute"), STRAY_ITEM);
                is_sound = false;
            }
        }
        let Predicate::Items(items) = &self.predicate else { return is_sound };
        let child = at.key("child");
        if !items.child().names_item() {
            problems.expected(&child, NO_ITEM);
            return false;
        }
        // The child first: its faults are noted in any case.
        items.child().check_items_of(true, &child, problems) && is_sound
    }

    /// Checks a test of a condition on items.
    fn check_of_item(&self, at: &Place<'_>, problems: &mut Problems) -> bool {
        let is_of_item = self.attribute == AttributePath::Item;
        let fault = if matches!(self.predicate, Predicate::Items(_)) {
            Some(("type", NESTED))
        } else if is_of_item && self.predicate == Predicate::Exists {
            Some(("operator", ITEM_EXISTS))
        } else if is_of_item && self.if_missing.is_some() {
            Some(("if_missing", ITEM_IS_PRESENT))
        } else {
            None
        };
        if let Some((member, expected)) = fault {
            problems.expected(&at.key(member), expected);
        }
        fault.is_none()
    }
}

impl Condition {
    /// Returns the attributes that the condition reads, each once, in the order of the tree; without `item`.
    pub(crate) fn reads(&self) -> Vec<&AttributePath> {
        let mut reads = Vec::new();
        for test in self.tests() {
            for path in std::iter::once(&test.attribute).chain(test.predicate.other_attributes()) {
                if *path != AttributePath::Item && !reads.contains(&path) {
                    reads.push(path);
                }
            }
        }
        reads
    }

    /// Returns whether a test names `item`.
    fn names_item(&self) -> bool {
        self.tests().iter().any(|test| {
            test.attribute == AttributePath::Item
                || test.predicate.right_attribute() == Some(&AttributePath::Item)
        })
    }
}
