-- Bundles that tenants keep beside the content that decides.

SELECT set_config('portcullis.tenant', '*', TRUE);

CREATE TABLE drafts (
    tenant_id  TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    name       TEXT COLLATE "C" NOT NULL,
    -- JSON.
    bundle     TEXT    NOT NULL,
    -- The domain of rules without a domain.
    domain     TEXT    NOT NULL,
    -- Checks are decided by the draft, too.
    shadow     BOOLEAN NOT NULL,
    created_by TEXT    NOT NULL,
    created_at BIGINT  NOT NULL,
    updated_by TEXT,
    updated_at BIGINT,
    PRIMARY KEY (tenant_id, name)
);

ALTER TABLE drafts ENABLE ROW LEVEL SECURITY;
ALTER TABLE drafts FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON drafts USING (portcullis_may_see(tenant_id));
