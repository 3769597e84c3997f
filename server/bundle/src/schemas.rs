//! The schemas of the files of a tenant folder.

use portcullis_model::file_schema::FileSchema;
use portcullis_model::folder_webhook::FolderWebhook;
use portcullis_model::policy::FilePolicy;
use portcullis_model::resource::Registration;
use portcullis_model::role::NewRole;
use portcullis_model::rule::NewRule;
use portcullis_model::settings::TenantSettings;
use portcullis_model::types::NewType;

use crate::cases::Case;
use crate::resolvers::SampleResolver;
use crate::users::TenantFile;

/// The schema of each file of a tenant folder. The files of a folder such as `policies/` have the schema of the list.
pub const SCHEMAS: [FileSchema; 10] = [
    FileSchema::for_type::<TenantFile>("tenant", "tenant.yaml", "The tenant and its sample users"),
    FileSchema::list_of::<NewType>(
        "types",
        "types.yaml",
        "Type",
        "The properties of subjects, resources, `context` and `action`: names and types of the attributes that policies read",
    ),
    FileSchema::list_of::<Registration>(
        "resources",
        "resources.yaml",
        "Resource",
        "The resources that the services of the tenant register",
    ),
    FileSchema::list_of::<NewRule>(
        "rules",
        "rules.yaml",
        "Rule",
        "RBAC rules: a subject or a role may do an action on a resource. A deny beats every allow",
    ),
    FileSchema::list_of::<NewRole>(
        "roles",
        "roles.yaml",
        "Role",
        "Roles that include other roles. Who has a role has the roles that it includes, and those that these include",
    ),
    FileSchema::list_of::<FilePolicy>(
        "policies",
        "policies.yaml",
        "Policy",
        "ABAC policies: conditions over attributes. Of the policies that apply, the one with the highest priority \
         decides",
    ),
    FileSchema::list_of::<SampleResolver>(
        "resolvers",
        "resolvers.yaml",
        "Resolver",
        "The resolvers whose attributes the policies read",
    ),
    FileSchema::list_of::<Case>(
        "cases",
        "cases.yaml",
        "Case",
        "Checks with the answers that are expected; `portcullis test` runs them",
    ),
    FileSchema::list_of::<FolderWebhook>(
        "webhooks",
        "webhooks.yaml",
        "Webhook",
        "Addresses that receive the events of the tenant",
    ),
    FileSchema::for_type::<TenantSettings>(
        "settings",
        "settings.yaml",
        "The settings of the tenant: the gates of changes, and the owners of objects",
    ),
];

#[cfg(test)]
pub(crate) mod tests;
