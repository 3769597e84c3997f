-- Random ids of the last commits of each tenant, the newest first, 16 hexadecimal digits each. They tell whether the
-- database lost commits that a replica knows.

ALTER TABLE tenants ADD COLUMN history TEXT NOT NULL DEFAULT '';

UPDATE tenants SET history = lower(hex(randomblob(8)));
