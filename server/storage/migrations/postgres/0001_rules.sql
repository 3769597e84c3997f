-- Tenants, resources, RBAC rules and ABAC policies. Times are milliseconds since the Unix epoch, ids are
-- UUIDv7 (so that their order is the order of creation), and every key starts with the tenant.
--
-- Row-level security is a second wall behind the `WHERE tenant_id` of every statement: a transaction sees
-- the rows of the tenant that `portcullis.tenant` names; `*` is the service itself.

CREATE FUNCTION portcullis_may_see(tenant TEXT) RETURNS BOOLEAN LANGUAGE SQL STABLE
    RETURN current_setting('portcullis.tenant', TRUE) IN (tenant, '*');

CREATE TABLE tenants (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    -- Raised by one with every committed change of the tenant.
    revision   BIGINT NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE resources (
    tenant_id     TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    id            UUID   NOT NULL,
    name          TEXT COLLATE "C" NOT NULL,
    display_name  TEXT,
    service_name  TEXT,
    -- A JSON array of strings.
    default_roles TEXT   NOT NULL,
    created_at    BIGINT NOT NULL,
    updated_at    BIGINT,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, name)
);

CREATE TABLE rbac_rules (
    tenant_id  TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    id         UUID   NOT NULL,
    sub        TEXT COLLATE "C" NOT NULL,
    dom        TEXT COLLATE "C" NOT NULL,
    obj        TEXT COLLATE "C" NOT NULL,
    act        TEXT COLLATE "C" NOT NULL,
    effect     TEXT   NOT NULL CHECK (effect IN ('allow', 'deny')),
    origin     TEXT   NOT NULL CHECK (origin IN ('explicit', 'default_role')),
    created_by TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    updated_by TEXT,
    updated_at BIGINT,
    PRIMARY KEY (tenant_id, id)
);

-- A tuple has one rule; also the index by which a plan finds its rules. The texts are hashed, since four of
-- up to 256 characters can be longer than a B-tree entry may be.
CREATE UNIQUE INDEX rbac_rules_by_tuple ON rbac_rules (tenant_id, obj, md5(sub), md5(dom), md5(act));

CREATE TABLE abac_policies (
    tenant_id   TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    id          UUID    NOT NULL,
    name        TEXT    NOT NULL,
    description TEXT,
    resource    TEXT COLLATE "C" NOT NULL,
    effect      TEXT    NOT NULL CHECK (effect IN ('allow', 'deny')),
    format      TEXT    NOT NULL,
    -- Compact JSON.
    rule_data   TEXT    NOT NULL,
    priority    INTEGER NOT NULL,
    enabled     BOOLEAN NOT NULL,
    created_by  TEXT    NOT NULL,
    created_at  BIGINT  NOT NULL,
    updated_by  TEXT,
    updated_at  BIGINT,
    -- Set by a deletion: the record is retained, and no query but an audit sees it.
    deleted_at  BIGINT,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX abac_policies_by_resource ON abac_policies (tenant_id, resource) WHERE deleted_at IS NULL;

ALTER TABLE resources ENABLE ROW LEVEL SECURITY;
ALTER TABLE resources FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON resources USING (portcullis_may_see(tenant_id));
ALTER TABLE rbac_rules ENABLE ROW LEVEL SECURITY;
ALTER TABLE rbac_rules FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON rbac_rules USING (portcullis_may_see(tenant_id));
ALTER TABLE abac_policies ENABLE ROW LEVEL SECURITY;
ALTER TABLE abac_policies FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON abac_policies USING (portcullis_may_see(tenant_id));
