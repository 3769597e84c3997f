-- Sessions of the console, links that begin one, and the clients by which people sign in.

SELECT set_config('portcullis.tenant', '*', TRUE);

-- JSON.
ALTER TABLE identity_providers ADD COLUMN sign_in TEXT;
-- Encrypted.
ALTER TABLE identity_providers ADD COLUMN client_secret BYTEA;

CREATE TABLE console_sessions (
    tenant_id        TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    id               UUID NOT NULL,
    -- The SHA-256 of the cookie's value.
    hash             BYTEA NOT NULL,
    subject          TEXT COLLATE "C" NOT NULL,
    provider_id      UUID,
    issuer           TEXT COLLATE "C",
    -- The claims `sub` and `sid` of the ID token.
    login_subject    TEXT COLLATE "C",
    login_session    TEXT COLLATE "C",
    -- Encrypted: the tokens, and the identity that they prove.
    tokens           BYTEA NOT NULL,
    created_at       BIGINT NOT NULL,
    used_at          BIGINT NOT NULL,
    ends_at          BIGINT NOT NULL,
    token_ends_at    BIGINT,
    -- One process refreshes the tokens until then.
    refreshing_until BIGINT,
    PRIMARY KEY (tenant_id, id)
);

CREATE UNIQUE INDEX console_sessions_by_hash ON console_sessions (hash);
CREATE INDEX console_sessions_by_subject ON console_sessions (tenant_id, subject, id);
CREATE INDEX console_sessions_by_end ON console_sessions (ends_at);
CREATE INDEX console_sessions_by_login ON console_sessions (issuer, login_subject);
CREATE INDEX console_sessions_by_login_session ON console_sessions (issuer, login_session);

CREATE TABLE console_links (
    tenant_id  TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    id         UUID NOT NULL,
    -- The SHA-256 of the secret in the link.
    hash       BYTEA NOT NULL,
    subject    TEXT COLLATE "C" NOT NULL,
    -- A JSON array.
    roles      TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE UNIQUE INDEX console_links_by_hash ON console_links (hash);
CREATE INDEX console_links_by_end ON console_links (expires_at);

ALTER TABLE console_sessions ENABLE ROW LEVEL SECURITY;
ALTER TABLE console_sessions FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON console_sessions USING (portcullis_may_see(tenant_id));
ALTER TABLE console_links ENABLE ROW LEVEL SECURITY;
ALTER TABLE console_links FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON console_links USING (portcullis_may_see(tenant_id));

-- A change of a provider is a change of access.
CREATE TRIGGER identity_providers_note_changed AFTER UPDATE OF jwks_uri, audience, roles_claim, domain_claim,
    admin_domain_claim, roles_format, sign_in ON identity_providers
    FOR EACH ROW EXECUTE FUNCTION portcullis_note_access();
