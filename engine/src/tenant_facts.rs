//! The facts about a tenant that decisions depend on, beside its rules and policies.

use std::collections::BTreeSet;
use std::sync::Arc;

use hashbrown::{DefaultHashBuilder, HashMap};
use indexmap::IndexSet;

use crate::check_terms::CheckTerms;
use crate::datetimes::Datetimes;
use crate::property_sources::PropertySources;

/// The facts about a tenant. All plans of one revision share them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TenantFacts {
    /// The source that goes first where a request and the directory differ; `None` for a tenant that never had an entity.
    pub directory: Option<Precedence>,
    /// The roles that include others.
    pub inclusions: RoleInclusions,
    /// The properties that are taken from one place alone, or refer to a type.
    pub sources: PropertySources,
    /// The properties that `<`, `<=`, `>` and `>=` do not order. Only the compilation of a plan reads them.
    pub datetimes: Arc<Datetimes>,
    /// The relations of the types, as text that differs if they do; `None` for a tenant without any. With it, the subjects of
    /// rules can be relations.
    pub relations: Option<Arc<str>>,
    /// The tenant's own terms for the records of its decisions, as text that differs if they do. No decision depends on them.
    pub recording: Option<Arc<str>>,
    /// The tenant's settings about checks.
    pub terms: CheckTerms,
}

impl TenantFacts {
    /// Returns whether a check is complete as it was sent.
    #[inline]
    pub fn are_plain(&self) -> bool {
        // `datetimes` do not count: they are compiled into the plan.
        self.directory.is_none()
            && self.inclusions.is_empty()
            && self.sources.is_empty()
            && self.relations.is_none()
            && self.recording.is_none()
            && self.terms == CheckTerms::default()
    }

    /// Returns the heap bytes.
    pub fn weight(&self) -> usize {
        let texts = [&self.relations, &self.recording].into_iter().flatten();
        let texts: usize = texts.map(|text| text.len()).sum();
        let declared = self.sources.weight() + self.datetimes.weight();
        size_of::<Self>() + self.inclusions.weight() + declared + texts
    }
}

/// The source that goes first where a request and the directory differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precedence {
    /// The request, or the caller's token.
    #[default]
    Request,
    /// The directory.
    Directory,
}

/// The roles that include other roles (`docs/semantics.md`, section 12.8).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoleInclusions(HashMap<Box<str>, Box<[Box<str>]>>);

impl RoleInclusions {
    /// Makes the inclusions of pairs of a role and the roles that it names.
    pub fn new(roles: impl IntoIterator<Item = (String, Vec<String>)>) -> Self {
        let roles = roles.into_iter().map(|(name, includes)| {
            (name.into_boxed_str(), includes.into_iter().map(String::into_boxed_str).collect())
        });
        Self(roles.collect())
    }

    /// Returns whether no role includes another.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns `roles`, each once, and after them every role that they include, directly or by others.
    pub fn expand<'r>(&'r self, roles: impl Iterator<Item = &'r str>) -> Vec<&'r str> {
        self.expand_counted(roles).0
    }

    /// Returns the roles as [`RoleInclusions::expand`] does, and the number of those that are not only included.
    pub(crate) fn expand_counted<'r>(
        &'r self,
        roles: impl Iterator<Item = &'r str>,
    ) -> (Vec<&'r str>, usize) {
        let mut all: IndexSet<&str, DefaultHashBuilder> = roles.collect();
        let (own, mut next) = (all.len(), 0);
        // The set keeps its order and has each role once, so that a circle of roles ends.
        while let Some(role) = all.get_index(next) {
            let included = self.0.get(*role).into_iter().flatten();
            all.extend(included.map(|role| &**role));
            next += 1;
        }
        (all.into_iter().collect(), own)
    }

    /// Adds to `roles` every role that includes one of them, directly or by others.
    pub fn add_including<'r>(&'r self, roles: &mut BTreeSet<&'r str>) {
        let mut including: HashMap<&str, Vec<&str>> = HashMap::new();
        for (name, includes) in &self.0 {
            for included in includes {
                including.entry(included).or_default().push(name);
            }
        }
        let mut left: Vec<&str> = roles.iter().copied().collect();
        while let Some(role) = left.pop() {
            let all = including.get(role).into_iter().flatten();
            // A role that is in the set is not followed again, so that a circle ends.
            left.extend(all.copied().filter(|role| roles.insert(role)));
        }
    }

    fn weight(&self) -> usize {
        let roles = self.0.iter().flat_map(|(name, includes)| [name].into_iter().chain(includes));
        let texts = roles.map(|role| role.len() + size_of::<Box<str>>());
        self.0.allocation_size() + texts.sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_expanded_to_the_end_and_each_comes_once() {
        let owned = |(name, includes): (&str, &[&str])| {
            (name.to_owned(), includes.iter().map(|one| (*one).to_owned()).collect())
        };
        let pairs: [(&str, &[&str]); 3] =
            [("head", &["nurse", "staff"]), ("nurse", &["staff", "reader"]), ("a", &["a", "b"])];
        let inclusions = RoleInclusions::new(pairs.map(owned));
        for (roles, expected) in [
            (&["head"][..], &["head", "nurse", "staff", "reader"][..]),
            (&["staff", "nurse", "staff"], &["staff", "nurse", "reader"]),
            (&["other"], &["other"]),
            (&[], &[]),
            // A circle, which no write lets in, ends.
            (&["a"], &["a", "b"]),
        ] {
            assert_eq!(inclusions.expand(roles.iter().copied()), expected, "{roles:?}");
        }
        assert_eq!(RoleInclusions::default().expand(["x", "x"].into_iter()), ["x"]);
        for (roles, expected) in [
            (&["reader"][..], &["head", "nurse", "reader"][..]),
            (&["staff", "b"], &["a", "b", "head", "nurse", "staff"]),
            (&["head"], &["head"]),
            (&["other"], &["other"]),
        ] {
            let mut including = roles.iter().copied().collect();
            inclusions.add_including(&mut including);
            assert!(including.iter().eq(expected), "{roles:?}: {including:?}");
        }
    }
}
