//! Measures the plan and the apply of 10,000 policies, and compares both with their bars:
//! `cargo bench -p portcullis-operations --bench apply`.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a measurement fails by a panic and prints its figures"
)]

use std::collections::HashSet;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use portcullis_bundle::DocumentContext;
use portcullis_engine::json;
use portcullis_model::egress_rules::EgressRules;
use portcullis_model::ids::Ids;
use portcullis_model::{Authorship, Timestamp};
use portcullis_operations::apply::{
    ApplyPlan, ApplyRequest, Execution, PlanContext, execute, plan,
};
use portcullis_operations::tenant_content::TenantContent;
use portcullis_storage::encryption::KeyRing;
use portcullis_storage::{Store, Tx};

const POLICIES: usize = 10_000;
/// Most time of a plan without matrix, from the text of the body to the plan.
const PLAN_BAR: Duration = Duration::from_secs(1);
/// Most time of an apply, from the text of the body to the commit.
const APPLY_BAR: Duration = Duration::from_secs(3);
const TENANT: &str = "acme";

/// Returns a body with [`POLICIES`] policies of a priority.
fn body(priority: usize) -> String {
    let mut text = r#"{"owner": "git:bench", "bundle": {"policies": ["#.to_owned();
    for n in 0..POLICIES {
        let comma = if n == 0 { "" } else { "," };
        write!(
            text,
            r#"{comma}{{"name": "policy-{n}", "resource": "object-{}:read", "effect": "deny",
            "priority": {priority}, "when": "user.ward != resource.ward && user.level < {n}"}}"#,
            n % 500
        )
        .expect("a string grows");
    }
    text + "]}}"
}

fn request(text: &str) -> ApplyRequest {
    let egress = EgressRules::default();
    let context = DocumentContext { domain: TENANT, egress: &egress };
    let json = json::parse(text.as_bytes()).expect("JSON");
    ApplyRequest::parse(&json, context).expect("sound")
}

async fn planned(tx: &mut Tx, request: &ApplyRequest, by: &Authorship, ids: &Ids) -> ApplyPlan {
    let state = TenantContent::load(tx).await.expect("loads");
    let changed_secrets = HashSet::new();
    let context = PlanContext {
        tenant: TENANT,
        owner: Some(&request.owner),
        prune: request.prune,
        force: request.force,
        domain: TENANT,
        by,
        ids,
        resolvers: &[],
        operator: &[],
        changed_secrets: &changed_secrets,
    };
    plan(&state, &request.bundle, &context).expect("a plan")
}

/// Applies `text` and returns the time that it takes.
async fn apply(store: &Store, text: &str, by: &Authorship, ids: &Ids, keys: &KeyRing) -> Duration {
    let began = Instant::now();
    let request = request(text);
    let mut tx = store.write(TENANT, by.at.millis()).await.expect("begins");
    let plan = planned(&mut tx, &request, by, ids).await;
    let execution = Execution { keys, by, resolvers: &[], webhooks: &[] };
    execute(&mut tx, &plan, &execution).await.expect("writes");
    tx.commit().await.expect("commits");
    began.elapsed()
}

fn report(what: &str, time: Duration, bar: Duration) {
    let verdict = if time <= bar { "met" } else { "missed" };
    println!("{what}: {:.2} s, bar {:.0} s: {verdict}", time.as_secs_f64(), bar.as_secs_f64());
}

#[tokio::main]
async fn main() {
    let folder = tempfile::tempdir().expect("a folder");
    let url = format!("sqlite://{}", folder.path().join("apply.db").display());
    let store = Store::open(&url).await.expect("opens");
    let key = KeyRing::generate_key().expect("random");
    let (keys, ids) = (KeyRing::parse(&key).expect("a key"), Ids::new());
    let by = Authorship { actor: "bench".to_owned(), at: Timestamp::from_millis(1_000) };
    let created = apply(&store, &body(1), &by, &ids, &keys).await;
    report(&format!("apply that creates {POLICIES} policies"), created, APPLY_BAR);
    let text = body(2);
    let began = Instant::now();
    let request = request(&text);
    let mut tx = store.begin_read(TENANT).await.expect("begins");
    let plan = planned(&mut tx, &request, &by, &ids).await;
    tx.end().await.expect("ends");
    report(
        &format!("plan that updates {} policies", plan.counts.update),
        began.elapsed(),
        PLAN_BAR,
    );
    let updated = apply(&store, &text, &by, &ids, &keys).await;
    report(&format!("apply that updates {POLICIES} policies"), updated, APPLY_BAR);
}
