//! A tenant as files: sample users, resources, rules and policies, and cases that say what they decide.
//!
//! `policies/README.md` explains the format. `portcullis test` runs the cases of such a folder;
//! `portcullis dev` serves the tenants of the repository's `policies` folder, which is part of the binary.

mod apply;
mod resolvers;
mod store;

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::Path;
use std::{fs, io};

use chrono::{DateTime, Utc};
use include_dir::{Dir, File, include_dir};
use portcullis_engine::fields::{Fields, list, string, text};
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::json::{self, Member};
use portcullis_engine::rbac::{MAX_DOMAIN, MAX_SUBJECT, WILDCARD, rule_field};
use portcullis_engine::request::instant;
use portcullis_engine::{
    AttributeAnswers, Caller, CheckBody, DEFAULT_DENY, Effect, Invalid, Json, Plan, Policy, Rule,
};
use serde_saphyr::UserMessageFormatter;
use uuid::Uuid;

use portcullis_model::policy::NewPolicy;
use portcullis_model::resource::Registration;
use portcullis_model::rule::NewRule;

pub use apply::{ChangeKind, ObjectChange, apply, clear};
pub use resolvers::{DESCRIPTOR_FILE, SampleResolver};
pub use store::store;

/// The file that makes a folder a tenant folder.
pub const TENANT_FILE: &str = "tenant.yaml";
/// May be missing.
const RESOLVERS_FILE: &str = "resolvers.yaml";
const RESOURCES_FILE: &str = "resources.yaml";
const RULES_FILE: &str = "rules.yaml";
const POLICIES_FILE: &str = "policies.yaml";
const CASES_FILE: &str = "cases.yaml";

/// Cases whose name starts so are the ones that `portcullis dev` shows.
const DEMO_PREFIX: &str = "demo: ";
/// Longest name of a case, in characters.
const MAX_CASE_NAME: usize = 256;
/// Deepest nesting of a file: the deepest condition tree takes 66 levels of it, and an unoptimised build
/// needs some 16 KiB of stack for each.
const MAX_DEPTH: usize = 80;
/// Claims that a token has in any case: from the tenant, the user, or whoever signs it.
const OWN_CLAIMS: [&str; 8] = ["iss", "sub", "aud", "exp", "nbf", "iat", "dom", "realm_access"];

/// A file of `policies/resolvers`, with its path.
macro_rules! embedded {
    ($path:literal) => {
        (
            $path,
            include_bytes!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/../../policies/resolvers/",
                $path
            )),
        )
    };
}

/// The sample tenants, by the names of their folders in `policies`.
static EMBEDDED: [(&str, Dir<'_>); 2] = [
    ("hospital", include_dir!("$CARGO_MANIFEST_DIR/../../policies/hospital")),
    ("software-shop", include_dir!("$CARGO_MANIFEST_DIR/../../policies/software-shop")),
];

/// The files of the sample resolvers: component, manifest and descriptor, and the people of the directory.
static EMBEDDED_RESOLVERS: [(&str, &[u8]); 10] = [
    embedded!("business-hours/business-hours.wasm"),
    embedded!("business-hours/descriptor.json"),
    embedded!("business-hours/manifest.json"),
    embedded!("hr-directory/descriptor.json"),
    embedded!("hr-directory/hr-directory.wasm"),
    embedded!("hr-directory/manifest.json"),
    embedded!("hr-directory/people.json"),
    embedded!("network-zone/descriptor.json"),
    embedded!("network-zone/manifest.json"),
    embedded!("network-zone/network-zone.wasm"),
];

/// A file of `policies/resolvers`, by its path in there.
pub fn embedded_resolver_file(path: &str) -> Option<&'static [u8]> {
    EMBEDDED_RESOLVERS.iter().find(|(known, _)| *known == path).map(|(_, bytes)| *bytes)
}

/// One tenant, read whole and checked: everything that its files mention exists.
#[derive(Debug)]
pub struct Bundle {
    /// The tenant's id, and its domain: what a rule or check without a domain means.
    pub tenant: String,
    pub description: Option<String>,
    pub users: Vec<SampleUser>,
    /// The resolvers that answer the attributes of other kinds than the request's and the token's.
    pub resolvers: Vec<SampleResolver>,
    pub resources: Vec<Registration>,
    /// The explicit rules. They come before the registrations of `resources`, so that a default role
    /// makes no rule for a tuple that has one.
    pub rules: Vec<NewRule>,
    pub policies: Vec<NewPolicy>,
    pub cases: Vec<Case>,
    /// All of the above that decides, compiled.
    pub rulebook: Rulebook,
}

