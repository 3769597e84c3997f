-- Events, their deliveries to webhooks, and the attempts that were made.

CREATE TABLE webhook_events (
    tenant_id  TEXT    NOT NULL REFERENCES tenants (id),
    -- Ascends within the tenant in the order of commit.
    id         BLOB    NOT NULL,
    type       TEXT    NOT NULL,
    -- The bytes that are signed and sent; they never change.
    body       BLOB    NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, id)
) STRICT;

CREATE INDEX webhook_events_by_age ON webhook_events (created_at);

-- One for each webhook: the queue of its deliveries, which one worker at a time serves.
CREATE TABLE webhook_lanes (
    tenant_id   TEXT    NOT NULL,
    webhook_id  BLOB    NOT NULL,
    -- When the first of its deliveries is due; null when none is pending.
    due_at      INTEGER,
    -- Who serves it, and until when; the fence is raised each time that somebody takes it over.
    holder      TEXT,
    lease_until INTEGER NOT NULL DEFAULT 0,
    fence       INTEGER NOT NULL DEFAULT 0,
    -- Whether its last attempt failed or took long.
    slow        INTEGER NOT NULL DEFAULT FALSE,
    PRIMARY KEY (tenant_id, webhook_id),
    FOREIGN KEY (tenant_id, webhook_id) REFERENCES webhooks (tenant_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX webhook_lanes_due ON webhook_lanes (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX webhook_lanes_held ON webhook_lanes (holder) WHERE holder IS NOT NULL;

INSERT INTO webhook_lanes (tenant_id, webhook_id) SELECT tenant_id, id FROM webhooks;

CREATE TABLE webhook_deliveries (
    tenant_id  TEXT    NOT NULL,
    id         BLOB    NOT NULL,
    webhook_id BLOB    NOT NULL,
    event_id   BLOB    NOT NULL,
    -- 0 before the first attempt, then the time of the next one; null when it is delivered or dead.
    due_at     INTEGER,
    failures   INTEGER NOT NULL DEFAULT 0,
    -- Raised by a redelivery, which an attempt under way must not undo.
    round      INTEGER NOT NULL DEFAULT 0,
    -- When it was delivered or dead.
    settled_at INTEGER,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, event_id) REFERENCES webhook_events (tenant_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX webhook_deliveries_by_webhook
    ON webhook_deliveries (tenant_id, webhook_id, due_at, event_id);
CREATE INDEX webhook_deliveries_by_event ON webhook_deliveries (tenant_id, event_id);
CREATE INDEX webhook_deliveries_by_age ON webhook_deliveries (settled_at) WHERE settled_at IS NOT NULL;

CREATE TABLE webhook_attempts (
    tenant_id       TEXT    NOT NULL,
    id              BLOB    NOT NULL,
    webhook_id      BLOB    NOT NULL,
    delivery_id     BLOB    NOT NULL,
    -- Failures before it.
    retry_count     INTEGER NOT NULL,
    http_status     INTEGER,
    response_body   TEXT,
    error           TEXT,
    duration_ms     INTEGER NOT NULL,
    -- Of the delivery, after it: `retrying`, `delivered` or `dead`.
    state           TEXT    NOT NULL,
    attempted_at    INTEGER NOT NULL,
    next_attempt_at INTEGER,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, delivery_id) REFERENCES webhook_deliveries (tenant_id, id)
) STRICT;

CREATE INDEX webhook_attempts_by_webhook ON webhook_attempts (tenant_id, webhook_id, id);
CREATE INDEX webhook_attempts_by_delivery ON webhook_attempts (tenant_id, delivery_id);
CREATE INDEX webhook_attempts_by_age ON webhook_attempts (attempted_at);
