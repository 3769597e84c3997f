-- Denied checks in rows of many: those that wait for one webhook, and those that it got.

-- The newest event of the queue: the next one gets a greater id, also if the row of this one is gone.
ALTER TABLE webhook_lanes ADD COLUMN last_event BLOB;

-- Denials of one transaction that wait for their first attempt.
CREATE TABLE denial_segments (
    tenant_id  TEXT    NOT NULL,
    webhook_id BLOB    NOT NULL,
    -- The id of its last event.
    id         BLOB    NOT NULL,
    total      INTEGER NOT NULL,
    -- The first ones, which wait here no more: delivered, dropped, or in a row of their own.
    gone       INTEGER NOT NULL DEFAULT 0,
    -- A JSON array with the ids and the body of each.
    denials    BLOB    NOT NULL,
    PRIMARY KEY (tenant_id, webhook_id, id),
    FOREIGN KEY (tenant_id, webhook_id) REFERENCES webhooks (tenant_id, id) ON DELETE CASCADE
) STRICT;

-- Denials of one batch that were delivered at the first attempt.
CREATE TABLE delivered_denials (
    tenant_id      TEXT    NOT NULL,
    webhook_id     BLOB    NOT NULL,
    -- The id of its first attempt. All its attempts come before those of the next row.
    id             BLOB    NOT NULL,
    last_attempt   BLOB    NOT NULL,
    first_delivery BLOB    NOT NULL,
    last_delivery  BLOB    NOT NULL,
    total          INTEGER NOT NULL,
    -- A JSON array of the attempts, and one of the bodies in the same order.
    attempts       BLOB    NOT NULL,
    bodies         BLOB    NOT NULL,
    settled_at     INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, webhook_id, id),
    FOREIGN KEY (tenant_id, webhook_id) REFERENCES webhooks (tenant_id, id) ON DELETE CASCADE
) STRICT;

CREATE INDEX delivered_denials_by_age ON delivered_denials (settled_at);
