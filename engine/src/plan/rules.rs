//! The RBAC rules of a plan: its own, and the rules that it shares with the plans of broader patterns.

use std::sync::Arc;

use hashbrown::HashSet;
use smallvec::SmallVec;
use uuid::Uuid;

use super::rbac::{FoundRule, Key, RbacIndex, RuleEntry};
use crate::rbac::{Effect, MatchedRule, Rule, WILDCARD};
use crate::request::Check;
use crate::resource::ResourcePattern;

/// The patterns whose rules a plan shares with the plan of a broader pattern.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum SharedPatterns {
    /// The plan has all rules itself.
    #[default]
    Nothing,
    /// `*`
    Any,
    /// `<name>:*` and `*`
    Name,
}

impl SharedPatterns {
    /// Returns what a plan shares with the plan of `pattern`.
    pub(super) fn with(pattern: &str) -> Self {
        if pattern == WILDCARD { Self::Any } else { Self::Name }
    }

    /// Returns whether what is on `pattern` is a plan's own, and not shared.
    pub(super) fn leaves(self, pattern: &ResourcePattern) -> bool {
        match self {
            Self::Nothing => true,
            Self::Any => *pattern != ResourcePattern::Any,
            Self::Name => matches!(pattern, ResourcePattern::Exact(_)),
        }
    }
}

/// The RBAC rules of a plan.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    own: Arc<RbacIndex>,
    /// The rules on broader patterns, of which the plans of these patterns are the owners.
    shared: SmallVec<[Arc<RbacIndex>; 1]>,
}

impl Rules {
    /// Returns rules of which none are shared.
    pub(super) fn new<'r>(own: impl Iterator<Item = &'r Rule>) -> Self {
        Self { own: Arc::new(RbacIndex::new(own)), shared: SmallVec::new() }
    }

    /// Returns the plan's own rules with the rules of a broader pattern.
    pub(super) fn over(self, broader: &Self) -> Self {
        let parts = broader.parts().filter(|part| !part.is_empty());
        Self { own: self.own, shared: parts.map(Arc::clone).collect() }
    }

    /// Returns the plan's own rules after the `changed` ones changed. Rules in `present` count as they are there, the
    /// others are gone.
    pub(super) fn changed<'r>(
        &self,
        changed: &HashSet<Uuid>,
        present: impl Iterator<Item = &'r Rule>,
    ) -> Self {
        let own = match changed.is_empty() {
            true => Arc::clone(&self.own),
            false => {
                let mut own = self.own.without(changed);
                present.for_each(|rule| own.insert(rule));
                Arc::new(own)
            }
        };
        Self { own, shared: SmallVec::new() }
    }

    fn parts(&self) -> impl Iterator<Item = &Arc<RbacIndex>> {
        std::iter::once(&self.own).chain(&self.shared)
    }

    /// Returns the rule that decides: the matching deny with the smallest id, else the matching allow with the smallest
    /// id. `resource` is the plan's.
    pub(super) fn decide<'p>(
        &'p self,
        check: &Check<'_>,
        resource: &'p str,
    ) -> Option<MatchedRule<'p>> {
        let mut best = Best::default();
        for part in self.parts().filter(|part| !part.is_empty()) {
            part.find_all(check, |entry| best.add(part, entry));
        }
        let (effect, (found, key, part)) = best.decides()?;
        Some(part.matched(found, key, effect, resource))
    }

    /// Returns every rule that matches, in any order. `resource` is the plan's.
    pub(super) fn matching<'p>(
        &'p self,
        check: &Check<'_>,
        resource: &'p str,
    ) -> Vec<MatchedRule<'p>> {
        self.parts().flat_map(|part| part.matching(check, resource)).collect()
    }

    /// Returns whether there are no rules.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        // No shared part is empty.
        self.own.is_empty() && self.shared.is_empty()
    }

    /// Returns whether some rule names a subject or a role.
    pub(super) fn names_subjects(&self) -> bool {
        self.parts().any(|part| part.names_subjects())
    }

    /// Returns whether other plans have the rules of these that are their own.
    pub(super) fn are_shared(&self) -> bool {
        Arc::strong_count(&self.own) > 1
    }

    /// Returns the bytes of the plan's own rules, for the weight of a plan.
    pub(super) fn weight(&self) -> usize {
        // An `Arc` has two counters beside its value.
        self.own.weight() + 2 * size_of::<usize>()
    }

    /// Returns the bytes of the list of shared rules beside the plan.
    pub(super) fn spilled(&self) -> usize {
        let spilled = if self.shared.spilled() { self.shared.capacity() } else { 0 };
        spilled * size_of::<Arc<RbacIndex>>()
    }
}

/// A rule, with its key in the index that has both.
type Located<'p> = (&'p FoundRule, &'p Key, &'p RbacIndex);

/// The rule with the smallest id of each effect.
#[derive(Default)]
struct Best<'p> {
    deny: Option<Located<'p>>,
    allow: Option<Located<'p>>,
}

impl<'p> Best<'p> {
    #[inline]
    fn add(&mut self, part: &'p RbacIndex, entry: &'p RuleEntry) {
        for (best, found) in [(&mut self.deny, &entry.deny), (&mut self.allow, &entry.allow)] {
            if let Some(found) = found
                && best.is_none_or(|(best, ..)| found < best)
            {
                *best = Some((found, &entry.key, part));
            }
        }
    }

    /// Returns the rule that decides: deny beats allow.
    fn decides(self) -> Option<(Effect, Located<'p>)> {
        let deny = self.deny.map(|located| (Effect::Deny, located));
        deny.or(self.allow.map(|located| (Effect::Allow, located)))
    }
}
