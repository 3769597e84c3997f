-- The files of the record of decisions: a chain of what was written and removed, and what each tenant has in which file.

CREATE TABLE decision_files (
    -- The place in the chain, from 1 on.
    seq        INTEGER NOT NULL PRIMARY KEY,
    -- `sealed`, `erased` or `expired`.
    cause      TEXT    NOT NULL,
    -- Null if the row only says that a file is gone.
    path       TEXT UNIQUE,
    -- The path of the file that this one replaces.
    replaces   TEXT,
    created_at INTEGER NOT NULL,
    records    INTEGER NOT NULL,
    bytes      INTEGER NOT NULL,
    -- SHA-256 of the file, of the row before with this row, and the authentication code of the latter.
    sha256     BLOB    NOT NULL,
    hash       BLOB    NOT NULL,
    mac        BLOB    NOT NULL,
    -- No query reads the file since then.
    gone_at    INTEGER,
    -- The file was deleted from the store.
    deleted    BOOLEAN NOT NULL DEFAULT FALSE
);

CREATE INDEX decision_files_gone ON decision_files (gone_at) WHERE gone_at IS NOT NULL AND NOT deleted;
CREATE INDEX decision_files_present ON decision_files (path) WHERE gone_at IS NULL AND path IS NOT NULL;

CREATE TABLE decision_parts (
    tenant_id  TEXT    NOT NULL,
    first_id   BLOB    NOT NULL,
    path       TEXT    NOT NULL,
    last_id    BLOB    NOT NULL,
    records    INTEGER NOT NULL,
    -- The tenant's share of the file.
    bytes      INTEGER NOT NULL,
    file_bytes INTEGER NOT NULL,
    -- The instant of the last record, and the one at which the part goes.
    last_at    INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, first_id, path)
) STRICT, WITHOUT ROWID;

CREATE INDEX decision_parts_by_path ON decision_parts (path);
CREATE INDEX decision_parts_by_age ON decision_parts (expires_at);

-- The persons whose records are erased: records that wait for their file are left out when it is written.
CREATE TABLE decision_erasures (
    tenant_id  TEXT    NOT NULL,
    -- An authentication code of the subject.
    subject    BLOB    NOT NULL,
    erased_at  INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, subject)
) STRICT, WITHOUT ROWID;
