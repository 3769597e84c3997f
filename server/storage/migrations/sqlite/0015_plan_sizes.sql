-- The bytes of rules and policies on each resource or pattern, for the quota `plan_bytes`: every plan of the resource
-- loads them. A pattern without any has no row.

CREATE TABLE plan_sizes (
    tenant_id TEXT    NOT NULL REFERENCES tenants (id),
    pattern   TEXT    NOT NULL,
    -- The same parts as in `quotas.rs`. A deleted policy does not count.
    bytes     INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, pattern)
) STRICT, WITHOUT ROWID;

-- Finds the patterns on which there is nothing any more; their rows go in the same transaction.
CREATE INDEX plan_sizes_gone ON plan_sizes (tenant_id) WHERE bytes <= 0;

INSERT INTO plan_sizes (tenant_id, pattern, bytes)
    SELECT tenant_id, pattern, SUM(bytes) FROM (
        SELECT tenant_id, obj AS pattern, octet_length(sub) + octet_length(dom) + octet_length(obj)
            + octet_length(act) AS bytes FROM rbac_rules
        UNION ALL
        SELECT tenant_id, resource, octet_length(name) + octet_length(COALESCE(description, ''))
            + octet_length(resource) + octet_length(rule_data) FROM abac_policies WHERE deleted_at IS NULL
    ) AS texts GROUP BY tenant_id, pattern;
