-- Attribute resolvers, and their modules.

-- Apart from the resolvers: it is read only to be loaded, and several resolvers may have the same.
CREATE TABLE resolver_modules (
    tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    -- Of the bytes, in hexadecimal.
    sha256    TEXT COLLATE "C" NOT NULL,
    bytes     BYTEA NOT NULL,
    PRIMARY KEY (tenant_id, sha256)
);

CREATE TABLE resolvers (
    tenant_id  TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    id         UUID    NOT NULL,
    namespace  TEXT COLLATE "C" NOT NULL,
    -- Raised by every update.
    version    BIGINT  NOT NULL,
    enabled    BOOLEAN NOT NULL,
    -- JSON, with the names of the secrets.
    manifest   TEXT    NOT NULL,
    -- JSON, encrypted; see crypto.rs.
    secrets    BYTEA   NOT NULL,
    -- JSON: what the module says of itself.
    module     TEXT    NOT NULL,
    sha256     TEXT COLLATE "C" NOT NULL,
    created_by TEXT    NOT NULL,
    created_at BIGINT  NOT NULL,
    updated_by TEXT,
    updated_at BIGINT,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, namespace),
    FOREIGN KEY (tenant_id, sha256) REFERENCES resolver_modules (tenant_id, sha256)
);

CREATE INDEX resolvers_by_module ON resolvers (tenant_id, sha256);

ALTER TABLE resolver_modules ENABLE ROW LEVEL SECURITY;
ALTER TABLE resolver_modules FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON resolver_modules USING (portcullis_may_see(tenant_id));
ALTER TABLE resolvers ENABLE ROW LEVEL SECURITY;
ALTER TABLE resolvers FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON resolvers USING (portcullis_may_see(tenant_id));
