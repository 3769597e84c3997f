//! The content of a tenant as one JSON object: the `bundle` of an apply (`docs/semantics.md`, section 10.1).

use std::fmt::Display;

use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::{Format, Invalid, Json, fields};
use portcullis_model::apply::ObjectKind;
use portcullis_model::egress_rules::EgressRules;
use portcullis_model::fields::list;
use portcullis_model::input::{self, Field, Members, derived, field, object};
use portcullis_model::named_condition::NewCondition;
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
use crate::{named_conditions, policies, roles, types};

/// An object of a bundle, as it is read.
trait BundleObject: Sized {
    /// The list of the objects of a bundle.
    fn list<'j>(context: DocumentContext<'_>) -> impl Field<'j, Value = Vec<Self>>;
}

/// Makes the document and what holds for each kind of it: the member, the kind, and the object. `settings`, `cases` and
/// `users` are not objects with an owner.
macro_rules! bundle_document {
    ($($list:ident: $kind:ident => $object:ty,)*) => {
        /// The content of a tenant. A kind that is `None` is absent from the object.
        #[derive(Debug, Default)]
        pub struct BundleDocument {
            $(pub $list: Option<Vec<$object>>,)*
            pub settings: Option<TenantSettings>,
            pub cases: Option<Vec<SentText<Case>>>,
            /// The users that cases name.
            pub users: Option<Vec<SentText<SampleUser>>>,
        }

        impl BundleDocument {
            /// Returns the document of a tenant without any object that decides, with default settings.
            pub fn empty() -> Self {
                // Settings decide too, so the empty document has them.
                let settings = Some(TenantSettings::default());
                Self { $($list: decides(ObjectKind::$kind).then(Vec::new),)* settings, ..Self::default() }
            }

            /// Returns whether the bundle has this kind.
            pub fn has(&self, kind: ObjectKind) -> bool {
                match kind {
                    $(ObjectKind::$kind => self.$list.is_some(),)*
                    ObjectKind::Settings => self.settings.is_some(),
                    ObjectKind::Case => self.cases.is_some() || self.users.is_some(),
                }
            }

            /// Reads the objects; the rest is absent.
            fn declare_objects(members: &mut Members<'_, '_>, context: DocumentContext<'_>) -> Self {
                Self {
                    $($list: members.optional(stringify!($list), <$object>::list(context)),)*
                    ..Self::default()
                }
            }
        }
    };
}

bundle_document! {
    types: Type => NewType,
    resources: Resource => Registration,
    rules: Rule => NewRule,
    roles: Role => NewRole,
    conditions: Condition => NewCondition,
    policies: Policy => SentPolicy,
    resolvers: Resolver => WantedResolver,
    webhooks: Webhook => WantedWebhook,
}

/// Returns whether objects of a kind decide.
fn decides(kind: ObjectKind) -> bool {
    kind.facts().deciding.is_some()
}

impl BundleObject for NewType {
    fn list<'j>(_: DocumentContext<'_>) -> impl Field<'j, Value = Vec<Self>> {
        listed::<Self, _>(types::read)
    }
}

impl BundleObject for Registration {
    fn list<'j>(_: DocumentContext<'_>) -> impl Field<'j, Value = Vec<Self>> {
        let one = field(Self::read, schema::named::<Self>);
        unique(one, "`name`", |resource| &resource.name)
    }
}

impl BundleObject for NewRule {
    fn list<'j>(context: DocumentContext<'_>) -> impl Field<'j, Value = Vec<Self>> {
        unique(Self::field(context.domain), "tuple", |rule| &rule.tuple)
    }
}

impl BundleObject for NewRole {
    fn list<'j>(_: DocumentContext<'_>) -> impl Field<'j, Value = Vec<Self>> {
        listed::<Self, _>(roles::read)
    }
}

impl BundleObject for NewCondition {
    fn list<'j>(_: DocumentContext<'_>) -> impl Field<'j, Value = Vec<Self>> {
        listed::<Self, _>(named_conditions::read)
    }
}

