-- The entity directory, and roles that include roles.

SELECT set_config('portcullis.tenant', '*', TRUE);

-- Raised by one with every committed change of the tenant's entities, so that they do not touch the rules' revision.
ALTER TABLE tenants ADD COLUMN entities_revision BIGINT NOT NULL DEFAULT 0;
-- Random ids of the last commits that changed entities, the newest first, as `history` has those of the rules.
ALTER TABLE tenants ADD COLUMN entities_history TEXT NOT NULL DEFAULT '';
-- The deletions of entities up to this revision have left no row.
ALTER TABLE tenants ADD COLUMN entities_forgotten BIGINT NOT NULL DEFAULT 0;
ALTER TABLE tenants ADD COLUMN used_entities BIGINT NOT NULL DEFAULT 0;
-- Whether an attribute of the directory goes before one of the request. `tenant_settings` has all settings.
ALTER TABLE tenants ADD COLUMN directory_wins BOOLEAN NOT NULL DEFAULT FALSE;

CREATE TABLE entities (
    tenant_id    TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    type         TEXT COLLATE "C" NOT NULL,
    id           TEXT COLLATE "C" NOT NULL,
    -- A JSON array of strings.
    roles        TEXT    NOT NULL,
    -- A JSON object of arrays of strings.
    domain_roles TEXT    NOT NULL,
    -- A JSON object.
    properties   TEXT    NOT NULL,
    -- The job that wrote the entity last.
    source       TEXT COLLATE "C",
    -- The last sync that named the entity.
    sync         UUID,
    -- The revision of the entities that changed the entity last.
    revision     BIGINT  NOT NULL,
    updated_at   BIGINT  NOT NULL,
    -- A deleted entity keeps its row for a while, so that a replica learns of the deletion.
    is_deleted   BOOLEAN NOT NULL,
    PRIMARY KEY (tenant_id, type, id)
);

CREATE INDEX entities_by_revision ON entities (tenant_id, revision);
CREATE INDEX deleted_entities ON entities (tenant_id, revision) WHERE is_deleted;
CREATE INDEX entities_by_source ON entities (tenant_id, source, type, id) WHERE source IS NOT NULL;

-- The names of roles that entities have, and how many have each.
CREATE TABLE entity_roles (
    tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    name      TEXT COLLATE "C" NOT NULL,
    holders   BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, name)
);

-- The full sync of each source that goes on.
CREATE TABLE entity_syncs (
    tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    source    TEXT COLLATE "C" NOT NULL,
    id        UUID   NOT NULL,
    begun_at  BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, source)
);

CREATE TABLE roles (
    tenant_id  TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    name       TEXT COLLATE "C" NOT NULL,
    -- A JSON array of the names of roles.
    includes   TEXT   NOT NULL,
    created_by TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    updated_by TEXT,
    updated_at BIGINT,
    PRIMARY KEY (tenant_id, name)
);

ALTER TABLE entities ENABLE ROW LEVEL SECURITY;
ALTER TABLE entities FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON entities USING (portcullis_may_see(tenant_id));
ALTER TABLE entity_roles ENABLE ROW LEVEL SECURITY;
ALTER TABLE entity_roles FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON entity_roles USING (portcullis_may_see(tenant_id));
ALTER TABLE entity_syncs ENABLE ROW LEVEL SECURITY;
ALTER TABLE entity_syncs FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON entity_syncs USING (portcullis_may_see(tenant_id));
ALTER TABLE roles ENABLE ROW LEVEL SECURITY;
ALTER TABLE roles FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON roles USING (portcullis_may_see(tenant_id));