/// Somebody who has a token of the tenant.
#[derive(Debug)]
pub struct SampleUser {
    pub sub: String,
    /// Never empty: a token without roles is refused.
    pub roles: Vec<String>,
    pub description: Option<String>,
    /// All claims of the user's token, except those that depend on who signs it and when.
    pub claims: Json<'static>,
}

/// A check, and what must come out of it.
#[derive(Debug)]
pub struct Case {
    pub name: String,
    /// The `sub` of the sample user whose token the check comes with.
    pub caller: Option<String>,
    /// The instant of the check; without one the case must not depend on it.
    pub now: Option<DateTime<Utc>>,
    /// The request body.
    pub check: Json<'static>,
    /// The answers of resolvers; every other attribute is undetermined.
    pub resolved: AttributeAnswers,
    pub expected: Expected,
}

/// The answer that a case expects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    pub decision: Effect,
    /// The name of the part that decides: a policy's name, a rule's tuple, or [`DEFAULT_DENY`].
    pub rule: String,
}

/// A reason why a tenant folder cannot be used. Each message starts with the file.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    #[error("{file}: cannot be read: {error}")]
    Unreadable { file: String, error: io::Error },
    /// The message ends with line and column.
    #[error("{file}: not valid YAML: {message}")]
    Syntax { file: String, message: String },
    #[error("{file}: {invalid}")]
    Invalid { file: String, invalid: Invalid },
}

impl Bundle {
    /// Reads a tenant folder.
    ///
    /// # Errors
    /// The first file that is missing or not what it should be.
    pub fn read_folder(folder: &Path) -> Result<Self, BundleError> {
        let text = |name: &str| fs::read_to_string(folder.join(name));
        Files { folder: folder.display().to_string(), text }.bundle()
    }

    /// The tenants of the repository's `policies` folder, by name.
    ///
    /// # Errors
    /// Only what a test of this module would have found before the binary was built.
    pub fn embedded() -> Result<Vec<Self>, BundleError> {
        let bundle = |(name, folder): &(&str, Dir<'_>)| {
            let text = |name: &str| {
                let file = match name.strip_prefix("../resolvers/") {
                    Some(name) => embedded_resolver_file(name),
                    None => folder.get_file(name).map(File::contents),
                };
                let text = file.and_then(|bytes| str::from_utf8(bytes).ok()).map(str::to_owned);
                text.ok_or_else(|| io::ErrorKind::NotFound.into())
            };
            Files { folder: format!("policies/{name}"), text }.bundle()
        };
        EMBEDDED.iter().map(bundle).collect()
    }

    /// The sample user whose `sub` it is.
    pub fn user(&self, sub: &str) -> Option<&SampleUser> {
        self.users.iter().find(|user| user.sub == sub)
    }

    /// The cases to show to somebody who is new here.
    pub fn demos(&self) -> impl Iterator<Item = &Case> {
        self.cases.iter().filter(|case| case.name.starts_with(DEMO_PREFIX))
    }
}

impl SampleUser {
    /// The caller whose token is the user's.
    pub fn caller(&self) -> Caller<'_> {
        Caller { subject: &self.sub, roles: &self.roles, claims: &self.claims }
    }

    fn read(
        json: &Json<'_>,
        at: &Place<'_>,
        problems: &mut Problems,
        tenant: &str,
    ) -> Option<Self> {
        let mut fields = Fields::open(json, at, problems)?;
        let sub = fields.required("sub", text(MAX_SUBJECT));
        let roles = fields.required("roles", roles);
        let description = fields.optional("description", string).map(str::to_owned);
        let extra = fields.optional("claims", extra_claims);
        fields.close();
        let (sub, roles) = (sub?.to_owned(), roles?);
        let claims = claims(&sub, &roles, tenant, extra.unwrap_or_default());
        Some(Self { sub, roles, description, claims })
    }
}

fn roles(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Vec<String>> {
    let roles = list(text(MAX_SUBJECT))(json, at, problems)?;
    if roles.is_empty() {
        problems.expected(at, "at least one role: a token without roles is refused");
        return None;
    }
    Some(roles.into_iter().map(str::to_owned).collect())
}

fn extra_claims<'j>(
    json: &'j Json<'j>,
    at: &Place<'_>,
    problems: &mut Problems,
) -> Option<&'j [Member<'j>]> {
    let Some(claims) = json.as_object() else {
        problems.expected(at, format!("an object, not {}", json.kind()));
        return None;
    };
    for (name, _) in claims {
        if OWN_CLAIMS.contains(&&**name) {
            problems.expected(&at.key(name), "a further claim, not one that every token has");
        }
    }
    Some(claims)
}

