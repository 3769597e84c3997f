-- The comparison of the checks of a tenant with its draft in shadow. No check was compared before.

UPDATE drafts SET shadow = FALSE;

-- Identifies the comparison: a draft that is stored anew begins another one. NULL: the draft is not in shadow.
ALTER TABLE drafts ADD COLUMN shadow_id BLOB;
-- The counts so far, as JSON. NULL: none yet.
ALTER TABLE drafts ADD COLUMN shadow_counts TEXT;

-- A tenant has one draft in shadow.
CREATE UNIQUE INDEX drafts_in_shadow ON drafts (tenant_id) WHERE shadow_id IS NOT NULL;
