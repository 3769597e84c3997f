-- The schema of version 0.3.0, with which upgrades begin.
--
-- Times are milliseconds since the Unix epoch, booleans are 0 and 1, ids are UUIDv7 (so that their order is the order
-- of creation), and every key starts with the tenant. JSON is text.

-- Tenants, and who may call.

CREATE TABLE tenants (
    id                  TEXT    NOT NULL PRIMARY KEY,
    -- Null for a tenant of `selfhost` mode, which is nothing but its domain.
    name                TEXT,
    slug                TEXT,
    created_at          INTEGER NOT NULL,
    -- From then on every credential of the tenant is refused; null while it is active.
    suspended_at        INTEGER,
    -- From then on the tenant is being deleted.
    deleting_at         INTEGER,
    -- From then on nothing but this row is left of it.
    erased_at           INTEGER,
    -- Raised by one with every committed change of the content.
    revision            INTEGER NOT NULL,
    -- Random ids of the last commits, the newest first, 16 hexadecimal digits each. They tell whether the database lost
    -- commits that a replica knows.
    history             TEXT    NOT NULL DEFAULT '',
    -- The same two for the entities, so that they do not touch the revision of the content.
    entities_revision   INTEGER NOT NULL DEFAULT 0,
    entities_history    TEXT    NOT NULL DEFAULT '',
    -- The deletions of entities, and of tuples, up to this revision of the entities have left no row.
    entities_forgotten  INTEGER NOT NULL DEFAULT 0,
    relations_forgotten INTEGER NOT NULL DEFAULT 0,
    -- The number that a relation of the tenant got last.
    last_relation       INTEGER NOT NULL DEFAULT 0,
    -- The number of the last change of the tenant. Numbers rise over all tenants; 0 is before the first.
    changed             INTEGER NOT NULL DEFAULT 0,
    -- The same for the last change of who may do something in the tenant: its state, its identity providers, its
    -- service keys, and which events its webhooks subscribe to.
    access_changed      INTEGER NOT NULL DEFAULT 0,
    -- Settings that each write or check needs, read with this row; `tenant_settings` has all. The first two: whether
    -- the tenant's cases must pass, and whether a second manager must approve.
    gate_cases          INTEGER NOT NULL DEFAULT FALSE,
    gate_approval       INTEGER NOT NULL DEFAULT FALSE,
    -- Whether an attribute of the directory goes before one of the request.
    directory_wins      INTEGER NOT NULL DEFAULT FALSE,
    -- What the tenant has, for its quotas. Each transaction that adds or removes a record changes these numbers, so
    -- that no write counts records.
    used_webhooks       INTEGER NOT NULL DEFAULT 0,
    used_policies       INTEGER NOT NULL DEFAULT 0,
    used_rules          INTEGER NOT NULL DEFAULT 0,
    used_resources      INTEGER NOT NULL DEFAULT 0,
    used_service_keys   INTEGER NOT NULL DEFAULT 0,
    used_resolvers      INTEGER NOT NULL DEFAULT 0,
    used_entities       INTEGER NOT NULL DEFAULT 0,
    used_relations      INTEGER NOT NULL DEFAULT 0,
    -- The bytes of texts and modules; `quotas.rs` says which. A deleted policy is retained, so it counts.
    used_bytes          INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX tenants_by_slug ON tenants (slug);
CREATE INDEX tenants_by_change ON tenants (changed);
CREATE INDEX tenants_closed ON tenants (id) WHERE suspended_at IS NOT NULL OR deleting_at IS NOT NULL;
CREATE INDEX tenants_deleting ON tenants (id) WHERE deleting_at IS NOT NULL;

CREATE TABLE tenant_settings (
    tenant_id  TEXT    NOT NULL PRIMARY KEY REFERENCES tenants (id),
    -- JSON with every member.
    settings   TEXT    NOT NULL,
    updated_by TEXT    NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE identity_providers (
    tenant_id          TEXT    NOT NULL REFERENCES tenants (id),
    id                 BLOB    NOT NULL,
    -- Unique over all tenants: a token's `iss` decides its tenant.
    issuer_url         TEXT    NOT NULL UNIQUE,
    jwks_uri           TEXT    NOT NULL,
    audience           TEXT,
    roles_claim        TEXT    NOT NULL,
    -- The form of the claim of roles: `list`, `words` or `keys`.
    roles_format       TEXT    NOT NULL DEFAULT 'list',
    domain_claim       TEXT    NOT NULL,
    admin_domain_claim TEXT    NOT NULL,
    created_at         INTEGER NOT NULL,
    -- The last use that was noted; at most an hour behind.
    last_used_at       INTEGER,
    PRIMARY KEY (tenant_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX identity_providers_by_id ON identity_providers (id);
CREATE INDEX identity_providers_by_use ON identity_providers (last_used_at) WHERE last_used_at IS NOT NULL;

CREATE TABLE service_keys (
    tenant_id    TEXT    NOT NULL REFERENCES tenants (id),
    id           BLOB    NOT NULL UNIQUE,
    name         TEXT    NOT NULL,
    description  TEXT,
    -- The domain of the key's checks; null if each of its checks names a domain.
    domain       TEXT,
    -- SHA-256 of the secret part.
    secret_hash  BLOB    NOT NULL,
    -- A JSON array of strings.
    permissions  TEXT    NOT NULL,
    created_by   TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,
    -- Written lazily: at most a minute behind.
    last_used_at INTEGER,
    PRIMARY KEY (tenant_id, id)
) STRICT, WITHOUT ROWID;

-- The content: what tenants and their folders say about who may do what. `managed_by` is the source that applies a
-- record; null for a record of the API.

CREATE TABLE resources (
    tenant_id     TEXT    NOT NULL REFERENCES tenants (id),
    id            BLOB    NOT NULL,
    name          TEXT    NOT NULL,
    -- The two parts of the name, split at its last colon, so that a written rule is compared with the registered names
    -- without a scan.
    stem          TEXT    NOT NULL DEFAULT '',
    verb          TEXT    NOT NULL DEFAULT '',
    display_name  TEXT,
    service_name  TEXT,
    -- A JSON array of strings.
    default_roles TEXT    NOT NULL,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER,
    managed_by    TEXT,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, name)
) STRICT, WITHOUT ROWID;

CREATE INDEX resources_by_stem ON resources (tenant_id, stem);
CREATE INDEX resources_by_verb ON resources (tenant_id, verb);

CREATE TABLE rbac_rules (
    tenant_id  TEXT    NOT NULL REFERENCES tenants (id),
    id         BLOB    NOT NULL,
    sub        TEXT    NOT NULL,
    dom        TEXT    NOT NULL,
    obj        TEXT    NOT NULL,
    act        TEXT    NOT NULL,
    effect     TEXT    NOT NULL CHECK (effect IN ('allow', 'deny')),
    origin     TEXT    NOT NULL CHECK (origin IN ('explicit', 'default_role')),
    created_by TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    updated_by TEXT,
    updated_at INTEGER,
    managed_by TEXT,
    PRIMARY KEY (tenant_id, id),
    -- Also the index by which a plan finds its rules.
    UNIQUE (tenant_id, obj, sub, dom, act)
) STRICT, WITHOUT ROWID;

-- All that a plan takes from a rule.
CREATE INDEX rbac_rules_of_plans ON rbac_rules (tenant_id, obj, sub, dom, act, effect);

CREATE TABLE abac_policies (
    tenant_id   TEXT    NOT NULL REFERENCES tenants (id),
    id          BLOB    NOT NULL,
    name        TEXT    NOT NULL,
    description TEXT,
    resource    TEXT    NOT NULL,
    effect      TEXT    NOT NULL CHECK (effect IN ('allow', 'deny')),
    format      TEXT    NOT NULL,
    -- Compact JSON.
    rule_data   TEXT    NOT NULL,
    priority    INTEGER NOT NULL,
    enabled     INTEGER NOT NULL,
    created_by  TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    updated_by  TEXT,
    updated_at  INTEGER,
    -- Set by a deletion: the record is retained, and no query but an audit sees it.
    deleted_at  INTEGER,
    managed_by  TEXT,
    PRIMARY KEY (tenant_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX abac_policies_by_resource ON abac_policies (tenant_id, resource) WHERE deleted_at IS NULL;
-- A plan finds its policies by it.
CREATE INDEX abac_policies_of_plans ON abac_policies (tenant_id, resource);
-- Reads policies in the order of names, for exports, without sorting them.
CREATE INDEX abac_policies_by_name ON abac_policies (tenant_id, name, id) WHERE deleted_at IS NULL;

-- The bytes of rules and policies on each resource or pattern, for the quota `plan_bytes`: every plan of the resource
-- loads them. A pattern without any has no row.
CREATE TABLE plan_sizes (
    tenant_id TEXT    NOT NULL REFERENCES tenants (id),
    pattern   TEXT    NOT NULL,
    -- `quotas.rs` says of which texts. A deleted policy does not count.
    bytes     INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, pattern)
) STRICT, WITHOUT ROWID;

-- Finds the patterns on which there is nothing any more; their rows go in the same transaction. With the column of the
-- condition, so that SQLite takes it without statistics, too.
CREATE INDEX plan_sizes_gone ON plan_sizes (tenant_id, bytes) WHERE bytes <= 0;

-- Roles that include roles.
CREATE TABLE roles (
    tenant_id  TEXT    NOT NULL REFERENCES tenants (id),
    name       TEXT    NOT NULL,
    -- A JSON array of the names of roles.
    includes   TEXT    NOT NULL,
    created_by TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    updated_by TEXT,
    updated_at INTEGER,
    managed_by TEXT,
    PRIMARY KEY (tenant_id, name)
) STRICT;

-- The types that tenants declare.
CREATE TABLE types (
    tenant_id  TEXT    NOT NULL REFERENCES tenants (id),
    name       TEXT    NOT NULL,
    -- A JSON object: what a bundle says of the type beside its name.
    definition TEXT    NOT NULL,
    -- A JSON object of the definition's properties that are taken from one place alone, which each plan needs.
    sources    TEXT    NOT NULL,
    -- A JSON object: the relations of the type by name, each a list of its number and its definition. Tuples name
    -- relations by number, so that a rename changes none.
    relations  TEXT    NOT NULL DEFAULT '{}',
    created_by TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    updated_by TEXT,
    updated_at INTEGER,
    managed_by TEXT,
    PRIMARY KEY (tenant_id, name)
) STRICT;

-- Modules of attribute resolvers. Apart from the resolvers: a module is read only to be loaded, and several resolvers
-- may have the same.
CREATE TABLE resolver_modules (
    tenant_id TEXT NOT NULL REFERENCES tenants (id),
    -- SHA-256 of the bytes, in hexadecimal.
    sha256    TEXT NOT NULL,
    bytes     BLOB NOT NULL,
    PRIMARY KEY (tenant_id, sha256)
) STRICT;

CREATE INDEX resolver_modules_by_digest ON resolver_modules (sha256);

CREATE TABLE resolvers (
    tenant_id  TEXT    NOT NULL REFERENCES tenants (id),
    id         BLOB    NOT NULL,
    namespace  TEXT    NOT NULL,
    -- Raised by every update.
    version    INTEGER NOT NULL,
    enabled    INTEGER NOT NULL,
    -- JSON, with the names of the secrets.
    manifest   TEXT    NOT NULL,
    -- JSON, encrypted; see `encryption.rs`.
    secrets    BLOB    NOT NULL,
    -- JSON: what the module says of itself.
    module     TEXT    NOT NULL,
    sha256     TEXT    NOT NULL,
    created_by TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    updated_by TEXT,
    updated_at INTEGER,
    managed_by TEXT,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, namespace),
    FOREIGN KEY (tenant_id, sha256) REFERENCES resolver_modules (tenant_id, sha256)
) STRICT;

CREATE INDEX resolvers_by_module ON resolvers (tenant_id, sha256);

-- Changes before they decide: cases that must pass, bundles beside the content, and proposals that wait for a second
-- manager.

CREATE TABLE tenant_cases (
    tenant_id  TEXT    NOT NULL PRIMARY KEY REFERENCES tenants (id),
    -- Of checks without a domain, and of the users' tokens.
    domain     TEXT    NOT NULL,
    -- Canonical JSON arrays.
    cases      TEXT    NOT NULL,
    users      TEXT    NOT NULL,
    -- A JSON array of the names of cases that could not be decided when they were last judged.
    skipped    TEXT    NOT NULL,
    updated_by TEXT    NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE drafts (
    tenant_id     TEXT    NOT NULL REFERENCES tenants (id),
    name          TEXT    NOT NULL,
    -- JSON.
    bundle        TEXT    NOT NULL,
    -- The domain of rules without a domain.
    domain        TEXT    NOT NULL,
    -- `merge` keeps the records of the kinds that the draft names, where it does not name them; `replace` does not.
    mode          TEXT    NOT NULL DEFAULT 'replace',
    -- Checks are decided by the draft, too.
    shadow        INTEGER NOT NULL,
    -- Identifies the comparison of its decisions with the content's: a draft that is stored anew begins another one.
    -- Null: the draft is not in shadow.
    shadow_id     BLOB,
    -- The counts so far, as JSON. Null: none yet.
    shadow_counts TEXT,
    created_by    TEXT    NOT NULL,
    created_at    INTEGER NOT NULL,
    updated_by    TEXT,
    updated_at    INTEGER,
    PRIMARY KEY (tenant_id, name)
) STRICT;

-- A tenant has one draft in shadow.
CREATE UNIQUE INDEX drafts_in_shadow ON drafts (tenant_id) WHERE shadow_id IS NOT NULL;

CREATE TABLE proposals (
    tenant_id   TEXT    NOT NULL REFERENCES tenants (id),
    id          BLOB    NOT NULL,
    -- `open`, `approved` or `rejected`.
    state       TEXT    NOT NULL,
    owner       TEXT    NOT NULL,
    message     TEXT,
    -- The domain of what the request writes without one.
    domain      TEXT    NOT NULL,
    -- JSON, encrypted: the body of the apply; null once it is decided or expired.
    request     BLOB,
    -- JSON: the changes that the proposer saw.
    plan        TEXT    NOT NULL,
    fingerprint TEXT    NOT NULL,
    proposed_by TEXT    NOT NULL,
    -- The creator of the service key that proposed it.
    key_creator TEXT,
    proposed_at INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL,
    decided_by  TEXT,
    decided_at  INTEGER,
    PRIMARY KEY (tenant_id, id)
) STRICT;

-- The directory: entities, and the tuples of their relations.

CREATE TABLE entities (
    tenant_id    TEXT    NOT NULL REFERENCES tenants (id),
    type         TEXT    NOT NULL,
    id           TEXT    NOT NULL,
    -- A JSON array of strings.
    roles        TEXT    NOT NULL,
    -- A JSON object of arrays of strings.
    domain_roles TEXT    NOT NULL,
    -- A JSON object.
    properties   TEXT    NOT NULL,
    -- The job that wrote the entity last.
    source       TEXT,
    -- The last sync that named the entity.
    sync         BLOB,
    -- The revision of the entities that changed the entity last.
    revision     INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    -- A deleted entity keeps its row for a while, so that a replica learns of the deletion.
    is_deleted   INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, type, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX entities_by_revision ON entities (tenant_id, revision);
CREATE INDEX deleted_entities ON entities (tenant_id, revision) WHERE is_deleted;
-- With the sync: a full one counts the entities that it did not name.
CREATE INDEX entities_by_source ON entities (tenant_id, source, type, id, sync) WHERE source IS NOT NULL;

-- The names of roles that entities have, and how many have each.
CREATE TABLE entity_roles (
    tenant_id TEXT    NOT NULL REFERENCES tenants (id),
    name      TEXT    NOT NULL,
    holders   INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, name)
) STRICT;

CREATE INDEX entity_roles_unused ON entity_roles (tenant_id, holders) WHERE holders <= 0;

-- The full sync of the entities of each source that goes on.
CREATE TABLE entity_syncs (
    tenant_id TEXT    NOT NULL REFERENCES tenants (id),
    source    TEXT    NOT NULL,
    id        BLOB    NOT NULL,
    begun_at  INTEGER NOT NULL,
    -- The number of entities of the source when the sync began.
    entities  INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, source)
) STRICT;

-- The tuples that are stored.
CREATE TABLE relations (
    tenant_id        TEXT    NOT NULL REFERENCES tenants (id),
    object_type      TEXT    NOT NULL,
    object_id        TEXT    NOT NULL,
    -- The number of the relation.
    relation         INTEGER NOT NULL,
    subject_type     TEXT    NOT NULL,
    -- `*` is everybody of the type.
    subject_id       TEXT    NOT NULL,
    -- The number of the relation of all who are meant; 0 for the subject itself.
    subject_relation INTEGER NOT NULL,
    expires_at       INTEGER,
    -- The job that wrote the tuple last.
    source           TEXT,
    -- The last sync that named the tuple.
    sync             BLOB,
    -- The revision of the entities that changed the tuple last.
    revision         INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL,
    -- A deleted tuple keeps its row for a while, so that a replica learns of the deletion.
    is_deleted       INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, object_type, object_id, relation, subject_type, subject_id, subject_relation)
) STRICT;

CREATE INDEX relations_by_subject ON relations (tenant_id, subject_type, subject_id);
CREATE INDEX relations_by_revision ON relations (tenant_id, revision);
CREATE INDEX deleted_relations ON relations (tenant_id, revision) WHERE is_deleted;
CREATE INDEX relations_by_source ON relations (tenant_id, source, sync) WHERE source IS NOT NULL;

-- The full sync of the tuples of each source that goes on.
CREATE TABLE relation_syncs (
    tenant_id TEXT    NOT NULL REFERENCES tenants (id),
    source    TEXT    NOT NULL,
    id        BLOB    NOT NULL,
    begun_at  INTEGER NOT NULL,
    -- The number of tuples of the source when the sync began.
    tuples    INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, source)
) STRICT;

-- The history: the revisions of each tenant, who made them, what changed, and the records before and after.

CREATE TABLE revisions (
    tenant_id  TEXT    NOT NULL REFERENCES tenants (id),
    revision   INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    actor      TEXT    NOT NULL,
    credential TEXT    NOT NULL,
    key_id     TEXT,
    key_name   TEXT,
    -- `api`, `apply`, `restore`, `draft` or `service`.
    via        TEXT    NOT NULL,
    -- A JSON object: the origin of an apply, and the message.
    source     TEXT,
    request_id TEXT,
    -- The number of records that changed.
    changes    INTEGER NOT NULL,
    -- The bytes of the records before and after their changes, as if no two were equal.
    bytes      INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, revision)
) STRICT, WITHOUT ROWID;