impl BundleObject for SentPolicy {
    fn list<'j>(_: DocumentContext<'_>) -> impl Field<'j, Value = Vec<Self>> {
        objects("As a body that creates a policy, or with `when`", read_policies)
    }
}

impl BundleObject for WantedResolver {
    fn list<'j>(context: DocumentContext<'_>) -> impl Field<'j, Value = Vec<Self>> {
        let one = field(
            |json, at, problems| Self::read(json, at, problems, context.egress),
            schema::named::<Self>,
        );
        unique(one, "`namespace`", |resolver| &resolver.manifest.namespace)
    }
}

impl BundleObject for WantedWebhook {
    fn list<'j>(context: DocumentContext<'_>) -> impl Field<'j, Value = Vec<Self>> {
        unique(Self::field(context.egress), "`url`", |webhook| &webhook.url)
    }
}

impl BundleDocument {
    /// Returns the types, resources, rules, roles, conditions, policies and settings of a tenant folder, and these resolvers.
    pub fn new(folder: &Bundle, resolvers: Vec<WantedResolver>) -> Self {
        let policies = folder.policies.iter().cloned().map(|policy| {
            // Files write an expression as `when`, and the other formats as `rule_data`.
            let has_when = policy.rule_data.format == Format::Expression;
            SentPolicy { policy, has_when }
        });
        Self {
            types: Some(folder.types.clone().unwrap_or_default()),
            resources: Some(folder.resources.clone()),
            rules: Some(folder.rules.clone()),
            roles: Some(folder.roles.clone().unwrap_or_default()),
            conditions: Some(folder.conditions.clone().unwrap_or_default()),
            policies: Some(policies.collect()),
            resolvers: Some(resolvers),
            settings: Some(folder.settings.clone()),
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
        let objects = Self::declare_objects(members, context);
        let settings = field(TenantSettings::read, schema::named::<TenantSettings>);
        let settings = members.optional("settings", settings);
        let users = objects_with_texts("As in `tenant.yaml`", |json, at, problems| {
            read_users(json, at, problems, context.domain)
        });
        // The users come before the cases, which name them.
        let users = members.optional("users", users);
        let named: Vec<&str> = users.iter().flatten().map(|user| &*user.value.sub).collect();
        let cases = objects_with_texts("As in `cases.yaml`", |json, at, problems| {
            read_cases(json, at, problems, &named)
        });
        let cases = members.optional("cases", cases);
        Some(Self { settings, cases, users, ..objects })
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
            // A repetition is only noted: the note alone makes the body invalid.
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

/// A list of objects, each with its text, whose members the document leaves to `about`.
fn objects_with_texts<'j, T>(
    about: &'static str,
    read: impl Fn(&'j Json<'j>, &Place<'_>, &mut Problems) -> Option<Vec<T>>,
) -> impl Field<'j, Value = Vec<SentText<T>>> {
    objects(about, move |json, at, problems| Some(with_texts(read(json, at, problems)?, json)))
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
    // A list with a fault gives nothing, so the policies and the items below are pairs.
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
) -> Option<Vec<Case>> {
    let names = CaseNames { users, resolvers: None, deciders: None };
    let cases = fields::list(|json, at: &Place<'_>, problems: &mut Problems| {
        Case::read(json, at, problems, names)
    })(json, at, problems)?;
    each_once(cases.iter().map(|case| &case.name), "`name`", at, problems);
    Some(cases)
}

/// Returns the values with the texts of the items of `json` that they were read from.
fn with_texts<T>(values: Vec<T>, json: &Json<'_>) -> Vec<SentText<T>> {
    let items = json.as_array().unwrap_or_default();
    // A list with a fault has no values, so that each value has its item.
    let sent = values.into_iter().zip(items);
    sent.map(|(value, item)| SentText { value, text: item.to_string() }).collect()
}

#[cfg(test)]
mod tests;