/// The claims of a token of `tenant`, under the names that an identity provider has by default.
fn claims(sub: &str, roles: &[String], tenant: &str, extra: &[Member<'_>]) -> Json<'static> {
    let string = |text: &str| Json::String(Cow::Owned(text.to_owned()));
    let roles = Json::Array(roles.iter().map(|role| string(role)).collect());
    let own = [
        ("sub", string(sub)),
        ("dom", string(tenant)),
        ("realm_access", Json::Object(vec![("roles".into(), roles)])),
    ];
    let own = own.into_iter().map(|(name, value)| (name.into(), value));
    let extra = extra
        .iter()
        .map(|(name, value)| (Cow::Owned(name.clone().into_owned()), value.clone().into_owned()));
    Json::Object(own.chain(extra).collect())
}

impl Case {
    /// Reads a case that may name these users, and these policies and rules.
    fn read<'j>(
        json: &'j Json<'j>,
        at: &Place<'_>,
        problems: &mut Problems,
        users: &[SampleUser],
        resolvers: &[SampleResolver],
        deciders: &HashSet<String>,
    ) -> Option<Self> {
        let mut fields = Fields::open(json, at, problems)?;
        let name = fields.required("name", text(MAX_CASE_NAME));
        let caller = fields.optional("as", |json, at, problems| {
            let sub = string(json, at, problems)?;
            if !users.iter().any(|user| user.sub == sub) {
                problems.expected(at, format!("the `sub` of a user of {TENANT_FILE}, not `{sub}`"));
            }
            Some(sub.to_owned())
        });
        let now = fields.optional("now", instant);
        let check = fields.required("check", |json: &'j Json<'j>, at, problems| {
            CheckBody::read(json, at, problems).map(|_| json.clone().into_owned())
        });
        let resolved = fields.optional("resolved", |json, at, problems| {
            resolvers::resolved(json, at, problems, resolvers)
        });
        let expected = fields
            .required("expect", |json, at, problems| Expected::read(json, at, problems, deciders));
        fields.close();
        Some(Self {
            name: name?.to_owned(),
            caller,
            now,
            check: check?,
            resolved: resolved.unwrap_or_default(),
            expected: expected?,
        })
    }
}

impl Expected {
    fn read(
        json: &Json<'_>,
        at: &Place<'_>,
        problems: &mut Problems,
        deciders: &HashSet<String>,
    ) -> Option<Self> {
        let mut fields = Fields::open(json, at, problems)?;
        let decision = fields.required("decision", Effect::read);
        let rule = fields.required("rule", |json, at, problems| {
            let rule = string(json, at, problems)?;
            if !deciders.contains(rule) {
                problems.expected(at, format!("{DECIDER}, not `{rule}`"));
            }
            Some(rule.to_owned())
        });
        fields.close();
        Some(Self { decision: decision?, rule: rule? })
    }
}

const DECIDER: &str =
    "the name of a policy, a rule written `sub, dom, obj, act`, or `default-deny`";

/// The files of one tenant, on disk or in the binary.
struct Files<T> {
    /// The folder that a message names before a file's name.
    folder: String,
    /// Gives a file's text by its name.
    text: T,
}

impl<T: Fn(&str) -> io::Result<String>> Files<T> {
    fn bundle(&self) -> Result<Bundle, BundleError> {
        let (tenant, description, users) = self.read(TENANT_FILE, read_tenant)?;
        let resolvers = self.resolvers()?;
        let resources = self.read(RESOURCES_FILE, |json, at, problems| {
            let resources = list(Registration::read)(json, at, problems)?;
            each_once(resources.iter().map(|resource| &resource.name), "`name`", at, problems);
            Some(resources)
        })?;
        let rules = self.read(RULES_FILE, |json, at, problems| {
            let rules = list(|json, at: &Place<'_>, problems: &mut Problems| {
                NewRule::read(json, at, problems, &tenant)
            })(json, at, problems)?;
            each_once(rules.iter().map(|rule| &rule.tuple), "tuple", at, problems);
            Some(rules)
        })?;
        let policies = self.read(POLICIES_FILE, |json, at, problems| {
            let policies = read_policies(json, at, problems)?;
            let namespaces = resolvers::namespaces(&resolvers);
            for (index, policy) in policies.iter().enumerate() {
                let at = at.index(index);
                let condition = &policy.rule_data.condition;
                condition.check(&namespaces, &at.key("rule_data"), problems);
            }
            Some(policies)
        })?;
        let rulebook = Rulebook::new(&tenant, &resources, &rules, &policies);
        let deciders = deciders(&rulebook, &policies);
        let cases = self.read(CASES_FILE, |json, at, problems| {
            let cases = list(|json, at: &Place<'_>, problems: &mut Problems| {
                Case::read(json, at, problems, &users, &resolvers, &deciders)
            })(json, at, problems)?;
            each_once(cases.iter().map(|case| &case.name), "`name`", at, problems);
            Some(cases)
        })?;
        Ok(Bundle {
            tenant,
            description,
            users,
            resolvers,
            resources,
            rules,
            policies,
            cases,
            rulebook,
        })
    }

    fn resolvers(&self) -> Result<Vec<SampleResolver>, BundleError> {
        if matches!((self.text)(RESOLVERS_FILE), Err(error) if error.kind() == io::ErrorKind::NotFound)
        {
            return Ok(vec![]);
        }
        // The tenant's own, or those that it shares with its neighbours.
        let file = |module: &str, name: &str| {
            let own = (self.text)(&format!("resolvers/{module}/{name}"));
            own.or_else(|_| (self.text)(&format!("../resolvers/{module}/{name}")))
        };
        self.read(RESOLVERS_FILE, |json, at, problems| {
            let resolvers = list(|json, at: &Place<'_>, problems: &mut Problems| {
                SampleResolver::read(json, at, problems, file)
            })(json, at, problems)?;
            let namespaces = resolvers.iter().map(|resolver| &resolver.manifest.namespace);
            each_once(namespaces, "`namespace`", at, problems);
            Some(resolvers)
        })
    }

    /// Reads one file as strictly as a request body.
    fn read<V>(
        &self,
        name: &str,
        read: impl for<'j> FnOnce(&'j Json<'j>, &Place<'_>, &mut Problems) -> Option<V>,
    ) -> Result<V, BundleError> {
        let file = || format!("{}/{name}", self.folder);
        let text =
            (self.text)(name).map_err(|error| BundleError::Unreadable { file: file(), error })?;
        let json = parse(&text).map_err(|message| BundleError::Syntax { file: file(), message })?;
        let invalid = |invalid| BundleError::Invalid { file: file(), invalid };
        json::check(&json).map_err(invalid)?;
        let mut problems = Problems::default();
        let value = read(&json, &Place::root(), &mut problems);
        problems.finish(value).map_err(invalid)
    }
}

