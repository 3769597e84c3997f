-- What the service around the rules needs: names of tenants, identity providers, service keys, webhooks.

-- Null for a tenant of `selfhost` mode, which is nothing but its domain.
ALTER TABLE tenants ADD COLUMN name TEXT;
ALTER TABLE tenants ADD COLUMN slug TEXT;
CREATE UNIQUE INDEX tenants_by_slug ON tenants (slug);

CREATE TABLE identity_providers (
    tenant_id          TEXT    NOT NULL REFERENCES tenants (id),
    id                 BLOB    NOT NULL,
    -- Unique over all tenants: a token's `iss` decides its tenant.
    issuer_url         TEXT    NOT NULL UNIQUE,
    jwks_uri           TEXT    NOT NULL,
    audience           TEXT,
    roles_claim        TEXT    NOT NULL,
    domain_claim       TEXT    NOT NULL,
    admin_domain_claim TEXT    NOT NULL,
    created_at         INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE service_keys (
    tenant_id    TEXT    NOT NULL REFERENCES tenants (id),
    id           BLOB    NOT NULL UNIQUE,
    name         TEXT    NOT NULL,
    description  TEXT,
    -- SHA-256 of the secret part.
    secret_hash  BLOB    NOT NULL,
    -- A JSON array of strings.
    permissions  TEXT    NOT NULL,
    created_by   TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,
    -- Written lazily: at most a minute behind.
    last_used_at INTEGER,
    PRIMARY KEY (tenant_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE webhooks (
    tenant_id  TEXT    NOT NULL REFERENCES tenants (id),
    id         BLOB    NOT NULL,
    url        TEXT    NOT NULL,
    -- A JSON array of strings.
    events     TEXT    NOT NULL,
    -- Encrypted; see crypto.rs.
    secret     BLOB    NOT NULL,
    created_by TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER,
    PRIMARY KEY (tenant_id, id)
) STRICT, WITHOUT ROWID;
