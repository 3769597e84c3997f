-- One ordered stream of changes for all tenants: the row of a tenant says when it last changed. A process asks for the
-- rows after its position, so that what it costs to follow depends on the changes and not on the number of tenants.

-- The id of the transaction that changed the tenant last; 0 before the first. Transactions with smaller ids may commit
-- later: a reader keeps the snapshot of its last read, which tells them apart.
ALTER TABLE tenants ADD COLUMN changed BIGINT NOT NULL DEFAULT 0;
-- The same for the last change of who may do something in the tenant: its state, its identity providers, its service
-- keys, and which events its webhooks subscribe to.
ALTER TABLE tenants ADD COLUMN access_changed BIGINT NOT NULL DEFAULT 0;

CREATE INDEX tenants_by_change ON tenants (changed);
CREATE INDEX tenants_closed ON tenants (id) WHERE suspended_at IS NOT NULL OR deleting_at IS NOT NULL;
CREATE INDEX tenants_deleting ON tenants (id) WHERE deleting_at IS NOT NULL;

-- The last use of a provider that was noted; at most an hour behind.
ALTER TABLE identity_providers ADD COLUMN last_used_at BIGINT;
CREATE INDEX identity_providers_by_use ON identity_providers (last_used_at) WHERE last_used_at IS NOT NULL;

CREATE FUNCTION portcullis_change() RETURNS BIGINT LANGUAGE SQL VOLATILE
    RETURN CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT);

-- Triggers, so that no writer forgets to note a change, not even one of an older version.
CREATE FUNCTION portcullis_note_change() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    NEW.changed := portcullis_change();
    RETURN NEW;
END
$$;

CREATE FUNCTION portcullis_note_state() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    NEW.changed := portcullis_change();
    NEW.access_changed := NEW.changed;
    PERFORM pg_notify('portcullis_access', '');
    RETURN NEW;
END
$$;

CREATE FUNCTION portcullis_note_access() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
    owner TEXT;
BEGIN
    IF TG_OP = 'DELETE' THEN owner := OLD.tenant_id; ELSE owner := NEW.tenant_id; END IF;
    UPDATE tenants SET access_changed = portcullis_change()
        WHERE id = owner AND access_changed <> portcullis_change();
    IF FOUND THEN PERFORM pg_notify('portcullis_access', ''); END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER tenants_note_change BEFORE UPDATE OF revision, access_changed ON tenants
    FOR EACH ROW EXECUTE FUNCTION portcullis_note_change();
CREATE TRIGGER tenants_note_state BEFORE UPDATE OF suspended_at, deleting_at, erased_at ON tenants
    FOR EACH ROW EXECUTE FUNCTION portcullis_note_state();
CREATE TRIGGER identity_providers_note AFTER INSERT OR DELETE ON identity_providers
    FOR EACH ROW EXECUTE FUNCTION portcullis_note_access();
CREATE TRIGGER service_keys_note AFTER DELETE ON service_keys
    FOR EACH ROW EXECUTE FUNCTION portcullis_note_access();
CREATE TRIGGER webhooks_note AFTER INSERT OR DELETE OR UPDATE OF events ON webhooks
    FOR EACH ROW EXECUTE FUNCTION portcullis_note_access();
