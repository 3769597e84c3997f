//! The size of the content of a tenant that is read whole.

use crate::transactions::error::StoreError;
use crate::transactions::macros::fetch_optional;
use crate::transactions::tx::Tx;

/// Returns the bytes of the texts of the tenant's resources, rules, policies and types. Deleted policies do not count.
pub async fn bytes(tx: &mut Tx) -> Result<i64, StoreError> {
    const RESOURCES: &str = "SELECT CAST(COALESCE(SUM(octet_length(name) + octet_length(default_roles)), 0) \
        AS BIGINT) FROM resources WHERE tenant_id = $1";
    const RULES: &str = "SELECT CAST(COALESCE(SUM(octet_length(sub) + octet_length(dom) \
        + octet_length(obj) + octet_length(act)), 0) AS BIGINT) FROM rbac_rules WHERE tenant_id = $1";
    const POLICIES: &str = "SELECT CAST(COALESCE(SUM(octet_length(name) + octet_length(rule_data)), 0) \
        AS BIGINT) FROM abac_policies WHERE tenant_id = $1 AND deleted_at IS NULL";
    const TYPES: &str = "SELECT CAST(COALESCE(SUM(octet_length(definition) + octet_length(relations)), 0) \
        AS BIGINT) FROM types WHERE tenant_id = $1";
    let mut sum = 0;
    for sql in [RESOURCES, RULES, POLICIES, TYPES] {
        sum += fetch_optional!(tx, (i64,), sql, &tx.tenant)?.map_or(0, |(bytes,)| bytes);
    }
    Ok(sum)
}
