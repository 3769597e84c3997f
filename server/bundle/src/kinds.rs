//! The kinds of content of a tenant folder: one row for each.

use portcullis_engine::Json;
use portcullis_model::file_schema::FileSchema;
use portcullis_model::folder_webhook::FolderWebhook;
use portcullis_model::named_condition::NewCondition;
use portcullis_model::policy::FilePolicy;
use portcullis_model::resource::Registration;
use portcullis_model::role::NewRole;
use portcullis_model::rule::NewRule;
use portcullis_model::settings::TenantSettings;
use portcullis_model::types::NewType;

use crate::canonical;
use crate::cases::Case;
use crate::resolvers::SampleResolver;
use crate::users::TenantFile;
use crate::yaml_writer::ItemLayout::{self, Block, Line};

/// A kind of content of a tenant folder.
#[derive(Clone, Copy)]
pub(super) struct FolderKind {
    /// The file with its schema. The name of the schema is the member of a bundle.
    pub(super) schema: FileSchema,
    /// Whether the list may also be a folder of files, which has the name of the schema.
    pub(super) may_be_folder: bool,
    pub(super) written: Written,
}

/// The way in which an export writes a kind.
#[derive(Clone, Copy)]
pub(super) enum Written {
    /// A list of items in this form.
    List {
        layout: ItemLayout,
        write: WriteItem,
        in_every_folder: bool,
        is_sorted: bool,
    },
    Tenant,
    Resolvers,
    Settings,
}

pub(super) type WriteItem = for<'j> fn(&Json<'j>) -> Json<'j>;

impl Written {
    /// Cases stay in their order, which people chose.
    const CASES: Self = Self::List {
        layout: Block,
        write: canonical::case,
        in_every_folder: true,
        is_sorted: false,
    };

    /// A list that is sorted, and that a folder has only if it has items.
    const fn list(layout: ItemLayout, write: WriteItem) -> Self {
        Self::List { layout, write, in_every_folder: false, is_sorted: true }
    }

    const fn in_every_folder(self) -> Self {
        match self {
            Self::List { layout, write, is_sorted, .. } => {
                Self::List { layout, write, in_every_folder: true, is_sorted }
            }
            Self::Tenant | Self::Resolvers | Self::Settings => self,
        }
    }
}

impl FolderKind {
    /// The name of the file.
    pub(super) const fn file(&self) -> &'static str {
        self.schema.file
    }

    /// The member of a bundle, and the name of the folder of files.
    pub(super) const fn name(&self) -> &'static str {
        self.schema.kind
    }

    /// Returns the path of the file `name` of the folder, if it is one that is read.
    pub(super) fn file_in_folder(&self, name: &str) -> Option<String> {
        // Editors and version control keep hidden files beside the others.
        let is_read = name.ends_with(".yaml") && !name.starts_with('.');
        is_read.then(|| format!("{}/{name}", self.name()))
    }
}

pub(super) const TENANT: FolderKind = FolderKind {
    schema: FileSchema::for_type::<TenantFile>(
        "tenant",
        "tenant.yaml",
        "The tenant and its sample users",
    ),
    may_be_folder: false,
    written: Written::Tenant,
};
pub(super) const TYPES: FolderKind = FolderKind {
    schema: FileSchema::list_of::<NewType>(
        "types",
        "types.yaml",
        "Type",
        "The properties of subjects, resources, `context` and `action`: names and types of the attributes that policies read",
    ),
    may_be_folder: false,
    written: Written::list(Block, canonical::declared_type),
};
pub(super) const RESOURCES: FolderKind = FolderKind {
    schema: FileSchema::list_of::<Registration>(
        "resources",
        "resources.yaml",
        "Resource",
        "The resources that the services of the tenant register",
    ),
    may_be_folder: true,
    written: Written::list(Line, canonical::resource).in_every_folder(),
};
pub(super) const RULES: FolderKind = FolderKind {
    schema: FileSchema::list_of::<NewRule>(
        "rules",
        "rules.yaml",
        "Rule",
        "RBAC rules: a subject or a role may do an action on a resource. A deny beats every allow",
    ),
    may_be_folder: true,
    written: Written::list(Line, canonical::rule).in_every_folder(),
};
pub(super) const ROLES: FolderKind = FolderKind {
    schema: FileSchema::list_of::<NewRole>(
        "roles",
        "roles.yaml",
        "Role",
        "Roles that include other roles. Who has a role has the roles that it includes, and those that these include",
    ),
    may_be_folder: false,
    written: Written::list(Line, canonical::role),
};
pub(super) const CONDITIONS: FolderKind = FolderKind {
    schema: FileSchema::list_of::<NewCondition>(
        "conditions",
        "conditions.yaml",
        "NamedCondition",
        "Conditions that policies use by name: `condition.<name>` in expressions, `NAMED` in trees",
    ),
    may_be_folder: false,
    written: Written::list(Block, canonical::condition),
};
pub(super) const POLICIES: FolderKind = FolderKind {
    schema: FileSchema::list_of::<FilePolicy>(
        "policies",
        "policies.yaml",
        "Policy",
        "ABAC policies: conditions over attributes. Of the policies that apply, the one with the highest priority \
     decides",
    ),
    may_be_folder: true,
    written: Written::list(Block, canonical::policy).in_every_folder(),
};
pub(super) const RESOLVERS: FolderKind = FolderKind {
    schema: FileSchema::list_of::<SampleResolver>(
        "resolvers",
        "resolvers.yaml",
        "Resolver",
        "The resolvers whose attributes the policies read",
    ),
    may_be_folder: false,
    written: Written::Resolvers,
};
pub(super) const CASES: FolderKind = FolderKind {
    schema: FileSchema::list_of::<Case>(
        "cases",
        "cases.yaml",
        "Case",
        "Checks with the answers that are expected; `portcullis test` runs them",
    ),
    may_be_folder: true,
    written: Written::CASES,
};
pub(super) const WEBHOOKS: FolderKind = FolderKind {
    schema: FileSchema::list_of::<FolderWebhook>(
        "webhooks",
        "webhooks.yaml",
        "Webhook",
        "Addresses that receive the events of the tenant",
    ),
    may_be_folder: false,
    written: Written::list(Block, canonical::webhook),
};
pub(super) const SETTINGS: FolderKind = FolderKind {
    schema: FileSchema::for_type::<TenantSettings>(
        "settings",
        "settings.yaml",
        "The settings of the tenant: the gates of changes, and the owners of objects",
    ),
    may_be_folder: false,
    written: Written::Settings,
};

/// Every kind, in the order of the documents.
pub(super) const KINDS: [FolderKind; 11] = [
    TENANT, TYPES, RESOURCES, RULES, ROLES, CONDITIONS, POLICIES, RESOLVERS, CASES, WEBHOOKS,
    SETTINGS,
];

/// The schema of each file of a tenant folder. The files of a folder such as `policies/` have the schema of the list.
pub const SCHEMAS: [FileSchema; KINDS.len()] = {
    // The first value only fills the array, and the loop replaces each element.
    let mut schemas = [TENANT.schema; KINDS.len()];
    let mut index = 0;
    // A constant cannot use an iterator.
    while index < KINDS.len() {
        schemas[index] = KINDS[index].schema;
        index += 1;
    }
    schemas
};

/// Returns the folders of a tenant folder that may have files of a list.
pub fn list_folders() -> impl Iterator<Item = &'static str> {
    KINDS.into_iter().filter(|kind| kind.may_be_folder).map(|kind| kind.name())
}

#[cfg(test)]
pub(crate) mod tests;
