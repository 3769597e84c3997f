//! The purpose of each route: who may use it, which record it names, and what a good request is.

/// The callers that may use a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Everybody.
    Open,
    /// Whoever has a token, and service keys with `access:evaluate`.
    Check,
    /// Whoever has a token and asks about itself, and service keys with `access:search`.
    Search,
    /// Managers, and service keys with `access:search` and `policies:read`; the body names the domain.
    Conditions,
    /// Managers, and service keys with `access:search`: the body asks about others.
    SearchOthers,
    /// Managers, and service keys with this permission.
    Manage(&'static str),
    /// Whoever has a token, about itself, and service keys with this permission.
    Own(&'static str),
    /// Managers with a token.
    Tokens,
    /// The operator.
    Operate,
}

/// The record that a request names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    None,
    File,
    Resource,
    Rule,
    Policy,
    Webhook,
    Resolver,
    Delivery,
    Entity,
    Role,
    /// A draft without a kind, so that its publication changes nothing.
    Draft,
    /// The draft in shadow, without a kind.
    Shadow,
    Type,
    Condition,
    /// A revision that is not the newest.
    Revision,
    /// A tuple of a declared relation.
    Tuple,
    Key,
    Tenant,
    /// A tenant that nobody else uses.
    SpareTenant,
    /// The record of a decision about `alice`.
    Decision,
    /// A replay that ended.
    Replay,
    /// An open proposal.
    Proposal,
    /// A service key of a tenant, as the operator names it.
    TenantKey,
    Provider,
}

/// A route as the document names it.
pub(crate) struct Row {
    pub(crate) route: &'static str,
    pub(crate) access: Access,
    pub(crate) kind: Kind,
    /// A good body: `$id` is the record's id, `$new` a name that is new.
    pub(crate) body: &'static str,
    /// The status of a good request.
    pub(crate) served: u16,
}

const fn row(
    route: &'static str,
    access: Access,
    kind: Kind,
    body: &'static str,
    served: u16,
) -> Row {
    Row { route, access, kind, body, served }
}

const RESOURCES_READ: Access = Access::Manage("resources:read");
const RESOURCES_WRITE: Access = Access::Manage("resources:write");
const POLICIES_READ: Access = Access::Manage("policies:read");
const POLICIES_WRITE: Access = Access::Manage("policies:write");
const WEBHOOKS_READ: Access = Access::Manage("webhooks:read");
const WEBHOOKS_WRITE: Access = Access::Manage("webhooks:write");
const RESOLVERS_READ: Access = Access::Manage("resolvers:read");
const RESOLVERS_WRITE: Access = Access::Manage("resolvers:write");
const ENTITIES_READ: Access = Access::Manage("entities:read");
const ENTITIES_WRITE: Access = Access::Manage("entities:write");
const RELATIONS_READ: Access = Access::Manage("relations:read");
const RELATIONS_WRITE: Access = Access::Manage("relations:write");
const AUDIT_READ: Access = Access::Manage("audit:read");
const DECISIONS_READ: Access = Access::Own("decisions:read");
const DECISIONS_WRITE: Access = Access::Manage("decisions:write");

/// Service keys need `policies:read`, too.
const REPLAYS: Access = Access::Manage("decisions:read");
const REPLAY: &str = r#"{"candidate": {"bundle": {}}}"#;

const DRAFT: &str = r#"{"bundle": {}, "shadow": false}"#;
const PERMISSIONS: &str = r#"{"subject": "alice", "domain": "$domain"}"#;
const MATRIX: &str = r#"{"roles": ["user"], "resources": ["doc:read"], "domain": "$domain"}"#;
const CHECK: &str =
    r#"{"subject": "alice", "resource": "doc:read", "action": "read", "domain": "$domain"}"#;
