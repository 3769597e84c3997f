-- The types that tenants declare.

CREATE TABLE types (
    tenant_id  TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    name       TEXT COLLATE "C" NOT NULL,
    -- A JSON object: what a bundle says of the type beside its name.
    definition TEXT   NOT NULL,
    -- A JSON object of the definition's properties that are taken from one place alone, which each plan needs.
    sources    TEXT   NOT NULL,
    created_by TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    updated_by TEXT,
    updated_at BIGINT,
    -- The source that applies the type. Null for a type of the API.
    managed_by TEXT COLLATE "C",
    PRIMARY KEY (tenant_id, name)
);

ALTER TABLE types ENABLE ROW LEVEL SECURITY;
ALTER TABLE types FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON types USING (portcullis_may_see(tenant_id));
