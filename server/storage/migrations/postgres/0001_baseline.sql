-- The schema of version 0.3.0, with which upgrades begin.
--
-- Times are milliseconds since the Unix epoch, ids are UUIDv7 (so that their order is the order of creation), and every
-- key starts with the tenant. JSON is text.
--
-- Row-level security is a second wall behind the `WHERE tenant_id` of every statement: a transaction sees the rows of
-- the tenant that `portcullis.tenant` names; `*` is the service itself. It holds for migrations, too: one that reads or
-- writes rows begins with `SELECT set_config('portcullis.tenant', '*', TRUE);`.

CREATE FUNCTION portcullis_may_see(tenant TEXT) RETURNS BOOLEAN LANGUAGE SQL STABLE
    RETURN current_setting('portcullis.tenant', TRUE) IN (tenant, '*');

-- Tenants, and who may call.

CREATE TABLE tenants (
    id                  TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    -- Null for a tenant of `selfhost` mode, which is nothing but its domain.
    name                TEXT,
    slug                TEXT COLLATE "C",
    created_at          BIGINT  NOT NULL,
    -- From then on every credential of the tenant is refused; null while it is active.
    suspended_at        BIGINT,
    -- From then on the tenant is being deleted.
    deleting_at         BIGINT,
    -- From then on nothing but this row is left of it.
    erased_at           BIGINT,
    -- Raised by one with every committed change of the content.
    revision            BIGINT  NOT NULL,
    -- Random ids of the last commits, the newest first, 16 hexadecimal digits each. They tell whether the database lost
    -- commits that a replica knows.
    history             TEXT    NOT NULL DEFAULT '',
    -- The same two for the entities, so that they do not touch the revision of the content.
    entities_revision   BIGINT  NOT NULL DEFAULT 0,
    entities_history    TEXT    NOT NULL DEFAULT '',
    -- The deletions of entities, and of tuples, up to this revision of the entities have left no row.
    entities_forgotten  BIGINT  NOT NULL DEFAULT 0,
    relations_forgotten BIGINT  NOT NULL DEFAULT 0,
    -- The number that a relation of the tenant got last.
    last_relation       BIGINT  NOT NULL DEFAULT 0,
    -- The id of the transaction that changed the tenant last; 0 before the first. Transactions with smaller ids may
    -- commit later: a reader keeps the snapshot of its last read, which tells them apart.
    changed             BIGINT  NOT NULL DEFAULT 0,
    -- The same for the last change of who may do something in the tenant: its state, its identity providers, its
    -- service keys, and which events its webhooks subscribe to.
    access_changed      BIGINT  NOT NULL DEFAULT 0,
    -- Settings that each write or check needs, read with this row; `tenant_settings` has all. The first two: whether
    -- the tenant's cases must pass, and whether a second manager must approve.
    gate_cases          BOOLEAN NOT NULL DEFAULT FALSE,
    gate_approval       BOOLEAN NOT NULL DEFAULT FALSE,
    -- Whether an attribute of the directory goes before one of the request.
    directory_wins      BOOLEAN NOT NULL DEFAULT FALSE,
    -- What the tenant has, for its quotas. Each transaction that adds or removes a record changes these numbers, so
    -- that no write counts records.
    used_webhooks       BIGINT  NOT NULL DEFAULT 0,
    used_policies       BIGINT  NOT NULL DEFAULT 0,
    used_rules          BIGINT  NOT NULL DEFAULT 0,
    used_resources      BIGINT  NOT NULL DEFAULT 0,
    used_service_keys   BIGINT  NOT NULL DEFAULT 0,
    used_resolvers      BIGINT  NOT NULL DEFAULT 0,
    used_entities       BIGINT  NOT NULL DEFAULT 0,
    used_relations      BIGINT  NOT NULL DEFAULT 0,
    -- The bytes of texts and modules; `quotas.rs` says which. A deleted policy is retained, so it counts.
    used_bytes          BIGINT  NOT NULL DEFAULT 0
);

CREATE UNIQUE INDEX tenants_by_slug ON tenants (slug);
CREATE INDEX tenants_by_change ON tenants (changed);
CREATE INDEX tenants_closed ON tenants (id) WHERE suspended_at IS NOT NULL OR deleting_at IS NOT NULL;
CREATE INDEX tenants_deleting ON tenants (id) WHERE deleting_at IS NOT NULL;

CREATE TABLE tenant_settings (
    tenant_id  TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES tenants (id),
    -- JSON with every member.
    settings   TEXT   NOT NULL,
    updated_by TEXT   NOT NULL,
    updated_at BIGINT NOT NULL
);

ALTER TABLE tenant_settings ENABLE ROW LEVEL SECURITY;
ALTER TABLE tenant_settings FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON tenant_settings USING (portcullis_may_see(tenant_id));

