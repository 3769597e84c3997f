//! The stored content of a tenant, read whole.

use std::collections::HashMap;

use portcullis_model::resource::ResourceRecord;
use portcullis_model::settings::TenantSettings;
use portcullis_runtime::error::OperationError;
use portcullis_storage::{Tx, tenants};

use super::bound::must_fit;
use super::kinds::{ContentRecord, each_kind};
use super::stored_guards::StoredGuards;
use super::stored_settings;

macro_rules! tenant_content {
    ($($(#[$about:meta])* $list:ident: $record:ty,)*) => {
        /// The stored content of a tenant, each kind in order of creation.
        #[derive(Debug, Default)]
        pub struct TenantContent {
            pub revision: u64,
            $($(#[$about])* pub $list: Vec<$record>,)*
            pub settings: TenantSettings,
            pub guards: StoredGuards,
        }

        impl TenantContent {
            /// Reads the content of the transaction's tenant with one statement for each kind.
            ///
            /// # Errors
            /// The content is larger than 256 MiB, or the store failed.
            pub async fn load(tx: &mut Tx) -> Result<Self, OperationError> {
                // First, because too much content must not get into memory.
                must_fit(tx).await?;
                Ok(Self {
                    revision: tenants::revision(tx).await?,
                    $($list: <$record>::all(tx).await?,)*
                    settings: stored_settings::settings(tx).await?,
                    guards: StoredGuards::load(tx).await?,
                })
            }

            /// Returns the number of all objects.
            pub(crate) fn objects(&self) -> usize {
                0 $(+ self.$list.len())*
            }

            /// Returns the number of objects of `owner`, or of nobody.
            pub(crate) fn owned(&self, owner: Option<&str>) -> usize {
                0 $(+ owned(&self.$list, owner))*
            }
        }

        $(impl ListedRecord for $record {
            fn listed(content: &TenantContent) -> &[Self] {
                &content.$list
            }
        })*
    };
}

each_kind!(tenant_content);

/// A record of which the content has a list.
pub(crate) trait ListedRecord: ContentRecord {
    fn listed(content: &TenantContent) -> &[Self];
}

fn owned<R: ContentRecord>(records: &[R], owner: Option<&str>) -> usize {
    records.iter().filter(|record| record.managed_by() == owner).count()
}

impl TenantContent {
    /// Returns the resources by name.
    pub(crate) fn resources_by_name(&self) -> HashMap<&str, &ResourceRecord> {
        self.resources.iter().map(|one| (&*one.registration.name, one)).collect()
    }
}
