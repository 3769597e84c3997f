-- One ordered stream of changes for all tenants: the row of a tenant says when it last changed. A process asks for the
-- rows after its position, so that what it costs to follow depends on the changes and not on the number of tenants.

-- The number of the last change of the tenant. Numbers rise over all tenants; 0 is before the first.
ALTER TABLE tenants ADD COLUMN changed INTEGER NOT NULL DEFAULT 0;
-- The number of the last change of who may do something in the tenant: its state, its identity providers, its service
-- keys, and which events its webhooks subscribe to.
ALTER TABLE tenants ADD COLUMN access_changed INTEGER NOT NULL DEFAULT 0;

CREATE INDEX tenants_by_change ON tenants (changed);
CREATE INDEX tenants_closed ON tenants (id) WHERE suspended_at IS NOT NULL OR deleting_at IS NOT NULL;
CREATE INDEX tenants_deleting ON tenants (id) WHERE deleting_at IS NOT NULL;

-- The last use of a provider that was noted; at most an hour behind.
ALTER TABLE identity_providers ADD COLUMN last_used_at INTEGER;
CREATE INDEX identity_providers_by_use ON identity_providers (last_used_at) WHERE last_used_at IS NOT NULL;

-- Triggers, so that no writer forgets to note a change, not even one of an older version.
CREATE TRIGGER tenants_note_change AFTER UPDATE OF revision ON tenants
BEGIN
    UPDATE tenants SET changed = (SELECT max(changed) FROM tenants) + 1 WHERE id = NEW.id;
END;

CREATE TRIGGER tenants_note_state AFTER UPDATE OF suspended_at, deleting_at, erased_at ON tenants
BEGIN
    UPDATE tenants SET changed = (SELECT max(changed) FROM tenants) + 1,
        access_changed = (SELECT max(changed) FROM tenants) + 1 WHERE id = NEW.id;
END;

CREATE TRIGGER identity_providers_note_new AFTER INSERT ON identity_providers
BEGIN
    UPDATE tenants SET changed = (SELECT max(changed) FROM tenants) + 1,
        access_changed = (SELECT max(changed) FROM tenants) + 1 WHERE id = NEW.tenant_id;
END;

CREATE TRIGGER identity_providers_note_removed AFTER DELETE ON identity_providers
BEGIN
    UPDATE tenants SET changed = (SELECT max(changed) FROM tenants) + 1,
        access_changed = (SELECT max(changed) FROM tenants) + 1 WHERE id = OLD.tenant_id;
END;

CREATE TRIGGER service_keys_note_revoked AFTER DELETE ON service_keys
BEGIN
    UPDATE tenants SET changed = (SELECT max(changed) FROM tenants) + 1,
        access_changed = (SELECT max(changed) FROM tenants) + 1 WHERE id = OLD.tenant_id;
END;

CREATE TRIGGER webhooks_note_new AFTER INSERT ON webhooks
BEGIN
    UPDATE tenants SET changed = (SELECT max(changed) FROM tenants) + 1,
        access_changed = (SELECT max(changed) FROM tenants) + 1 WHERE id = NEW.tenant_id;
END;

CREATE TRIGGER webhooks_note_changed AFTER UPDATE OF events ON webhooks
BEGIN
    UPDATE tenants SET changed = (SELECT max(changed) FROM tenants) + 1,
        access_changed = (SELECT max(changed) FROM tenants) + 1 WHERE id = NEW.tenant_id;
END;

CREATE TRIGGER webhooks_note_removed AFTER DELETE ON webhooks
BEGIN
    UPDATE tenants SET changed = (SELECT max(changed) FROM tenants) + 1,
        access_changed = (SELECT max(changed) FROM tenants) + 1 WHERE id = OLD.tenant_id;
END;
