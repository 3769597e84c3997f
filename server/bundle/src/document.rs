//! The content of a tenant as one JSON object: the `bundle` of an apply (`docs/semantics.md`, section 10.1).

use portcullis_engine::fields::{Fields, list};
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::{Format, Invalid, Json};
use portcullis_model::apply::ObjectKind;
use portcullis_model::egress_rules::EgressRules;
use portcullis_model::policy::NewPolicy;
use portcullis_model::resolver::WantedResolver;
use portcullis_model::resource::Registration;
use portcullis_model::role::NewRole;
use portcullis_model::rule::NewRule;
use portcullis_model::settings::TenantSettings;
use portcullis_model::types::NewType;
use portcullis_model::wanted_webhook::WantedWebhook;

use crate::bundle::Bundle;
use crate::cases::{Case, CaseNames};
use crate::unique::each_once;
use crate::users::{SampleUser, read_users};
use crate::{policies, roles, types};

/// The content of a tenant. A kind that is `None` is absent from the object.
#[derive(Debug, Default)]
pub struct BundleDocument {
    pub types: Option<Vec<NewType>>,
    pub resources: Option<Vec<Registration>>,
    /// The explicit rules.
    pub rules: Option<Vec<NewRule>>,
    pub roles: Option<Vec<NewRole>>,
    pub policies: Option<Vec<SentPolicy>>,
    pub resolvers: Option<Vec<WantedResolver>>,
    pub webhooks: Option<Vec<WantedWebhook>>,
    pub settings: Option<TenantSettings>,
    pub cases: Option<Vec<SentText<Case>>>,
    /// The users that cases name.
    pub users: Option<Vec<SentText<SampleUser>>>,
}

impl BundleDocument {
    /// Returns the types, resources, rules, roles, policies and settings of a tenant folder, and these resolvers.
    pub fn new(folder: &Bundle, resolvers: Vec<WantedResolver>) -> Self {
        let policies = folder.policies.iter().cloned().map(|policy| {
            let has_when = policy.rule_data.format == Format::Expression;
            SentPolicy { policy, has_when }
        });
        Self {
            types: Some(folder.types.clone().unwrap_or_default()),
            resources: Some(folder.resources.clone()),
            rules: Some(folder.rules.clone()),
            roles: Some(folder.roles.clone().unwrap_or_default()),
            policies: Some(policies.collect()),
            resolvers: Some(resolvers),
            settings: Some(folder.settings.clone()),
            ..Self::default()
        }
    }

    /// Returns the document of a tenant without any type, resource, rule, role, policy and resolver, with default settings.
    pub fn empty() -> Self {
        Self {
            types: Some(Vec::new()),
            resources: Some(Vec::new()),
            rules: Some(Vec::new()),
            roles: Some(Vec::new()),
            policies: Some(Vec::new()),
            resolvers: Some(Vec::new()),
            settings: Some(TenantSettings::default()),
            ..Self::default()
        }
    }
}

/// A policy of a bundle.
#[derive(Clone, Debug)]
pub struct SentPolicy {
    pub policy: NewPolicy,
    /// Whether its condition is a `when`.
    pub has_when: bool,
}

/// A value that was read, and its compact JSON.
#[derive(Debug)]
pub struct SentText<T> {
    pub value: T,
    pub text: String,
}

/// The parts of a tenant that decide how its bundle is read.
#[derive(Clone, Copy, Debug)]
pub struct DocumentContext<'c> {
    /// The domain of a rule without one, and of the users.
    pub domain: &'c str,
    /// The addresses that endpoints and webhooks may have.
    pub egress: &'c EgressRules,
}

impl DocumentContext<'_> {
    /// Reads the body of a request that has a bundle, by `read`.
    ///
    /// # Errors
    /// Every fault, by JSON pointer.
    pub fn parse<T>(
        self,
        json: &Json<'_>,
        read: impl FnOnce(&Json<'_>, &Place<'_>, &mut Problems, Self) -> Option<T>,
    ) -> Result<T, Invalid> {
        let mut problems = Problems::default();
        let body = read(json, &Place::root(), &mut problems, self);
        problems.finish(body)
    }
}

