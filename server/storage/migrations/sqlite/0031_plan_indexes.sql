-- Indexes by which statements find their rows, where the database would read all rows of a tenant or table.

-- All that a plan takes from a rule.
CREATE INDEX rbac_rules_of_plans ON rbac_rules (tenant_id, obj, sub, dom, act, effect);
CREATE INDEX abac_policies_of_plans ON abac_policies (tenant_id, resource);

-- With the columns of the condition, so that SQLite takes them without statistics, too.
DROP INDEX plan_sizes_gone;
CREATE INDEX plan_sizes_gone ON plan_sizes (tenant_id, bytes) WHERE bytes <= 0;
CREATE INDEX entity_roles_unused ON entity_roles (tenant_id, holders) WHERE holders <= 0;
-- A full sync counts the entities that it did not name.
DROP INDEX entities_by_source;
CREATE INDEX entities_by_source ON entities (tenant_id, source, type, id, sync) WHERE source IS NOT NULL;

CREATE INDEX resolver_modules_by_digest ON resolver_modules (sha256);
CREATE INDEX identity_providers_by_id ON identity_providers (id);
CREATE INDEX decision_erasures_by_end ON decision_erasures (tenant_id, ended_at);
