//! Many tenants, each with an identity provider and a rule, as statements that fill a migrated database. Requests of as many
//! registrations would take minutes.

/// The database that is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TenantDatabase {
    Sqlite,
    Postgres,
}

/// Returns the statements that store `tenants` tenants, `t1` and on. The issuer of a tenant is `<base>/<tenant>`, its key
/// set is below it at `/keys`. Each has one rule: the role `doctor` may `read` `chart:read`.
pub fn statements(database: TenantDatabase, tenants: usize, base: &str) -> [String; 3] {
    let id = match database {
        TenantDatabase::Sqlite => "unhex(printf('%032x', n))",
        TenantDatabase::Postgres => "lpad(to_hex(n), 32, '0')::UUID",
    };
    let numbers = format!(
        "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {tenants})"
    );
    [
        format!(
            "{numbers} INSERT INTO tenants (id, revision, created_at, name, slug) \
             SELECT 't' || n, 1, 0, 'Tenant', 't' || n FROM numbers"
        ),
        format!(
            "{numbers} INSERT INTO identity_providers (tenant_id, id, issuer_url, jwks_uri, \
             roles_claim, domain_claim, admin_domain_claim, created_at) \
             SELECT 't' || n, {id}, '{base}/t' || n, '{base}/t' || n || '/keys', \
             'realm_access.roles', 'dom', 'adm', 0 FROM numbers"
        ),
        format!(
            "{numbers} INSERT INTO rbac_rules (tenant_id, id, sub, dom, obj, act, effect, origin, \
             created_by, created_at) SELECT 't' || n, {id}, 'doctor', '*', 'chart:read', 'read', \
             'allow', 'explicit', 'admin', 0 FROM numbers"
        ),
    ]
}
