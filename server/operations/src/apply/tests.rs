//! Plans, and what they write.

use std::collections::HashSet;

use portcullis_bundle::DocumentContext;
use portcullis_engine::json;
use portcullis_model::Authorship;
use portcullis_model::Timestamp;
use portcullis_model::apply::PlannedAction;
use portcullis_model::egress_rules::EgressRules;
use portcullis_model::ids::Ids;
use portcullis_model::rule::RuleOrigin;
use portcullis_runtime::error::OperationError;
use portcullis_storage::Store;
use portcullis_storage::encryption::KeyRing;
use portcullis_storage::testing::TestDatabase;
use serde_json::{Value, json};

use super::*;
use crate::changes::deletions::Deletions;
use crate::content::registration::register;
use crate::content::tenant_content::TenantContent;
use portcullis_storage::testing::on_every_database;

on_every_database!(
    a_bundle_creates_and_the_same_bundle_changes_nothing,
    a_secret_of_standard_webhooks_is_refused_unless_it_is_stored,
    fields_of_updates_have_both_values,
    objects_without_owner_are_adopted_and_others_are_conflicts,
    prune_deletes_the_owners_objects_of_the_kinds_that_the_bundle_has,
    a_policy_that_moves_is_another_one,
    rules_of_default_roles_belong_to_their_resource,
    a_fingerprint_follows_what_the_plan_read,
    roles_have_owners_as_rules_have,
    a_role_of_a_bundle_does_not_include_itself_by_others,
    many_objects_are_written,
);

const OWNER: &str = "git:a";

/// The store of a tenant `acme`.
struct World {
    store: Store,
    ids: Ids,
    keys: KeyRing,
}

impl World {
    async fn new(database: &TestDatabase) -> Self {
        let key = KeyRing::generate_key().expect("random");
        let keys = KeyRing::parse(&key).expect("a key");
        Self { store: database.open().await, ids: Ids::new(), keys }
    }

    /// Plans `body`, and writes nothing.
    async fn plan(&self, body: &Value) -> Result<ApplyPlan, OperationError> {
        self.plan_of(&self.state().await, &request(body), &by("ci"))
    }

    fn plan_of(
        &self,
        state: &TenantContent,
        request: &ApplyRequest,
        by: &Authorship,
    ) -> Result<ApplyPlan, OperationError> {
        let context = PlanContext {
            tenant: "acme",
            owner: Some(&request.owner),
            prune: request.prune,
            force: request.force,
            domain: "acme",
            by,
            ids: &self.ids,
            resolvers: &[],
            operator: &[],
            changed_secrets: &HashSet::new(),
        };
        plan(state, &request.bundle, &context)
    }

    /// Plans `body` with the bundle, and writes it unless there are conflicts. Returns the plan and the revision.
    async fn apply(&self, body: &Value) -> (ApplyPlan, u64) {
        let request = request(body);
        let by = by("ci");
        let mut tx = self.store.write("acme", by.at.millis()).await.expect("begins");
        let state = TenantContent::load(&mut tx).await.expect("loads");
        let plan = self.plan_of(&state, &request, &by).expect("a plan");
        if !plan.conflicts.is_empty() {
            return (plan, state.revision);
        }
        let webhooks = request.bundle.webhooks.as_deref().unwrap_or_default();
        let execution = Execution { keys: &self.keys, by: &by, resolvers: &[], webhooks };
        execute(&mut tx, &plan, &execution).await.expect("writes");
        let committed = tx.commit().await.expect("commits");
        (plan, committed.position.revision)
    }

    async fn state(&self) -> TenantContent {
        let mut tx = self.store.begin_read("acme").await.expect("begins");
        TenantContent::load(&mut tx).await.expect("loads")
    }
}

fn by(actor: &str) -> Authorship {
    Authorship { actor: actor.to_owned(), at: Timestamp::from_millis(1_000) }
}