CREATE TABLE revision_changes (
    tenant_id   TEXT    NOT NULL REFERENCES tenants (id),
    kind        TEXT    NOT NULL,
    -- The id, or the name of a role or type.
    record      TEXT    NOT NULL,
    revision    INTEGER NOT NULL,
    -- The SHA-256 of the record. Null if there was none, or is none any more.
    before_hash BLOB,
    after_hash  BLOB,
    PRIMARY KEY (tenant_id, kind, record, revision)
) STRICT, WITHOUT ROWID;

CREATE INDEX revision_changes_by_revision ON revision_changes (tenant_id, revision);

CREATE TABLE revision_values (
    tenant_id     TEXT    NOT NULL REFERENCES tenants (id),
    hash          BLOB    NOT NULL,
    -- The last revision whose changes have the record.
    last_revision INTEGER NOT NULL,
    -- JSON.
    value         TEXT    NOT NULL,
    PRIMARY KEY (tenant_id, hash)
) STRICT;

CREATE INDEX revision_values_by_last_revision ON revision_values (tenant_id, last_revision);

-- The audit records, which no statement changes.

CREATE TABLE audit_records (
    -- Empty for a record that belongs to no tenant.
    tenant_id     TEXT    NOT NULL,
    id            BLOB    NOT NULL,
    created_at    INTEGER NOT NULL,
    actor         TEXT    NOT NULL,
    -- The kind of credential, and the id or name of its key.
    credential    TEXT    NOT NULL,
    key_id        TEXT,
    key_name      TEXT,
    action        TEXT    NOT NULL,
    -- A JSON array of ids.
    records       TEXT    NOT NULL,
    -- The number of changes or refusals that the record stands for.
    count         INTEGER NOT NULL,
    -- JSON: the record before the change and after it.
    before_change TEXT,
    after_change  TEXT,
    -- JSON: the origin of an apply.
    source        TEXT,
    address       TEXT,
    request_id    TEXT,
    PRIMARY KEY (tenant_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX audit_records_by_id ON audit_records (id);

-- A transaction that names a tenant here may delete audit records of it.
CREATE TABLE audit_pruning (
    tenant TEXT NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;

CREATE TRIGGER audit_records_never_change BEFORE UPDATE ON audit_records
BEGIN
    SELECT RAISE(ABORT, 'audit records never change');
END;

CREATE TRIGGER audit_records_stay BEFORE DELETE ON audit_records
WHEN NOT EXISTS (SELECT 1 FROM audit_pruning WHERE tenant = OLD.tenant_id)
BEGIN
    SELECT RAISE(ABORT, 'audit records are deleted by retention only');
END;

-- Events, their deliveries to webhooks, and the attempts that were made.

CREATE TABLE webhooks (
    tenant_id  TEXT    NOT NULL REFERENCES tenants (id),
    id         BLOB    NOT NULL,
    url        TEXT    NOT NULL,
    -- A JSON array of strings.
    events     TEXT    NOT NULL,
    -- Encrypted; see `encryption.rs`.
    secret     BLOB    NOT NULL,
    created_by TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER,
    managed_by TEXT,
    PRIMARY KEY (tenant_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE webhook_events (
    tenant_id  TEXT    NOT NULL REFERENCES tenants (id),
    -- Ascends within the tenant in the order of commit.
    id         BLOB    NOT NULL,
    type       TEXT    NOT NULL,
    -- The bytes that are signed and sent; they never change.
    body       BLOB    NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, id)
) STRICT;

CREATE INDEX webhook_events_by_age ON webhook_events (created_at);

-- The delivery queues. Each webhook has two, one of them for denied checks, and one worker at a time serves a queue.
CREATE TABLE webhook_lanes (
    tenant_id   TEXT    NOT NULL,
    webhook_id  BLOB    NOT NULL,
    -- Whether it is the queue of denied checks.
    denials     INTEGER NOT NULL DEFAULT FALSE,
    -- When the first of its deliveries is due; null when none is pending.
    due_at      INTEGER,
    -- Who serves it, and until when; the fence is raised each time that somebody takes it over.
    holder      TEXT,
    lease_until INTEGER NOT NULL DEFAULT 0,
    fence       INTEGER NOT NULL DEFAULT 0,
    -- Whether its last attempt failed or took long.
    slow        INTEGER NOT NULL DEFAULT FALSE,
    -- In a queue of denied checks: the deliveries that are not settled.
    waiting     INTEGER NOT NULL DEFAULT 0,
    -- In a queue of denied checks: the dropped denials that no delivery reports yet.
    dropped     INTEGER NOT NULL DEFAULT 0,
    -- In a queue of denied checks: the settled deliveries, or a few more.
    settled     INTEGER NOT NULL DEFAULT 0,
    -- The newest event of the queue: the next one gets a greater id, even if the row of this one is gone.
    last_event  BLOB,
    PRIMARY KEY (tenant_id, webhook_id, denials),
    FOREIGN KEY (tenant_id, webhook_id) REFERENCES webhooks (tenant_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX webhook_lanes_due ON webhook_lanes (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX webhook_lanes_held ON webhook_lanes (holder) WHERE holder IS NOT NULL;

CREATE TABLE webhook_deliveries (
    tenant_id  TEXT    NOT NULL,
    id         BLOB    NOT NULL,
    webhook_id BLOB    NOT NULL,
    event_id   BLOB    NOT NULL,
    -- Whether the event is a denied check.
    denials    INTEGER NOT NULL DEFAULT FALSE,
    -- 0 before the first attempt, then the time of the next one; null when it is delivered or dead.
    due_at     INTEGER,
    failures   INTEGER NOT NULL DEFAULT 0,
    -- Raised by a redelivery, which an attempt under way must not undo.
    round      INTEGER NOT NULL DEFAULT 0,
    -- The dropped denials that this delivery reports.
    dropped    INTEGER NOT NULL DEFAULT 0,
    -- When it was delivered or dead.
    settled_at INTEGER,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, event_id) REFERENCES webhook_events (tenant_id, id)
) STRICT, WITHOUT ROWID;

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

CREATE TABLE webhook_attempts (
    tenant_id       TEXT    NOT NULL,
    id              BLOB    NOT NULL,
    webhook_id      BLOB    NOT NULL,
    delivery_id     BLOB    NOT NULL,
    -- Failures before it.
    retry_count     INTEGER NOT NULL,
    http_status     INTEGER,
    response_body   TEXT,
    error           TEXT,
    duration_ms     INTEGER NOT NULL,
    -- Of the delivery, after it: `retrying`, `delivered` or `dead`.
    state           TEXT    NOT NULL,
    attempted_at    INTEGER NOT NULL,
    next_attempt_at INTEGER,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, delivery_id) REFERENCES webhook_deliveries (tenant_id, id)
) STRICT;

CREATE INDEX webhook_attempts_by_webhook ON webhook_attempts (tenant_id, webhook_id, id);
CREATE INDEX webhook_attempts_by_delivery ON webhook_attempts (tenant_id, delivery_id);
CREATE INDEX webhook_attempts_by_age ON webhook_attempts (attempted_at);

-- Denied checks of one transaction that wait for their first attempt.
CREATE TABLE denial_segments (
    tenant_id  TEXT    NOT NULL,
    webhook_id BLOB    NOT NULL,
    -- The id of its last event.
    id         BLOB    NOT NULL,
    total      INTEGER NOT NULL,
    -- The first ones, which wait here no more: delivered, dropped, or in a row of their own.
    gone       INTEGER NOT NULL DEFAULT 0,
    -- A JSON array with the ids and the body of each.
    denials    BLOB    NOT NULL,
    PRIMARY KEY (tenant_id, webhook_id, id),
    FOREIGN KEY (tenant_id, webhook_id) REFERENCES webhooks (tenant_id, id) ON DELETE CASCADE
) STRICT;

-- Denied checks of one batch that were delivered at the first attempt.
CREATE TABLE delivered_denials (
    tenant_id      TEXT    NOT NULL,
    webhook_id     BLOB    NOT NULL,
    -- The id of its first attempt. All its attempts come before those of the next row.
    id             BLOB    NOT NULL,
    last_attempt   BLOB    NOT NULL,
    first_delivery BLOB    NOT NULL,
    last_delivery  BLOB    NOT NULL,
    total          INTEGER NOT NULL,
    -- A JSON array of the attempts, and one of the bodies in the same order.
    attempts       BLOB    NOT NULL,
    bodies         BLOB    NOT NULL,
    settled_at     INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, webhook_id, id),
    FOREIGN KEY (tenant_id, webhook_id) REFERENCES webhooks (tenant_id, id) ON DELETE CASCADE
) STRICT;

CREATE INDEX delivered_denials_by_age ON delivered_denials (settled_at);

-- The record of decisions. Its files form a chain of what was written and removed.

CREATE TABLE decision_files (
    -- The place in the chain, from 1 on.
    seq        INTEGER NOT NULL PRIMARY KEY,
    -- `sealed`, `erased` or `expired`.
    cause      TEXT    NOT NULL,
    -- Null if the row only says that a file is gone.
    path       TEXT    UNIQUE,
    -- The path of the file that this one replaces.
    replaces   TEXT,
    created_at INTEGER NOT NULL,
    records    INTEGER NOT NULL,
    bytes      INTEGER NOT NULL,
    -- SHA-256 of the file, of the row before with this row, and the authentication code of the latter.
    sha256     BLOB    NOT NULL,
    hash       BLOB    NOT NULL,
    mac        BLOB    NOT NULL,
    -- No query reads the file since then.
    gone_at    INTEGER,
    -- The file was deleted from the store.
    deleted    INTEGER NOT NULL DEFAULT FALSE
) STRICT;

CREATE INDEX decision_files_gone ON decision_files (gone_at) WHERE gone_at IS NOT NULL AND NOT deleted;
CREATE INDEX decision_files_present ON decision_files (path) WHERE gone_at IS NULL AND path IS NOT NULL;

-- What each tenant has in which file.
CREATE TABLE decision_parts (
    tenant_id  TEXT    NOT NULL,
    first_id   BLOB    NOT NULL,
    path       TEXT    NOT NULL,
    last_id    BLOB    NOT NULL,
    records    INTEGER NOT NULL,
    -- The tenant's share of the file.
    bytes      INTEGER NOT NULL,
    file_bytes INTEGER NOT NULL,
    -- The instant of the last record, and the one at which the part goes.
    last_at    INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, first_id, path)
) STRICT, WITHOUT ROWID;

CREATE INDEX decision_parts_by_path ON decision_parts (path);
CREATE INDEX decision_parts_by_age ON decision_parts (expires_at);

-- Files that a process stores before the chain names them: what stays of them after a failure is removed.
CREATE TABLE decision_uploads (
    path     TEXT    NOT NULL PRIMARY KEY,
    begun_at INTEGER NOT NULL,
    -- The file goes: the chain must not name it any more.
    leaving  INTEGER NOT NULL DEFAULT FALSE
) STRICT, WITHOUT ROWID;

-- The persons whose records are erased: records that wait for their file are left out when it is written.
CREATE TABLE decision_erasures (
    tenant_id  TEXT    NOT NULL,
    -- An authentication code of the subject.
    subject    BLOB    NOT NULL,
    erased_at  INTEGER NOT NULL,
    -- The erasure goes on: some file may have such a record.
    pending    INTEGER NOT NULL DEFAULT FALSE,
    -- What is gone and nobody was told of: records, deliveries of denied checks, and those of them that their receivers
    -- may have.
    records    INTEGER NOT NULL DEFAULT 0,
    deliveries INTEGER NOT NULL DEFAULT 0,
    sent       INTEGER NOT NULL DEFAULT 0,
    -- Reports that began before then are forgotten.
    ended_at   INTEGER,
    PRIMARY KEY (tenant_id, subject)
) STRICT, WITHOUT ROWID;

CREATE INDEX decision_erasures_by_end ON decision_erasures (tenant_id, ended_at);

-- What replicas answer when one of them asks for decisions that are not at rest. SQLite has one process, so that the
-- table stays empty: it lets every statement be written once.
CREATE TABLE record_answers (
    tenant_id TEXT    NOT NULL,
    question  BLOB    NOT NULL,
    -- The number of the replica that answers.
    replica   INTEGER NOT NULL,
    at        INTEGER NOT NULL,
    -- Whether the records are all that the question asks for.
    complete  INTEGER NOT NULL,
    records   BLOB    NOT NULL,
    PRIMARY KEY (tenant_id, question, replica)
) STRICT;

CREATE INDEX record_answers_by_age ON record_answers (at);

-- One ordered stream of changes for all tenants: the row of a tenant says when it last changed. A process asks for the
-- rows after its position, so that what it costs to follow depends on the changes and not on the number of tenants.
-- Triggers, so that no writer forgets to note a change.

CREATE TRIGGER tenants_note_change AFTER UPDATE OF revision ON tenants
BEGIN
    UPDATE tenants SET changed = (SELECT max(changed) FROM tenants) + 1 WHERE id = NEW.id;
END;

CREATE TRIGGER tenants_note_state AFTER UPDATE OF suspended_at, deleting_at, erased_at ON tenants
BEGIN
    UPDATE tenants SET changed = (SELECT max(changed) FROM tenants) + 1,
        access_changed = (SELECT max(changed) FROM tenants) + 1 WHERE id = NEW.id;
END;

CREATE TRIGGER identity_providers_note_new AFTER INSERT ON identity_providers
BEGIN
    UPDATE tenants SET changed = (SELECT max(changed) FROM tenants) + 1,
        access_changed = (SELECT max(changed) FROM tenants) + 1 WHERE id = NEW.tenant_id;
END;

CREATE TRIGGER identity_providers_note_removed AFTER DELETE ON identity_providers
BEGIN
    UPDATE tenants SET changed = (SELECT max(changed) FROM tenants) + 1,
        access_changed = (SELECT max(changed) FROM tenants) + 1 WHERE id = OLD.tenant_id;
END;

CREATE TRIGGER service_keys_note_revoked AFTER DELETE ON service_keys
BEGIN
    UPDATE tenants SET changed = (SELECT max(changed) FROM tenants) + 1,
        access_changed = (SELECT max(changed) FROM tenants) + 1 WHERE id = OLD.tenant_id;
END;

CREATE TRIGGER webhooks_note_new AFTER INSERT ON webhooks
BEGIN
    UPDATE tenants SET changed = (SELECT max(changed) FROM tenants) + 1,
        access_changed = (SELECT max(changed) FROM tenants) + 1 WHERE id = NEW.tenant_id;
END;

CREATE TRIGGER webhooks_note_changed AFTER UPDATE OF events ON webhooks
BEGIN
    UPDATE tenants SET changed = (SELECT max(changed) FROM tenants) + 1,
        access_changed = (SELECT max(changed) FROM tenants) + 1 WHERE id = NEW.tenant_id;
END;

CREATE TRIGGER webhooks_note_removed AFTER DELETE ON webhooks
BEGIN
    UPDATE tenants SET changed = (SELECT max(changed) FROM tenants) + 1,
        access_changed = (SELECT max(changed) FROM tenants) + 1 WHERE id = OLD.tenant_id;
END;