CREATE TABLE identity_providers (
    tenant_id          TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    id                 UUID   NOT NULL,
    -- Unique over all tenants: a token's `iss` decides its tenant.
    issuer_url         TEXT COLLATE "C" NOT NULL UNIQUE,
    jwks_uri           TEXT   NOT NULL,
    audience           TEXT,
    roles_claim        TEXT   NOT NULL,
    -- The form of the claim of roles: `list`, `words` or `keys`.
    roles_format       TEXT   NOT NULL DEFAULT 'list',
    domain_claim       TEXT   NOT NULL,
    admin_domain_claim TEXT   NOT NULL,
    created_at         BIGINT NOT NULL,
    -- The last use that was noted; at most an hour behind.
    last_used_at       BIGINT,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX identity_providers_by_id ON identity_providers (id);
CREATE INDEX identity_providers_by_use ON identity_providers (last_used_at) WHERE last_used_at IS NOT NULL;

ALTER TABLE identity_providers ENABLE ROW LEVEL SECURITY;
ALTER TABLE identity_providers FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON identity_providers USING (portcullis_may_see(tenant_id));

CREATE TABLE service_keys (
    tenant_id    TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    id           UUID   NOT NULL UNIQUE,
    name         TEXT   NOT NULL,
    description  TEXT,
    -- The domain of the key's checks; null if each of its checks names a domain.
    domain       TEXT,
    -- SHA-256 of the secret part.
    secret_hash  BYTEA  NOT NULL,
    -- A JSON array of strings.
    permissions  TEXT   NOT NULL,
    created_by   TEXT   NOT NULL,
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT,
    -- Written lazily: at most a minute behind.
    last_used_at BIGINT,
    PRIMARY KEY (tenant_id, id)
);

ALTER TABLE service_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE service_keys FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON service_keys USING (portcullis_may_see(tenant_id));

-- The content: what tenants and their folders say about who may do what. `managed_by` is the source that applies a
-- record; null for a record of the API.

CREATE TABLE resources (
    tenant_id     TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    id            UUID   NOT NULL,
    name          TEXT COLLATE "C" NOT NULL,
    -- The two parts of the name, split at its last colon, so that a written rule is compared with the registered names
    -- without a scan.
    stem          TEXT COLLATE "C" NOT NULL DEFAULT '',
    verb          TEXT COLLATE "C" NOT NULL DEFAULT '',
    display_name  TEXT,
    service_name  TEXT,
    -- A JSON array of strings.
    default_roles TEXT   NOT NULL,
    created_at    BIGINT NOT NULL,
    updated_at    BIGINT,
    managed_by    TEXT COLLATE "C",
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, name)
);

CREATE INDEX resources_by_stem ON resources (tenant_id, stem);
CREATE INDEX resources_by_verb ON resources (tenant_id, verb);

ALTER TABLE resources ENABLE ROW LEVEL SECURITY;
ALTER TABLE resources FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON resources USING (portcullis_may_see(tenant_id));

CREATE TABLE rbac_rules (
    tenant_id  TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    id         UUID   NOT NULL,
    sub        TEXT COLLATE "C" NOT NULL,
    dom        TEXT COLLATE "C" NOT NULL,
    obj        TEXT COLLATE "C" NOT NULL,
    act        TEXT COLLATE "C" NOT NULL,
    effect     TEXT   NOT NULL CHECK (effect IN ('allow', 'deny')),
    origin     TEXT   NOT NULL CHECK (origin IN ('explicit', 'default_role')),
    created_by TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    updated_by TEXT,
    updated_at BIGINT,
    managed_by TEXT COLLATE "C",
    PRIMARY KEY (tenant_id, id)
);

-- A tuple has one rule; also the index by which a plan finds its rules. The texts are hashed, since four of up to 256
-- characters can be longer than a B-tree entry may be.
CREATE UNIQUE INDEX rbac_rules_by_tuple ON rbac_rules (tenant_id, obj, md5(sub), md5(dom), md5(act));

ALTER TABLE rbac_rules ENABLE ROW LEVEL SECURITY;
ALTER TABLE rbac_rules FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON rbac_rules USING (portcullis_may_see(tenant_id));

CREATE TABLE abac_policies (
    tenant_id   TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    id          UUID    NOT NULL,
    name        TEXT    NOT NULL,
    description TEXT,
    resource    TEXT COLLATE "C" NOT NULL,
    effect      TEXT    NOT NULL CHECK (effect IN ('allow', 'deny')),
    format      TEXT    NOT NULL,
    -- Compact JSON.
    rule_data   TEXT    NOT NULL,
    priority    INTEGER NOT NULL,
    enabled     BOOLEAN NOT NULL,
    created_by  TEXT    NOT NULL,
    created_at  BIGINT  NOT NULL,
    updated_by  TEXT,
    updated_at  BIGINT,
    -- Set by a deletion: the record is retained, and no query but an audit sees it.
    deleted_at  BIGINT,
    managed_by  TEXT COLLATE "C",
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX abac_policies_by_resource ON abac_policies (tenant_id, resource) WHERE deleted_at IS NULL;
-- A plan finds its policies by it. Without a condition: while there are no statistics, PostgreSQL takes every index
-- with one for empty.
CREATE INDEX abac_policies_of_plans ON abac_policies (tenant_id, resource);
-- Reads policies in the order of names, for exports, without sorting them.
CREATE INDEX abac_policies_by_name ON abac_policies (tenant_id, name COLLATE "C", id) WHERE deleted_at IS NULL;

ALTER TABLE abac_policies ENABLE ROW LEVEL SECURITY;
ALTER TABLE abac_policies FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON abac_policies USING (portcullis_may_see(tenant_id));

-- The bytes of rules and policies on each resource or pattern, for the quota `plan_bytes`: every plan of the resource
-- loads them. A pattern without any has no row.
CREATE TABLE plan_sizes (
    tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    pattern   TEXT COLLATE "C" NOT NULL,
    -- `quotas.rs` says of which texts. A deleted policy does not count.
    bytes     BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, pattern)
);

