//! Gates on every database: each way past a gate is refused with it, and taken without it.

use portcullis_engine::{Effect, ResourcePattern, RuleTuple, json};
use portcullis_model::policy::NewPolicy;
use portcullis_model::role::NewRole;
use portcullis_model::rule::{NewRule, RuleOrigin};
use portcullis_model::settings::Gates;
use portcullis_model::{Authorship, Timestamp, ids::Ids};
use portcullis_storage::testing::{TestDatabase, on_every_database};
use portcullis_storage::{Store, policies, rules, tenant_settings};

use super::*;
use crate::turns::WorkQueue;

on_every_database!(
    a_change_that_fails_a_case_is_refused,
    a_change_needs_approval,
    settings_and_cases_from_before_judge_their_own_change,
    a_policy_that_reads_a_resolver_takes_no_case_out_of_the_gate,
    a_role_that_includes_another_is_judged_as_it_decides,
    a_judgement_counts_for_the_content_that_the_change_met_alone,
);

const OPEN: Gates = Gates { cases: false, approval: false };
const CASES: Gates = Gates { cases: true, approval: false };
const APPROVAL: Gates = Gates { cases: false, approval: true };

/// `eve` must not read, and `ann` must.
const MUST_HOLD: &str = r#"[
    {"name": "eve", "check": {"subject": "eve", "resource": "doc:read", "action": "read"},
     "expect": {"decision": "deny", "rule": "default-deny"}},
    {"name": "ann", "check": {"subject": "ann", "resource": "doc:read", "action": "read"},
     "expect": {"decision": "allow", "rule": "ann, acme, doc:read, read"}}
]"#;
/// A deny of those whom the resolver `geo` places abroad.
const ABROAD: &str = r#"{"name": "abroad", "resource": "doc:*", "effect": "deny", "priority": 1,
    "rule_data": {"type": "CONDITION", "attribute": "geo.country", "operator": "ne", "value": "de"}}"#;

fn by() -> Authorship {
    Authorship { actor: "ann".to_owned(), at: Timestamp::from_millis(1_000) }
}

fn cases(cases: &str) -> StoredCases {
    let (cases, users) = (cases.to_owned(), "[]".to_owned());
    StoredCases { domain: "acme".to_owned(), cases, users, skipped: Vec::new() }
}

async fn allow(tx: &mut Tx, sub: &str) {
    let obj = ResourcePattern::parse("doc:read").expect("a resource");
    let tuple = RuleTuple { sub: sub.into(), dom: "acme".into(), obj, act: "read".into() };
    let rule = NewRule { tuple, effect: Effect::Allow };
    let rule = rule.into_record(Ids::new().next(by().at), RuleOrigin::Explicit, &by());
    assert!(rules::insert(tx, &rule).await.expect("works"));
}

async fn add_policy(tx: &mut Tx, text: &str) {
    let json = json::parse(text.as_bytes()).expect("JSON");
    let policy = NewPolicy::parse(&json).expect("valid");
    let policy = policy.into_record(Ids::new().next(by().at), tx.tenant(), &by());
    policies::insert(tx, &policy).await.expect("works");
}

async fn set_gates(tx: &mut Tx, gates: Gates) {
    tenant_settings::store(tx, "{}", gates, &by()).await.expect("works");
}

/// Begins a transaction of a tenant with these gates and cases, in which `ann` may read.
async fn tenant(database: &TestDatabase, gates: Gates, must_hold: &str) -> (Store, Tx) {
    let store = database.open().await;
    let mut tx = store.write("acme", 0).await.expect("begins");
    allow(&mut tx, "ann").await;
    tenant_cases::store(&mut tx, &cases(must_hold), &by()).await.expect("works");
    set_gates(&mut tx, gates).await;
    judged(&store, &mut tx).await.expect("no gate was stored before");
    tx.commit().await.expect("commits");
    let tx = store.write("acme", 0).await.expect("begins");
    (store, tx)
}

/// Returns a turn to judge.
async fn judging_turn() -> Arc<Turn> {
    Arc::new(WorkQueue::for_judgements(1).begin("acme").await.expect("a turn"))
}

/// Lets the transaction pass the gates, with a judgement if it needs one.
async fn judged(store: &Store, tx: &mut Tx) -> Result<(), OperationError> {
    let change = Change::read(tx).await.expect("works");
    let judgement = change.judge(store, &judging_turn().await).await.expect("works");
    assert!(judgement.is_some(), "nothing was committed in between");
    pass(tx, GateVerdict { is_approved: false, judgement }).await
}

/// Returns the names of the cases for which the transaction is refused; empty if it passes.
async fn refused_cases(store: &Store, tx: &mut Tx) -> Vec<String> {
    match judged(store, tx).await {
        Ok(()) => Vec::new(),
        Err(OperationError::CasesFailed { named, .. }) => {
            named.into_iter().map(|one| one.case).collect()
        }
        Err(other) => panic!("{other:?}"),
    }
}

