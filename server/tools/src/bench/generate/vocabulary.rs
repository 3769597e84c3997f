//! The words of a tenant: the names and values in its rules, conditions and sample users.

use std::collections::{BTreeMap, BTreeSet};

use fastrand::Rng;
use portcullis_bundle::{DEFAULT_NOW, SampleUser};
use portcullis_engine::condition::{AttributePath, Operand, Predicate, Test};
use portcullis_engine::{Json, ResourcePattern};

use super::draft::{Draft, string};
use crate::bench::tenant::Tenant;

/// The largest number of values that are kept of one attribute.
const MAX_VALUES: usize = 64;
/// The claims that every draft has.
const OWN_CLAIMS: [&str; 3] = ["sub", "dom", "realm_access"];

/// The names and values in the rules of a tenant.
pub(super) struct Vocabulary {
    pub(super) resources: Vec<String>,
    actions: Vec<String>,
    /// The subjects of rules, most of which are roles.
    principals: Vec<String>,
    users: Vec<User>,
    /// The values that an attribute is compared with.
    values: BTreeMap<String, Vec<Json<'static>>>,
}

/// A sample user.
struct User {
    subject: String,
    roles: Vec<String>,
    claims: BTreeMap<String, Json<'static>>,
}

impl Vocabulary {
    pub(super) fn new(tenant: &Tenant) -> Self {
        let patterns = tenant.rules.iter().map(|rule| &rule.tuple.obj);
        let patterns = patterns.chain(tenant.policies.iter().map(|policy| &policy.resource));
        let exact = patterns.filter_map(|pattern| match pattern {
            ResourcePattern::Exact(resource) => Some(resource.clone()),
            _ => None,
        });
        let mut resources: BTreeSet<String> = exact.collect();
        // A tenant whose rules name no action still needs one for its checks.
        let mut actions = BTreeSet::from(["read".to_owned()]);
        let mut principals = BTreeSet::new();
        let mut values: BTreeMap<String, Vec<Json<'static>>> = BTreeMap::new();
        for rule in &tenant.rules {
            let named = [(&mut actions, &rule.tuple.act), (&mut principals, &rule.tuple.sub)];
            for (known, word) in named.into_iter().filter(|(_, word)| **word != "*") {
                known.insert(word.clone());
            }
        }
        for policy in &tenant.policies {
            if let Ok(condition) = &policy.condition {
                condition.tests().into_iter().for_each(|test| note(test, &mut values));
            }
        }
        let bundle = tenant.bundle.iter();
        let users = bundle.clone().flat_map(|bundle| &bundle.users).map(User::new).collect();
        let registered = bundle.flat_map(|bundle| &bundle.resources);
        resources.extend(registered.map(|registered| registered.name.clone()));
        Self {
            resources: resources.into_iter().collect(),
            actions: actions.into_iter().collect(),
            principals: principals.into_iter().collect(),
            users,
            values,
        }
    }

    /// Returns a first draft of a check.
    pub(super) fn draft(&self, rng: &mut Rng, domain: &str, resource: String) -> Draft {
        let user = if rng.bool() { rng.choice(&self.users) } else { None };
        let (subject, roles, claims) = match user {
            Some(user) => (user.subject.clone(), user.roles.clone(), user.claims.clone()),
            None => (self.stranger(rng), self.roles(rng), BTreeMap::new()),
        };
        Draft {
            subject,
            roles,
            action: self.action(rng),
            resource,
            domain: domain.to_owned(),
            user: BTreeMap::new(),
            object: BTreeMap::new(),
            act: BTreeMap::new(),
            context: BTreeMap::new(),
            item: None,
            claims,
            now: DEFAULT_NOW,
        }
    }

    pub(super) fn is_user(&self, name: &str) -> bool {
        self.users.iter().any(|user| user.subject == name)
    }

    /// Returns a subject that no rule mentions.
    pub(super) fn stranger(&self, rng: &mut Rng) -> String {
        format!("user-{}", rng.u16(..))
    }

    pub(super) fn action(&self, rng: &mut Rng) -> String {
        rng.choice(&self.actions).cloned().unwrap_or_default()
    }

    /// Returns at most two roles.
    pub(super) fn roles(&self, rng: &mut Rng) -> Vec<String> {
        let count = rng.usize(..=self.principals.len().min(2));
        let mut roles = rng.choose_multiple(&self.principals, count);
        // The order of roles does not matter, and a fixed one makes equal drafts equal.
        roles.sort_unstable();
        roles.into_iter().cloned().collect()
    }

    /// Returns the values that conditions compare the attribute with.
    pub(super) fn values(&self, path: &AttributePath) -> &[Json<'static>] {
        self.values.get(&path.to_string()).map_or(&[], Vec::as_slice)
    }
}

impl User {
    fn new(user: &SampleUser) -> Self {
        let claims = user.claims.as_object().unwrap_or_default();
        let extra = claims.iter().filter(|(name, _)| !OWN_CLAIMS.contains(&&**name));
        Self {
            subject: user.sub.clone(),
            roles: user.roles.clone(),
            claims: extra
                .map(|(name, value)| (name.to_string(), value.clone().into_owned()))
                .collect(),
        }
    }
}

/// Adds the scalars that a test compares its attribute with.
fn note(test: &Test, values: &mut BTreeMap<String, Vec<Json<'static>>>) {
    let Predicate::Compare(_, operand) = &test.predicate else { return };
    let known = values.entry(test.attribute.to_string()).or_default();
    let new: Vec<Json<'static>> = match operand {
        Operand::Text(text) => vec![string(&**text)],
        Operand::Number(number) => vec![Json::Number(*number)],
        Operand::List(list) => list.texts().take(MAX_VALUES).map(string).collect(),
        _ => return,
    };
    known.extend(new);
    // A large condition must not make the choice of values slow.
    known.truncate(MAX_VALUES);
}