-- Finds the patterns on which there is nothing any more; their rows go in the same transaction.
CREATE INDEX plan_sizes_gone ON plan_sizes (tenant_id) WHERE bytes <= 0;

ALTER TABLE plan_sizes ENABLE ROW LEVEL SECURITY;
ALTER TABLE plan_sizes FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON plan_sizes USING (portcullis_may_see(tenant_id));

-- Roles that include roles.
CREATE TABLE roles (
    tenant_id  TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    name       TEXT COLLATE "C" NOT NULL,
    -- A JSON array of the names of roles.
    includes   TEXT   NOT NULL,
    created_by TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    updated_by TEXT,
    updated_at BIGINT,
    managed_by TEXT COLLATE "C",
    PRIMARY KEY (tenant_id, name)
);

ALTER TABLE roles ENABLE ROW LEVEL SECURITY;
ALTER TABLE roles FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON roles USING (portcullis_may_see(tenant_id));

-- The types that tenants declare.
CREATE TABLE types (
    tenant_id  TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    name       TEXT COLLATE "C" NOT NULL,
    -- A JSON object: what a bundle says of the type beside its name.
    definition TEXT   NOT NULL,
    -- A JSON object of the definition's properties that are taken from one place alone, which each plan needs.
    sources    TEXT   NOT NULL,
    -- A JSON object: the relations of the type by name, each a list of its number and its definition. Tuples name
    -- relations by number, so that a rename changes none.
    relations  TEXT   NOT NULL DEFAULT '{}',
    created_by TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    updated_by TEXT,
    updated_at BIGINT,
    managed_by TEXT COLLATE "C",
    PRIMARY KEY (tenant_id, name)
);

ALTER TABLE types ENABLE ROW LEVEL SECURITY;
ALTER TABLE types FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON types USING (portcullis_may_see(tenant_id));

-- Modules of attribute resolvers. Apart from the resolvers: a module is read only to be loaded, and several resolvers
-- may have the same.
CREATE TABLE resolver_modules (
    tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    -- SHA-256 of the bytes, in hexadecimal.
    sha256    TEXT COLLATE "C" NOT NULL,
    bytes     BYTEA NOT NULL,
    PRIMARY KEY (tenant_id, sha256)
);

CREATE INDEX resolver_modules_by_digest ON resolver_modules (sha256);

ALTER TABLE resolver_modules ENABLE ROW LEVEL SECURITY;
ALTER TABLE resolver_modules FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON resolver_modules USING (portcullis_may_see(tenant_id));

CREATE TABLE resolvers (
    tenant_id  TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    id         UUID    NOT NULL,
    namespace  TEXT COLLATE "C" NOT NULL,
    -- Raised by every update.
    version    BIGINT  NOT NULL,
    enabled    BOOLEAN NOT NULL,
    -- JSON, with the names of the secrets.
    manifest   TEXT    NOT NULL,
    -- JSON, encrypted; see `encryption.rs`.
    secrets    BYTEA   NOT NULL,
    -- JSON: what the module says of itself.
    module     TEXT    NOT NULL,
    sha256     TEXT COLLATE "C" NOT NULL,
    created_by TEXT    NOT NULL,
    created_at BIGINT  NOT NULL,
    updated_by TEXT,
    updated_at BIGINT,
    managed_by TEXT COLLATE "C",
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, namespace),
    FOREIGN KEY (tenant_id, sha256) REFERENCES resolver_modules (tenant_id, sha256)
);

CREATE INDEX resolvers_by_module ON resolvers (tenant_id, sha256);

ALTER TABLE resolvers ENABLE ROW LEVEL SECURITY;
ALTER TABLE resolvers FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON resolvers USING (portcullis_may_see(tenant_id));

-- Changes before they decide: cases that must pass, bundles beside the content, and proposals that wait for a second
-- manager.

CREATE TABLE tenant_cases (
    tenant_id  TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES tenants (id),
    -- Of checks without a domain, and of the users' tokens.
    domain     TEXT   NOT NULL,
    -- Canonical JSON arrays.
    cases      TEXT   NOT NULL,
    users      TEXT   NOT NULL,
    -- A JSON array of the names of cases that could not be decided when they were last judged.
    skipped    TEXT   NOT NULL,
    updated_by TEXT   NOT NULL,
    updated_at BIGINT NOT NULL
);

ALTER TABLE tenant_cases ENABLE ROW LEVEL SECURITY;
ALTER TABLE tenant_cases FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON tenant_cases USING (portcullis_may_see(tenant_id));

CREATE TABLE drafts (
    tenant_id     TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    name          TEXT COLLATE "C" NOT NULL,
    -- JSON.
    bundle        TEXT    NOT NULL,
    -- The domain of rules without a domain.
    domain        TEXT    NOT NULL,
    -- `merge` keeps the records of the kinds that the draft names, where it does not name them; `replace` does not.
    mode          TEXT    NOT NULL DEFAULT 'replace',
    -- Checks are decided by the draft, too.
    shadow        BOOLEAN NOT NULL,
    -- Identifies the comparison of its decisions with the content's: a draft that is stored anew begins another one.
    -- Null: the draft is not in shadow.
    shadow_id     UUID,
    -- The counts so far, as JSON. Null: none yet.
    shadow_counts TEXT,
    created_by    TEXT    NOT NULL,
    created_at    BIGINT  NOT NULL,
    updated_by    TEXT,
    updated_at    BIGINT,
    PRIMARY KEY (tenant_id, name)
);

