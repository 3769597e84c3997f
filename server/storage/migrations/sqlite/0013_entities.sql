-- The entity directory, and roles that include roles.

-- Raised by one with every committed change of the tenant's entities, so that they do not touch the rules' revision.
ALTER TABLE tenants ADD COLUMN entities_revision INTEGER NOT NULL DEFAULT 0;
-- Random ids of the last commits that changed entities, the newest first, as `history` has those of the rules.
ALTER TABLE tenants ADD COLUMN entities_history TEXT NOT NULL DEFAULT '';
-- The deletions of entities up to this revision have left no row.
ALTER TABLE tenants ADD COLUMN entities_forgotten INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tenants ADD COLUMN used_entities INTEGER NOT NULL DEFAULT 0;
-- Whether an attribute of the directory goes before one of the request. `tenant_settings` has all settings.
ALTER TABLE tenants ADD COLUMN directory_wins INTEGER NOT NULL DEFAULT 0;

CREATE TABLE entities (
    tenant_id    TEXT NOT NULL REFERENCES tenants (id),
    type         TEXT NOT NULL,
    id           TEXT NOT NULL,
    -- A JSON array of strings.
    roles        TEXT    NOT NULL,
    -- A JSON object of arrays of strings.
    domain_roles TEXT    NOT NULL,
    -- A JSON object.
    properties   TEXT    NOT NULL,
    -- The job that wrote the entity last.
    source       TEXT,
    -- The last sync that named the entity.
    sync         BLOB,
    -- The revision of the entities that changed the entity last.
    revision     INTEGER  NOT NULL,
    updated_at   INTEGER  NOT NULL,
    -- A deleted entity keeps its row for a while, so that a replica learns of the deletion.
    is_deleted   INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, type, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX entities_by_revision ON entities (tenant_id, revision);
CREATE INDEX deleted_entities ON entities (tenant_id, revision) WHERE is_deleted;
CREATE INDEX entities_by_source ON entities (tenant_id, source, type, id) WHERE source IS NOT NULL;

-- The names of roles that entities have, and how many have each.
CREATE TABLE entity_roles (
    tenant_id TEXT NOT NULL REFERENCES tenants (id),
    name      TEXT NOT NULL,
    holders   INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, name)
) STRICT;

-- The full sync of each source that goes on.
CREATE TABLE entity_syncs (
    tenant_id TEXT NOT NULL REFERENCES tenants (id),
    source    TEXT NOT NULL,
    id        BLOB   NOT NULL,
    begun_at  INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, source)
) STRICT;

CREATE TABLE roles (
    tenant_id  TEXT NOT NULL REFERENCES tenants (id),
    name       TEXT NOT NULL,
    -- A JSON array of the names of roles.
    includes   TEXT   NOT NULL,
    created_by TEXT   NOT NULL,
    created_at INTEGER NOT NULL,
    updated_by TEXT,
    updated_at INTEGER,
    PRIMARY KEY (tenant_id, name)
) STRICT;
