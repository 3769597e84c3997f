//! The cases that a tenant stores, for plans and exports.

use portcullis_storage::tenant_cases::StoredCases;
use portcullis_storage::{StoreError, Tx, tenant_cases};
use serde_json::value::RawValue;

/// The cases that a tenant stores.
#[derive(Debug, Default)]
pub struct StoredGuards {
    pub cases: StoredCases,
    /// Each case as compact JSON.
    pub case_texts: Vec<String>,
    /// Each user of cases as compact JSON.
    pub user_texts: Vec<String>,
}

impl StoredGuards {
    /// Reads the cases of the transaction's tenant.
    pub(crate) async fn load(tx: &mut Tx) -> Result<Self, StoreError> {
        Self::new(tenant_cases::find(tx).await?.unwrap_or_default())
    }

    /// Splits stored cases into their texts.
    pub(crate) fn new(cases: StoredCases) -> Result<Self, StoreError> {
        if cases == StoredCases::default() {
            return Ok(Self::default());
        }
        let case_texts = texts(&items(&cases.cases, "tenant_cases.cases")?);
        let user_texts = texts(&items(&cases.users, "tenant_cases.users")?);
        Ok(Self { cases, case_texts, user_texts })
    }
}

fn texts(items: &[&RawValue]) -> Vec<String> {
    items.iter().map(|item| item.get().to_owned()).collect()
}

/// Returns the items of a stored JSON array.
pub(crate) fn items<'t>(
    text: &'t str,
    what: &'static str,
) -> Result<Vec<&'t RawValue>, StoreError> {
    serde_json::from_str(text).map_err(|_| StoreError::Corrupt { what })
}