/// Reads a body; its owner is [`OWNER`] unless it says otherwise.
fn request(body: &Value) -> ApplyRequest {
    let mut body = body.clone();
    if body.get("owner").is_none() {
        body["owner"] = json!(OWNER);
    }
    let text = body.to_string();
    let json = json::parse(text.as_bytes()).expect("JSON");
    let egress = EgressRules::default();
    let context = DocumentContext { domain: "acme", egress: &egress };
    ApplyRequest::parse(&json, context).expect("sound")
}

fn policy(name: &str, resource: &str, priority: i32) -> Value {
    json!({"name": name, "resource": resource, "effect": "deny", "priority": priority,
        "when": "user.a == 1"})
}

/// Returns action, kind and name of each change.
fn changes(plan: &ApplyPlan) -> Vec<String> {
    let line = |change: &portcullis_model::apply::PlannedChange| {
        let action = json!(change.action);
        let action = action.as_str().unwrap_or_default();
        format!("{action} {} {}", change.kind.into_str(), change.name)
    };
    plan.changes.iter().map(line).collect()
}

async fn a_bundle_creates_and_the_same_bundle_changes_nothing(database: TestDatabase) {
    let world = World::new(&database).await;
    let body = json!({"bundle": {
        "resources": [{"name": "wiki:read", "defaultRoles": ["reader"]}],
        "rules": [{"sub": "ann", "obj": "wiki:*", "act": "read", "effect": "allow"}],
        "policies": [policy("p", "wiki:read", 1)],
        "webhooks": [{"url": "https://hook.example/", "events": ["access.denied"],
            "secret": "0123456789abcdef"}],
    }});
    let (plan, revision) = world.apply(&body).await;
    assert_eq!(
        changes(&plan),
        [
            "create resource wiki:read",
            "create rule ann, acme, wiki:*, read",
            "create policy p",
            "create webhook https://hook.example/",
        ]
    );
    assert_eq!(revision, 1, "one revision for all");
    let (plan, revision) = world.apply(&body).await;
    assert_eq!((changes(&plan), plan.counts.unchanged, revision), (vec![], 4, 1));
    let state = world.state().await;
    assert_eq!(state.owned(Some(OWNER)), 4);
    let of_role = state.rules.iter().find(|rule| rule.origin == RuleOrigin::DefaultRole);
    assert_eq!(of_role.and_then(|rule| rule.managed_by.as_deref()), None);
    assert!(of_role.is_some());
}

async fn a_secret_of_standard_webhooks_is_refused_unless_it_is_stored(database: TestDatabase) {
    let world = World::new(&database).await;
    let bundle = |url: &str, secret: &str| json!({"bundle": {"webhooks": [{"url": url, "events": ["access.denied"], "secret": secret}]}});
    let (url, foreign) = ("https://hook.example/", "whsec_c2l4dGVlbiBsZXR0ZXJz");
    let refused = world.plan(&bundle(url, foreign)).await.expect_err("a new webhook");
    let said = format!("{refused:?}");
    assert!(
        said.contains("does not begin with `whsec_`") && said.contains("/bundle/webhooks/0/secret"),
        "{said}"
    );
    world.apply(&bundle(url, "0123456789abcdef")).await;
    // The secret is the stored one: no webhook has another one than the bundle.
    let plan = world.plan(&bundle(url, foreign)).await.expect("a stored secret stays");
    assert_eq!(changes(&plan), [""; 0]);
}

