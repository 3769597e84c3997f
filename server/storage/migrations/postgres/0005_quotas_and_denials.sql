-- What each tenant has, for its quotas, and a delivery queue of denied checks for each webhook.

-- Row-level security holds for migrations, too.
SELECT set_config('portcullis.tenant', '*', TRUE);

-- Each transaction that adds or removes a record changes these numbers, so that no write counts records.
ALTER TABLE tenants ADD COLUMN used_webhooks     BIGINT NOT NULL DEFAULT 0;
ALTER TABLE tenants ADD COLUMN used_policies     BIGINT NOT NULL DEFAULT 0;
ALTER TABLE tenants ADD COLUMN used_rules        BIGINT NOT NULL DEFAULT 0;
ALTER TABLE tenants ADD COLUMN used_resources    BIGINT NOT NULL DEFAULT 0;
ALTER TABLE tenants ADD COLUMN used_service_keys BIGINT NOT NULL DEFAULT 0;
ALTER TABLE tenants ADD COLUMN used_resolvers    BIGINT NOT NULL DEFAULT 0;
-- The bytes of texts and modules; the same parts as in `quotas.rs`. A deleted policy is retained, so it counts.
ALTER TABLE tenants ADD COLUMN used_bytes        BIGINT NOT NULL DEFAULT 0;

UPDATE tenants SET
    used_webhooks = (SELECT count(*) FROM webhooks r WHERE r.tenant_id = tenants.id),
    used_policies = (SELECT count(*) FROM abac_policies r
        WHERE r.tenant_id = tenants.id AND r.deleted_at IS NULL),
    used_rules = (SELECT count(*) FROM rbac_rules r WHERE r.tenant_id = tenants.id),
    used_resources = (SELECT count(*) FROM resources r WHERE r.tenant_id = tenants.id),
    used_service_keys = (SELECT count(*) FROM service_keys r WHERE r.tenant_id = tenants.id),
    used_resolvers = (SELECT count(*) FROM resolvers r WHERE r.tenant_id = tenants.id),
    used_bytes = (SELECT COALESCE(SUM(octet_length(r.name) + octet_length(COALESCE(r.description, ''))
            + octet_length(r.resource) + octet_length(r.rule_data)), 0)
            FROM abac_policies r WHERE r.tenant_id = tenants.id)
        + (SELECT COALESCE(SUM(octet_length(r.sub) + octet_length(r.dom) + octet_length(r.obj)
            + octet_length(r.act)), 0) FROM rbac_rules r WHERE r.tenant_id = tenants.id)
        + (SELECT COALESCE(SUM(octet_length(r.name) + octet_length(COALESCE(r.display_name, ''))
            + octet_length(COALESCE(r.service_name, '')) + octet_length(r.default_roles)), 0)
            FROM resources r WHERE r.tenant_id = tenants.id)
        + (SELECT COALESCE(SUM(octet_length(r.manifest) + octet_length(r.secrets)
            + octet_length(r.module)), 0) FROM resolvers r WHERE r.tenant_id = tenants.id)
        + (SELECT COALESCE(SUM(octet_length(r.bytes)), 0)
            FROM resolver_modules r WHERE r.tenant_id = tenants.id);

-- Whether the delivery is of a denied check, which has a queue of its own.
ALTER TABLE webhook_deliveries ADD COLUMN denials BOOLEAN NOT NULL DEFAULT FALSE;
-- The dropped denials that this delivery reports.
ALTER TABLE webhook_deliveries ADD COLUMN dropped BIGINT NOT NULL DEFAULT 0;

UPDATE webhook_deliveries SET denials = TRUE WHERE EXISTS (SELECT 1 FROM webhook_events e
    WHERE e.tenant_id = webhook_deliveries.tenant_id AND e.id = webhook_deliveries.event_id
    AND e.type = 'access.denied');

DROP INDEX webhook_deliveries_by_webhook;
CREATE INDEX webhook_deliveries_by_queue
    ON webhook_deliveries (tenant_id, webhook_id, denials, due_at, event_id);
-- Finds the oldest denials that wait.
CREATE INDEX webhook_deliveries_of_denials
    ON webhook_deliveries (tenant_id, webhook_id, event_id) WHERE denials AND due_at IS NOT NULL;
-- Finds the oldest denials that are over.
CREATE INDEX webhook_deliveries_of_settled_denials
    ON webhook_deliveries (tenant_id, webhook_id, settled_at) WHERE denials AND settled_at IS NOT NULL;

-- Two queues for each webhook.
-- Whether it is the queue of denied checks.
ALTER TABLE webhook_lanes ADD COLUMN denials BOOLEAN NOT NULL DEFAULT FALSE;
-- In a queue of denied checks: the deliveries that are not settled.
ALTER TABLE webhook_lanes ADD COLUMN waiting BIGINT NOT NULL DEFAULT 0;
-- In a queue of denied checks: the dropped denials that no delivery reports yet.
ALTER TABLE webhook_lanes ADD COLUMN dropped BIGINT NOT NULL DEFAULT 0;
-- In a queue of denied checks: the settled deliveries, or a few more.
ALTER TABLE webhook_lanes ADD COLUMN settled BIGINT NOT NULL DEFAULT 0;
ALTER TABLE webhook_lanes DROP CONSTRAINT webhook_lanes_pkey;
ALTER TABLE webhook_lanes ADD PRIMARY KEY (tenant_id, webhook_id, denials);

INSERT INTO webhook_lanes (tenant_id, webhook_id, denials)
    SELECT tenant_id, webhook_id, TRUE FROM webhook_lanes;

UPDATE webhook_lanes SET
    due_at = (SELECT MIN(d.due_at) FROM webhook_deliveries d WHERE d.tenant_id = webhook_lanes.tenant_id
        AND d.webhook_id = webhook_lanes.webhook_id AND d.denials = webhook_lanes.denials),
    waiting = (SELECT count(*) FROM webhook_deliveries d WHERE d.tenant_id = webhook_lanes.tenant_id
        AND d.webhook_id = webhook_lanes.webhook_id AND d.denials AND d.due_at IS NOT NULL
        AND webhook_lanes.denials),
    settled = (SELECT count(*) FROM webhook_deliveries d WHERE d.tenant_id = webhook_lanes.tenant_id
        AND d.webhook_id = webhook_lanes.webhook_id AND d.denials AND d.settled_at IS NOT NULL
        AND webhook_lanes.denials);