-- A tenant has one draft in shadow.
CREATE UNIQUE INDEX drafts_in_shadow ON drafts (tenant_id) WHERE shadow_id IS NOT NULL;

ALTER TABLE drafts ENABLE ROW LEVEL SECURITY;
ALTER TABLE drafts FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON drafts USING (portcullis_may_see(tenant_id));

CREATE TABLE proposals (
    tenant_id   TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    id          UUID   NOT NULL,
    -- `open`, `approved` or `rejected`.
    state       TEXT   NOT NULL,
    owner       TEXT   NOT NULL,
    message     TEXT,
    -- The domain of what the request writes without one.
    domain      TEXT   NOT NULL,
    -- JSON, encrypted: the body of the apply; null once it is decided or expired.
    request     BYTEA,
    -- JSON: the changes that the proposer saw.
    plan        TEXT   NOT NULL,
    fingerprint TEXT   NOT NULL,
    proposed_by TEXT   NOT NULL,
    -- The creator of the service key that proposed it.
    key_creator TEXT,
    proposed_at BIGINT NOT NULL,
    expires_at  BIGINT NOT NULL,
    decided_by  TEXT,
    decided_at  BIGINT,
    PRIMARY KEY (tenant_id, id)
);

ALTER TABLE proposals ENABLE ROW LEVEL SECURITY;
ALTER TABLE proposals FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON proposals USING (portcullis_may_see(tenant_id));

-- The directory: entities, and the tuples of their relations.

CREATE TABLE entities (
    tenant_id    TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    type         TEXT COLLATE "C" NOT NULL,
    id           TEXT COLLATE "C" NOT NULL,
    -- A JSON array of strings.
    roles        TEXT    NOT NULL,
    -- A JSON object of arrays of strings.
    domain_roles TEXT    NOT NULL,
    -- A JSON object.
    properties   TEXT    NOT NULL,
    -- The job that wrote the entity last.
    source       TEXT COLLATE "C",
    -- The last sync that named the entity.
    sync         UUID,
    -- The revision of the entities that changed the entity last.
    revision     BIGINT  NOT NULL,
    updated_at   BIGINT  NOT NULL,
    -- A deleted entity keeps its row for a while, so that a replica learns of the deletion.
    is_deleted   BOOLEAN NOT NULL,
    PRIMARY KEY (tenant_id, type, id)
);

CREATE INDEX entities_by_revision ON entities (tenant_id, revision);
CREATE INDEX deleted_entities ON entities (tenant_id, revision) WHERE is_deleted;
CREATE INDEX entities_by_source ON entities (tenant_id, source, type, id) WHERE source IS NOT NULL;

ALTER TABLE entities ENABLE ROW LEVEL SECURITY;
ALTER TABLE entities FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON entities USING (portcullis_may_see(tenant_id));

-- The names of roles that entities have, and how many have each.
CREATE TABLE entity_roles (
    tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    name      TEXT COLLATE "C" NOT NULL,
    holders   BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, name)
);

CREATE INDEX entity_roles_unused ON entity_roles (tenant_id, holders) WHERE holders <= 0;

ALTER TABLE entity_roles ENABLE ROW LEVEL SECURITY;
ALTER TABLE entity_roles FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON entity_roles USING (portcullis_may_see(tenant_id));

-- The full sync of the entities of each source that goes on.
CREATE TABLE entity_syncs (
    tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    source    TEXT COLLATE "C" NOT NULL,
    id        UUID   NOT NULL,
    begun_at  BIGINT NOT NULL,
    -- The number of entities of the source when the sync began.
    entities  BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, source)
);

ALTER TABLE entity_syncs ENABLE ROW LEVEL SECURITY;
ALTER TABLE entity_syncs FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON entity_syncs USING (portcullis_may_see(tenant_id));

-- The tuples that are stored.
CREATE TABLE relations (
    tenant_id        TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    object_type      TEXT COLLATE "C" NOT NULL,
    object_id        TEXT COLLATE "C" NOT NULL,
    -- The number of the relation.
    relation         BIGINT  NOT NULL,
    subject_type     TEXT COLLATE "C" NOT NULL,
    -- `*` is everybody of the type.
    subject_id       TEXT COLLATE "C" NOT NULL,
    -- The number of the relation of all who are meant; 0 for the subject itself.
    subject_relation BIGINT  NOT NULL,
    expires_at       BIGINT,
    -- The job that wrote the tuple last.
    source           TEXT COLLATE "C",
    -- The last sync that named the tuple.
    sync             UUID,
    -- The revision of the entities that changed the tuple last.
    revision         BIGINT  NOT NULL,
    updated_at       BIGINT  NOT NULL,
    -- A deleted tuple keeps its row for a while, so that a replica learns of the deletion.
    is_deleted       BOOLEAN NOT NULL,
    PRIMARY KEY (tenant_id, object_type, object_id, relation, subject_type, subject_id, subject_relation)
);

