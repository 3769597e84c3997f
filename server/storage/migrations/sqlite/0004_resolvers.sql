-- Attribute resolvers, and their modules.

-- Apart from the resolvers: it is read only to be loaded, and several resolvers may have the same.
CREATE TABLE resolver_modules (
    tenant_id TEXT NOT NULL REFERENCES tenants (id),
    -- Of the bytes, in hexadecimal.
    sha256    TEXT NOT NULL,
    bytes     BLOB NOT NULL,
    PRIMARY KEY (tenant_id, sha256)
) STRICT;

CREATE TABLE resolvers (
    tenant_id  TEXT    NOT NULL REFERENCES tenants (id),
    id         BLOB    NOT NULL,
    namespace  TEXT    NOT NULL,
    -- Raised by every update.
    version    INTEGER NOT NULL,
    enabled    INTEGER NOT NULL,
    -- JSON, with the names of the secrets.
    manifest   TEXT    NOT NULL,
    -- JSON, encrypted; see crypto.rs.
    secrets    BLOB    NOT NULL,
    -- JSON: what the module says of itself.
    module     TEXT    NOT NULL,
    sha256     TEXT    NOT NULL,
    created_by TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    updated_by TEXT,
    updated_at INTEGER,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, namespace),
    FOREIGN KEY (tenant_id, sha256) REFERENCES resolver_modules (tenant_id, sha256)
) STRICT;

CREATE INDEX resolvers_by_module ON resolvers (tenant_id, sha256);
