-- The gates of tenants: settings, cases, and proposals that wait for a second manager.

-- Whether the tenant's cases must pass, and whether a second manager must approve. Each write of the tenant reads them
-- with the lock of this row; `tenant_settings` has all settings.
ALTER TABLE tenants ADD COLUMN gate_cases INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tenants ADD COLUMN gate_approval INTEGER NOT NULL DEFAULT 0;

CREATE TABLE tenant_settings (
    tenant_id  TEXT NOT NULL PRIMARY KEY REFERENCES tenants (id),
    -- JSON with every member.
    settings   TEXT   NOT NULL,
    updated_by TEXT   NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE tenant_cases (
    tenant_id  TEXT NOT NULL PRIMARY KEY REFERENCES tenants (id),
    -- Of checks without a domain, and of the users' tokens.
    domain     TEXT   NOT NULL,
    -- Canonical JSON arrays.
    cases      TEXT   NOT NULL,
    users      TEXT   NOT NULL,
    -- A JSON array of the names of cases that could not be decided when they were last judged.
    skipped    TEXT   NOT NULL,
    updated_by TEXT   NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE proposals (
    tenant_id   TEXT NOT NULL REFERENCES tenants (id),
    id          BLOB   NOT NULL,
    -- `open`, `approved` or `rejected`.
    state       TEXT   NOT NULL,
    owner       TEXT   NOT NULL,
    message     TEXT,
    -- The domain of what the request writes without one.
    domain      TEXT   NOT NULL,
    -- JSON, encrypted: the body of the apply; null once it is decided or expired.
    request     BLOB,
    -- JSON: the changes that the proposer saw.
    plan        TEXT   NOT NULL,
    fingerprint TEXT   NOT NULL,
    proposed_by TEXT   NOT NULL,
    -- The creator of the service key that proposed it.
    key_creator TEXT,
    proposed_at INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL,
    decided_by  TEXT,
    decided_at  INTEGER,
    PRIMARY KEY (tenant_id, id)
) STRICT;
