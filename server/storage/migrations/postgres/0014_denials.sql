-- Denied checks in rows of many: those that wait for one webhook, and those that it got.

-- The newest event of the queue: the next one gets a greater id, also if the row of this one is gone.
ALTER TABLE webhook_lanes ADD COLUMN last_event UUID;

-- Denials of one transaction that wait for their first attempt.
CREATE TABLE denial_segments (
    tenant_id  TEXT COLLATE "C" NOT NULL,
    webhook_id UUID   NOT NULL,
    -- The id of its last event.
    id         UUID   NOT NULL,
    total      BIGINT NOT NULL,
    -- The first ones, which wait here no more: delivered, dropped, or in a row of their own.
    gone       BIGINT NOT NULL DEFAULT 0,
    -- A JSON array with the ids and the body of each.
    denials    BYTEA  NOT NULL,
    PRIMARY KEY (tenant_id, webhook_id, id),
    FOREIGN KEY (tenant_id, webhook_id) REFERENCES webhooks (tenant_id, id) ON DELETE CASCADE
);

-- Denials of one batch that were delivered at the first attempt.
CREATE TABLE delivered_denials (
    tenant_id      TEXT COLLATE "C" NOT NULL,
    webhook_id     UUID   NOT NULL,
    -- The id of its first attempt. All its attempts come before those of the next row.
    id             UUID   NOT NULL,
    last_attempt   UUID   NOT NULL,
    first_delivery UUID   NOT NULL,
    last_delivery  UUID   NOT NULL,
    total          BIGINT NOT NULL,
    -- A JSON array of the attempts, and one of the bodies in the same order.
    attempts       BYTEA  NOT NULL,
    bodies         BYTEA  NOT NULL,
    settled_at     BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, webhook_id, id),
    FOREIGN KEY (tenant_id, webhook_id) REFERENCES webhooks (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX delivered_denials_by_age ON delivered_denials (settled_at);

-- Compression would cost more time than everything else here.
ALTER TABLE denial_segments ALTER COLUMN denials SET STORAGE EXTERNAL;
ALTER TABLE delivered_denials ALTER COLUMN attempts SET STORAGE EXTERNAL;
ALTER TABLE delivered_denials ALTER COLUMN bodies SET STORAGE EXTERNAL;

ALTER TABLE denial_segments ENABLE ROW LEVEL SECURITY;
ALTER TABLE denial_segments FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON denial_segments USING (portcullis_may_see(tenant_id));
ALTER TABLE delivered_denials ENABLE ROW LEVEL SECURITY;
ALTER TABLE delivered_denials FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON delivered_denials USING (portcullis_may_see(tenant_id));
