//! The content of a tenant as one JSON object: the `bundle` of an apply (`docs/semantics.md`, section 10.1).

use std::fmt::Display;

use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::{Format, Invalid, Json, fields};
use portcullis_model::apply::ObjectKind;
use portcullis_model::egress_rules::EgressRules;
use portcullis_model::fields::list;
use portcullis_model::input::{self, Field, Members, derived, field, object};
use portcullis_model::policy::NewPolicy;
use portcullis_model::resolver::WantedResolver;
use portcullis_model::resource::Registration;
use portcullis_model::role::NewRole;
use portcullis_model::rule::NewRule;
use portcullis_model::schema::{self, Input};
use portcullis_model::settings::TenantSettings;
use portcullis_model::types::NewType;
use portcullis_model::wanted_webhook::WantedWebhook;
use utoipa::ToSchema;

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
    /// Reads the body of a request that has a bundle, as `declare` says.
    ///
    /// # Errors
    /// Every fault, by JSON pointer.
    pub fn parse<'j, T>(
        self,
        json: &'j Json<'j>,
        declare: impl FnOnce(&mut Members<'j, '_>, Self) -> Option<T>,
    ) -> Result<T, Invalid> {
        input::parse(json, |members| declare(members, self))
    }
}

/// The schema of the body of a request that has a bundle.
pub fn describe<T>(
    declare: impl FnOnce(&mut Members<'_, '_>, DocumentContext<'_>) -> Option<T>,
) -> Input {
    let context = DocumentContext { domain: "", egress: &EgressRules::default() };
    input::describe(|members| declare(members, context))
}

impl BundleDocument {
    /// A bundle. Which attributes and names exist depends on the stored content, and is judged with it.
    pub fn field<'j>(context: DocumentContext<'_>) -> impl Field<'j, Value = Self> {
        object(move |members| Self::declare(members, context))
    }

    fn declare(members: &mut Members<'_, '_>, context: DocumentContext<'_>) -> Option<Self> {
        let DocumentContext { domain, egress } = context;
        let types = listed::<NewType, _>(types::read);
        let types = members.optional("types", types);
        let resources = field(Registration::read, schema::named::<Registration>);
        let resources =
            members.optional("resources", unique(resources, "`name`", |resource| &resource.name));
        let rules = unique(NewRule::field(domain), "tuple", |rule| &rule.tuple);
        let rules = members.optional("rules", rules);
        let roles = members.optional("roles", listed::<NewRole, _>(roles::read));
        let about = "As a body that creates a policy, or with `when`";
        let policies = members.optional("policies", objects(about, read_policies));
        let resolver = field(
            |json, at, problems| WantedResolver::read(json, at, problems, egress),
            schema::named::<WantedResolver>,
        );
        let resolvers = unique(resolver, "`namespace`", |resolver| &resolver.manifest.namespace);
        let resolvers = members.optional("resolvers", resolvers);
        let webhooks = unique(WantedWebhook::field(egress), "`url`", |webhook| &webhook.url);
        let webhooks = members.optional("webhooks", webhooks);
        let settings = field(TenantSettings::read, schema::named::<TenantSettings>);
        let settings = members.optional("settings", settings);
        let users = objects("As in `tenant.yaml`", |json, at, problems| {
            Some(with_texts(read_users(json, at, problems, domain)?, json))
        });
        let users = members.optional("users", users);
        let named: Vec<&str> = users.iter().flatten().map(|user| &*user.value.sub).collect();
        let cases = objects("As in `cases.yaml`", |json, at, problems| {
            read_cases(json, at, problems, &named)
        });
        let cases = members.optional("cases", cases);
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

/// A list of `item`, each with another `key`, which messages call `what`.
fn unique<'j, T, K: Display + 'j>(
    item: impl Field<'j, Value = T>,
    what: &'static str,
    key: impl Fn(&T) -> &K,
) -> impl Field<'j, Value = Vec<T>> {
    derived(
        list(item),
        move |list, json, at, problems| {
            let items = list.read(json, at, problems)?;
            each_once(items.iter().map(&key), what, at, problems);
            Some(items)
        },
        Field::schema,
    )
}

/// A list of `T`, which `read` reads as a whole.
fn listed<'j, T: ToSchema, V>(
    read: impl Fn(&'j Json<'j>, &Place<'_>, &mut Problems) -> Option<V>,
) -> impl Field<'j, Value = V> {
    field(read, || schema::list(schema::named::<T>()))
}

/// A list of objects, whose members the document leaves to `about`.
fn objects<'j, V>(
    about: &'static str,
    read: impl Fn(&'j Json<'j>, &Place<'_>, &mut Problems) -> Option<V>,
) -> impl Field<'j, Value = V> {
    field(read, move || schema::list(schema::any_object(about)))
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

fn read_cases(
    json: &Json<'_>,
    at: &Place<'_>,
    problems: &mut Problems,
    users: &[&str],
) -> Option<Vec<SentText<Case>>> {
    let names = CaseNames { users, resolvers: None, deciders: None };
    let cases = fields::list(|json, at: &Place<'_>, problems: &mut Problems| {
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
