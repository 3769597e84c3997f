//! The settings that a tenant stores.

use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::json;
use portcullis_model::settings::TenantSettings;
use portcullis_storage::{StoreError, Tx, tenant_settings};

const CORRUPT: StoreError = StoreError::Corrupt { what: "tenant_settings.settings" };

/// Reads the settings of the transaction's tenant.
pub(crate) async fn settings(tx: &mut Tx) -> Result<TenantSettings, StoreError> {
    read(tenant_settings::find(tx).await?.as_deref())
}

/// Reads settings as they are stored. Without any they are the defaults.
pub(crate) fn read(text: Option<&str>) -> Result<TenantSettings, StoreError> {
    let Some(text) = text else { return Ok(TenantSettings::default()) };
    let json = json::parse(text.as_bytes()).map_err(|_| CORRUPT)?;
    let mut problems = Problems::default();
    let settings = TenantSettings::read(&json, &Place::root(), &mut problems);
    problems.finish(settings).map_err(|_| CORRUPT)
}
