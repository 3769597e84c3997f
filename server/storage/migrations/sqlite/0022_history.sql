-- The revisions of each tenant: who made them, what changed, and the records before and after.

CREATE TABLE revisions (
    tenant_id  TEXT    NOT NULL REFERENCES tenants (id),
    revision   INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    actor      TEXT    NOT NULL,
    credential TEXT    NOT NULL,
    key_id     TEXT,
    key_name   TEXT,
    -- `api`, `apply`, `restore`, `import` or `service`.
    via        TEXT    NOT NULL,
    -- A JSON object: the origin of an apply, and the message.
    source     TEXT,
    request_id TEXT,
    -- The number of records that changed.
    changes    INTEGER NOT NULL,
    -- The bytes of the records before and after their changes, as if no two were equal.
    bytes      INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, revision)
) STRICT, WITHOUT ROWID;

CREATE TABLE revision_changes (
    tenant_id   TEXT    NOT NULL REFERENCES tenants (id),
    kind        TEXT    NOT NULL,
    -- The id, or the name of a role or type.
    record      TEXT    NOT NULL,
    revision    INTEGER NOT NULL,
    -- The SHA-256 of the record. Null if there was none, or is none any more.
    before_hash BLOB,
    after_hash  BLOB,
    PRIMARY KEY (tenant_id, kind, record, revision)
) STRICT, WITHOUT ROWID;

CREATE INDEX revision_changes_by_revision ON revision_changes (tenant_id, revision);

CREATE TABLE revision_values (
    tenant_id     TEXT    NOT NULL REFERENCES tenants (id),
    hash          BLOB    NOT NULL,
    -- The last revision whose changes have the record.
    last_revision INTEGER NOT NULL,
    -- JSON.
    value         TEXT    NOT NULL,
    PRIMARY KEY (tenant_id, hash)
) STRICT;

CREATE INDEX revision_values_by_last_revision ON revision_values (tenant_id, last_revision);

-- What there is already is the first revision.
INSERT INTO revisions (tenant_id, revision, created_at, actor, credential, via, changes, bytes)
SELECT id, revision, CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER), 'service', 'service', 'import', 0, 0
FROM tenants WHERE revision > 0;
