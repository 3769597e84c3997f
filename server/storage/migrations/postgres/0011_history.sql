-- Random ids of the last commits of each tenant, the newest first, 16 hexadecimal digits each. They tell whether the
-- database lost commits that a replica knows.

SELECT set_config('portcullis.tenant', '*', TRUE);

ALTER TABLE tenants ADD COLUMN history TEXT NOT NULL DEFAULT '';

UPDATE tenants SET history = substr(md5(random()::TEXT), 1, 16);
