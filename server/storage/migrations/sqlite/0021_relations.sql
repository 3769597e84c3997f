-- Relations of types, and the tuples that are stored in them.

-- A JSON object: the relations of the type by name, each a list of its number and its definition. Tuples name relations by
-- number, so that a rename changes none.
ALTER TABLE types ADD COLUMN relations TEXT NOT NULL DEFAULT '{}';

-- The number that a relation of the tenant got last.
ALTER TABLE tenants ADD COLUMN last_relation INTEGER NOT NULL DEFAULT 0;
-- The deletions of tuples up to this revision of the entities have left no row.
ALTER TABLE tenants ADD COLUMN relations_forgotten INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tenants ADD COLUMN used_relations INTEGER NOT NULL DEFAULT 0;

CREATE TABLE relations (
    tenant_id        TEXT NOT NULL REFERENCES tenants (id),
    object_type      TEXT NOT NULL,
    object_id        TEXT NOT NULL,
    -- The number of the relation.
    relation         INTEGER NOT NULL,
    subject_type     TEXT NOT NULL,
    -- `*` is everybody of the type.
    subject_id       TEXT NOT NULL,
    -- The number of the relation of all who are meant; 0 for the subject itself.
    subject_relation INTEGER NOT NULL,
    expires_at       INTEGER,
    -- The job that wrote the tuple last.
    source           TEXT,
    -- The last sync that named the tuple.
    sync             BLOB,
    -- The revision of the entities that changed the tuple last.
    revision         INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL,
    -- A deleted tuple keeps its row for a while, so that a replica learns of the deletion.
    is_deleted       INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, object_type, object_id, relation, subject_type, subject_id, subject_relation)
) STRICT;

CREATE INDEX relations_by_subject ON relations (tenant_id, subject_type, subject_id);
CREATE INDEX relations_by_revision ON relations (tenant_id, revision);
CREATE INDEX deleted_relations ON relations (tenant_id, revision) WHERE is_deleted;
CREATE INDEX relations_by_source ON relations (tenant_id, source, sync) WHERE source IS NOT NULL;

-- The full sync of the tuples of each source that goes on.
CREATE TABLE relation_syncs (
    tenant_id TEXT NOT NULL REFERENCES tenants (id),
    source    TEXT NOT NULL,
    id        BLOB   NOT NULL,
    begun_at  INTEGER NOT NULL,
    -- The number of tuples of the source when the sync began.
    tuples    INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, source)
) STRICT;
