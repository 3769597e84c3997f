-- Indexes by which statements find their rows, where the database would read all rows of a tenant or table.

-- Without a condition: while there are no statistics, PostgreSQL takes every index with one for empty.
CREATE INDEX abac_policies_of_plans ON abac_policies (tenant_id, resource);

CREATE INDEX entity_roles_unused ON entity_roles (tenant_id, holders) WHERE holders <= 0;

CREATE INDEX resolver_modules_by_digest ON resolver_modules (sha256);
CREATE INDEX identity_providers_by_id ON identity_providers (id);
CREATE INDEX decision_erasures_by_end ON decision_erasures (tenant_id, ended_at);

-- With the whole key: without statistics, a look-up of tuples by their keys takes this index or that of the key.
DROP INDEX relations_by_subject;
CREATE INDEX relations_by_subject ON relations
    (tenant_id, subject_type, subject_id, object_type, object_id, relation, subject_relation);
