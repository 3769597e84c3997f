//! On SQLite all tenants write with one connection: a change that waits for its judgement holds it up for nobody.

use axum::body::{Body, to_bytes};
use portcullis_http::HttpService;
use portcullis_runtime::app::App;
use portcullis_runtime::machine::cores;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::request_costs::{Provider, unlistening};

/// A service with a tenant `acme`, whose case every change must pass.
struct World {
    app: App,
    service: HttpService,
    provider: Provider,
    _data: tempfile::TempDir,
}

impl World {
    async fn start() -> Self {
        let (data, provider) = (tempfile::tempdir().unwrap(), Provider::start());
        let (app, service) = unlistening(data.path(), &provider).await;
        let world = Self { app, service, provider, _data: data };
        let case = json!({"name": "eve does not read", "check": {"subject": "eve",
            "resource": "doc:read", "action": "read"}, "expect": {"decision": "deny", "rule": "default-deny"}});
        let bundle = json!({"settings": {"gates": {"cases": true}}, "cases": [case]});
        let body = json!({"owner": "git:a", "bundle": bundle});
        assert_eq!(world.send("acme", "/api/v1/apply", &body).await.unwrap().0, 200);
        world
    }

    /// Sends a request of a manager of `tenant` in its own task.
    fn send(&self, tenant: &str, path: &str, body: &Value) -> JoinHandle<(u16, Value)> {
        let request = http::Request::post(path)
            .header(
                "authorization",
                format!("Bearer {}", self.provider.token_in(tenant, &["admin"])),
            )
            .header("content-type", "application/json")
            .body(Body::from(body.to_string()))
            .unwrap();
        let answer = self.service.clone().answer(request);
        tokio::spawn(async move {
            let (head, body) = answer.await.into_parts();
            let body = to_bytes(Body::new(body), 1 << 20).await.unwrap();
            (head.status.as_u16(), serde_json::from_slice(&body).unwrap())
        })
    }

    fn add_rule(&self, tenant: &str, sub: &str) -> JoinHandle<(u16, Value)> {
        self.send(tenant, "/api/v1/resources/policies", &rule(sub))
    }

    /// Sends `change`, which waits for its judgement, and then lets another tenant write, and the same tenant begin to.
    /// Returns the answer to the change.
    async fn write_beside(
        &self,
        change: impl FnOnce(&Self) -> JoinHandle<(u16, Value)>,
    ) -> (u16, Value) {
        let busy = self.judge_others().await;
        let waiting = change(self);
        while self.app.judgements.tenants() == busy.len() {
            tokio::task::yield_now().await;
        }
        let someone = self.app.ids.next(self.app.clock.now().into()).to_string();
        assert_eq!(self.add_rule("other", &someone).await.unwrap().0, 201);
        self.app.store.turn("acme").await.expect("the turn of the tenant is free");
        assert!(!waiting.is_finished());
        drop(busy);
        let (status, answer) = waiting.await.unwrap();
        assert_eq!(self.app.judgements.tenants(), 0);
        (status, answer)
    }

    /// Takes every turn of judgements for other tenants.
    async fn judge_others(&self) -> Vec<impl Sized> {
        let mut turns = Vec::new();
        for number in 0..(cores() / 2).max(1) {
            turns.push(self.app.judgements.begin(&format!("busy-{number}")).await.unwrap());
        }
        turns
    }
}

fn rule(sub: &str) -> Value {
    json!({"sub": sub, "obj": "doc:read", "act": "read", "effect": "allow"})
}

#[tokio::test]
async fn an_apply_is_judged_beside_the_writes_of_others() {
    let world = World::start().await;
    let body = json!({"owner": "git:a", "prune": false, "bundle": {"rules": [rule("ann")]}});
    let apply = |world: &World| world.send("acme", "/api/v1/apply", &body);
    let (status, answer) = world.write_beside(apply).await;
    assert_eq!(
        (status, &answer["applied"], &answer["tests"]["passed"]),
        (200, &json!(true), &json!(1))
    );
    let refused = json!({"owner": "git:a", "prune": false, "bundle": {"rules": [rule("eve")]}});
    let refused = |world: &World| world.send("acme", "/api/v1/apply", &refused);
    let (status, answer) = world.write_beside(refused).await;
    assert_eq!((status, &answer["error"]), (422, &json!("CASES_FAILED")), "{answer}");
}

#[tokio::test]
async fn a_write_with_gates_is_judged_beside_the_writes_of_others() {
    let world = World::start().await;
    let (status, _) = world.write_beside(|world| world.add_rule("acme", "ann")).await;
    assert_eq!(status, 201);
    let (status, answer) = world.write_beside(|world| world.add_rule("acme", "eve")).await;
    assert_eq!((status, &answer["error"]), (422, &json!("CASES_FAILED")), "{answer}");
}

#[tokio::test]
async fn an_apply_that_meets_other_content_is_judged_again() {
    let world = World::start().await;
    let busy = world.judge_others().await;
    let body =
        json!({"owner": "git:a", "prune": false, "bundle": {"rules": [rule("ann"), rule("dan")]}});
    let apply = world.send("acme", "/api/v1/apply", &body);
    while world.app.judgements.tenants() == busy.len() {
        tokio::task::yield_now().await;
    }
    // A change that no gate judges, of a rule that the plan creates.
    let mut tx = world.app.store.write("acme", 0).await.unwrap();
    let by = world.app.authored_by("another");
    let new = portcullis_model::rule::NewRule::parse(
        &portcullis_engine::json::parse(rule("ann").to_string().as_bytes()).unwrap(),
        "acme",
    );
    let origin = portcullis_model::rule::RuleOrigin::Explicit;
    let record = new.unwrap().into_record(world.app.ids.next(by.at), origin, &by);
    portcullis_storage::rules::insert(&mut tx, &record).await.unwrap();
    world.app.commit_as_operator(tx).await.unwrap();
    drop(busy);
    let (status, answer) = apply.await.unwrap();
    let counts = (&answer["counts"]["create"], &answer["counts"]["adopt"]);
    assert_eq!((status, counts), (200, (&json!(1), &json!(1))), "{answer}");
}
