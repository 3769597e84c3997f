-- The types that tenants declare.

CREATE TABLE types (
    tenant_id  TEXT NOT NULL REFERENCES tenants (id),
    name       TEXT NOT NULL,
    -- A JSON object: what a bundle says of the type beside its name.
    definition TEXT    NOT NULL,
    -- A JSON object of the definition's properties that are taken from one place alone, which each plan needs.
    sources    TEXT    NOT NULL,
    created_by TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    updated_by TEXT,
    updated_at INTEGER,
    -- The source that applies the type. Null for a type of the API.
    managed_by TEXT,
    PRIMARY KEY (tenant_id, name)
) STRICT;
