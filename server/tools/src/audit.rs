//! `portcullis audit`: the audit records without a running service.

use std::io::Write;

use anyhow::Context;
use portcullis_config::Variables;
use portcullis_model::audit::AuditFilter;
use portcullis_model::page::Page;
use portcullis_operations::audit;
use uuid::Uuid;

use crate::operator::{OfflineOperator, shown};

/// The most audit records that are read at a time.
const PAGE: i64 = 500;

/// Prints the audit records, newest first, each as a line of JSON: of every tenant, or of `tenant` alone.
pub async fn list(variables: &Variables, tenant: Option<&str>) -> anyhow::Result<()> {
    let operator = OfflineOperator::open(variables).await?;
    let tenant = match tenant {
        // A tenant of `selfhost` mode exists from its first write on. Before it there are no records, and no error.
        Some(tenant) if operator.creates_tenants() => Some(tenant.to_owned()),
        Some(tenant) => Some(operator.tenant(tenant).await.context("--tenant")?),
        None => None,
    };
    let (mut out, filter) = (std::io::stdout(), AuditFilter::default());
    let mut page = Page { after: Uuid::nil(), limit: PAGE };
    loop {
        let records = audit::list_all(&operator.store, tenant.as_deref(), &filter, page).await;
        let records = records.map_err(shown)?;
        let Some(last) = records.records.last() else { break };
        page.after = last.id;
        for record in &records.records {
            writeln!(out, "{}", serde_json::to_string(record)?)?;
        }
    }
    operator.store.close().await;
    Ok(())
}