/// Takes the gates of the tenant away.
async fn open_gates(store: &Store) {
    let mut tx = store.write("acme", 0).await.expect("begins");
    set_gates(&mut tx, OPEN).await;
    judged(store, &mut tx).await.expect("the cases pass");
    tx.commit().await.expect("commits");
}

async fn a_change_that_fails_a_case_is_refused(database: TestDatabase) {
    let (store, mut tx) = tenant(&database, CASES, MUST_HOLD).await;
    allow(&mut tx, "bob").await;
    assert!(refused_cases(&store, &mut tx).await.is_empty(), "the cases say nothing of `bob`");
    allow(&mut tx, "eve").await;
    assert_eq!(refused_cases(&store, &mut tx).await, ["eve"]);
    drop(tx);
    // The control: the same change without the gate.
    open_gates(&store).await;
    let mut tx = store.write("acme", 0).await.expect("begins");
    allow(&mut tx, "eve").await;
    assert!(refused_cases(&store, &mut tx).await.is_empty());
    tx.commit().await.expect("commits");
}

async fn a_change_needs_approval(database: TestDatabase) {
    let (store, mut tx) = tenant(&database, APPROVAL, "[]").await;
    allow(&mut tx, "eve").await;
    let refused = judged(&store, &mut tx).await;
    assert!(matches!(refused, Err(OperationError::ApprovalRequired)));
    let approved = GateVerdict { is_approved: true, ..GateVerdict::default() };
    pass(&mut tx, approved).await.expect("a second manager approved");
    tx.commit().await.expect("commits");
    // The gate itself is behind the gate.
    let mut tx = store.write("acme", 0).await.expect("begins");
    set_gates(&mut tx, OPEN).await;
    let refused = judged(&store, &mut tx).await;
    assert!(matches!(refused, Err(OperationError::ApprovalRequired)));
}

async fn settings_and_cases_from_before_judge_their_own_change(database: TestDatabase) {
    let (store, mut tx) = tenant(&database, CASES, MUST_HOLD).await;
    // Each loosens the gate in the transaction that needs it open.
    allow(&mut tx, "eve").await;
    set_gates(&mut tx, OPEN).await;
    assert_eq!(refused_cases(&store, &mut tx).await, ["eve"]);
    drop(tx);
    let mut tx = store.write("acme", 0).await.expect("begins");
    allow(&mut tx, "eve").await;
    tenant_cases::store(&mut tx, &cases("[]"), &by()).await.expect("works");
    tenant_cases::store(&mut tx, &cases("[]"), &by()).await.expect("works");
    assert_eq!(refused_cases(&store, &mut tx).await, ["eve"]);
    drop(tx);
    // A new case that fails is refused as well.
    let mut tx = store.write("acme", 0).await.expect("begins");
    let other = MUST_HOLD.replace("\"eve\"", "\"bob\"").replace("\"allow\"", "\"deny\"");
    tenant_cases::store(&mut tx, &cases(&other), &by()).await.expect("works");
    assert_eq!(refused_cases(&store, &mut tx).await, ["ann"]);
    drop(tx);
    // The control: cases that hold may go.
    let mut tx = store.write("acme", 0).await.expect("begins");
    tenant_cases::store(&mut tx, &cases("[]"), &by()).await.expect("works");
    assert!(refused_cases(&store, &mut tx).await.is_empty());
}

async fn a_policy_that_reads_a_resolver_takes_no_case_out_of_the_gate(database: TestDatabase) {
    let (store, mut tx) = tenant(&database, CASES, MUST_HOLD).await;
    add_policy(&mut tx, ABROAD).await;
    assert_eq!(refused_cases(&store, &mut tx).await, ["ann"]);
    drop(tx);
    // Cases that bring no answer of the resolver may stay undecided if they were stored so.
    open_gates(&store).await;
    let mut tx = store.write("acme", 0).await.expect("begins");
    add_policy(&mut tx, ABROAD).await;
    judged(&store, &mut tx).await.expect("no gate");
    tx.commit().await.expect("commits");
    let mut tx = store.write("acme", 0).await.expect("begins");
    set_gates(&mut tx, CASES).await;
    let change = Change::read(&mut tx).await.expect("works");
    let judgement = change
        .judge(&store, &judging_turn().await)
        .await
        .expect("works")
        .expect("nothing came in between");
    assert_eq!(judgement.report.skipped.len(), 1);
    judged(&store, &mut tx).await.expect("no gate was stored before");
    tx.commit().await.expect("commits");
    let mut tx = store.write("acme", 0).await.expect("begins");
    allow(&mut tx, "bob").await;
    assert!(refused_cases(&store, &mut tx).await.is_empty());
    allow(&mut tx, "eve").await;
    let refused = refused_cases(&store, &mut tx).await;
    assert!(refused == ["eve"], "a case that is decided stays so: {refused:?}");
}

