//! The table of identity providers.

use portcullis_model::Timestamp;
use portcullis_model::audit::AuditAction;
use portcullis_model::page::{Listed, Page};
use portcullis_model::provider::{ClaimConfig, ProviderRecord};
use uuid::Uuid;

use crate::transactions::error::StoreError;
use crate::transactions::json_list::{to_json, to_json_list};
use crate::transactions::macros::{
    execute, fetch_all, fetch_optional, record, records, select, stored,
};
use crate::transactions::paging::{Pages, fetch_page, pages};
use crate::transactions::tx::Tx;

stored! {
    ProviderRecord as Row of "identity_providers" {
        tenant_id, id, issuer_url, jwks_uri, audience,
        claim_config: ClaimConfig { roles_claim, domain_claim, admin_domain_claim, roles_format },
        sign_in, created_at,
    }
}

/// Finds the tenant's provider with this id.
pub async fn find(tx: &mut Tx, id: Uuid) -> Result<Option<ProviderRecord>, StoreError> {
    const SQL: &str = select!("FROM identity_providers WHERE tenant_id = $1 AND id = $2");
    record(fetch_optional!(tx, Row, SQL, &tx.tenant, id)?)
}

/// Lists a page of the tenant's providers, in order of creation.
pub async fn list(tx: &mut Tx, page: Page) -> Result<Listed<ProviderRecord>, StoreError> {
    const PAGES: Pages = pages!(
        [issuer_url, jwks_uri, audience, roles_claim, domain_claim, admin_domain_claim, sign_in],
        "FROM identity_providers WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3"
    );
    fetch_page!(tx, Row, page.limit, PAGES, &tx.tenant, page.after)
}

/// Finds the provider of `issuer` in any tenant. For a transaction that sees every tenant.
pub async fn find_anywhere(
    tx: &mut Tx,
    issuer: &str,
) -> Result<Option<ProviderRecord>, StoreError> {
    const SQL: &str = select!("FROM identity_providers WHERE issuer_url = $1");
    record(fetch_optional!(tx, Row, SQL, issuer)?)
}

/// Lists the providers of `tenants`. For a transaction that sees every tenant.
pub async fn for_tenants(
    tx: &mut Tx,
    tenants: &[impl AsRef<str>],
) -> Result<Vec<ProviderRecord>, StoreError> {
    const SQLITE: &str = select!(
        "FROM identity_providers \
        WHERE tenant_id IN (SELECT value FROM json_each($1))"
    );
    const POSTGRES: &str = select!(
        "FROM identity_providers \
        WHERE tenant_id = ANY (ARRAY(SELECT json_array_elements_text(CAST($1 AS JSON))))"
    );
    let sql = tx.either(SQLITE, POSTGRES);
    records(fetch_all!(tx, Row, sql, to_json_list(tenants))?)
}

/// Lists the issuers of all tenants that were used last, at most `most`. For a transaction that sees every tenant.
pub async fn used_last(tx: &mut Tx, most: i64) -> Result<Vec<String>, StoreError> {
    const SQL: &str = "SELECT issuer_url FROM identity_providers WHERE last_used_at IS NOT NULL \
        ORDER BY last_used_at DESC LIMIT $1";
    let rows = fetch_all!(tx, (String,), SQL, most)?;
    Ok(rows.into_iter().map(|(issuer,)| issuer).collect())
}

/// Notes that the providers of `ids`, of any tenant, were used at `at`. For a transaction that sees every tenant.
pub async fn note_uses(tx: &mut Tx, ids: &[Uuid], at: Timestamp) -> Result<(), StoreError> {
    // SQLite has ids as bytes, which JSON has as hexadecimal digits.
    const SQLITE: &str = "UPDATE identity_providers SET last_used_at = $2 \
        WHERE id IN (SELECT unhex(value) FROM json_each($1))";
    const POSTGRES: &str = "UPDATE identity_providers SET last_used_at = $2 \
        WHERE id = ANY (ARRAY(SELECT json_array_elements_text(CAST($1 AS JSON))::UUID))";
    let sql = tx.either(SQLITE, POSTGRES);
    let ids: Vec<_> = ids.iter().map(|id| id.simple().to_string()).collect();
    execute!(tx, sql, to_json_list(&ids), at.millis())?;
    Ok(())
}

