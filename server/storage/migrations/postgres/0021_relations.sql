-- Relations of types, and the tuples that are stored in them.

-- A JSON object: the relations of the type by name, each a list of its number and its definition. Tuples name relations by
-- number, so that a rename changes none.
ALTER TABLE types ADD COLUMN relations TEXT NOT NULL DEFAULT '{}';

-- The number that a relation of the tenant got last.
ALTER TABLE tenants ADD COLUMN last_relation BIGINT NOT NULL DEFAULT 0;
-- The deletions of tuples up to this revision of the entities have left no row.
ALTER TABLE tenants ADD COLUMN relations_forgotten BIGINT NOT NULL DEFAULT 0;
ALTER TABLE tenants ADD COLUMN used_relations BIGINT NOT NULL DEFAULT 0;

CREATE TABLE relations (
    tenant_id        TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    object_type      TEXT COLLATE "C" NOT NULL,
    object_id        TEXT COLLATE "C" NOT NULL,
    -- The number of the relation.
    relation         BIGINT NOT NULL,
    subject_type     TEXT COLLATE "C" NOT NULL,
    -- `*` is everybody of the type.
    subject_id       TEXT COLLATE "C" NOT NULL,
    -- The number of the relation of all who are meant; 0 for the subject itself.
    subject_relation BIGINT NOT NULL,
    expires_at       BIGINT,
    -- The job that wrote the tuple last.
    source           TEXT COLLATE "C",
    -- The last sync that named the tuple.
    sync             UUID,
    -- The revision of the entities that changed the tuple last.
    revision         BIGINT NOT NULL,
    updated_at       BIGINT NOT NULL,
    -- A deleted tuple keeps its row for a while, so that a replica learns of the deletion.
    is_deleted       BOOLEAN NOT NULL,
    PRIMARY KEY (tenant_id, object_type, object_id, relation, subject_type, subject_id, subject_relation)
);

CREATE INDEX relations_by_subject ON relations (tenant_id, subject_type, subject_id);
CREATE INDEX relations_by_revision ON relations (tenant_id, revision);
CREATE INDEX deleted_relations ON relations (tenant_id, revision) WHERE is_deleted;
CREATE INDEX relations_by_source ON relations (tenant_id, source, sync) WHERE source IS NOT NULL;

-- The full sync of the tuples of each source that goes on.
CREATE TABLE relation_syncs (
    tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    source    TEXT COLLATE "C" NOT NULL,
    id        UUID   NOT NULL,
    begun_at  BIGINT NOT NULL,
    -- The number of tuples of the source when the sync began.
    tuples    BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, source)
);

ALTER TABLE relations ENABLE ROW LEVEL SECURITY;
ALTER TABLE relations FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON relations USING (portcullis_may_see(tenant_id));
ALTER TABLE relation_syncs ENABLE ROW LEVEL SECURITY;
ALTER TABLE relation_syncs FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON relation_syncs USING (portcullis_may_see(tenant_id));