-- With the whole key: without statistics, a look-up of tuples by their keys takes this index or that of the key.
CREATE INDEX relations_by_subject ON relations
    (tenant_id, subject_type, subject_id, object_type, object_id, relation, subject_relation);
CREATE INDEX relations_by_revision ON relations (tenant_id, revision);
CREATE INDEX deleted_relations ON relations (tenant_id, revision) WHERE is_deleted;
CREATE INDEX relations_by_source ON relations (tenant_id, source, sync) WHERE source IS NOT NULL;

ALTER TABLE relations ENABLE ROW LEVEL SECURITY;
ALTER TABLE relations FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON relations USING (portcullis_may_see(tenant_id));

-- The full sync of the tuples of each source that goes on.
CREATE TABLE relation_syncs (
    tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    source    TEXT COLLATE "C" NOT NULL,
    id        UUID   NOT NULL,
    begun_at  BIGINT NOT NULL,
    -- The number of tuples of the source when the sync began.
    tuples    BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, source)
);

ALTER TABLE relation_syncs ENABLE ROW LEVEL SECURITY;
ALTER TABLE relation_syncs FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON relation_syncs USING (portcullis_may_see(tenant_id));

-- The history: the revisions of each tenant, who made them, what changed, and the records before and after.

CREATE TABLE revisions (
    tenant_id  TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    revision   BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    actor      TEXT   NOT NULL,
    credential TEXT   NOT NULL,
    key_id     TEXT,
    key_name   TEXT,
    -- `api`, `apply`, `restore`, `draft` or `service`.
    via        TEXT   NOT NULL,
    -- A JSON object: the origin of an apply, and the message.
    source     TEXT,
    request_id TEXT,
    -- The number of records that changed.
    changes    BIGINT NOT NULL,
    -- The bytes of the records before and after their changes, as if no two were equal.
    bytes      BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, revision)
);

ALTER TABLE revisions ENABLE ROW LEVEL SECURITY;
ALTER TABLE revisions FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON revisions USING (portcullis_may_see(tenant_id));

CREATE TABLE revision_changes (
    tenant_id   TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    kind        TEXT COLLATE "C" NOT NULL,
    -- The id, or the name of a role or type.
    record      TEXT COLLATE "C" NOT NULL,
    revision    BIGINT NOT NULL,
    -- The SHA-256 of the record. Null if there was none, or is none any more.
    before_hash BYTEA,
    after_hash  BYTEA,
    PRIMARY KEY (tenant_id, kind, record, revision)
);

CREATE INDEX revision_changes_by_revision ON revision_changes (tenant_id, revision);

ALTER TABLE revision_changes ENABLE ROW LEVEL SECURITY;
ALTER TABLE revision_changes FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON revision_changes USING (portcullis_may_see(tenant_id));

CREATE TABLE revision_values (
    tenant_id     TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    hash          BYTEA  NOT NULL,
    -- The last revision whose changes have the record.
    last_revision BIGINT NOT NULL,
    -- JSON.
    value         TEXT   NOT NULL,
    PRIMARY KEY (tenant_id, hash)
);

CREATE INDEX revision_values_by_last_revision ON revision_values (tenant_id, last_revision);

ALTER TABLE revision_values ENABLE ROW LEVEL SECURITY;
ALTER TABLE revision_values FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON revision_values USING (portcullis_may_see(tenant_id));

-- The audit records, which no statement changes.

CREATE TABLE audit_records (
    -- Empty for a record that belongs to no tenant.
    tenant_id     TEXT COLLATE "C" NOT NULL,
    id            UUID   NOT NULL,
    created_at    BIGINT NOT NULL,
    actor         TEXT   NOT NULL,
    -- The kind of credential, and the id or name of its key.
    credential    TEXT   NOT NULL,
    key_id        TEXT,
    key_name      TEXT,
    action        TEXT   NOT NULL,
    -- A JSON array of ids.
    records       TEXT   NOT NULL,
    -- The number of changes or refusals that the record stands for.
    count         BIGINT NOT NULL,
    -- JSON: the record before the change and after it.
    before_change TEXT,
    after_change  TEXT,
    -- JSON: the origin of an apply.
    source        TEXT,
    address       TEXT,
    request_id    TEXT,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX audit_records_by_id ON audit_records (id);

ALTER TABLE audit_records ENABLE ROW LEVEL SECURITY;
ALTER TABLE audit_records FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON audit_records USING (portcullis_may_see(tenant_id));

-- A transaction that names a tenant here may delete audit records of it.
CREATE TABLE audit_pruning (
    tenant TEXT COLLATE "C" NOT NULL PRIMARY KEY
);

ALTER TABLE audit_pruning ENABLE ROW LEVEL SECURITY;
ALTER TABLE audit_pruning FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON audit_pruning USING (portcullis_may_see(tenant));

CREATE FUNCTION portcullis_refuse_audit_change() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'audit records never change';
END
$$;

CREATE FUNCTION portcullis_refuse_audit_deletion() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM audit_pruning WHERE tenant = OLD.tenant_id) THEN
        RAISE EXCEPTION 'audit records are deleted by retention only';
    END IF;
    RETURN OLD;
END
$$;

CREATE TRIGGER audit_records_never_change BEFORE UPDATE ON audit_records
    FOR EACH ROW EXECUTE FUNCTION portcullis_refuse_audit_change();
