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

    /// Returns a record as the history has it; `None` if the text is another one, or the kind has no history.
    fn from_history(text: &str) -> Option<Self>;

    /// Reads all of the transaction's tenant, in order of creation or by name.
    fn all(tx: &mut Tx) -> impl Future<Output = Result<Vec<Self>, StoreError>> + Send;
}

impl ContentRecord for ResourceRecord {
    const KIND: ObjectKind = ObjectKind::Resource;

    fn key(&self) -> RecordKey<'_> {
        RecordKey::Id(self.id)
    }

    fn name(&self) -> Cow<'_, str> {
        (&*self.registration.name).into()
    }

    fn managed_by(&self) -> Option<&str> {
        self.managed_by.as_deref()
    }

    fn from_history(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    async fn all(tx: &mut Tx) -> Result<Vec<Self>, StoreError> {
        resources::all(tx).await
    }
}

impl ContentRecord for RuleRecord {
    const KIND: ObjectKind = ObjectKind::Rule;

    fn key(&self) -> RecordKey<'_> {
        RecordKey::Id(self.id)
    }

    fn name(&self) -> Cow<'_, str> {
        self.tuple.to_string().into()
    }

    fn managed_by(&self) -> Option<&str> {
        self.managed_by.as_deref()
    }

    fn from_history(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    async fn all(tx: &mut Tx) -> Result<Vec<Self>, StoreError> {
        rules::all(tx).await
    }
}

impl ContentRecord for RoleRecord {
    const KIND: ObjectKind = ObjectKind::Role;

    fn key(&self) -> RecordKey<'_> {
        RecordKey::Name(&self.name)
    }

    fn name(&self) -> Cow<'_, str> {
        (&*self.name).into()
    }

    fn managed_by(&self) -> Option<&str> {
        self.managed_by.as_deref()
    }

    fn from_history(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    async fn all(tx: &mut Tx) -> Result<Vec<Self>, StoreError> {
        roles::all(tx).await
    }
}

impl ContentRecord for TypeRecord {
    const KIND: ObjectKind = ObjectKind::Type;

    fn key(&self) -> RecordKey<'_> {
        RecordKey::Name(&self.kind)
    }

    fn name(&self) -> Cow<'_, str> {
        (&*self.kind).into()
    }

    fn managed_by(&self) -> Option<&str> {
        self.managed_by.as_deref()
    }

    fn from_history(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    async fn all(tx: &mut Tx) -> Result<Vec<Self>, StoreError> {
        types::all(tx).await
    }
}

impl ContentRecord for ConditionRecord {
    const KIND: ObjectKind = ObjectKind::Condition;

    fn key(&self) -> RecordKey<'_> {
        RecordKey::Name(&self.name)
    }

    fn name(&self) -> Cow<'_, str> {
        (&*self.name).into()
    }

    fn managed_by(&self) -> Option<&str> {
        self.managed_by.as_deref()
    }

    fn from_history(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    async fn all(tx: &mut Tx) -> Result<Vec<Self>, StoreError> {
        conditions::all(tx).await
    }
}

impl ContentRecord for PolicyRecord {
    const KIND: ObjectKind = ObjectKind::Policy;

    fn key(&self) -> RecordKey<'_> {
        RecordKey::Id(self.id)
    }

    fn name(&self) -> Cow<'_, str> {
        (&*self.name).into()
    }

    fn managed_by(&self) -> Option<&str> {
        self.managed_by.as_deref()
    }

    fn from_history(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    async fn all(tx: &mut Tx) -> Result<Vec<Self>, StoreError> {
        policies::all(tx).await
    }
}

impl ContentRecord for StoredResolver {
    const KIND: ObjectKind = ObjectKind::Resolver;

    fn key(&self) -> RecordKey<'_> {
        RecordKey::Id(self.id)
    }

    fn name(&self) -> Cow<'_, str> {
        (&*self.manifest.namespace).into()
    }

    fn managed_by(&self) -> Option<&str> {
        self.managed_by.as_deref()
    }

    fn from_history(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    async fn all(tx: &mut Tx) -> Result<Vec<Self>, StoreError> {
        resolvers::list(tx).await
    }
}

impl ContentRecord for WebhookRecord {
    const KIND: ObjectKind = ObjectKind::Webhook;

    fn key(&self) -> RecordKey<'_> {
        RecordKey::Id(self.id)
    }

    fn name(&self) -> Cow<'_, str> {
        (&*self.url).into()
    }

    fn managed_by(&self) -> Option<&str> {
        self.managed_by.as_deref()
    }

    fn from_history(_: &str) -> Option<Self> {
        None
    }

    async fn all(tx: &mut Tx) -> Result<Vec<Self>, StoreError> {
        webhooks::all(tx).await
    }
}