impl BundleDocument {
    /// Reads the bundle at `at`. Which attributes and names exist depends on the stored content, and is judged with it.
    pub fn read(
        json: &Json<'_>,
        at: &Place<'_>,
        problems: &mut Problems,
        context: DocumentContext<'_>,
    ) -> Option<Self> {
        let DocumentContext { domain, egress } = context;
        let mut fields = Fields::open(json, at, problems)?;
        let types = fields.optional("types", types::read);
        let resources = fields.optional("resources", read_resources);
        let rules =
            fields.optional("rules", |json, at, problems| read_rules(json, at, problems, domain));
        let roles = fields.optional("roles", roles::read);
        let policies = fields.optional("policies", read_policies);
        let resolvers = fields
            .optional("resolvers", |json, at, problems| read_resolvers(json, at, problems, egress));
        let webhooks = fields
            .optional("webhooks", |json, at, problems| read_webhooks(json, at, problems, egress));
        let settings = fields.optional("settings", TenantSettings::read);
        let users = fields.optional("users", |json, at, problems| {
            let users = read_users(json, at, problems, domain)?;
            Some(with_texts(users, json))
        });
        let named: Vec<&str> = users.iter().flatten().map(|user| &*user.value.sub).collect();
        let cases =
            fields.optional("cases", |json, at, problems| read_cases(json, at, problems, &named));
        fields.close();
        Some(Self {
            types,
            resources,
            rules,
            roles,
            policies,
            resolvers,
            webhooks,
            settings,
            cases,
            users,
        })
    }

    /// Returns whether the bundle has this kind.
    pub fn has(&self, kind: ObjectKind) -> bool {
        match kind {
            ObjectKind::Resource => self.resources.is_some(),
            ObjectKind::Rule => self.rules.is_some(),
            ObjectKind::Role => self.roles.is_some(),
            ObjectKind::Type => self.types.is_some(),
            ObjectKind::Policy => self.policies.is_some(),
            ObjectKind::Resolver => self.resolvers.is_some(),
            ObjectKind::Webhook => self.webhooks.is_some(),
            ObjectKind::Settings => self.settings.is_some(),
            ObjectKind::Case => self.cases.is_some() || self.users.is_some(),
        }
    }

    /// Returns whether the bundle has settings, cases or users of cases.
    pub fn has_settings_or_cases(&self) -> bool {
        self.settings.is_some() || self.cases.is_some() || self.users.is_some()
    }
}

fn read_resources(
    json: &Json<'_>,
    at: &Place<'_>,
    problems: &mut Problems,
) -> Option<Vec<Registration>> {
    let resources = list(Registration::read)(json, at, problems)?;
    each_once(resources.iter().map(|resource| &resource.name), "`name`", at, problems);
    Some(resources)
}

fn read_rules(
    json: &Json<'_>,
    at: &Place<'_>,
    problems: &mut Problems,
    domain: &str,
) -> Option<Vec<NewRule>> {
    let rules = list(|json, at: &Place<'_>, problems: &mut Problems| {
        NewRule::read(json, at, problems, domain)
    })(json, at, problems)?;
    each_once(rules.iter().map(|rule| &rule.tuple), "tuple", at, problems);
    Some(rules)
}

fn read_policies(
    json: &Json<'_>,
    at: &Place<'_>,
    problems: &mut Problems,
) -> Option<Vec<SentPolicy>> {
    let policies = policies::read_named(json, at, problems)?;
    let items = json.as_array().unwrap_or_default();
    let sent = policies.into_iter().zip(items).map(|(policy, item)| {
        let has_when = item.get("when").is_some();
        SentPolicy { policy, has_when }
    });
    Some(sent.collect())
}

fn read_resolvers(
    json: &Json<'_>,
    at: &Place<'_>,
    problems: &mut Problems,
    egress: &EgressRules,
) -> Option<Vec<WantedResolver>> {
    let resolvers = list(|json, at: &Place<'_>, problems: &mut Problems| {
        WantedResolver::read(json, at, problems, egress)
    })(json, at, problems)?;
    let namespaces = resolvers.iter().map(|resolver| &resolver.manifest.namespace);
    each_once(namespaces, "`namespace`", at, problems);
    Some(resolvers)
}

fn read_webhooks(
    json: &Json<'_>,
    at: &Place<'_>,
    problems: &mut Problems,
    egress: &EgressRules,
) -> Option<Vec<WantedWebhook>> {
    let webhooks = list(|json, at: &Place<'_>, problems: &mut Problems| {
        WantedWebhook::read(json, at, problems, egress)
    })(json, at, problems)?;
    each_once(webhooks.iter().map(|webhook| &webhook.url), "`url`", at, problems);
    Some(webhooks)
}

fn read_cases(
    json: &Json<'_>,
    at: &Place<'_>,
    problems: &mut Problems,
    users: &[&str],
) -> Option<Vec<SentText<Case>>> {
    let names = CaseNames { users, resolvers: None, deciders: None };
    let cases = list(|json, at: &Place<'_>, problems: &mut Problems| {
        Case::read(json, at, problems, names)
    })(json, at, problems)?;
    each_once(cases.iter().map(|case| &case.name), "`name`", at, problems);
    Some(with_texts(cases, json))
}

/// Returns the values with the texts of the items of `json` that they were read from.
fn with_texts<T>(values: Vec<T>, json: &Json<'_>) -> Vec<SentText<T>> {
    let items = json.as_array().unwrap_or_default();
    let sent = values.into_iter().zip(items);
    sent.map(|(value, item)| SentText { value, text: item.to_string() }).collect()
}

#[cfg(test)]
mod tests;