async fn fields_of_updates_have_both_values(database: TestDatabase) {
    let world = World::new(&database).await;
    world.apply(&json!({"bundle": {"policies": [policy("p", "wiki:read", 10)]}})).await;
    let before = world.state().await;
    let mut changed = policy("p", "wiki:read", 20);
    changed["description"] = json!("why");
    let (plan, _) = world.apply(&json!({"bundle": {"policies": [changed]}})).await;
    let shown = json!(plan.changes);
    assert_eq!(
        shown,
        json!([{"kind": "policy", "name": "p", "action": "update", "fields": [
            {"path": "/priority", "before": 10, "after": 20},
            {"path": "/description", "before": null, "after": "why"},
        ]}])
    );
    let after = world.state().await;
    assert_eq!(before.policies[0].id, after.policies[0].id);
    assert_eq!((after.policies[0].priority, after.revision), (20, 2));
    let tree = json!({"name": "p", "description": "why", "resource": "wiki:read", "effect": "deny",
        "priority": 20, "rule_data": {"type": "CONDITION", "attribute": "user.a", "operator": "exists"}});
    let (plan, _) = world.apply(&json!({"bundle": {"policies": [tree]}})).await;
    let paths: Vec<_> = plan.changes[0].fields.iter().map(|field| &*field.path).collect();
    assert_eq!(paths, ["/when", "/rule_data"]);
    let mut same = policy("p", "wiki:read", 20);
    (same["description"], same["when"]) = (json!("why"), json!("exists(user.a)"));
    let (plan, _) = world.apply(&json!({"bundle": {"policies": [same]}})).await;
    assert_eq!(changes(&plan), Vec::<String>::new(), "the tree as an expression");
}

async fn objects_without_owner_are_adopted_and_others_are_conflicts(database: TestDatabase) {
    let world = World::new(&database).await;
    let body = json!({"bundle": {
        "rules": [{"sub": "ann", "obj": "wiki:*", "act": "read", "effect": "allow"}],
        "policies": [policy("p", "wiki:read", 1)],
    }});
    let mut other = body.clone();
    other["owner"] = json!("git:b");
    world.apply(&other).await;
    let (plan, revision) = world.apply(&body).await;
    let conflicts: Vec<_> =
        plan.conflicts.iter().map(|one| (one.kind.into_str(), &*one.managed_by)).collect();
    assert_eq!((conflicts, revision), (vec![("rule", "git:b"), ("policy", "git:b")], 1));
    let mut forced = body.clone();
    forced["force"] = json!(true);
    let (plan, revision) = world.apply(&forced).await;
    assert!(plan.changes.iter().all(|change| change.action == PlannedAction::Adopt));
    let shown = json!(plan.changes[1].fields);
    assert_eq!(shown, json!([{"path": "/managed_by", "before": "git:b", "after": "git:a"}]));
    assert_eq!((revision, world.state().await.owned(Some(OWNER))), (2, 2));
}

async fn prune_deletes_the_owners_objects_of_the_kinds_that_the_bundle_has(database: TestDatabase) {
    let world = World::new(&database).await;
    let full = json!({"bundle": {
        "resources": [{"name": "wiki:read", "defaultRoles": ["reader"]}, {"name": "doc:read"}],
        "rules": [{"sub": "ann", "obj": "wiki:*", "act": "read", "effect": "allow"}],
        "policies": [policy("p", "wiki:read", 1), policy("q", "wiki:read", 1)],
    }});
    world.apply(&full).await;
    let mut others = json!({"owner": "git:b", "bundle": {"policies": [policy("o", "*", 1)]}});
    world.apply(&others).await;
    others["bundle"] = json!({"rules": []});
    world.apply(&others).await;
    assert_eq!(world.state().await.policies.len(), 3, "an absent kind is not touched");
    let kept = json!({"prune": false, "bundle": {"policies": []}});
    assert_eq!(changes(&world.apply(&kept).await.0), [""; 0]);
    let fewer = json!({"bundle": {"resources": [{"name": "doc:read"}],
        "policies": [policy("p", "wiki:read", 1)]}});
    let (plan, _) = world.apply(&fewer).await;
    assert_eq!(changes(&plan), ["delete resource wiki:read", "delete policy q"]);
    assert_eq!(plan.deletions, Deletions { count: 2, owned: 5, limit: 1 });
    let state = world.state().await;
    let names: Vec<_> = state.policies.iter().map(|policy| &*policy.name).collect();
    assert_eq!(names, ["p", "o"]);
    assert_eq!(state.rules.len(), 1, "the rule of the default role goes with the resource");
}

