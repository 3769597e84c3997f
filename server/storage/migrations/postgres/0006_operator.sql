-- States of tenants, and the audit records.

-- From then on every credential of the tenant is refused; null while it is active.
ALTER TABLE tenants ADD COLUMN suspended_at BIGINT;
-- From then on the tenant is being deleted.
ALTER TABLE tenants ADD COLUMN deleting_at BIGINT;
-- From then on nothing but this row is left of it.
ALTER TABLE tenants ADD COLUMN erased_at BIGINT;

CREATE TABLE audit_records (
    -- Empty for a record that belongs to no tenant.
    tenant_id  TEXT COLLATE "C" NOT NULL,
    id         UUID   NOT NULL,
    created_at BIGINT NOT NULL,
    actor      TEXT   NOT NULL,
    -- The kind of credential, and the id or name of its key.
    credential TEXT   NOT NULL,
    key_id     TEXT,
    action     TEXT   NOT NULL,
    -- A JSON array of ids.
    records    TEXT   NOT NULL,
    -- The number of changes or refusals that the record stands for.
    count      BIGINT NOT NULL,
    address    TEXT,
    request_id TEXT,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX audit_records_by_id ON audit_records (id);

-- A transaction that names a tenant here may delete audit records of it.
CREATE TABLE audit_pruning (
    tenant TEXT COLLATE "C" NOT NULL PRIMARY KEY
);

CREATE FUNCTION portcullis_refuse_audit_change() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'audit records never change';
END
$$;

CREATE FUNCTION portcullis_refuse_audit_deletion() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM audit_pruning WHERE tenant = OLD.tenant_id) THEN
        RAISE EXCEPTION 'audit records are deleted by retention only';
    END IF;
    RETURN OLD;
END
$$;

CREATE TRIGGER audit_records_never_change BEFORE UPDATE ON audit_records
    FOR EACH ROW EXECUTE FUNCTION portcullis_refuse_audit_change();
CREATE TRIGGER audit_records_stay BEFORE DELETE ON audit_records
    FOR EACH ROW EXECUTE FUNCTION portcullis_refuse_audit_deletion();
CREATE TRIGGER audit_records_stay_together BEFORE TRUNCATE ON audit_records
    FOR EACH STATEMENT EXECUTE FUNCTION portcullis_refuse_audit_change();

ALTER TABLE audit_records ENABLE ROW LEVEL SECURITY;
ALTER TABLE audit_records FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON audit_records USING (portcullis_may_see(tenant_id));
ALTER TABLE audit_pruning ENABLE ROW LEVEL SECURITY;
ALTER TABLE audit_pruning FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON audit_pruning USING (portcullis_may_see(tenant));
