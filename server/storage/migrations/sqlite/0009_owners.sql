-- The owner of each managed object: the source that applies it. Null for an object of the API.

ALTER TABLE resources ADD COLUMN managed_by TEXT;
ALTER TABLE rbac_rules ADD COLUMN managed_by TEXT;
ALTER TABLE abac_policies ADD COLUMN managed_by TEXT;
ALTER TABLE resolvers ADD COLUMN managed_by TEXT;
ALTER TABLE webhooks ADD COLUMN managed_by TEXT;