/// Parses one YAML document; the error names line and column.
fn parse(text: &str) -> Result<Json<'_>, String> {
    // `no`, `on` and the like stay strings, as in JSON's world they would be.
    let options = serde_saphyr::options! {
        strict_booleans: true,
        reject_unsupported_tags: true,
        with_snippet: false,
        budget: serde_saphyr::budget! { max_depth: MAX_DEPTH },
    };
    serde_saphyr::from_str_with_options(text, options)
        .map_err(|error| error.render_with_formatter(&UserMessageFormatter))
}

type Tenant = (String, Option<String>, Vec<SampleUser>);

fn read_tenant(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Tenant> {
    let mut fields = Fields::open(json, at, problems)?;
    let tenant = fields.required("tenant", |json, at, problems| {
        let tenant = rule_field(MAX_DOMAIN)(json, at, problems)?;
        if tenant == WILDCARD {
            problems.expected(at, "a tenant's id, not `*`");
        }
        Some(tenant)
    });
    let description = fields.optional("description", string).map(str::to_owned);
    let users = fields.required("users", |json, at, problems| {
        let users = list(|json, at: &Place<'_>, problems: &mut Problems| {
            SampleUser::read(json, at, problems, tenant.unwrap_or_default())
        })(json, at, problems)?;
        each_once(users.iter().map(|user| &user.sub), "`sub`", at, problems);
        Some(users)
    });
    fields.close();
    Some((tenant?.to_owned(), description, users?))
}

