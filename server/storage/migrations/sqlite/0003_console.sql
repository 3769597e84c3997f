-- Sessions of the console, links that begin one, and the clients by which people sign in.

-- JSON.
ALTER TABLE identity_providers ADD COLUMN sign_in TEXT;
-- Encrypted.
ALTER TABLE identity_providers ADD COLUMN client_secret BLOB;

CREATE TABLE console_sessions (
    tenant_id        TEXT NOT NULL REFERENCES tenants (id),
    id               BLOB NOT NULL,
    -- The SHA-256 of the cookie's value.
    hash             BLOB NOT NULL,
    subject          TEXT NOT NULL,
    provider_id      BLOB,
    issuer           TEXT,
    -- The claims `sub` and `sid` of the ID token.
    login_subject    TEXT,
    login_session    TEXT,
    -- Encrypted: the tokens, and the identity that they prove.
    tokens           BLOB NOT NULL,
    created_at       INTEGER NOT NULL,
    used_at          INTEGER NOT NULL,
    ends_at          INTEGER NOT NULL,
    token_ends_at    INTEGER,
    -- One process refreshes the tokens until then.
    refreshing_until INTEGER,
    PRIMARY KEY (tenant_id, id)
) STRICT;

CREATE UNIQUE INDEX console_sessions_by_hash ON console_sessions (hash);
CREATE INDEX console_sessions_by_subject ON console_sessions (tenant_id, subject, id);
CREATE INDEX console_sessions_by_end ON console_sessions (ends_at);
CREATE INDEX console_sessions_by_login ON console_sessions (issuer, login_subject);
CREATE INDEX console_sessions_by_login_session ON console_sessions (issuer, login_session);

CREATE TABLE console_links (
    tenant_id  TEXT NOT NULL REFERENCES tenants (id),
    id         BLOB NOT NULL,
    -- The SHA-256 of the secret in the link.
    hash       BLOB NOT NULL,
    subject    TEXT NOT NULL,
    -- A JSON array.
    roles      TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, id)
) STRICT;

CREATE UNIQUE INDEX console_links_by_hash ON console_links (hash);
CREATE INDEX console_links_by_end ON console_links (expires_at);

-- A change of a provider is a change of access.
CREATE TRIGGER identity_providers_note_changed AFTER UPDATE OF jwks_uri, audience, roles_claim, domain_claim,
    admin_domain_claim, roles_format, sign_in ON identity_providers
BEGIN
    UPDATE tenants SET changed = (SELECT max(changed) FROM tenants) + 1,
        access_changed = (SELECT max(changed) FROM tenants) + 1 WHERE id = NEW.tenant_id;
END;