const BATCH: &str = r#"{
    "subject": "alice", "resource": "doc:read", "domain": "$domain", "checks": [{"action": "read"}, {"action": "list"}]
}"#;
const EVALUATION: &str = r#"{
    "subject": {"type": "user", "id": "alice"}, "action": {"name": "read"}, "resource": {"type": "doc", "id": "1"},
    "context": {"domain": "$domain"}
}"#;
const EVALUATIONS: &str = r#"{
    "subject": {"type": "user", "id": "alice"}, "resource": {"type": "doc", "id": "1"},
    "context": {"domain": "$domain"}, "evaluations": [{"action": {"name": "read"}}, {"action": {"name": "list"}}]
}"#;
const SUBJECT_SEARCH: &str = r#"{"resource": "doc:read", "action": "read", "domain": "$domain"}"#;
const ACTION_SEARCH: &str = r#"{"subject": "alice", "type": "doc", "domain": "$domain"}"#;
const LEGACY_CHECK: &str = r#"{"subject": "alice", "resource": "doc:read", "domain": "$domain"}"#;
const RESOURCE: &str = r#"{"name": "$new:read"}"#;
const RESOURCES: &str = r#"[{"name": "$new:read"}]"#;
const RULE: &str = r#"{"sub": "$new", "obj": "doc:read", "act": "read", "effect": "allow"}"#;
const POLICY: &str = r#"{
    "name": "$new", "resource": "doc:write", "effect": "deny", "priority": 1,
    "rule_data": {"type": "CONDITION", "attribute": "request.subject", "operator": "exists"}
}"#;
const BUNDLE: &str = r#"{"owner": "git:$new", "bundle": {"policies": [{
    "name": "$new", "resource": "doc:write", "effect": "deny", "priority": 1, "when": "user.a == 1"
}]}}"#;
const WEBHOOK: &str = r#"{
    "url": "https://hook.example/", "events": ["access.denied"], "secret": "0123456789abcdef"
}"#;
const ENTITIES: &str = r#"{"entities": [{"type": "user", "id": "$new"}]}"#;
const ENTITY_CHANGE: &str = r#"{"set": {"note": "$new"}}"#;
const SYNC: &str =
    r#"{"source": "$new", "entities": [{"type": "user", "id": "$new"}], "finish": true}"#;
const TUPLES: &str =
    r#"{"write": [{"object": "folder:$new", "relation": "member", "subject": "user:$new"}]}"#;
const TUPLE_SYNC: &str = r#"{"source": "$new", "finish": true,
    "relations": [{"object": "folder:$new", "relation": "member", "subject": "user:$new"}]}"#;
const ROLE: &str = r#"{"includes": ["$new-included"]}"#;
const CONDITION: &str = r#"{"when": "user.a == \"$new\""}"#;
const TYPE: &str = r#"{"properties": {"$new": {"type": "text"}}}"#;
const PROVIDER: &str = r#"{
    "issuer_url": "https://$new.example/", "jwks_uri": "https://keys.example/"
}"#;

/// The manifest of a resolver; the module comes with it.
pub(crate) const RESOLVER: &str =
    r#"{"namespace": "$new", "config": {"department": "obstetrics"}}"#;
const TRY_OUT: &str =
    r#"{"check": {"subject": "alice", "resource": "doc:read", "action": "read"}}"#;

