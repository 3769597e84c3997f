-- The form of the claim of roles of a provider: `list`, `words` or `keys`.
ALTER TABLE identity_providers ADD COLUMN roles_format TEXT NOT NULL DEFAULT 'list';
