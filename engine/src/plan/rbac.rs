//! The RBAC rules of one plan as a hash table: the cost of a decision grows with the subject's roles,
//! never with the number of rules.

use hashbrown::HashMap;
use indexmap::IndexSet;
use uuid::Uuid;

use crate::rbac::{Effect, Rule, WILDCARD};
use crate::request::Check;
use crate::resource::{ResourcePattern, split_resource};

type Symbols = IndexSet<Box<str>, hashbrown::DefaultHashBuilder>;
/// The `(sub, dom, act)` of a rule, each interned.
type Key = (usize, usize, usize);

/// The symbol of the wildcard, interned first.
const ANY: usize = 0;

/// Finds the deciding rule for a check.
#[derive(Debug)]
pub(crate) struct RbacIndex {
    subjects: Symbols,
    domains: Symbols,
    actions: Symbols,
    rules: HashMap<Key, Entry>,
}

/// What the rules of one `(sub, dom, act)` say; several differ only in their resource pattern.
#[derive(Debug, Default)]
struct Entry {
    deny: Option<Found>,
    allow: Option<Found>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Found {
    id: Uuid,
    obj: ObjectKind,
}

/// Which of the three patterns that match the plan's resource a rule has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ObjectKind {
    Any,
    Name,
    Exact,
}

/// The rule that decided, as a reason names it.
#[derive(Clone, Copy, Debug)]
pub struct MatchedRule<'p> {
    /// Its id.
    pub id: Uuid,
    /// What it does.
    pub effect: Effect,
    /// Its principal, or `*`.
    pub sub: &'p str,
    /// Its domain, or `*`.
    pub dom: &'p str,
    /// Its action, or `*`.
    pub act: &'p str,
    resource: &'p str,
    obj: ObjectKind,
}

impl MatchedRule<'_> {
    /// The resource pattern of the rule, as it was written.
    pub fn obj(&self) -> String {
        match self.obj {
            ObjectKind::Any => WILDCARD.to_owned(),
            ObjectKind::Exact => self.resource.to_owned(),
            ObjectKind::Name => {
                let name = split_resource(self.resource).map_or(self.resource, |(name, _)| name);
                format!("{name}:*")
            }
        }
    }
}

impl RbacIndex {
    /// Indexes `rules`, all of which match the plan's resource.
    pub(crate) fn new<'r>(rules: impl Iterator<Item = &'r Rule>) -> Self {
        let symbols = || Symbols::from_iter([WILDCARD.into()]);
        let mut index = Self {
            subjects: symbols(),
            domains: symbols(),
            actions: symbols(),
            rules: HashMap::default(),
        };
        for rule in rules {
            index.insert(rule);
        }
        index.rules.shrink_to_fit();
        index
    }

    fn insert(&mut self, rule: &Rule) {
        let key = (
            intern(&mut self.subjects, &rule.tuple.sub),
            intern(&mut self.domains, &rule.tuple.dom),
            intern(&mut self.actions, &rule.tuple.act),
        );
        let obj = match rule.tuple.obj {
            ResourcePattern::Any => ObjectKind::Any,
            ResourcePattern::Name(_) => ObjectKind::Name,
            ResourcePattern::Exact(_) => ObjectKind::Exact,
        };
        let entry = self.rules.entry(key).or_default();
        let slot = match rule.effect {
            Effect::Deny => &mut entry.deny,
            Effect::Allow => &mut entry.allow,
        };
        let found = Found { id: rule.id, obj };
        *slot = Some(slot.map_or(found, |other| other.min(found)));
    }

    /// The rule that decides: of the matching denies, else of the matching allows, the one with the
    /// smallest id. `resource` is the plan's.
    pub(crate) fn decide<'p>(
        &'p self,
        check: &Check<'_>,
        resource: &'p str,
    ) -> Option<MatchedRule<'p>> {
        let domains = candidates(&self.domains, check.domain);
        let actions = candidates(&self.actions, check.action);
        let (mut deny, mut allow) = (None, None);
        let principals = std::iter::once(check.subject).chain(check.roles.iter());
        let symbols = principals.filter_map(|principal| self.subjects.get_index_of(principal));
        for sub in symbols.chain([ANY]) {
            for &dom in domains.iter().flatten() {
                for &act in actions.iter().flatten() {
                    let key = (sub, dom, act);
                    if let Some(entry) = self.rules.get(&key) {
                        keep_smallest(&mut deny, entry.deny, key);
                        keep_smallest(&mut allow, entry.allow, key);
                    }
                }
            }
        }
        let effect = if deny.is_some() { Effect::Deny } else { Effect::Allow };
        let (found, key) = deny.or(allow)?;
        Some(self.matched(found, key, effect, resource))
    }

    fn matched<'p>(
        &'p self,
        found: Found,
        (sub, dom, act): Key,
        effect: Effect,
        resource: &'p str,
    ) -> MatchedRule<'p> {
        MatchedRule {
            id: found.id,
            effect,
            sub: &self.subjects[sub],
            dom: &self.domains[dom],
            act: &self.actions[act],
            resource,
            obj: found.obj,
        }
    }

    /// Heap bytes, for the weight of a plan.
    pub(crate) fn weight(&self) -> usize {
        let symbols: usize = [&self.subjects, &self.domains, &self.actions]
            .into_iter()
            .flatten()
            .map(|symbol| symbol.len() + 4 * size_of::<usize>())
            .sum();
        symbols + self.rules.allocation_size()
    }
}

fn intern(symbols: &mut Symbols, text: &str) -> usize {
    match symbols.get_index_of(text) {
        Some(symbol) => symbol,
        None => symbols.insert_full(text.into()).0,
    }
}

/// The symbols that a rule may have to match `text`: its own, unless no rule has it, and the wildcard.
fn candidates(symbols: &Symbols, text: &str) -> [Option<usize>; 2] {
    [symbols.get_index_of(text).filter(|symbol| *symbol != ANY), Some(ANY)]
}

fn keep_smallest(best: &mut Option<(Found, Key)>, found: Option<Found>, key: Key) {
    if let Some(found) = found
        && best.is_none_or(|(best, _)| found < best)
    {
        *best = Some((found, key));
    }
}
