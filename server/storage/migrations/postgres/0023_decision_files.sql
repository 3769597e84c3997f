-- The files of the record of decisions: a chain of what was written and removed, and what each tenant has in which file.

CREATE TABLE decision_files (
    -- The place in the chain, from 1 on.
    seq        BIGINT NOT NULL PRIMARY KEY,
    -- `sealed`, `erased` or `expired`.
    cause      TEXT    NOT NULL,
    -- Null if the row only says that a file is gone.
    path       TEXT UNIQUE,
    -- The path of the file that this one replaces.
    replaces   TEXT,
    created_at BIGINT NOT NULL,
    records    BIGINT NOT NULL,
    bytes      BIGINT NOT NULL,
    -- SHA-256 of the file, of the row before with this row, and the authentication code of the latter.
    sha256     BYTEA  NOT NULL,
    hash       BYTEA  NOT NULL,
    mac        BYTEA  NOT NULL,
    -- No query reads the file since then.
    gone_at    BIGINT,
    -- The file was deleted from the store.
    deleted    BOOLEAN NOT NULL DEFAULT FALSE
);

CREATE INDEX decision_files_gone ON decision_files (gone_at) WHERE gone_at IS NOT NULL AND NOT deleted;
CREATE INDEX decision_files_present ON decision_files (path) WHERE gone_at IS NULL AND path IS NOT NULL;

CREATE TABLE decision_parts (
    tenant_id  TEXT COLLATE "C" NOT NULL,
    first_id   UUID   NOT NULL,
    path       TEXT COLLATE "C" NOT NULL,
    last_id    UUID   NOT NULL,
    records    BIGINT NOT NULL,
    -- The tenant's share of the file.
    bytes      BIGINT NOT NULL,
    file_bytes BIGINT NOT NULL,
    -- The instant of the last record, and the one at which the part goes.
    last_at    BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, first_id, path)
);

CREATE INDEX decision_parts_by_path ON decision_parts (path);
CREATE INDEX decision_parts_by_age ON decision_parts (expires_at);

-- The persons whose records are erased: records that wait for their file are left out when it is written.
CREATE TABLE decision_erasures (
    tenant_id  TEXT COLLATE "C" NOT NULL,
    -- An authentication code of the subject.
    subject    BYTEA  NOT NULL,
    erased_at  BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, subject)
);

ALTER TABLE decision_files ENABLE ROW LEVEL SECURITY;
ALTER TABLE decision_files FORCE ROW LEVEL SECURITY;
CREATE POLICY of_the_service ON decision_files USING (portcullis_may_see('*'));
ALTER TABLE decision_parts ENABLE ROW LEVEL SECURITY;
ALTER TABLE decision_parts FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON decision_parts USING (portcullis_may_see(tenant_id));
ALTER TABLE decision_erasures ENABLE ROW LEVEL SECURITY;
ALTER TABLE decision_erasures FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON decision_erasures USING (portcullis_may_see(tenant_id));
