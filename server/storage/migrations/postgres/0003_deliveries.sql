-- Events, their deliveries to webhooks, and the attempts that were made.

CREATE TABLE webhook_events (
    tenant_id  TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    -- Ascends within the tenant in the order of commit.
    id         UUID    NOT NULL,
    type       TEXT    NOT NULL,
    -- The bytes that are signed and sent; they never change.
    body       BYTEA   NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX webhook_events_by_age ON webhook_events (created_at);

-- One for each webhook: the queue of its deliveries, which one worker at a time serves.
CREATE TABLE webhook_lanes (
    tenant_id   TEXT COLLATE "C" NOT NULL,
    webhook_id  UUID    NOT NULL,
    -- When the first of its deliveries is due; null when none is pending.
    due_at      BIGINT,
    -- Who serves it, and until when; the fence is raised each time that somebody takes it over.
    holder      TEXT,
    lease_until BIGINT NOT NULL DEFAULT 0,
    fence       BIGINT NOT NULL DEFAULT 0,
    -- Whether its last attempt failed or took long.
    slow        BOOLEAN NOT NULL DEFAULT FALSE,
    PRIMARY KEY (tenant_id, webhook_id),
    FOREIGN KEY (tenant_id, webhook_id) REFERENCES webhooks (tenant_id, id)
);

CREATE INDEX webhook_lanes_due ON webhook_lanes (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX webhook_lanes_held ON webhook_lanes (holder) WHERE holder IS NOT NULL;

-- Row-level security holds for migrations, too.
SELECT set_config('portcullis.tenant', '*', TRUE);
INSERT INTO webhook_lanes (tenant_id, webhook_id) SELECT tenant_id, id FROM webhooks;

CREATE TABLE webhook_deliveries (
    tenant_id  TEXT COLLATE "C" NOT NULL,
    id         UUID    NOT NULL,
    webhook_id UUID    NOT NULL,
    event_id   UUID    NOT NULL,
    -- 0 before the first attempt, then the time of the next one; null when it is delivered or dead.
    due_at     BIGINT,
    failures   BIGINT NOT NULL DEFAULT 0,
    -- Raised by a redelivery, which an attempt under way must not undo.
    round      BIGINT NOT NULL DEFAULT 0,
    -- When it was delivered or dead.
    settled_at BIGINT,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, event_id) REFERENCES webhook_events (tenant_id, id)
);

CREATE INDEX webhook_deliveries_by_webhook
    ON webhook_deliveries (tenant_id, webhook_id, due_at, event_id);
CREATE INDEX webhook_deliveries_by_event ON webhook_deliveries (tenant_id, event_id);
CREATE INDEX webhook_deliveries_by_age ON webhook_deliveries (settled_at) WHERE settled_at IS NOT NULL;

CREATE TABLE webhook_attempts (
    tenant_id       TEXT COLLATE "C" NOT NULL,
    id              UUID    NOT NULL,
    webhook_id      UUID    NOT NULL,
    delivery_id     UUID    NOT NULL,
    -- Failures before it.
    retry_count     BIGINT NOT NULL,
    http_status     BIGINT,
    response_body   TEXT,
    error           TEXT,
    duration_ms     BIGINT NOT NULL,
    -- Of the delivery, after it: `retrying`, `delivered` or `dead`.
    state           TEXT    NOT NULL,
    attempted_at    BIGINT NOT NULL,
    next_attempt_at BIGINT,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, delivery_id) REFERENCES webhook_deliveries (tenant_id, id)
);

CREATE INDEX webhook_attempts_by_webhook ON webhook_attempts (tenant_id, webhook_id, id);
CREATE INDEX webhook_attempts_by_delivery ON webhook_attempts (tenant_id, delivery_id);
CREATE INDEX webhook_attempts_by_age ON webhook_attempts (attempted_at);

ALTER TABLE webhook_events ENABLE ROW LEVEL SECURITY;
ALTER TABLE webhook_events FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON webhook_events USING (portcullis_may_see(tenant_id));
ALTER TABLE webhook_lanes ENABLE ROW LEVEL SECURITY;
ALTER TABLE webhook_lanes FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON webhook_lanes USING (portcullis_may_see(tenant_id));
ALTER TABLE webhook_deliveries ENABLE ROW LEVEL SECURITY;
ALTER TABLE webhook_deliveries FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON webhook_deliveries USING (portcullis_may_see(tenant_id));
ALTER TABLE webhook_attempts ENABLE ROW LEVEL SECURITY;
ALTER TABLE webhook_attempts FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON webhook_attempts USING (portcullis_may_see(tenant_id));
