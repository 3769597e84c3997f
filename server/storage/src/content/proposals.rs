//! The table of proposals: applies that wait for a second manager.

use portcullis_model::Timestamp;
use portcullis_model::audit::AuditAction;
use portcullis_model::page::{Listed, Page};
use portcullis_model::proposal::{ProposalRecord, ProposalState};
use portcullis_model::quota::Quota;
use uuid::Uuid;

use crate::transactions::column_values::number;
use crate::transactions::error::StoreError;
use crate::transactions::macros::{execute, fetch_all, fetch_optional, record, select, stored};
use crate::transactions::paging::{Pages, fetch_page, pages};
use crate::transactions::tx::Tx;

stored! {
    ProposalRecord as Row of "proposals" {
        tenant_id, id, state, owner, message, plan, fingerprint, proposed_by, key_creator,
        proposed_at, expires_at, decided_by, decided_at,
    }
}

/// The body of an apply, and the domain of what it writes without one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProposedRequest {
    pub domain: String,
    /// Encrypted, because it may hold secrets.
    pub body: Vec<u8>,
}

/// The size of the open proposals of a tenant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenProposals {
    pub count: i64,
    /// The bytes of their requests.
    pub bytes: i64,
}

/// Finds the proposal with this id.
pub async fn find(tx: &mut Tx, id: Uuid) -> Result<Option<ProposalRecord>, StoreError> {
    const SQL: &str = select!("FROM proposals WHERE tenant_id = $1 AND id = $2");
    record(fetch_optional!(tx, Row, SQL, &tx.tenant, id)?)
}

/// Lists a page of the proposals, in order of creation.
pub async fn list(tx: &mut Tx, page: Page) -> Result<Listed<ProposalRecord>, StoreError> {
    const PAGES: Pages = pages!(
        [plan, message],
        "FROM proposals WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3"
    );
    fetch_page!(tx, Row, page.limit, PAGES, &tx.tenant, page.after)
}

/// Returns the request of a proposal; `None` if it is decided or expired.
pub async fn request(tx: &mut Tx, id: Uuid) -> Result<Option<ProposedRequest>, StoreError> {
    const SQL: &str = "SELECT domain, request FROM proposals \
        WHERE tenant_id = $1 AND id = $2 AND request IS NOT NULL";
    let row = fetch_optional!(tx, (String, Vec<u8>), SQL, &tx.tenant, id)?;
    Ok(row.map(|(domain, body)| ProposedRequest { domain, body }))
}

/// Returns what the open proposals take.
pub async fn open(tx: &mut Tx) -> Result<OpenProposals, StoreError> {
    const SQL: &str = "SELECT COUNT(*), CAST(COALESCE(SUM(octet_length(request)), 0) AS BIGINT) \
        FROM proposals WHERE tenant_id = $1 AND request IS NOT NULL";
    let row = fetch_optional!(tx, (i64, i64), SQL, &tx.tenant)?;
    let (count, bytes) = row.unwrap_or_default();
    Ok(OpenProposals { count, bytes })
}

/// Inserts an open proposal with its request.
pub async fn insert(
    tx: &mut Tx,
    proposal: &ProposalRecord,
    request: &ProposedRequest,
) -> Result<(), StoreError> {
    const SQL: &str = "INSERT INTO proposals (tenant_id, id, state, owner, message, domain, \
        request, plan, fingerprint, proposed_by, key_creator, proposed_at, expires_at) \
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";
    let plan = proposal.plan.to_string();
    execute!(
        tx,
        SQL,
        &tx.tenant,
        proposal.id,
        proposal.state.into_str(),
        &proposal.owner,
        proposal.message.as_deref(),
        &request.domain,
        &request.body,
        &plan,
        &proposal.fingerprint,
        &proposal.proposed_by,
        proposal.key_creator.as_deref(),
        proposal.proposed_at.millis(),
        proposal.expires_at.millis(),
    )?;
    tx.count(Quota::StoredBytes, number(request.body.len()) + number(plan.len()));
    tx.audit(AuditAction::ProposalCreated, proposal.id);
    Ok(())
}

/// Stores the decision on an open proposal, and drops its request.
pub async fn decide(tx: &mut Tx, proposal: &ProposalRecord) -> Result<(), StoreError> {
    const SQL: &str = "UPDATE proposals SET state = $3, decided_by = $4, decided_at = $5, \
        request = NULL WHERE tenant_id = $1 AND id = $2";
    let bytes = request(tx, proposal.id).await?.map_or(0, |request| number(request.body.len()));
    execute!(
        tx,
        SQL,
        &tx.tenant,
        proposal.id,
        proposal.state.into_str(),
        proposal.decided_by.as_deref(),
        proposal.decided_at.map(Timestamp::millis),
    )?;
    tx.count(Quota::StoredBytes, -bytes);
    let action = match proposal.state {
        ProposalState::Approved => AuditAction::ProposalApproved,
        _ => AuditAction::ProposalRejected,
    };
    tx.audit(action, proposal.id);
    Ok(())
}

/// Drops the requests of the proposals that expired by `now`, and deletes all but the `newest` ones of those that wait for
/// nobody.
pub async fn prune(tx: &mut Tx, now: Timestamp, newest: i64) -> Result<(), StoreError> {
    const EXPIRED: &str = "UPDATE proposals SET request = NULL \
        WHERE tenant_id = $1 AND expires_at <= $2 AND request IS NOT NULL";
    // SQLite takes an `OFFSET` after a `LIMIT` only.
    const OLD: &str = "DELETE FROM proposals WHERE tenant_id = $1 AND request IS NULL AND id IN \
        (SELECT id FROM proposals WHERE tenant_id = $1 AND request IS NULL ORDER BY id DESC \
        LIMIT 10000 OFFSET $2)";
    let before = stored_bytes(tx).await?;
    execute!(tx, EXPIRED, &tx.tenant, now.millis())?;
    execute!(tx, OLD, &tx.tenant, newest)?;
    let after = stored_bytes(tx).await?;
    tx.count(Quota::StoredBytes, after - before);
    Ok(())
}

async fn stored_bytes(tx: &mut Tx) -> Result<i64, StoreError> {
    const SQL: &str = "SELECT CAST(COALESCE(octet_length(request), 0) + octet_length(plan) \
        AS BIGINT) FROM proposals WHERE tenant_id = $1";
    let rows = fetch_all!(tx, (i64,), SQL, &tx.tenant)?;
    Ok(rows.into_iter().map(|(bytes,)| bytes).sum())
}

#[cfg(test)]
mod tests;