/// Reads policies whose names tell them apart: the service does not ask for that, but cases name them.
fn read_policies(
    json: &Json<'_>,
    at: &Place<'_>,
    problems: &mut Problems,
) -> Option<Vec<NewPolicy>> {
    let policies = list(NewPolicy::read)(json, at, problems)?;
    each_once(policies.iter().map(|policy| &policy.name), "`name`", at, problems);
    for (index, policy) in policies.iter().enumerate() {
        if policy.name == DEFAULT_DENY {
            let what =
                format!("a name other than `{DEFAULT_DENY}`, which says that nothing matched");
            problems.expected(&at.index(index).key("name"), what);
        }
    }
    Some(policies)
}

/// Notes every item whose `what` an item before it has.
fn each_once<N: ToString>(
    names: impl Iterator<Item = N>,
    what: &str,
    at: &Place<'_>,
    problems: &mut Problems,
) {
    let mut seen = HashSet::new();
    for (index, name) in names.map(|name| name.to_string()).enumerate() {
        if seen.contains(&name) {
            let what = format!("a unique {what}, but an earlier item also has `{name}`");
            problems.expected(&at.index(index), what);
        }
        seen.insert(name);
    }
}

/// Everything that a case may expect to decide. A policy that is not enabled never does, but naming it
/// is a wrong expectation, not a mistyped one.
fn deciders(rulebook: &Rulebook, policies: &[NewPolicy]) -> HashSet<String> {
    let named = rulebook.named().map(|(_, name)| name);
    let policies = policies.iter().map(|policy| policy.name.clone());
    named.chain(policies).chain([DEFAULT_DENY.to_owned()]).collect()
}

/// The rules and policies of a bundle that are in force, with ids. The ids depend on nothing but the
/// order of the files, as those of a service would that stored them in this order.
#[derive(Debug)]
pub struct Rulebook {
    policies: Vec<Policy>,
    rules: Vec<Rule>,
}

impl Rulebook {
    fn new(
        tenant: &str,
        resources: &[Registration],
        rules: &[NewRule],
        policies: &[NewPolicy],
    ) -> Self {
        let mut ids = (1..).map(Uuid::from_u128);
        let mut id = || ids.next().unwrap_or_default();
        let enabled = policies.iter().filter(|policy| policy.enabled);
        let policies = enabled.map(|policy| Policy {
            id: id(),
            name: policy.name.clone(),
            resource: policy.resource.clone(),
            effect: policy.effect,
            priority: policy.priority,
            condition: Ok(policy.rule_data.condition.clone()),
        });
        let policies = policies.collect();
        let with_id = |rule: NewRule| Rule { id: id(), tuple: rule.tuple, effect: rule.effect };
        let rules = rules_in_force(tenant, resources, rules).into_iter().map(with_id).collect();
        Self { policies, rules }
    }

    /// The enabled policies.
    pub fn policies(&self) -> &[Policy] {
        &self.policies
    }

    /// The rules, those of default roles included.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The plan that decides checks of `resource`.
    pub fn plan(&self, resource: &str) -> Plan {
        let matching = self.policies.iter().filter(|policy| policy.resource.matches(resource));
        Plan::compile(resource, 1, &self.rules, matching.cloned())
    }

    /// Each policy and rule as cases name it, in the order of the ids.
    pub fn named(&self) -> impl Iterator<Item = (Uuid, String)> {
        let policies = self.policies.iter().map(|policy| (policy.id, policy.name.clone()));
        let rules = self.rules.iter().map(|rule| (rule.id, rule.tuple.to_string()));
        policies.chain(rules)
    }

    /// Returns the name that cases give to the policy or rule of a decision; `None` is the default.
    pub fn name(&self, id: Option<Uuid>) -> String {
        let named = id.and_then(|id| self.named().find(|(own, _)| *own == id));
        named.map_or_else(|| DEFAULT_DENY.to_owned(), |(_, name)| name)
    }
}

/// The explicit rules, then those that the registrations make: one for each default role whose tuple has
/// no rule so far.
fn rules_in_force(tenant: &str, resources: &[Registration], rules: &[NewRule]) -> Vec<NewRule> {
    let mut rules = rules.to_vec();
    for resource in resources {
        for role in &resource.default_roles {
            let rule = resource.default_rule(role, tenant);
            if !rules.iter().any(|known| known.tuple == rule.tuple) {
                rules.push(rule);
            }
        }
    }
    rules
}

#[cfg(any(test, feature = "fixture"))]
pub mod fixture;
#[cfg(test)]
mod tests;