/// Inserts a provider with the encrypted secret of its client. False if its issuer is registered already, in this tenant or
/// in another one.
pub async fn insert(
    tx: &mut Tx,
    provider: &ProviderRecord,
    secret: Option<&[u8]>,
) -> Result<bool, StoreError> {
    const SQL: &str = "INSERT INTO identity_providers (tenant_id, id, issuer_url, jwks_uri, \
        audience, roles_claim, domain_claim, admin_domain_claim, roles_format, created_at, sign_in, \
        client_secret) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) \
        ON CONFLICT DO NOTHING";
    let claims = &provider.claim_config;
    let inserted = execute!(
        tx,
        SQL,
        &tx.tenant,
        provider.id,
        &provider.issuer_url,
        &provider.jwks_uri,
        provider.audience.as_deref(),
        &claims.roles_claim,
        &claims.domain_claim,
        &claims.admin_domain_claim,
        claims.roles_format.into_str(),
        provider.created_at.millis(),
        provider.sign_in.as_ref().map(to_json),
        secret,
    )?;
    if inserted > 0 {
        tx.audit(AuditAction::ProviderRegistered, provider.id);
    }
    Ok(inserted > 0)
}

/// Stores the members of a provider that may change.
pub async fn update(tx: &mut Tx, provider: &ProviderRecord) -> Result<(), StoreError> {
    const SQL: &str = "UPDATE identity_providers SET jwks_uri = $3, audience = $4, \
        roles_claim = $5, domain_claim = $6, admin_domain_claim = $7, roles_format = $8, sign_in = $9 \
        WHERE tenant_id = $1 AND id = $2";
    let claims = &provider.claim_config;
    execute!(
        tx,
        SQL,
        &tx.tenant,
        provider.id,
        &provider.jwks_uri,
        provider.audience.as_deref(),
        &claims.roles_claim,
        &claims.domain_claim,
        &claims.admin_domain_claim,
        claims.roles_format.into_str(),
        provider.sign_in.as_ref().map(to_json),
    )?;
    tx.audit(AuditAction::ProviderUpdated, provider.id);
    Ok(())
}

/// Stores the encrypted secret of the client of a provider, or removes it.
pub async fn store_secret(tx: &mut Tx, id: Uuid, secret: Option<&[u8]>) -> Result<(), StoreError> {
    const SQL: &str =
        "UPDATE identity_providers SET client_secret = $3 WHERE tenant_id = $1 AND id = $2";
    execute!(tx, SQL, &tx.tenant, id, secret)?;
    Ok(())
}

/// Returns the encrypted secret of the client of a provider.
pub async fn secret(tx: &mut Tx, id: Uuid) -> Result<Option<Vec<u8>>, StoreError> {
    const SQL: &str = "SELECT client_secret FROM identity_providers \
        WHERE tenant_id = $1 AND id = $2 AND client_secret IS NOT NULL";
    Ok(fetch_optional!(tx, (Vec<u8>,), SQL, &tx.tenant, id)?.map(|(secret,)| secret))
}

/// Deletes the provider with this id. False if it does not exist.
pub async fn delete(tx: &mut Tx, id: Uuid) -> Result<bool, StoreError> {
    const SQL: &str = "DELETE FROM identity_providers WHERE tenant_id = $1 AND id = $2";
    let deleted = execute!(tx, SQL, &tx.tenant, id)? > 0;
    if deleted {
        tx.audit(AuditAction::ProviderRemoved, id);
    }
    Ok(deleted)
}
