//! The `g` lines: the members of each role, direct ones and those through other roles.

use std::collections::{BTreeMap, BTreeSet};

/// Casbin follows roles through about ten others, and its implementations do not agree on the last step.
const MAX_STEPS: usize = 9;

/// The direct members of each role.
type Links = BTreeMap<String, BTreeSet<String>>;

/// The direct members of each role, by domain. `None` stands for every domain.
#[derive(Debug, Default)]
pub(super) struct Members(BTreeMap<Option<String>, Links>);

impl Members {
    /// Notes that `member` has `role` in `domain`.
    pub(super) fn add(&mut self, member: &str, role: &str, domain: Option<&str>) {
        let roles = self.0.entry(domain.map(str::to_owned)).or_default();
        roles.entry(role.to_owned()).or_default().insert(member.to_owned());
    }

    /// Returns the domains that have roles.
    pub(super) fn domains(&self) -> impl Iterator<Item = Option<&str>> {
        self.0.keys().map(Option::as_deref)
    }

    /// Returns the names of roles and of their direct members.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let roles = self.0.values().flatten();
        roles.flat_map(|(role, members)| [role].into_iter().chain(members)).map(String::as_str)
    }

    /// Returns the links that hold in `domain`: its own, and with `patterns` the links of every other domain that is a
    /// pattern which matches `domain`.
    fn links(&self, domain: Option<&str>, patterns: bool) -> Vec<&Links> {
        let matching = self.0.iter().filter(|(own, _)| match (own, domain) {
            (Some(own), Some(domain)) => {
                own != domain
                    && own.split_once('*').is_some_and(|(prefix, _)| domain.starts_with(prefix))
            }
            _ => false,
        });
        let matching = matching.filter(|_| patterns).map(|(_, links)| links);
        self.0.get(&domain.map(str::to_owned)).into_iter().chain(matching).collect()
    }

    /// Returns everybody who has `role` in `domain`, directly or through other roles, without the role itself; `None`
    /// if somebody is more steps away than Casbin goes. With `patterns`, domains of links are patterns of `keyMatch`.
    pub(super) fn holders<'m>(
        &'m self,
        role: &'m str,
        domain: Option<&str>,
        patterns: bool,
    ) -> Option<BTreeSet<&'m str>> {
        let links = self.links(domain, patterns);
        let (mut all, mut newest) = (BTreeSet::new(), BTreeSet::from([role]));
        // Breadth first, so that the number of rounds is the longest way to a member.
        for _ in 0..=MAX_STEPS {
            let direct = newest
                .iter()
                .flat_map(|role| links.iter().filter_map(|links| links.get(*role)))
                .flatten();
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
