-- Tenants, resources, RBAC rules and ABAC policies. Times are milliseconds since the Unix epoch, ids are
-- UUIDv7 (so that their order is the order of creation), and every key starts with the tenant.

CREATE TABLE tenants (
    id         TEXT    NOT NULL PRIMARY KEY,
    -- Raised by one with every committed change of the tenant.
    revision   INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE resources (
    tenant_id     TEXT    NOT NULL REFERENCES tenants (id),
    id            BLOB    NOT NULL,
    name          TEXT    NOT NULL,
    display_name  TEXT,
    service_name  TEXT,
    -- A JSON array of strings.
    default_roles TEXT    NOT NULL,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE rbac_rules (
    tenant_id  TEXT    NOT NULL REFERENCES tenants (id),
    id         BLOB    NOT NULL,
    sub        TEXT    NOT NULL,
    dom        TEXT    NOT NULL,
    obj        TEXT    NOT NULL,
    act        TEXT    NOT NULL,
    effect     TEXT    NOT NULL CHECK (effect IN ('allow', 'deny')),
    origin     TEXT    NOT NULL CHECK (origin IN ('explicit', 'default_role')),
    created_by TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    updated_by TEXT,
    updated_at INTEGER,
    PRIMARY KEY (tenant_id, id),
    -- Also the index by which a plan finds its rules.
    UNIQUE (tenant_id, obj, sub, dom, act)
) STRICT, WITHOUT ROWID;

CREATE TABLE abac_policies (
    tenant_id   TEXT    NOT NULL REFERENCES tenants (id),
    id          BLOB    NOT NULL,
    name        TEXT    NOT NULL,
    description TEXT,
    resource    TEXT    NOT NULL,
    effect      TEXT    NOT NULL CHECK (effect IN ('allow', 'deny')),
    format      TEXT    NOT NULL,
    -- Compact JSON.
    rule_data   TEXT    NOT NULL,
    priority    INTEGER NOT NULL,
    enabled     INTEGER NOT NULL,
    created_by  TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    updated_by  TEXT,
    updated_at  INTEGER,
    -- Set by a deletion: the record is retained, and no query but an audit sees it.
    deleted_at  INTEGER,
    PRIMARY KEY (tenant_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX abac_policies_by_resource ON abac_policies (tenant_id, resource) WHERE deleted_at IS NULL;
