//! The role definitions of a model, and the lines that fill them.

use std::collections::{BTreeMap, BTreeSet};

use super::condition::{Attribute, Condition, Field, OneOf};
use super::functions;
use super::roles::Members;

/// A definition such as `g = _, _`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RoleScope {
    /// `g = _, _`
    Everywhere,
    /// `g = _, _, _`
    ByDomain,
}

/// The domain that a matcher names in `g(…)`.
#[derive(Clone, Copy)]
pub(super) enum Domain<'d> {
    /// The definition has no domains.
    None,
    /// A constant, from the matcher or from the policy line.
    Text(&'d str),
    /// A field of the request.
    Field(Field),
}

/// The members of every role, by definition.
#[derive(Debug)]
pub(super) struct Roles {
    members: BTreeMap<String, Members>,
    /// Whether domains of lines are patterns of `keyMatch`.
    domain_patterns: bool,
}

impl Roles {
    /// Returns definitions without members.
    pub(super) fn new(domain_patterns: bool) -> Self {
        Self { members: BTreeMap::new(), domain_patterns }
    }

    /// Notes that `member` has `role` in `domain`, under the definition `kind`.
    pub(super) fn add(&mut self, kind: &str, member: &str, role: &str, domain: Option<&str>) {
        self.members.entry(kind.to_owned()).or_default().add(member, role, domain);
    }

    /// Returns everybody and everything that the lines of the definition `kind` name.
    pub(super) fn names(&self, kind: &str) -> impl Iterator<Item = &str> {
        self.members.get(kind).into_iter().flat_map(Members::names)
    }

    /// Returns the condition that `field` is `role` or a member of it, under the definition `kind`.
    ///
    /// # Errors
    /// Somebody is a member through more roles than Casbin follows.
    pub(super) fn condition(
        &self,
        kind: &str,
        field: Field,
        role: &str,
        domain: Domain<'_>,
    ) -> Result<Condition, String> {
        // Casbin compares the names first: each name is a member of itself, in every domain.
        let mut ways = vec![self.members(kind, field, role, None)?];
        match domain {
            Domain::None => {}
            Domain::Text(text) => ways.push(self.members(kind, field, role, Some(text))?),
            Domain::Field(own) => ways.extend(self.in_domains(kind, field, role, own)?),
        }
        let mut texts = OneOf { field, values: BTreeSet::new(), roles: BTreeSet::new() };
        let mut others = Vec::new();
        for way in ways {
            match way {
                Condition::OneOf(way) => {
                    texts.values.extend(way.values);
                    texts.roles.extend(way.roles);
                }
                other => others.push(other),
            }
        }
        Ok(Condition::any([Condition::OneOf(texts)].into_iter().chain(others)))
    }

    /// Returns the condition that `field` is `member` or a role of it, under the definition `kind`.
    ///
    /// # Errors
    /// The member has roles through more others than Casbin follows, or in domains that are patterns.
    pub(super) fn reached(
        &self,
        kind: &str,
        member: &str,
        field: Field,
        domain: Domain<'_>,
    ) -> Result<Condition, String> {
        let everywhere = self.roles_of(kind, member, None)?;
        match domain {
            Domain::None => Ok(Condition::one_of(field, everywhere)),
            Domain::Text(text) => {
                let there = self.roles_of(kind, member, Some(text))?;
                Ok(Condition::one_of(field, everywhere.into_iter().chain(there)))
            }
            Domain::Field(_) if self.domain_patterns => Err(format!(
                "`{kind}` asks for the roles of `{member}` in domains that are patterns; write a line for each domain"
            )),
            Domain::Field(own) => {
                let mut ways = vec![Condition::one_of(field, everywhere)];
                let members = self.members.get(kind).into_iter();
                for text in members.flat_map(Members::all_domains) {
                    let there = Condition::one_of(field, self.roles_of(kind, member, Some(text))?);
                    ways.push(Condition::all([there, Condition::is(own, text)]));
                }
                Ok(Condition::any(ways))
            }
        }
    }

