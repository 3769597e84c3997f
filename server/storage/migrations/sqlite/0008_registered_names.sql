-- The two parts of a resource's name, split at its last colon, so that a written rule is compared with the registered
-- names without a scan.

ALTER TABLE resources ADD COLUMN stem TEXT NOT NULL DEFAULT '';
ALTER TABLE resources ADD COLUMN verb TEXT NOT NULL DEFAULT '';

-- `rtrim` leaves everything up to the last colon.
UPDATE resources SET
    stem = substr(name, 1, length(rtrim(name, replace(name, ':', ''))) - 1),
    verb = substr(name, length(rtrim(name, replace(name, ':', ''))) + 1);

CREATE INDEX resources_by_stem ON resources (tenant_id, stem);
CREATE INDEX resources_by_verb ON resources (tenant_id, verb);
