//! Attribute resolvers (semantics.md section 5): what the operator says of one, what its module says of itself,
//! and the record of both.

mod endpoint;
mod input;
mod manifest;
mod record;
mod secrets;
mod stored;
mod update;

pub(crate) use endpoint::Endpoint;
pub(crate) use manifest::Manifest;
pub(crate) use record::{
    AttributeRecord, ModuleRecord, Origin, ResolverRecord, ResolverState, StoredResolver,
};
pub(crate) use secrets::{SecretNames, Secrets};
pub(crate) use update::ManifestUpdate;

#[cfg(test)]
mod tests;
