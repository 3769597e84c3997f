//! Many tenants, each with an identity provider, rules and policies, as statements that fill a migrated database. Requests
//! of as many registrations would take minutes.

/// The database that is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TenantDatabase {
    Sqlite,
    Postgres,
}

/// The number of tenants, and what each has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TenantSizes {
    pub tenants: usize,
    /// The resources of a tenant, `object-0:read` and on. Its rules and policies are spread over them evenly.
    pub resources: usize,
    /// The rules of a tenant. Rule number n lets the role `role-<n / resources>` `read` a resource.
    pub rules: usize,
    /// The policies of a tenant. Each denies a department and a clearance, in some regions.
    pub policies: usize,
}

impl TenantSizes {
    /// 100,000 tenants of one rule.
    pub const MANY: Self = Self { tenants: 100_000, resources: 1, rules: 1, policies: 0 };
    /// 1,000 tenants with 1,000,000 rules and 100,000 policies.
    pub const LARGE: Self = Self { tenants: 1_000, resources: 100, rules: 1_000, policies: 100 };
    /// Two tenants of 10,000 rules.
    pub const COLD: Self = Self { tenants: 2, resources: 4_000, rules: 10_000, policies: 0 };
}

/// The condition of policy number `n`, around its number.
const CONDITION: [&str; 2] = [
    r#"{"type":"AND","children":[{"type":"CONDITION","attribute":"user.department","operator":"eq","value":"department-"#,
    r#""},{"type":"CONDITION","attribute":"user.clearance","operator":"gte","value":3},{"type":"CONDITION","attribute":"resource.region","operator":"in","value":["north","south","east","west","centre"]}]}"#,
];

/// Returns the statements that store tenants of these sizes, `t1` and on. The issuer of a tenant is `<base>/<tenant>`, its
/// key set is below it at `/keys`.
pub fn statements(database: TenantDatabase, sizes: TenantSizes, base: &str) -> Vec<String> {
    let TenantSizes { tenants, resources, rules, policies } = sizes;
    let id = |number: &str| match database {
        TenantDatabase::Sqlite => format!("unhex(printf('%032x', {number}))"),
        TenantDatabase::Postgres => format!("lpad(to_hex({number}), 32, '0')::UUID"),
    };
    let (provider, record) = (id("t.n"), id("t.n * 10000 + r.n"));
    let [before, after] = CONDITION;
    let mut all = vec![
        format!(
            "{} INSERT INTO tenants (id, revision, created_at, name, slug) \
             SELECT 't' || n, 1, 0, 'Tenant', 't' || n FROM t",
            numbers(tenants, 1)
        ),
        format!(
            "{} INSERT INTO identity_providers (tenant_id, id, issuer_url, jwks_uri, \
             roles_claim, domain_claim, admin_domain_claim, created_at) \
             SELECT 't' || n, {provider}, '{base}/t' || n, '{base}/t' || n || '/keys', \
             'realm_access.roles', 'dom', 'adm', 0 FROM t",
            numbers(tenants, 1)
        ),
        format!(
            "{} INSERT INTO rbac_rules (tenant_id, id, sub, dom, obj, act, effect, origin, \
             created_by, created_at) SELECT 't' || t.n, {record}, 'role-' || (r.n / {resources}), '*', \
             'object-' || (r.n % {resources}) || ':read', 'read', 'allow', 'explicit', 'admin', 0 \
             FROM t CROSS JOIN r",
            numbers(tenants, rules)
        ),
    ];
    // Without its policies, which only the quota needs.
    all.push(
        "INSERT INTO plan_sizes (tenant_id, pattern, bytes) \
         SELECT tenant_id, obj, sum(length(sub) + length(obj) + length(act)) FROM rbac_rules \
         GROUP BY tenant_id, obj"
            .to_owned(),
    );
    if policies > 0 {
        all.push(format!(
            "{} INSERT INTO abac_policies (tenant_id, id, name, resource, effect, format, \
             rule_data, priority, enabled, created_by, created_at) \
             SELECT 't' || t.n, {record}, 'policy-' || r.n, 'object-' || (r.n % {resources}) || ':read', \
             'deny', 'json', '{before}' || r.n || '{after}', r.n % 10, TRUE, 'admin', 0 \
             FROM t CROSS JOIN r",
            numbers(tenants, policies)
        ));
    }
    all
}

/// Returns the beginning of a statement that names the numbers of the tenants `t`, from 1, and of their records `r`, from
/// 0.
fn numbers(tenants: usize, records: usize) -> String {
    format!(
        "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < {tenants}), \
         r(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM r WHERE n < {records} - 1)"
    )
}
