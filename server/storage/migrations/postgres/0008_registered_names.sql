-- The two parts of a resource's name, split at its last colon, so that a written rule is compared with the registered
-- names without a scan.

-- Row-level security holds for migrations, too.
SELECT set_config('portcullis.tenant', '*', TRUE);

ALTER TABLE resources ADD COLUMN stem TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE resources ADD COLUMN verb TEXT COLLATE "C" NOT NULL DEFAULT '';

UPDATE resources SET
    stem = regexp_replace(name, ':[^:]*$', ''),
    verb = substring(name FROM '[^:]*$');

CREATE INDEX resources_by_stem ON resources (tenant_id, stem);
CREATE INDEX resources_by_verb ON resources (tenant_id, verb);
