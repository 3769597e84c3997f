//! Content that decides or waits to: rules, policies, roles, types, resources, resolvers, drafts.

pub mod bulk;
pub mod conditions;
pub mod content_size;
pub mod drafts;
pub(crate) mod plan_conditions;
pub mod plan_records;
pub(crate) mod plan_sizes;
pub mod policies;
pub mod proposals;
pub(crate) mod quotas;
pub mod resolver_locations;
pub mod resolvers;
pub mod resources;
pub mod roles;
pub mod rules;
pub mod shadows;
pub mod tenant_cases;
pub mod types;
pub mod verbs;