CREATE TRIGGER audit_records_stay BEFORE DELETE ON audit_records
    FOR EACH ROW EXECUTE FUNCTION portcullis_refuse_audit_deletion();
CREATE TRIGGER audit_records_stay_together BEFORE TRUNCATE ON audit_records
    FOR EACH STATEMENT EXECUTE FUNCTION portcullis_refuse_audit_change();

-- Events, their deliveries to webhooks, and the attempts that were made.

CREATE TABLE webhooks (
    tenant_id  TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    id         UUID   NOT NULL,
    url        TEXT   NOT NULL,
    -- A JSON array of strings.
    events     TEXT   NOT NULL,
    -- Encrypted; see `encryption.rs`.
    secret     BYTEA  NOT NULL,
    created_by TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT,
    managed_by TEXT COLLATE "C",
    PRIMARY KEY (tenant_id, id)
);

ALTER TABLE webhooks ENABLE ROW LEVEL SECURITY;
ALTER TABLE webhooks FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON webhooks USING (portcullis_may_see(tenant_id));

CREATE TABLE webhook_events (
    tenant_id  TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    -- Ascends within the tenant in the order of commit.
    id         UUID   NOT NULL,
    type       TEXT   NOT NULL,
    -- The bytes that are signed and sent; they never change.
    body       BYTEA  NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX webhook_events_by_age ON webhook_events (created_at);

ALTER TABLE webhook_events ENABLE ROW LEVEL SECURITY;
ALTER TABLE webhook_events FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON webhook_events USING (portcullis_may_see(tenant_id));

-- The delivery queues. Each webhook has two, one of them for denied checks, and one worker at a time serves a queue.
CREATE TABLE webhook_lanes (
    tenant_id   TEXT COLLATE "C" NOT NULL,
    webhook_id  UUID    NOT NULL,
    -- Whether it is the queue of denied checks.
    denials     BOOLEAN NOT NULL DEFAULT FALSE,
    -- When the first of its deliveries is due; null when none is pending.
    due_at      BIGINT,
    -- Who serves it, and until when; the fence is raised each time that somebody takes it over.
    holder      TEXT,
    lease_until BIGINT  NOT NULL DEFAULT 0,
    fence       BIGINT  NOT NULL DEFAULT 0,
    -- Whether its last attempt failed or took long.
    slow        BOOLEAN NOT NULL DEFAULT FALSE,
    -- In a queue of denied checks: the deliveries that are not settled.
    waiting     BIGINT  NOT NULL DEFAULT 0,
    -- In a queue of denied checks: the dropped denials that no delivery reports yet.
    dropped     BIGINT  NOT NULL DEFAULT 0,
    -- In a queue of denied checks: the settled deliveries, or a few more.
    settled     BIGINT  NOT NULL DEFAULT 0,
    -- The newest event of the queue: the next one gets a greater id, even if the row of this one is gone.
    last_event  UUID,
    PRIMARY KEY (tenant_id, webhook_id, denials),
    FOREIGN KEY (tenant_id, webhook_id) REFERENCES webhooks (tenant_id, id)
);

CREATE INDEX webhook_lanes_due ON webhook_lanes (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX webhook_lanes_held ON webhook_lanes (holder) WHERE holder IS NOT NULL;

ALTER TABLE webhook_lanes ENABLE ROW LEVEL SECURITY;
ALTER TABLE webhook_lanes FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON webhook_lanes USING (portcullis_may_see(tenant_id));

CREATE TABLE webhook_deliveries (
    tenant_id  TEXT COLLATE "C" NOT NULL,
    id         UUID    NOT NULL,
    webhook_id UUID    NOT NULL,
    event_id   UUID    NOT NULL,
    -- Whether the event is a denied check.
    denials    BOOLEAN NOT NULL DEFAULT FALSE,
    -- 0 before the first attempt, then the time of the next one; null when it is delivered or dead.
    due_at     BIGINT,
    failures   BIGINT  NOT NULL DEFAULT 0,
    -- Raised by a redelivery, which an attempt under way must not undo.
    round      BIGINT  NOT NULL DEFAULT 0,
    -- The dropped denials that this delivery reports.
    dropped    BIGINT  NOT NULL DEFAULT 0,
    -- When it was delivered or dead.
    settled_at BIGINT,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, event_id) REFERENCES webhook_events (tenant_id, id)
);

CREATE INDEX webhook_deliveries_by_queue
    ON webhook_deliveries (tenant_id, webhook_id, denials, due_at, event_id);
-- Finds the oldest denials that wait.
CREATE INDEX webhook_deliveries_of_denials
    ON webhook_deliveries (tenant_id, webhook_id, event_id) WHERE denials AND due_at IS NOT NULL;
-- Finds the oldest denials that are over.
CREATE INDEX webhook_deliveries_of_settled_denials
    ON webhook_deliveries (tenant_id, webhook_id, settled_at) WHERE denials AND settled_at IS NOT NULL;
CREATE INDEX webhook_deliveries_by_event ON webhook_deliveries (tenant_id, event_id);
CREATE INDEX webhook_deliveries_by_age ON webhook_deliveries (settled_at) WHERE settled_at IS NOT NULL;

ALTER TABLE webhook_deliveries ENABLE ROW LEVEL SECURITY;
ALTER TABLE webhook_deliveries FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON webhook_deliveries USING (portcullis_may_see(tenant_id));

CREATE TABLE webhook_attempts (
    tenant_id       TEXT COLLATE "C" NOT NULL,
    id              UUID   NOT NULL,
    webhook_id      UUID   NOT NULL,
    delivery_id     UUID   NOT NULL,
    -- Failures before it.
    retry_count     BIGINT NOT NULL,
    http_status     BIGINT,
    response_body   TEXT,
    error           TEXT,
    duration_ms     BIGINT NOT NULL,
    -- Of the delivery, after it: `retrying`, `delivered` or `dead`.
    state           TEXT   NOT NULL,
    attempted_at    BIGINT NOT NULL,
    next_attempt_at BIGINT,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, delivery_id) REFERENCES webhook_deliveries (tenant_id, id)
);

