-- Reads policies in the order of names, for exports, without sorting them.
CREATE INDEX abac_policies_by_name ON abac_policies (tenant_id, name, id) WHERE deleted_at IS NULL;
