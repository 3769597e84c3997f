//! The cells of one resource: every role, domain and action that makes a difference.

use std::collections::BTreeSet;

use portcullis_engine::RoleInclusions;
use portcullis_engine::matrix::MatrixCell;
use portcullis_engine::rbac::WILDCARD;
use portcullis_engine::relation::relation_of_subject;
use portcullis_engine::request::Action;
use portcullis_engine::resource::split_resource;

use super::decision_set::Matching;

/// The values of each axis. The last value of an axis is `None`: everything that has no own value.
pub(super) struct Axes<'s> {
    /// The subject of every cell; `None` is anybody whom no rule names.
    subject: Option<&'s str>,
    /// Each role as the only one of a subject, and after it those that it includes; no role stands for every role that
    /// nothing names. A wanted role can be a relation.
    pub(super) roles: Vec<Vec<String>>,
    has_relations: bool,
    /// False if only some roles are wanted.
    pub(super) has_all_roles: bool,
    pub(super) domains: Vec<Option<&'s str>>,
    /// The verb of the resource stands for checks that leave the action out.
    pub(super) actions: Vec<Option<Action<'s>>>,
    /// The verb of the resource, and the actions that its own rules and policies name.
    named: BTreeSet<&'s str>,
    /// Whether the axes are of a pattern, which has no verb.
    are_of_pattern: bool,
    inclusions: &'s RoleInclusions,
}

/// The cells that are wanted: each part is everything if it is absent.
#[derive(Clone, Copy, Default)]
pub(super) struct Wanted<'s> {
    /// One subject, who has all of `roles`.
    pub(super) subject: Option<&'s str>,
    /// Without a subject, each is its own role.
    pub(super) roles: &'s [String],
    pub(super) domain: Option<&'s str>,
    pub(super) action: Option<Action<'s>>,
}

impl<'s> Axes<'s> {
    /// Returns the axes of `resource`, whose rules and policies are these, in one or more sets with their inclusions. A role
    /// includes others as `inclusions` say.
    pub(super) fn new(
        resource: &'s str,
        sets: &[(&Matching<'s>, &'s RoleInclusions)],
        inclusions: &'s RoleInclusions,
    ) -> Self {
        let (mut roles, mut domains) = (BTreeSet::new(), BTreeSet::new());
        let mut actions: BTreeSet<&str> = BTreeSet::new();
        let mut named_actions: BTreeSet<&str> = BTreeSet::new();
        for (matching, _) in sets {
            roles.extend(matching.roles());
            named_actions.extend(matching.actions_of(resource));
            for rule in &matching.rules {
                domains.insert(&*rule.tuple.dom);
                actions.insert(&rule.tuple.act);
            }
        }
        let verb = split_resource(resource).map(|(_, verb)| verb);
        named_actions.extend(verb);
        actions.extend(&named_actions);
        sets.iter().for_each(|(_, inclusions)| inclusions.add_including(&mut roles));
        let roles = named(roles).map(|role| with_included(inclusions, [role]));
        let actions = named(actions).map(|action| match Some(action) == verb {
            true => Action::verb(action),
            false => Action::Plain(action),
        });
        Self {
            subject: None,
            // The last row has no role: it stands for everybody whom nothing names.
            roles: roles.chain([Vec::new()]).collect(),
            has_relations: false,
            has_all_roles: true,
            // `None` stands for every value that no rule names.
            domains: named(domains).map(Some).chain([None]).collect(),
            actions: actions.map(Some).chain([None]).collect(),
            named: named_actions,
            are_of_pattern: resource.ends_with(WILDCARD),
            inclusions,
        }
    }

    /// Returns the roles of each cell as other inclusions say.
    pub(super) fn roles_by(&self, inclusions: &RoleInclusions) -> Vec<Vec<String>> {
        // The first role of a cell is its own, and those that it includes come after it.
        let own = self.roles.iter().map(|roles| roles.first().map(String::as_str));
        own.map(|role| with_included(inclusions, role)).collect()
    }

    /// Leaves the cells that are wanted. A wanted role that is spelled as a relation is one, if there are any.
    pub(super) fn narrowed(self, wanted: &Wanted<'s>, has_relations: bool) -> Self {
        let wanted_roles = wanted.roles.iter().map(String::as_str);
        let roles = match wanted.subject {
            // A subject has all wanted roles at once, and without one each role is a row.
            Some(_) => vec![with_included(self.inclusions, wanted_roles)],
            None if wanted.roles.is_empty() => self.roles,
            None => wanted_roles.map(|role| with_included(self.inclusions, [role])).collect(),
        };
        Self {
            inclusions: self.inclusions,
            subject: wanted.subject,
            roles,
            has_relations: has_relations && wanted.subject.is_none() && !wanted.roles.is_empty(),
            has_all_roles: wanted.subject.is_none() && wanted.roles.is_empty(),
            domains: wanted.domain.map_or(self.domains, |domain| vec![Some(domain)]),
            actions: wanted.action.map_or(self.actions, |action| vec![Some(action)]),
            named: wanted.action.map_or(self.named, |action| BTreeSet::from([action.written()])),
            are_of_pattern: self.are_of_pattern,
        }
    }

    /// Returns whether a line about `action` is about what the resource is for: its verb, an action that its own rules and
    /// policies name, or every action. A pattern has no verb: there each other action counts, too.
    pub(super) fn are_about(&self, action: Option<&str>) -> bool {
        match action {
            Some(WILDCARD) => true,
            Some(action) => self.named.contains(action),
            None => self.are_of_pattern,
        }
    }

    /// Returns the number of cells.
    pub(super) fn cells(&self) -> usize {
        // The product is only compared with a limit, so a value that is too large may stay at the maximum.
        self.roles.len().saturating_mul(self.domains.len()).saturating_mul(self.actions.len())
    }

    /// Returns the relation that stands for some roles.
    fn relation<'a>(&self, roles: &'a [String]) -> Option<&'a str> {
        relation_of_subject(roles.first().filter(|_| self.has_relations)?)
    }

    /// Visits every cell with its places on the axes.
    pub(super) fn for_each<'a>(&'a self, mut visit: impl FnMut([usize; 3], MatrixCell<'a>)) {
        for (role, roles) in self.roles.iter().enumerate() {
            let relation = self.relation(roles);
            // A row of a relation is about who has it, whatever their roles are.
            let roles = if relation.is_some() { &[][..] } else { roles };
            for (domain, named_domain) in self.domains.iter().enumerate() {
                for (action, named_action) in self.actions.iter().enumerate() {
                    let place = [role, domain, action];
                    let (domain, action) = (*named_domain, *named_action);
                    let subject = self.subject;
                    visit(place, MatrixCell { subject, roles, relation, domain, action });
                }
            }
        }
    }
}

fn with_included<'r>(
    inclusions: &'r RoleInclusions,
    roles: impl IntoIterator<Item = &'r str>,
) -> Vec<String> {
    inclusions.expand(roles.into_iter()).into_iter().map(str::to_owned).collect()
}

fn named(values: BTreeSet<&str>) -> impl Iterator<Item = &str> {
    values.into_iter().filter(|value| *value != WILDCARD)
}