CREATE INDEX webhook_attempts_by_webhook ON webhook_attempts (tenant_id, webhook_id, id);
CREATE INDEX webhook_attempts_by_delivery ON webhook_attempts (tenant_id, delivery_id);
CREATE INDEX webhook_attempts_by_age ON webhook_attempts (attempted_at);

ALTER TABLE webhook_attempts ENABLE ROW LEVEL SECURITY;
ALTER TABLE webhook_attempts FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON webhook_attempts USING (portcullis_may_see(tenant_id));

-- Denied checks of one transaction that wait for their first attempt.
CREATE TABLE denial_segments (
    tenant_id  TEXT COLLATE "C" NOT NULL,
    webhook_id UUID   NOT NULL,
    -- The id of its last event.
    id         UUID   NOT NULL,
    total      BIGINT NOT NULL,
    -- The first ones, which wait here no more: delivered, dropped, or in a row of their own.
    gone       BIGINT NOT NULL DEFAULT 0,
    -- A JSON array with the ids and the body of each.
    denials    BYTEA  NOT NULL,
    PRIMARY KEY (tenant_id, webhook_id, id),
    FOREIGN KEY (tenant_id, webhook_id) REFERENCES webhooks (tenant_id, id) ON DELETE CASCADE
);

-- Compression would cost more time than everything else here.
ALTER TABLE denial_segments ALTER COLUMN denials SET STORAGE EXTERNAL;

ALTER TABLE denial_segments ENABLE ROW LEVEL SECURITY;
ALTER TABLE denial_segments FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON denial_segments USING (portcullis_may_see(tenant_id));

-- Denied checks of one batch that were delivered at the first attempt.
CREATE TABLE delivered_denials (
    tenant_id      TEXT COLLATE "C" NOT NULL,
    webhook_id     UUID   NOT NULL,
    -- The id of its first attempt. All its attempts come before those of the next row.
    id             UUID   NOT NULL,
    last_attempt   UUID   NOT NULL,
    first_delivery UUID   NOT NULL,
    last_delivery  UUID   NOT NULL,
    total          BIGINT NOT NULL,
    -- A JSON array of the attempts, and one of the bodies in the same order.
    attempts       BYTEA  NOT NULL,
    bodies         BYTEA  NOT NULL,
    settled_at     BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, webhook_id, id),
    FOREIGN KEY (tenant_id, webhook_id) REFERENCES webhooks (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX delivered_denials_by_age ON delivered_denials (settled_at);
-- As above.
ALTER TABLE delivered_denials ALTER COLUMN attempts SET STORAGE EXTERNAL;
ALTER TABLE delivered_denials ALTER COLUMN bodies SET STORAGE EXTERNAL;

ALTER TABLE delivered_denials ENABLE ROW LEVEL SECURITY;
ALTER TABLE delivered_denials FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON delivered_denials USING (portcullis_may_see(tenant_id));

-- The record of decisions. Its files form a chain of what was written and removed.

CREATE TABLE decision_files (
    -- The place in the chain, from 1 on.
    seq        BIGINT  NOT NULL PRIMARY KEY,
    -- `sealed`, `erased` or `expired`.
    cause      TEXT    NOT NULL,
    -- Null if the row only says that a file is gone.
    path       TEXT    UNIQUE,
    -- The path of the file that this one replaces.
    replaces   TEXT,
    created_at BIGINT  NOT NULL,
    records    BIGINT  NOT NULL,
    bytes      BIGINT  NOT NULL,
    -- SHA-256 of the file, of the row before with this row, and the authentication code of the latter.
    sha256     BYTEA   NOT NULL,
    hash       BYTEA   NOT NULL,
    mac        BYTEA   NOT NULL,
    -- No query reads the file since then.
    gone_at    BIGINT,
    -- The file was deleted from the store.
    deleted    BOOLEAN NOT NULL DEFAULT FALSE
);

CREATE INDEX decision_files_gone ON decision_files (gone_at) WHERE gone_at IS NOT NULL AND NOT deleted;
CREATE INDEX decision_files_present ON decision_files (path) WHERE gone_at IS NULL AND path IS NOT NULL;

ALTER TABLE decision_files ENABLE ROW LEVEL SECURITY;
ALTER TABLE decision_files FORCE ROW LEVEL SECURITY;
CREATE POLICY of_the_service ON decision_files USING (portcullis_may_see('*'));

-- What each tenant has in which file.
CREATE TABLE decision_parts (
    tenant_id  TEXT COLLATE "C" NOT NULL,
    first_id   UUID   NOT NULL,
    path       TEXT COLLATE "C" NOT NULL,
    last_id    UUID   NOT NULL,
    records    BIGINT NOT NULL,
    -- The tenant's share of the file.
    bytes      BIGINT NOT NULL,
    file_bytes BIGINT NOT NULL,
    -- The instant of the last record, and the one at which the part goes.
    last_at    BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, first_id, path)
);

