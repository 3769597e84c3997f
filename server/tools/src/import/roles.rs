//! The `g` lines: who has which role, directly or through other roles.

use std::collections::{BTreeMap, BTreeSet};

/// Casbin follows roles through about ten others, and its implementations do not agree on the last step.
const MAX_STEPS: usize = 9;

/// The direct members of each role, by domain; `None` is every domain.
#[derive(Debug, Default)]
pub(super) struct Members(BTreeMap<Option<String>, BTreeMap<String, BTreeSet<String>>>);

impl Members {
    pub(super) fn add(&mut self, member: &str, role: &str, domain: Option<&str>) {
        let roles = self.0.entry(domain.map(str::to_owned)).or_default();
        roles.entry(role.to_owned()).or_default().insert(member.to_owned());
    }

    /// The domains in which there are roles.
    pub(super) fn domains(&self) -> impl Iterator<Item = Option<&str>> {
        self.0.keys().map(Option::as_deref)
    }

    /// Everybody who has `role` in `domain`, directly or not, without the role itself; `None` when
    /// somebody is more steps away than Casbin goes.
    pub(super) fn of<'m>(
        &'m self,
        role: &'m str,
        domain: Option<&str>,
    ) -> Option<BTreeSet<&'m str>> {
        let Some(roles) = self.0.get(&domain.map(str::to_owned)) else {
            return Some(BTreeSet::new());
        };
        let (mut all, mut newest) = (BTreeSet::new(), BTreeSet::from([role]));
        for _ in 0..=MAX_STEPS {
            let direct = newest.iter().filter_map(|role| roles.get(*role)).flatten();
            newest = direct
                .map(String::as_str)
                .filter(|member| *member != role && !all.contains(member))
                .collect();
            if newest.is_empty() {
                return Some(all);
            }
            all.extend(&newest);
        }
        None
    }
}