async fn a_policy_that_moves_is_another_one(database: TestDatabase) {
    let world = World::new(&database).await;
    world.apply(&json!({"bundle": {"policies": [policy("p", "wiki:read", 1)]}})).await;
    let before = world.state().await.policies[0].id;
    let moved = json!({"bundle": {"policies": [policy("p", "wiki:*", 1)]}});
    let (plan, _) = world.apply(&moved).await;
    assert_eq!(changes(&plan), ["delete policy p", "create policy p"]);
    assert_eq!(plan.deletions.count, 0, "nothing goes for good");
    let state = world.state().await;
    assert_eq!(state.policies.len(), 1);
    assert_ne!(state.policies[0].id, before);
}

async fn rules_of_default_roles_belong_to_their_resource(database: TestDatabase) {
    let world = World::new(&database).await;
    let registration = json!({"name": "wiki:read", "defaultRoles": ["reader", "writer"]});
    let text = registration.to_string();
    let json = json::parse(text.as_bytes()).expect("JSON");
    let parsed = portcullis_model::resource::Registration::parse(&json).expect("sound");
    let mut tx = world.store.write("acme", 0).await.expect("begins");
    register(&mut tx, parsed, "acme", &by("ann"), &world.ids).await.expect("works");
    tx.commit().await.expect("commits");
    let rule = json!({"sub": "reader", "obj": "wiki:read", "act": "read", "effect": "deny"});
    let body = json!({"bundle": {"resources": [registration], "rules": [rule]}});
    let (plan, _) = world.apply(&body).await;
    assert_eq!(
        changes(&plan),
        ["adopt resource wiki:read", "adopt rule reader, acme, wiki:read, read"]
    );
    // The rule of the role comes back when the explicit one goes, and goes when the role does.
    let body = json!({"bundle": {"resources": [registration], "rules": []}});
    let (plan, _) = world.apply(&body).await;
    assert_eq!(changes(&plan), ["release rule reader, acme, wiki:read, read"]);
    let state = world.state().await;
    let origins: Vec<_> = state.rules.iter().map(|rule| (rule.origin, rule.effect)).collect();
    let default = (RuleOrigin::DefaultRole, portcullis_engine::Effect::Allow);
    assert_eq!(origins, [default, default]);
    let body = json!({"bundle": {"resources": [{"name": "wiki:read"}]}});
    world.apply(&body).await;
    assert_eq!(world.state().await.rules.len(), 0);
    // The resource of another owner keeps its rules.
    let body = json!({"owner": "git:b", "force": true, "bundle": {"resources": [registration]}});
    world.apply(&body).await;
    let body = json!({"bundle": {"rules": [rule]}});
    assert_eq!(world.apply(&body).await.0.conflicts.len(), 1);
}

async fn a_fingerprint_follows_what_the_plan_read(database: TestDatabase) {
    let world = World::new(&database).await;
    let body = json!({"bundle": {"policies": [policy("p", "wiki:read", 1)]}});
    world.apply(&body).await;
    let first = world.apply(&body).await.0.fingerprint;
    world.apply(&json!({"owner": "git:b", "bundle": {"policies": [policy("o", "*", 1)]}})).await;
    assert_eq!(world.apply(&body).await.0.fingerprint, first, "another owner's object");
    assert!(first.starts_with("sha256:") && first.len() == 71, "{first}");
    world
        .apply(&json!({"bundle": {"rules": [
            {"sub": "ann", "obj": "wiki:*", "act": "read", "effect": "allow"},
        ]}}))
        .await;
    assert_ne!(world.apply(&body).await.0.fingerprint, first, "an object of the owner");
}

fn role(name: &str, includes: &[&str]) -> Value {
    json!({"name": name, "includes": includes})
}

