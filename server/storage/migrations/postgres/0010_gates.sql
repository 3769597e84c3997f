-- The gates of tenants: settings, cases, and proposals that wait for a second manager.

-- Whether the tenant's cases must pass, and whether a second manager must approve. Each write of the tenant reads them
-- with the lock of this row; `tenant_settings` has all settings.
ALTER TABLE tenants ADD COLUMN gate_cases BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE tenants ADD COLUMN gate_approval BOOLEAN NOT NULL DEFAULT FALSE;

CREATE TABLE tenant_settings (
    tenant_id  TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES tenants (id),
    -- JSON with every member.
    settings   TEXT   NOT NULL,
    updated_by TEXT   NOT NULL,
    updated_at BIGINT NOT NULL
);

CREATE TABLE tenant_cases (
    tenant_id  TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES tenants (id),
    -- Of checks without a domain, and of the users' tokens.
    domain     TEXT   NOT NULL,
    -- Canonical JSON arrays.
    cases      TEXT   NOT NULL,
    users      TEXT   NOT NULL,
    -- A JSON array of the names of cases that could not be decided when they were last judged.
    skipped    TEXT   NOT NULL,
    updated_by TEXT   NOT NULL,
    updated_at BIGINT NOT NULL
);

CREATE TABLE proposals (
    tenant_id   TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    id          UUID   NOT NULL,
    -- `open`, `approved` or `rejected`.
    state       TEXT   NOT NULL,
    owner       TEXT   NOT NULL,
    message     TEXT,
    -- The domain of what the request writes without one.
    domain      TEXT   NOT NULL,
    -- JSON, encrypted: the body of the apply; null once it is decided or expired.
    request     BYTEA,
    -- JSON: the changes that the proposer saw.
    plan        TEXT   NOT NULL,
    fingerprint TEXT   NOT NULL,
    proposed_by TEXT   NOT NULL,
    -- The creator of the service key that proposed it.
    key_creator TEXT,
    proposed_at BIGINT NOT NULL,
    expires_at  BIGINT NOT NULL,
    decided_by  TEXT,
    decided_at  BIGINT,
    PRIMARY KEY (tenant_id, id)
);

ALTER TABLE tenant_settings ENABLE ROW LEVEL SECURITY;
ALTER TABLE tenant_settings FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON tenant_settings USING (portcullis_may_see(tenant_id));
ALTER TABLE tenant_cases ENABLE ROW LEVEL SECURITY;
ALTER TABLE tenant_cases FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON tenant_cases USING (portcullis_may_see(tenant_id));
ALTER TABLE proposals ENABLE ROW LEVEL SECURITY;
ALTER TABLE proposals FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON proposals USING (portcullis_may_see(tenant_id));
