//! `portcullis audit`: the audit records without a running service.

use std::io::Write;
use std::process::ExitCode;

use anyhow::Context;
use portcullis_config::Variables;
use portcullis_model::Timestamp;
use portcullis_model::audit::AuditFilter;
use portcullis_model::page::Page;
use portcullis_operations::audit;
use uuid::Uuid;

use crate::operator::OfflineOperator;

/// The most audit records that are read at a time.
const PAGE: i64 = 500;

/// The arguments of `portcullis audit`.
#[derive(Debug, clap::Args)]
pub struct AuditArguments {
    /// Only records of one tenant: its id, or in `saas` mode its slug.
    #[arg(long)]
    tenant: Option<String>,
    /// Only records from this instant on, such as `2026-05-16T09:30:00Z`.
    #[arg(long, value_name = "INSTANT", value_parser = instant)]
    since: Option<Timestamp>,
    /// Only records before this instant.
    #[arg(long, value_name = "INSTANT", value_parser = instant)]
    until: Option<Timestamp>,
    /// Only records of this actor.
    #[arg(long)]
    actor: Option<String>,
    /// Only records about the record with this id, or about the role or entity of this name.
    #[arg(long)]
    record: Option<String>,
    /// The maximum number to print.
    #[arg(long, value_name = "NUMBER")]
    limit: Option<u32>,
}

fn instant(text: &str) -> Result<Timestamp, &'static str> {
    Timestamp::parse(text).ok_or("expected an RFC 3339 instant, such as `2026-05-16T09:30:00Z`")
}

/// Prints the audit records that the arguments select, newest first, each as a line of JSON. The exit code is 1 if the limit
/// left some out.
///
/// # Errors
/// The database cannot be read, or there is no such tenant.
pub async fn list(variables: &Variables, arguments: &AuditArguments) -> anyhow::Result<ExitCode> {
    let operator = OfflineOperator::open(variables).await?;
    let tenant = match arguments.tenant.as_deref() {
        Some(tenant) => Some(operator.tenant(tenant).await.context("--tenant")?),
        None => None,
    };
    let filter = AuditFilter {
        action: None,
        actor: arguments.actor.clone(),
        record: arguments.record.clone(),
        from: arguments.since,
        to: arguments.until,
    };
    let mut out = std::io::stdout();
    let mut left = arguments.limit.map_or(i64::MAX, i64::from);
    let mut page = Page { after: Uuid::nil(), limit: PAGE.min(left) };
    let mut has_more = true;
    while has_more && page.limit > 0 {
        let records = audit::list_all(&operator.store, tenant.as_deref(), &filter, page).await;
        let records = records?;
        has_more = records.more;
        page.after = records.records.last().map_or(page.after, |last| last.id);
        for record in &records.records {
            writeln!(out, "{}", serde_json::to_string(record)?)?;
        }
        left -= i64::try_from(records.records.len()).unwrap_or(i64::MAX);
        page.limit = PAGE.min(left);
    }
    operator.store.close().await;
    Ok(if has_more { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