/// Every route.
pub(crate) const ROUTES: [Row; 120] = [
    row("GET /healthz/live", Access::Open, Kind::None, "", 200),
    row("GET /healthz/ready", Access::Open, Kind::None, "", 200),
    row("GET /metrics", Access::Open, Kind::None, "", 200),
    row("GET /openapi.json", Access::Open, Kind::None, "", 200),
    row("GET /", Access::Open, Kind::None, "", 200),
    row("GET /docs", Access::Open, Kind::None, "", 200),
    row("GET /docs/{file}", Access::Open, Kind::File, "", 200),
    row("POST /api/v1/check", Access::Check, Kind::None, CHECK, 200),
    row("POST /api/v1/checks", Access::Check, Kind::None, BATCH, 200),
    row("POST /access/v1/evaluation", Access::Check, Kind::None, EVALUATION, 200),
    row("POST /access/v1/evaluations", Access::Check, Kind::None, EVALUATIONS, 200),
    row("POST /access/v1/search/subject", Access::SearchOthers, Kind::None, EVALUATION, 200),
    row("POST /access/v1/search/resource", Access::Search, Kind::None, EVALUATION, 200),
    row("POST /access/v1/search/action", Access::Search, Kind::None, EVALUATION, 200),
    row("POST /api/v1/search/resources", Access::Search, Kind::None, CHECK, 200),
    row("POST /api/v1/search/subjects", Access::SearchOthers, Kind::None, SUBJECT_SEARCH, 200),
    row("POST /api/v1/search/actions", Access::Search, Kind::None, ACTION_SEARCH, 200),
    row("GET /.well-known/authzen-configuration", Access::Open, Kind::None, "", 200),
    row("GET /.well-known/authzen-configuration/{tenant}", Access::Open, Kind::File, "", 200),
    row("POST /api/v1/resources/access/check", Access::Check, Kind::None, LEGACY_CHECK, 200),
    row("POST /api/v1/plan", Access::Conditions, Kind::None, CHECK, 200),
    row("POST /api/v1/permissions", Access::Search, Kind::None, PERMISSIONS, 200),
    row("POST /api/v1/matrix", Access::Conditions, Kind::None, MATRIX, 200),
    row("POST /api/v1/resources", RESOURCES_WRITE, Kind::None, RESOURCE, 201),
    row("GET /api/v1/resources", RESOURCES_READ, Kind::None, "", 200),
    row("POST /api/v1/resources/list", RESOURCES_WRITE, Kind::None, RESOURCES, 200),
    row("GET /api/v1/resources/{id}", RESOURCES_READ, Kind::Resource, "", 200),
    row("DELETE /api/v1/resources/{id}", RESOURCES_WRITE, Kind::Resource, "", 204),
    row("GET /api/v1/resources/{id}/policies", POLICIES_READ, Kind::Resource, "", 200),
    row("GET /api/v1/resources/policies", POLICIES_READ, Kind::None, "", 200),
    row("POST /api/v1/resources/policies", POLICIES_WRITE, Kind::None, RULE, 201),
    row(
        "PUT /api/v1/resources/policies",
        POLICIES_WRITE,
        Kind::Rule,
        r#"{"id": "$id", "effect": "deny"}"#,
        200,
    ),
    row("DELETE /api/v1/resources/policies", POLICIES_WRITE, Kind::Rule, r#"{"id": "$id"}"#, 204),
    row("POST /api/v1/abac/policies", POLICIES_WRITE, Kind::None, POLICY, 201),
    row("GET /api/v1/abac/policies", POLICIES_READ, Kind::None, "", 200),
    row("GET /api/v1/abac/policies/{id}", POLICIES_READ, Kind::Policy, "", 200),
    row("GET /api/v1/abac/policies/{id}/history", POLICIES_READ, Kind::Policy, "", 200),
    row("PUT /api/v1/abac/policies/{id}", POLICIES_WRITE, Kind::Policy, r#"{"priority": 2}"#, 200),
    row("DELETE /api/v1/abac/policies/{id}", POLICIES_WRITE, Kind::Policy, "", 204),
    row("POST /api/v1/service-api-keys", Access::Tokens, Kind::None, r#"{"name": "$new"}"#, 201),
    row("GET /api/v1/service-api-keys", Access::Tokens, Kind::None, "", 200),
    row("GET /api/v1/service-api-keys/{id}", Access::Tokens, Kind::Key, "", 200),
    row("DELETE /api/v1/service-api-keys/{id}", Access::Tokens, Kind::Key, "", 204),
    row("POST /api/v1/webhooks", WEBHOOKS_WRITE, Kind::None, WEBHOOK, 201),
    row("GET /api/v1/webhooks", WEBHOOKS_READ, Kind::None, "", 200),
    row("GET /api/v1/webhooks/{id}", WEBHOOKS_READ, Kind::Webhook, "", 200),
    row(
        "PUT /api/v1/webhooks/{id}",
        WEBHOOKS_WRITE,
        Kind::Webhook,
        r#"{"events": ["policy.abac.created"]}"#,
        200,
    ),
    row("DELETE /api/v1/webhooks/{id}", WEBHOOKS_WRITE, Kind::Webhook, "", 204),
    row("POST /api/v1/webhooks/{id}/test", WEBHOOKS_WRITE, Kind::Webhook, "", 202),
    row("GET /api/v1/webhooks/{id}/deliveries", WEBHOOKS_READ, Kind::Webhook, "", 200),
    row(
        "POST /api/v1/webhooks/{id}/deliveries/{delivery_id}/redeliver",
        WEBHOOKS_WRITE,
        Kind::Delivery,
        "",
        202,
    ),
    row("POST /api/v1/resolvers", RESOLVERS_WRITE, Kind::None, RESOLVER, 201),
    row("GET /api/v1/resolvers", RESOLVERS_READ, Kind::None, "", 200),
    row("GET /api/v1/resolvers/{id}", RESOLVERS_READ, Kind::Resolver, "", 200),
    row(
        "PUT /api/v1/resolvers/{id}",
        RESOLVERS_WRITE,
        Kind::Resolver,
        r#"{"description": "$new"}"#,
        200,
    ),
    row("DELETE /api/v1/resolvers/{id}", RESOLVERS_WRITE, Kind::Resolver, "", 204),
    row("POST /api/v1/resolvers/{id}/test", RESOLVERS_WRITE, Kind::Resolver, TRY_OUT, 200),
    row(
        "POST /admin/tenants",
        Access::Operate,
        Kind::None,
        r#"{"name": "n", "slug": "$new"}"#,
        201,
    ),
    row("GET /admin/tenants", Access::Operate, Kind::None, "", 200),
    row("GET /admin/tenants/{id}", Access::Operate, Kind::Tenant, "", 200),
    row("DELETE /admin/tenants/{id}", Access::Operate, Kind::SpareTenant, "", 202),
    row("POST /admin/tenants/{id}/suspend", Access::Operate, Kind::SpareTenant, "", 200),
    row("POST /admin/tenants/{id}/resume", Access::Operate, Kind::SpareTenant, "", 200),
    row("GET /admin/tenants/{id}/service-api-keys", Access::Operate, Kind::Tenant, "", 200),
    row(
        "DELETE /admin/tenants/{id}/service-api-keys/{keyId}",
        Access::Operate,
        Kind::TenantKey,
        "",
        204,
    ),
    row("GET /api/v1/proposals", Access::Tokens, Kind::None, "", 200),
    row("GET /api/v1/proposals/{id}", Access::Tokens, Kind::Proposal, "", 200),
    row("POST /api/v1/proposals/{id}/approve", Access::Tokens, Kind::Proposal, "", 200),
    row("POST /api/v1/proposals/{id}/reject", Access::Tokens, Kind::Proposal, "", 200),
    row("PUT /api/v1/entities", ENTITIES_WRITE, Kind::None, ENTITIES, 200),
    row("GET /api/v1/entities", ENTITIES_READ, Kind::None, "", 200),
    row("POST /api/v1/entities/sync", ENTITIES_WRITE, Kind::None, SYNC, 200),
    row("POST /api/v1/relations", RELATIONS_WRITE, Kind::Tuple, TUPLES, 200),
    row("GET /api/v1/relations", RELATIONS_READ, Kind::Tuple, "", 200),
    row("DELETE /api/v1/relations", RELATIONS_WRITE, Kind::Tuple, "", 200),
    row("POST /api/v1/relations/sync", RELATIONS_WRITE, Kind::Tuple, TUPLE_SYNC, 200),
    row("GET /api/v1/entities/{type}/{id}", ENTITIES_READ, Kind::Entity, "", 200),
    row("PUT /api/v1/entities/{type}/{id}", ENTITIES_WRITE, Kind::None, "{}", 201),
    row("PATCH /api/v1/entities/{type}/{id}", ENTITIES_WRITE, Kind::Entity, ENTITY_CHANGE, 200),
    row("DELETE /api/v1/entities/{type}/{id}", ENTITIES_WRITE, Kind::Entity, "", 204),
    row("GET /api/v1/roles", POLICIES_READ, Kind::None, "", 200),
    row("PUT /api/v1/roles/{name}", POLICIES_WRITE, Kind::None, ROLE, 201),
    row("GET /api/v1/roles/{name}", POLICIES_READ, Kind::Role, "", 200),
    row("DELETE /api/v1/roles/{name}", POLICIES_WRITE, Kind::Role, "", 204),
    row("GET /api/v1/types", POLICIES_READ, Kind::None, "", 200),
    row("PUT /api/v1/types/{type}", POLICIES_WRITE, Kind::None, TYPE, 201),
    row("GET /api/v1/types/{type}", POLICIES_READ, Kind::Type, "", 200),
    row("DELETE /api/v1/types/{type}", POLICIES_WRITE, Kind::Type, "", 204),
    row("GET /api/v1/conditions", POLICIES_READ, Kind::None, "", 200),
    row("PUT /api/v1/conditions/{name}", POLICIES_WRITE, Kind::None, CONDITION, 201),
    row("GET /api/v1/conditions/{name}", POLICIES_READ, Kind::Condition, "", 200),
    row("DELETE /api/v1/conditions/{name}", POLICIES_WRITE, Kind::Condition, "", 204),
    row("GET /admin/audit", Access::Operate, Kind::None, "", 200),
    row("POST /api/v1/apply", POLICIES_WRITE, Kind::None, BUNDLE, 200),
    row("GET /api/v1/export", POLICIES_READ, Kind::None, "", 200),
    row("GET /api/v1/audit", AUDIT_READ, Kind::None, "", 200),
    row("GET /api/v1/revisions", POLICIES_READ, Kind::None, "", 200),
    row("GET /api/v1/revisions/{n}", POLICIES_READ, Kind::Revision, "", 200),
    row("GET /api/v1/revisions/{a}/diff/{b}", POLICIES_READ, Kind::Revision, "", 200),
    row("POST /api/v1/revisions/{n}/restore", POLICIES_WRITE, Kind::Revision, "", 200),
    row("GET /api/v1/drafts", POLICIES_READ, Kind::None, "", 200),
    row("PUT /api/v1/drafts/{name}", POLICIES_WRITE, Kind::None, DRAFT, 201),
    row("GET /api/v1/drafts/{name}", POLICIES_READ, Kind::Draft, "", 200),
    row("DELETE /api/v1/drafts/{name}", POLICIES_WRITE, Kind::Draft, "", 204),
    row("POST /api/v1/drafts/{name}/publish", POLICIES_WRITE, Kind::Draft, "", 200),
    row("GET /api/v1/drafts/{name}/shadow", POLICIES_READ, Kind::Shadow, "", 200),
    row("GET /api/v1/decisions", DECISIONS_READ, Kind::None, "", 200),
    row("DELETE /api/v1/decisions", DECISIONS_WRITE, Kind::None, "", 200),
    row("GET /api/v1/decisions/stats", DECISIONS_READ, Kind::None, "", 200),
    row("GET /api/v1/decisions/stream", DECISIONS_READ, Kind::None, "", 200),
    row("GET /api/v1/decisions/{id}", DECISIONS_READ, Kind::Decision, "", 200),
    row("GET /api/v1/parity", DECISIONS_READ, Kind::None, "", 200),
    row("POST /api/v1/replays", REPLAYS, Kind::None, REPLAY, 202),
    row("GET /api/v1/replays/{id}", REPLAYS, Kind::Replay, "", 200),
    row("DELETE /api/v1/replays/{id}", REPLAYS, Kind::Replay, "", 204),
    row(
        "POST /admin/tenants/{id}/identity-providers",
        Access::Operate,
        Kind::Tenant,
        PROVIDER,
        201,
    ),
    row("GET /admin/tenants/{id}/identity-providers", Access::Operate, Kind::Tenant, "", 200),
    row(
        "GET /admin/tenants/{id}/identity-providers/{idpId}",
        Access::Operate,
        Kind::Provider,
        "",
        200,
    ),
    row(
        "PUT /admin/tenants/{id}/identity-providers/{idpId}",
        Access::Operate,
        Kind::Provider,
        r#"{"audience": "portcullis"}"#,
        200,
    ),
    row(
        "DELETE /admin/tenants/{id}/identity-providers/{idpId}",
        Access::Operate,
        Kind::Provider,
        "",
        204,
    ),
];
