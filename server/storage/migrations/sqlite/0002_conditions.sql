-- The conditions that a tenant writes once and uses by name.

CREATE TABLE conditions (
    tenant_id  TEXT NOT NULL REFERENCES tenants (id),
    name       TEXT NOT NULL,
    about      TEXT,
    -- The JSON of the member `when`: a string, or a tree.
    condition  TEXT   NOT NULL,
    created_by TEXT   NOT NULL,
    created_at INTEGER NOT NULL,
    updated_by TEXT,
    updated_at INTEGER,
    -- The source that applies the condition. Null for a condition of the API.
    managed_by TEXT,
    PRIMARY KEY (tenant_id, name)
) STRICT;
