//! The cache of answers: which answers it keeps, and for whom.

use std::sync::Mutex;
use std::time::Duration;

use tokio::time::advance;

use super::*;

/// The `department` of `ann`, and where it comes from.
async fn department(
    stage: &Stage,
    tenant: &str,
    resolver: ResolverRef,
) -> (AttributeAnswer, AnswerSource) {
    let one = stage.ask(tenant, Some(resolver), "ann", "department").await;
    (one.resolved, one.source)
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_used_again_for_the_same_question_to_the_same_resolver() {
    let stage = Stage::new();
    let ours = reference(1, 1);
    stage.put("acme", ours, "directory", &directory()).await;
    stage.put("bolt", ours, "directory", &directory()).await;
    let (called, cached) =
        ((text("sales"), AnswerSource::Call), (text("sales"), AnswerSource::Cache));
    assert_eq!(department(&stage, "acme", ours).await, called);
    assert_eq!(department(&stage, "acme", ours).await, cached);
    assert_eq!(department(&stage, "bolt", ours).await, called, "another tenant");
    let bob = stage.ask("acme", Some(ours), "bob", "department").await;
    assert_eq!(bob.source, AnswerSource::Call, "another input");
    // To its last millisecond: it says 5 s, and declares 60 s.
    advance(Duration::from_millis(4_999)).await;
    assert_eq!(department(&stage, "acme", ours).await, cached);
    advance(Duration::from_millis(1)).await;
    assert_eq!(department(&stage, "acme", ours).await, called);
    // A change of the manifest alone is another resolver.
    let mut manifest = directory();
    manifest["config"]["department"] = "research".into();
    stage.put("acme", reference(1, 2), "directory", &manifest).await;
    let changed = department(&stage, "acme", reference(1, 2)).await;
    assert_eq!(changed, (text("research"), AnswerSource::Call));
    let measured = stage.measurements("acme", ours);
    assert_eq!((measured.calls, measured.cached), (4, 2));
    assert!(stage.shows(r#"resolver_cache_lookups_total{result="hit"} 2"#));
    assert!(stage.shows(r#"resolver_cache_lookups_total{result="miss"} 5"#));
}

#[tokio::test(start_paused = true)]
async fn a_resolver_is_asked_only_for_missing_attributes() {
    let stage = Stage::new();
    let ours = reference(1, 1);
    stage.put("acme", ours, "directory", &directory()).await;
    department(&stage, "acme", ours).await;
    let attributes = vec!["department".into(), "manager".into()];
    let ask = AttributeRequest { namespace: "test".into(), resolver: Some(ours), attributes };
    let asked = stage.ask_all("acme", "ann", std::slice::from_ref(&ask)).await;
    let sources: Vec<_> = asked.reports[0].attributes.iter().map(|one| one.source).collect();
    assert_eq!(sources, [AnswerSource::Cache, AnswerSource::Call]);
    let asked = stage.ask_all("acme", "ann", &[ask]).await;
    assert!(asked.reports[0].call.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_manifest_can_forbid_it() {
    let stage = Stage::new();
    let mut manifest = directory();
    manifest["cache_ttl_ms"] = 0.into();
    stage.put("acme", reference(1, 1), "directory", &manifest).await;
    for _ in 0..2 {
        let (_, source) = department(&stage, "acme", reference(1, 1)).await;
        assert_eq!(source, AnswerSource::Call);
    }
}

const BROKEN: &str = "HTTP/1.1 503 No\r\ncontent-length: 0\r\n\r\n";

/// A source whose answer is changed by the test, and the manifest that grants it.
fn source(stale_if_error_ms: u32) -> (Arc<Mutex<String>>, serde_json::Value) {
    let answer = Arc::new(Mutex::new(OK.to_owned()));
    let shown = Arc::clone(&answer);
    let port = serve(move |stream| send(stream, &shown.lock().expect("unpoisoned").clone()));
    let mut manifest = behaviours(port);
    manifest["stale_if_error_ms"] = stale_if_error_ms.into();
    (answer, manifest)
}

#[tokio::test(start_paused = true)]
async fn the_last_good_answer_serves_while_the_source_is_unavailable() {
    let (answer, manifest) = source(60_000);
    let stage = Stage::new();
    let ours = reference(1, 1);
    stage.put("acme", ours, "behaviours", &manifest).await;
    let ask = async || stage.ask("acme", Some(ours), "fetch", "text").await;
    assert_eq!(ask().await.source, AnswerSource::Call);
    *answer.lock().expect("unpoisoned") = BROKEN.to_owned();
    assert_eq!(ask().await.source, AnswerSource::Cache, "it is good for a second");
    advance(Duration::from_millis(1_000)).await;
    // Beyond the fifth the breaker is open, for the same reason.
    for round in 1..=7 {
        let stale = ask().await;
        assert_eq!(
            (stale.resolved, stale.source),
            (text("a page"), AnswerSource::Stale),
            "{round}"
        );
        assert_eq!(stale.report.call.is_some(), round <= 5, "{round}");
        let cause = stale.report.cause.expect("a cause");
        assert!(cause.ends_with("unavailable: status 503"), "{cause}");
    }
    assert_eq!(stage.measurements("acme", ours).stale, 7);
    assert!(stage.shows(r#"resolver_cache_lookups_total{result="stale"} 7"#));
    // A new answer takes its place.
    *answer.lock().expect("unpoisoned") = OK.replace("a page", "a leaf");
    advance(Duration::from_secs(10)).await;
    let fresh = ask().await;
    assert_eq!((fresh.resolved, fresh.source), (text("a leaf"), AnswerSource::Call));
}

#[tokio::test(start_paused = true)]
async fn an_old_answer_serves_for_no_other_failure_and_not_for_ever() {
    let (answer, manifest) = source(2_000);
    let stage = Stage::new();
    let ours = reference(1, 1);
    stage.put("acme", ours, "behaviours", &manifest).await;
    let ask = async || stage.ask("acme", Some(ours), "fetch", "text").await;
    assert_eq!(ask().await.source, AnswerSource::Call);
    advance(Duration::from_millis(1_000)).await;
    // The body is over the limit, which ends the call.
    let body = "x".repeat((1 << 20) + 1);
    let long = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    *answer.lock().expect("unpoisoned") = long;
    assert!(ask().await.cause().contains("has more than 1024 KiB"));
    *answer.lock().expect("unpoisoned") = BROKEN.to_owned();
    assert_eq!(ask().await.source, AnswerSource::Stale);
    advance(Duration::from_millis(2_000)).await;
    assert_eq!(ask().await.cause(), "unavailable: status 503");
}
