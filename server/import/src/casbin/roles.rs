//! The `g` lines: the members of each role, direct ones and those through other roles.

use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Casbin follows roles through about ten others, and its implementations do not agree on the last step.
const MAX_STEPS: usize = 9;

/// The direct members of each role.
type Links = BTreeMap<String, BTreeSet<String>>;

/// The `g` lines of one domain.
#[derive(Debug, Default)]
struct DomainLinks {
    members: Links,
    /// The direct roles of each member.
    roles: Links,
}

/// The way along `g` lines.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// From a role to its members.
    Down,
    /// From a member to its roles.
    Up,
}

impl DomainLinks {
    fn along(&self, way: Way) -> &Links {
        match way {
            Way::Down => &self.members,
            Way::Up => &self.roles,
        }
    }
}

/// The direct members of each role, by domain. `None` stands for every domain.
#[derive(Debug, Default)]
pub(super) struct Members {
    links: BTreeMap<Option<String>, DomainLinks>,
    /// The domains in which each role has direct members.
    domains: HashMap<String, BTreeSet<String>>,
    /// The domains with a `*`.
    patterns: BTreeSet<String>,
}

impl Members {
    /// Notes that `member` has `role` in `domain`.
    pub(super) fn add(&mut self, member: &str, role: &str, domain: Option<&str>) {
        let links = self.links.entry(domain.map(str::to_owned)).or_default();
        links.members.entry(role.to_owned()).or_default().insert(member.to_owned());
        links.roles.entry(member.to_owned()).or_default().insert(role.to_owned());
        if let Some(domain) = domain {
            self.domains.entry(role.to_owned()).or_default().insert(domain.to_owned());
            if domain.contains('*') {
                self.patterns.insert(domain.to_owned());
            }
        }
    }

    /// Returns the domains in which somebody may have `role`. With `patterns`, the way to a member may lead through the
    /// roles of several domains, so that the domains of all roles on the way count.
    pub(super) fn domains(&self, role: &str, patterns: bool) -> BTreeSet<&str> {
        // The set of known roles ends the search where roles are members of each other.
        let (mut domains, mut known, mut open) =
            (BTreeSet::new(), BTreeSet::from([role]), vec![role]);
        while let Some(role) = open.pop() {
            for domain in self.domains.get(role).into_iter().flatten() {
                domains.insert(domain.as_str());
                if patterns {
                    let links = self.links.get(&Some(domain.clone()));
                    let direct = links.and_then(|links| links.members.get(role));
                    let direct = direct.into_iter().flatten();
                    open.extend(direct.map(String::as_str).filter(|member| known.insert(member)));
                }
            }
        }
        domains
    }

    /// Returns the names of roles and of their direct members.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let roles = self.links.values().flat_map(|links| &links.members);
        roles.flat_map(|(role, members)| [role].into_iter().chain(members)).map(String::as_str)
    }

    /// Returns the links that hold in `domain`: its own, and with `patterns` the links of every other domain that is a
    /// pattern which matches `domain`.
    fn links(&self, domain: Option<&str>, patterns: bool) -> Vec<&DomainLinks> {
        let patterns = if patterns { Some(&self.patterns) } else { None };
        let matching = patterns.into_iter().flatten().filter(|own| {
            domain.is_some_and(|domain| {
                // The links of the domain itself are added below, and must not come twice.
                own.as_str() != domain
                    && own.split_once('*').is_some_and(|(prefix, _)| domain.starts_with(prefix))
            })
        });
        let own = self.links.get(&domain.map(str::to_owned)).into_iter();
        own.chain(matching.filter_map(|own| self.links.get(&Some(own.clone())))).collect()
    }

    /// Returns the domains of the lines.
    pub(super) fn all_domains(&self) -> impl Iterator<Item = &str> {
        self.links.keys().filter_map(Option::as_deref)
    }

    /// Returns everybody who has `role` in `domain`, directly or through other roles, without the role itself; `None`
    /// if somebody is more steps away than Casbin goes. With `patterns`, domains of links are patterns of `keyMatch`.
    pub(super) fn holders<'m>(
        &'m self,
        role: &'m str,
        domain: Option<&str>,
        patterns: bool,
    ) -> Option<BTreeSet<&'m str>> {
        self.reached(role, domain, patterns, Way::Down)
    }

    /// Returns the roles that `member` has in `domain`, as [`Members::holders`] returns the members of a role.
    pub(super) fn roles_of<'m>(
        &'m self,
        member: &'m str,
        domain: Option<&str>,
        patterns: bool,
    ) -> Option<BTreeSet<&'m str>> {
        self.reached(member, domain, patterns, Way::Up)
    }

    /// Returns what lines lead to from `start`, without it; `None` if something is more steps away than Casbin goes.
    fn reached<'m>(
        &'m self,
        start: &'m str,
        domain: Option<&str>,
        patterns: bool,
        way: Way,
    ) -> Option<BTreeSet<&'m str>> {
        let links = self.links(domain, patterns);
        let (mut all, mut newest) = (BTreeSet::new(), BTreeSet::from([start]));
        // Breadth first, so that the number of rounds is the longest way.
        for _ in 0..=MAX_STEPS {
            let direct = newest
                .iter()
                .flat_map(|name| links.iter().filter_map(|links| links.along(way).get(*name)))
                .flatten();
            newest = direct
                .map(String::as_str)
                // Names that were met before add nothing, so a circle ends here as well.
                .filter(|name| *name != start && !all.contains(name))
                .collect();
            if newest.is_empty() {
                return Some(all);
            }
            all.extend(&newest);
        }
        None
    }
}
