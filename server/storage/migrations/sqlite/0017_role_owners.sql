-- The owner of a role that includes others: the source that applies it. Null for a role of the API.

ALTER TABLE roles ADD COLUMN managed_by TEXT;
