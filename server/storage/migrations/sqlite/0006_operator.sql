-- States of tenants, and the audit records.

-- From then on every credential of the tenant is refused; null while it is active.
ALTER TABLE tenants ADD COLUMN suspended_at INTEGER;
-- From then on the tenant is being deleted.
ALTER TABLE tenants ADD COLUMN deleting_at INTEGER;
-- From then on nothing but this row is left of it.
ALTER TABLE tenants ADD COLUMN erased_at INTEGER;

CREATE TABLE audit_records (
    -- Empty for a record that belongs to no tenant.
    tenant_id  TEXT    NOT NULL,
    id         BLOB    NOT NULL,
    created_at INTEGER NOT NULL,
    actor      TEXT    NOT NULL,
    -- The kind of credential, and the id or name of its key.
    credential TEXT    NOT NULL,
    key_id     TEXT,
    action     TEXT    NOT NULL,
    -- A JSON array of ids.
    records    TEXT    NOT NULL,
    -- The number of changes or refusals that the record stands for.
    count      INTEGER NOT NULL,
    address    TEXT,
    request_id TEXT,
    PRIMARY KEY (tenant_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX audit_records_by_id ON audit_records (id);

-- A transaction that names a tenant here may delete audit records of it.
CREATE TABLE audit_pruning (
    tenant TEXT NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;

CREATE TRIGGER audit_records_never_change BEFORE UPDATE ON audit_records
BEGIN
    SELECT RAISE(ABORT, 'audit records never change');
END;

CREATE TRIGGER audit_records_stay BEFORE DELETE ON audit_records
WHEN NOT EXISTS (SELECT 1 FROM audit_pruning WHERE tenant = OLD.tenant_id)
BEGIN
    SELECT RAISE(ABORT, 'audit records are deleted by retention only');
END;