async fn roles_have_owners_as_rules_have(database: TestDatabase) {
    let world = World::new(&database).await;
    let two = json!({"bundle": {"roles": [role("head", &["nurse"]), role("chief", &["head"])]}});
    let (plan, revision) = world.apply(&two).await;
    assert_eq!(changes(&plan), ["create role head", "create role chief"]);
    let first = plan.fingerprint;
    let (plan, again) = world.apply(&two).await;
    assert_eq!((plan.counts.unchanged, again), (2, revision));
    assert_ne!(plan.fingerprint, first, "the plan read other roles");
    let other = json!({"owner": "git:b", "bundle": {"roles": [role("head", &["nurse"])]}});
    assert_eq!(world.apply(&other).await.0.conflicts[0].managed_by, OWNER);
    let other =
        json!({"owner": "git:b", "force": true, "bundle": {"roles": [role("head", &["x"])]}});
    let (plan, _) = world.apply(&other).await;
    assert_eq!(
        json!(plan.changes[0].fields),
        json!([
            {"path": "/includes", "before": ["nurse"], "after": ["x"]},
            {"path": "/managed_by", "before": "git:a", "after": "git:b"},
        ])
    );
    let state = world.state().await;
    let stored: Vec<_> =
        state.roles.iter().map(|one| (&*one.name, one.managed_by.as_deref())).collect();
    assert_eq!(stored, [("chief", Some(OWNER)), ("head", Some("git:b"))]);
    assert_eq!(world.apply(&json!({"bundle": {"rules": []}})).await.0.counts.delete, 0);
    let (plan, _) = world.apply(&json!({"bundle": {"roles": []}})).await;
    assert_eq!(changes(&plan), ["delete role chief"]);
    assert_eq!(plan.deletions, Deletions { count: 1, owned: 1, limit: 1 });
    assert_eq!(world.state().await.roles.len(), 1);
}

async fn a_role_of_a_bundle_does_not_include_itself_by_others(database: TestDatabase) {
    let world = World::new(&database).await;
    let other = json!({"owner": "git:b", "bundle": {"roles": [role("nurse", &["staff"])]}});
    world.apply(&other).await;
    let circle =
        json!({"bundle": {"roles": [role("head", &["nurse"]), role("staff", &["x", "nurse"])]}});
    let Err(OperationError::Invalid(invalid)) = world.plan(&circle).await else {
        panic!("a circle")
    };
    let paths: Vec<_> = invalid.problems().iter().map(|problem| &*problem.path).collect();
    assert_eq!(paths, ["/bundle/roles/1/includes"]);
    // Together they are more than a tenant may have.
    let many: Vec<Value> = (0..1_000).map(|number| role(&format!("r{number}"), &["x"])).collect();
    let refused = world.plan(&json!({"bundle": {"roles": many}})).await;
    assert!(matches!(refused, Err(OperationError::Conflict(_))), "{refused:?}");
}

async fn many_objects_are_written(database: TestDatabase) {
    let world = World::new(&database).await;
    // More than a batch, and no multiple of one.
    let number = 0..251;
    let bundle = |effect: &str, priority: i32| {
        let rules = number.clone().map(
            |n| json!({"sub": format!("s{n}"), "obj": "wiki:*", "act": "read", "effect": effect}),
        );
        let policies = number.clone().map(|n| policy(&format!("p{n}"), "wiki:read", priority));
        let resources = number.clone().map(|n| json!({"name": format!("r{n}:read")}));
        json!({"bundle": {
            "rules": rules.collect::<Vec<_>>(), "policies": policies.collect::<Vec<_>>(),
            "resources": resources.collect::<Vec<_>>(),
        }})
    };
    assert_eq!(world.apply(&bundle("allow", 1)).await.0.counts.create, 753);
    assert_eq!(world.apply(&bundle("allow", 1)).await.0.counts.unchanged, 753);
    let (plan, revision) = world.apply(&bundle("deny", 2)).await;
    assert_eq!((plan.counts.update, plan.counts.unchanged, revision), (502, 251, 2));
    let state = world.state().await;
    assert!(state.policies.iter().all(|policy| policy.priority == 2));
    let nothing = json!({"bundle": {"rules": [], "policies": [], "resources": []}});
    let (plan, revision) = world.apply(&nothing).await;
    assert_eq!((plan.counts.delete, revision), (753, 3));
    let state = world.state().await;
    assert_eq!((state.rules.len(), state.policies.len(), state.resources.len()), (0, 0, 0));
}
