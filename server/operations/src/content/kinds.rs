//! The kinds of records in the content of a tenant: one row for each.

use std::borrow::Cow;
use std::fmt;

use portcullis_model::apply::ObjectKind;
use portcullis_model::named_condition::ConditionRecord;
use portcullis_model::policy::PolicyRecord;
use portcullis_model::resolver::StoredResolver;
use portcullis_model::resource::ResourceRecord;
use portcullis_model::role::RoleRecord;
use portcullis_model::rule::RuleRecord;
use portcullis_model::types::TypeRecord;
use portcullis_model::webhook::WebhookRecord;
use portcullis_storage::{
    StoreError, Tx, conditions, policies, resolvers, resources, roles, rules, types, webhooks,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

/// Calls the macro `$with` with a row for each kind: its list in the content, and its record, which is a [`ContentRecord`]. In
/// this order an apply plans and writes them, and an export has them.
macro_rules! each_kind {
    ($with:ident) => {
        $with! {
            resources: portcullis_model::resource::ResourceRecord,
            rules: portcullis_model::rule::RuleRecord,
            /// The roles that include others, by name.
            roles: portcullis_model::role::RoleRecord,
            /// The declared types, by name.
            types: portcullis_model::types::TypeRecord,
            /// The named conditions, by name.
            conditions: portcullis_model::named_condition::ConditionRecord,
            policies: portcullis_model::policy::PolicyRecord,
            resolvers: portcullis_model::resolver::StoredResolver,
            webhooks: portcullis_model::webhook::WebhookRecord,
        }
    };
}

pub(crate) use each_kind;

/// The key of a record among those of its kind, also in the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum RecordKey<'r> {
    Id(Uuid),
    Name(&'r str),
}

impl fmt::Display for RecordKey<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => id.fmt(f),
            Self::Name(name) => f.write_str(name),
        }
    }
}

/// A record of the content of a tenant.
pub(crate) trait ContentRecord: Clone + PartialEq + Serialize + Send + Sync {
    const KIND: ObjectKind;

    fn key(&self) -> RecordKey<'_>;

    /// Returns what people call it: the name, the tuple, the namespace or the URL.
    fn name(&self) -> Cow<'_, str>;

    fn managed_by(&self) -> Option<&str>;

    /// Returns the record as one of `owner`.
    #[must_use]
    fn owned_by(self, owner: Option<&str>) -> Self;

    /// Returns a record as the history has it; `None` if the text is another one, or the kind has no history.
    fn from_history(text: &str) -> Option<Self>;

    /// Reads all of the transaction's tenant, in order of creation or by name.
    fn all(tx: &mut Tx) -> impl Future<Output = Result<Vec<Self>, StoreError>> + Send;
}

/// Implements [`ContentRecord`] for a record of this kind: the function that reads all, how the history is read, the key, and the
/// name.
macro_rules! content_record {
    ($record:ident, $kind:ident, $all:path, $from_history:path, |$one:ident| $key:expr, $name:expr $(,)?) => {
        impl ContentRecord for $record {
            const KIND: ObjectKind = ObjectKind::$kind;

            fn key(&self) -> RecordKey<'_> {
                let $one = self;
                $key
            }

            fn name(&self) -> Cow<'_, str> {
                let $one = self;
                $name.into()
            }

            fn managed_by(&self) -> Option<&str> {
                self.managed_by.as_deref()
            }

            fn owned_by(self, owner: Option<&str>) -> Self {
                Self { managed_by: owner.map(str::to_owned), ..self }
            }

            fn from_history(text: &str) -> Option<Self> {
                $from_history(text)
            }

            async fn all(tx: &mut Tx) -> Result<Vec<Self>, StoreError> {
                $all(tx).await
            }
        }
    };
}

content_record!(
    ResourceRecord,
    Resource,
    resources::all,
    json,
    |one| RecordKey::Id(one.id),
    &*one.registration.name,
);
content_record!(
    RuleRecord,
    Rule,
    rules::all,
    json,
    |one| RecordKey::Id(one.id),
    one.tuple.to_string(),
);
content_record!(RoleRecord, Role, roles::all, json, |one| RecordKey::Name(&one.name), &*one.name,);
content_record!(TypeRecord, Type, types::all, json, |one| RecordKey::Name(&one.kind), &*one.kind,);
content_record!(
    ConditionRecord,
    Condition,
    conditions::all,
    json,
    |one| RecordKey::Name(&one.name),
    &*one.name,
);
content_record!(PolicyRecord, Policy, policies::all, json, |one| RecordKey::Id(one.id), &*one.name,);
content_record!(
    StoredResolver,
    Resolver,
    resolvers::list,
    json,
    |one| RecordKey::Id(one.id),
    &*one.manifest.namespace,
);
content_record!(
    WebhookRecord,
    Webhook,
    webhooks::all,
    no_history,
    |one| RecordKey::Id(one.id),
    &*one.url,
);

fn json<R: DeserializeOwned>(text: &str) -> Option<R> {
    serde_json::from_str(text).ok()
}

fn no_history(_: &str) -> Option<WebhookRecord> {
    None
}