    /// Returns whether `member` is `role` or has it in a known domain, under the definition `kind`.
    ///
    /// # Errors
    /// The member has roles through more others than Casbin follows.
    pub(super) fn has(
        &self,
        kind: &str,
        member: &str,
        role: &str,
        domain: Option<&str>,
    ) -> Result<bool, String> {
        Ok(self.roles_of(kind, member, domain)?.contains(role))
    }

    /// Returns `member`, and every role that it has in `domain`.
    fn roles_of(
        &self,
        kind: &str,
        member: &str,
        domain: Option<&str>,
    ) -> Result<BTreeSet<String>, String> {
        let roles = match self.members.get(kind) {
            Some(members) => members
                .roles_of(member, domain, self.domain_patterns)
                .ok_or_else(|| format!("`{member}` has roles through more than 9 others"))?,
            None => BTreeSet::new(),
        };
        Ok(roles.into_iter().chain([member]).map(str::to_owned).collect())
    }

    /// Returns the conditions that `field` is a member of `role` in a domain of the lines, which `own` names. Domains with
    /// the same members share a condition.
    fn in_domains(
        &self,
        kind: &str,
        field: Field,
        role: &str,
        own: Field,
    ) -> Result<Vec<Condition>, String> {
        let domains =
            self.members.get(kind).map(|members| members.domains(role, self.domain_patterns));
        let domains = domains.into_iter().flatten();
        if self.domain_patterns {
            return self.in_patterns(kind, field, role, own, domains);
        }
        let mut shared = BTreeMap::<BTreeSet<String>, BTreeSet<String>>::new();
        for text in domains {
            let members = self.holders(kind, role, Some(text))?;
            shared.entry(members).or_default().insert(text.to_owned());
        }
        let ways = shared.into_iter().map(|(members, domains)| {
            let members = holder_condition(field, role, members);
            Condition::all([members, Condition::one_of(own, domains)])
        });
        Ok(ways.collect())
    }

    /// Returns the conditions of [`Roles::in_domains`] where domains are patterns.
    fn in_patterns<'d>(
        &self,
        kind: &str,
        field: Field,
        role: &str,
        own: Field,
        domains: impl Iterator<Item = &'d str>,
    ) -> Result<Vec<Condition>, String> {
        let mut ways = Vec::new();
        // Prefixes of domains, and who is a member in all of them.
        let mut wider = vec![("", self.members(kind, field, role, None)?)];
        for text in domains {
            let members = self.members(kind, field, role, Some(text))?;
            if wider.iter().any(|(prefix, all)| text.starts_with(prefix) && *all == members) {
                continue;
            }
            wider.extend(text.split_once('*').map(|(prefix, _)| (prefix, members.clone())));
            // The most specific domain has the links of all that match with it, so that this is exact.
            let there = functions::key_match(Attribute::Field(own), text);
            ways.push(Condition::all([members, there]));
        }
        Ok(ways)
    }

    /// Returns the condition that `field` is `role` or has it in `domain`.
    fn members(
        &self,
        kind: &str,
        field: Field,
        role: &str,
        domain: Option<&str>,
    ) -> Result<Condition, String> {
        Ok(holder_condition(field, role, self.holders(kind, role, domain)?))
    }

    /// Returns `role`, and everybody who has it in `domain`.
    fn holders(
        &self,
        kind: &str,
        role: &str,
        domain: Option<&str>,
    ) -> Result<BTreeSet<String>, String> {
        let holders = match self.members.get(kind) {
            Some(members) => members
                .holders(role, domain, self.domain_patterns)
                .ok_or_else(|| format!("`{role}` has members through more than 9 other roles"))?,
            None => BTreeSet::new(),
        };
        Ok(holders.into_iter().chain([role]).map(str::to_owned).collect())
    }
}

/// Returns the condition that `field` is one of the `holders` of `role`.
fn holder_condition(field: Field, role: &str, holders: BTreeSet<String>) -> Condition {
    // Only a subject has roles in its token.
    let roles = (field == Field::Subject).then(|| role.to_owned()).into_iter().collect();
    Condition::OneOf(OneOf { field, values: holders, roles })
}