CREATE INDEX decision_parts_by_path ON decision_parts (path);
CREATE INDEX decision_parts_by_age ON decision_parts (expires_at);

ALTER TABLE decision_parts ENABLE ROW LEVEL SECURITY;
ALTER TABLE decision_parts FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON decision_parts USING (portcullis_may_see(tenant_id));

-- Files that a process stores before the chain names them: what stays of them after a failure is removed.
CREATE TABLE decision_uploads (
    path     TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    begun_at BIGINT  NOT NULL,
    -- The file goes: the chain must not name it any more.
    leaving  BOOLEAN NOT NULL DEFAULT FALSE
);

ALTER TABLE decision_uploads ENABLE ROW LEVEL SECURITY;
ALTER TABLE decision_uploads FORCE ROW LEVEL SECURITY;
CREATE POLICY of_the_service ON decision_uploads USING (portcullis_may_see('*'));

-- The persons whose records are erased: records that wait for their file are left out when it is written.
CREATE TABLE decision_erasures (
    tenant_id  TEXT COLLATE "C" NOT NULL,
    -- An authentication code of the subject.
    subject    BYTEA   NOT NULL,
    erased_at  BIGINT  NOT NULL,
    -- The erasure goes on: some file may have such a record.
    pending    BOOLEAN NOT NULL DEFAULT FALSE,
    -- What is gone and nobody was told of: records, deliveries of denied checks, and those of them that their receivers
    -- may have.
    records    BIGINT  NOT NULL DEFAULT 0,
    deliveries BIGINT  NOT NULL DEFAULT 0,
    sent       BIGINT  NOT NULL DEFAULT 0,
    -- Reports that began before then are forgotten.
    ended_at   BIGINT,
    PRIMARY KEY (tenant_id, subject)
);

CREATE INDEX decision_erasures_by_end ON decision_erasures (tenant_id, ended_at);

ALTER TABLE decision_erasures ENABLE ROW LEVEL SECURITY;
ALTER TABLE decision_erasures FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON decision_erasures USING (portcullis_may_see(tenant_id));

-- What replicas answer when one of them asks for decisions that are not at rest. A row lives for seconds, so that
-- nothing is lost with the table after a crash.
CREATE UNLOGGED TABLE record_answers (
    tenant_id TEXT COLLATE "C" NOT NULL,
    question  UUID    NOT NULL,
    -- The number of the replica that answers.
    replica   BIGINT  NOT NULL,
    at        BIGINT  NOT NULL,
    -- Whether the records are all that the question asks for.
    complete  BOOLEAN NOT NULL,
    records   BYTEA   NOT NULL,
    PRIMARY KEY (tenant_id, question, replica)
);

CREATE INDEX record_answers_by_age ON record_answers (at);

ALTER TABLE record_answers ENABLE ROW LEVEL SECURITY;
ALTER TABLE record_answers FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON record_answers USING (portcullis_may_see(tenant_id));

-- One ordered stream of changes for all tenants: the row of a tenant says when it last changed. A process asks for the
-- rows after its position, so that what it costs to follow depends on the changes and not on the number of tenants.
-- Triggers, so that no writer forgets to note a change.

CREATE FUNCTION portcullis_change() RETURNS BIGINT LANGUAGE SQL VOLATILE
    RETURN CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT);

CREATE FUNCTION portcullis_note_change() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    NEW.changed := portcullis_change();
    RETURN NEW;
END
$$;

CREATE FUNCTION portcullis_note_state() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    NEW.changed := portcullis_change();
    NEW.access_changed := NEW.changed;
    PERFORM pg_notify('portcullis_access', '');
    RETURN NEW;
END
$$;

CREATE FUNCTION portcullis_note_access() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
    owner TEXT;
BEGIN
    IF TG_OP = 'DELETE' THEN owner := OLD.tenant_id; ELSE owner := NEW.tenant_id; END IF;
    UPDATE tenants SET access_changed = portcullis_change()
        WHERE id = owner AND access_changed <> portcullis_change();
    IF FOUND THEN PERFORM pg_notify('portcullis_access', ''); END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER tenants_note_change BEFORE UPDATE OF revision, access_changed ON tenants
    FOR EACH ROW EXECUTE FUNCTION portcullis_note_change();
CREATE TRIGGER tenants_note_state BEFORE UPDATE OF suspended_at, deleting_at, erased_at ON tenants
    FOR EACH ROW EXECUTE FUNCTION portcullis_note_state();
CREATE TRIGGER identity_providers_note AFTER INSERT OR DELETE ON identity_providers
    FOR EACH ROW EXECUTE FUNCTION portcullis_note_access();
CREATE TRIGGER service_keys_note AFTER DELETE ON service_keys
    FOR EACH ROW EXECUTE FUNCTION portcullis_note_access();
CREATE TRIGGER webhooks_note AFTER INSERT OR DELETE OR UPDATE OF events ON webhooks
    FOR EACH ROW EXECUTE FUNCTION portcullis_note_access();
