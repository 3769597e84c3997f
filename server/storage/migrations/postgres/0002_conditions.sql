-- The conditions that a tenant writes once and uses by name.

CREATE TABLE conditions (
    tenant_id  TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    name       TEXT COLLATE "C" NOT NULL,
    about      TEXT,
    -- The JSON of the member `when`: a string, or a tree.
    condition  TEXT   NOT NULL,
    created_by TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    updated_by TEXT,
    updated_at BIGINT,
    -- The source that applies the condition. Null for a condition of the API.
    managed_by TEXT COLLATE "C",
    PRIMARY KEY (tenant_id, name)
);

ALTER TABLE conditions ENABLE ROW LEVEL SECURITY;
ALTER TABLE conditions FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON conditions USING (portcullis_may_see(tenant_id));
