-- The revisions of each tenant: who made them, what changed, and the records before and after.

SELECT set_config('portcullis.tenant', '*', TRUE);

CREATE TABLE revisions (
    tenant_id  TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    revision   BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    actor      TEXT   NOT NULL,
    credential TEXT   NOT NULL,
    key_id     TEXT,
    key_name   TEXT,
    -- `api`, `apply`, `restore`, `import` or `service`.
    via        TEXT   NOT NULL,
    -- A JSON object: the origin of an apply, and the message.
    source     TEXT,
    request_id TEXT,
    -- The number of records that changed.
    changes    BIGINT NOT NULL,
    -- The bytes of the records before and after their changes, as if no two were equal.
    bytes      BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, revision)
);

CREATE TABLE revision_changes (
    tenant_id   TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    kind        TEXT COLLATE "C" NOT NULL,
    -- The id, or the name of a role or type.
    record      TEXT COLLATE "C" NOT NULL,
    revision    BIGINT NOT NULL,
    -- The SHA-256 of the record. Null if there was none, or is none any more.
    before_hash BYTEA,
    after_hash  BYTEA,
    PRIMARY KEY (tenant_id, kind, record, revision)
);

CREATE INDEX revision_changes_by_revision ON revision_changes (tenant_id, revision);

CREATE TABLE revision_values (
    tenant_id     TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    hash          BYTEA  NOT NULL,
    -- The last revision whose changes have the record.
    last_revision BIGINT NOT NULL,
    -- JSON.
    value         TEXT   NOT NULL,
    PRIMARY KEY (tenant_id, hash)
);

CREATE INDEX revision_values_by_last_revision ON revision_values (tenant_id, last_revision);

ALTER TABLE revisions ENABLE ROW LEVEL SECURITY;
ALTER TABLE revisions FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON revisions USING (portcullis_may_see(tenant_id));
ALTER TABLE revision_changes ENABLE ROW LEVEL SECURITY;
ALTER TABLE revision_changes FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON revision_changes USING (portcullis_may_see(tenant_id));
ALTER TABLE revision_values ENABLE ROW LEVEL SECURITY;
ALTER TABLE revision_values FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON revision_values USING (portcullis_may_see(tenant_id));

-- What there is already is the first revision.
INSERT INTO revisions (tenant_id, revision, created_at, actor, credential, via, changes, bytes)
SELECT id, revision, CAST(extract(epoch FROM now()) * 1000 AS BIGINT), 'service', 'service', 'import', 0, 0
FROM tenants WHERE revision > 0;
