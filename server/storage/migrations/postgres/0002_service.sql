-- What the service around the rules needs: names of tenants, identity providers, service keys, webhooks.

-- Null for a tenant of `selfhost` mode, which is nothing but its domain.
ALTER TABLE tenants ADD COLUMN name TEXT;
ALTER TABLE tenants ADD COLUMN slug TEXT COLLATE "C";
CREATE UNIQUE INDEX tenants_by_slug ON tenants (slug);

CREATE TABLE identity_providers (
    tenant_id          TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    id                 UUID   NOT NULL,
    -- Unique over all tenants: a token's `iss` decides its tenant.
    issuer_url         TEXT COLLATE "C" NOT NULL UNIQUE,
    jwks_uri           TEXT   NOT NULL,
    audience           TEXT,
    roles_claim        TEXT   NOT NULL,
    domain_claim       TEXT   NOT NULL,
    admin_domain_claim TEXT   NOT NULL,
    created_at         BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE TABLE service_keys (
    tenant_id    TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    id           UUID   NOT NULL UNIQUE,
    name         TEXT   NOT NULL,
    description  TEXT,
    -- SHA-256 of the secret part.
    secret_hash  BYTEA  NOT NULL,
    -- A JSON array of strings.
    permissions  TEXT   NOT NULL,
    created_by   TEXT   NOT NULL,
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT,
    -- Written lazily: at most a minute behind.
    last_used_at BIGINT,
    PRIMARY KEY (tenant_id, id)
);

CREATE TABLE webhooks (
    tenant_id  TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    id         UUID   NOT NULL,
    url        TEXT   NOT NULL,
    -- A JSON array of strings.
    events     TEXT   NOT NULL,
    -- Encrypted; see crypto.rs.
    secret     BYTEA  NOT NULL,
    created_by TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT,
    PRIMARY KEY (tenant_id, id)
);

ALTER TABLE identity_providers ENABLE ROW LEVEL SECURITY;
ALTER TABLE identity_providers FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON identity_providers USING (portcullis_may_see(tenant_id));
ALTER TABLE service_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE service_keys FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON service_keys USING (portcullis_may_see(tenant_id));
ALTER TABLE webhooks ENABLE ROW LEVEL SECURITY;
ALTER TABLE webhooks FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON webhooks USING (portcullis_may_see(tenant_id));