/// The role of a clerk, who must not read.
const CLERKS: &str = r#"[{"name": "clerk", "check": {"subject": "cleo", "resource": "doc:read",
    "action": "read", "attributes": {"user": {"roles": ["clerk"]}}},
    "expect": {"decision": "deny", "rule": "default-deny"}}]"#;

async fn a_role_that_includes_another_is_judged_as_it_decides(database: TestDatabase) {
    let store = database.open().await;
    let mut tx = store.write("acme", 0).await.expect("begins");
    allow(&mut tx, "reader").await;
    set_gates(&mut tx, CASES).await;
    tenant_cases::store(&mut tx, &cases(CLERKS), &by()).await.expect("works");
    judged(&store, &mut tx).await.expect("the case holds");
    tx.commit().await.expect("commits");
    for (includes, is_passed) in [("writer", true), ("reader", false)] {
        let role = NewRole { name: "clerk".to_owned(), includes: vec![includes.to_owned()] };
        let role = role.into_record(&by());
        let mut tx = store.write("acme", 0).await.expect("begins");
        roles::store(&mut tx, &role).await.expect("works");
        assert_eq!(judged(&store, &mut tx).await.is_ok(), is_passed, "{includes}");
    }
}

async fn a_judgement_counts_for_the_content_that_the_change_met_alone(database: TestDatabase) {
    let (store, mut tx) = tenant(&database, CASES, MUST_HOLD).await;
    allow(&mut tx, "bob").await;
    let refused = pass(&mut tx, GateVerdict::default()).await;
    assert!(refused.is_err(), "nobody judged the change");
    let change = Change::read(&mut tx).await.expect("works");
    // The transaction that is to be judged holds no lock: another write commits before the judgement.
    let turn = tx.cancel().await.expect("ends").expect("the turn of the tenant");
    let mut other = store.write_in(turn, 0).await.expect("begins");
    allow(&mut other, "dan").await;
    other.pass_gates();
    other.commit().await.expect("commits");
    assert!(change.judge(&store, &judging_turn().await).await.expect("works").is_none());
    let mut again = store.write("acme", 0).await.expect("begins");
    allow(&mut again, "bob").await;
    judged(&store, &mut again).await.expect("the cases say nothing of `bob`");
}

/// Judges the content without rules by [`MUST_HOLD`], in a process with one thread for this that begins after `meanwhile`.
fn judged_after(meanwhile: impl AsyncFnOnce()) -> Judgement {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().start_paused(true).max_blocking_threads(1);
    runtime.build().expect("a runtime").block_on(async {
        let (release, released) = std::sync::mpsc::channel::<()>();
        let busy = tokio::task::spawn_blocking(move || released.recv());
        let content = Rulebook::from_stored(Vec::new(), Vec::new());
        let cases = JudgingCases { present: cases(MUST_HOLD), replaced: None };
        let turn = judging_turn().await;
        let (judged, ()) = tokio::join!(judge_content(content, cases, &turn), async {
            meanwhile().await;
            release.send(()).expect("the thread waits");
        });
        busy.await.expect("no panic").expect("released");
        judged.expect("valid cases")
    })
}

#[test]
fn no_case_is_decided_after_the_time_of_a_judgement() {
    let judged = judged_after(async || tokio::time::advance(MAX_TIME).await);
    let causes: Vec<_> = judged.report.skipped.iter().map(|skipped| &skipped.cause).collect();
    assert_eq!(causes, [&SkipCause::TooMuchTime, &SkipCause::TooMuchTime]);
    assert_eq!(judged.refused.len(), 2, "the gate refuses what nobody decided");
    // The control.
    let judged = judged_after(async || {});
    assert_eq!((judged.report.passed, judged.report.failed.len(), judged.refused.len()), (1, 1, 1));
}

#[tokio::test(start_paused = true)]
async fn no_case_is_decided_for_a_client_that_is_gone() {
    let (waiting, until) = (Arc::new(()), Instant::now() + MAX_TIME);
    let awaited = Awaited::while_held(&waiting);
    let judged = || {
        let cases = JudgingCases { present: cases(MUST_HOLD), replaced: Some(cases(CLERKS)) };
        let content = Rulebook::from_stored(Vec::new(), Vec::new());
        judge(&content, cases, || awaited.is_until(until)).expect("valid cases")
    };
    assert!(judged().report.skipped.is_empty(), "the control: somebody waits");
    drop(waiting);
    assert_eq!(judged().report.skipped.len(), 2);
    assert_eq!(judged().refused.len(), 3, "the cases from before are not decided either");
}
