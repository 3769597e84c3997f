-- Bundles that tenants keep beside the content that decides.

CREATE TABLE drafts (
    tenant_id  TEXT    NOT NULL REFERENCES tenants (id),
    name       TEXT    NOT NULL,
    -- JSON.
    bundle     TEXT    NOT NULL,
    -- The domain of rules without a domain.
    domain     TEXT    NOT NULL,
    -- Checks are decided by the draft, too.
    shadow     INTEGER NOT NULL,
    created_by TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    updated_by TEXT,
    updated_at INTEGER,
    PRIMARY KEY (tenant_id, name)
) STRICT;
