//! Calls apart from the service: they do not use the cache, do not move the breaker, and obey it when it is open.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_call_apart_reads_and_fills_no_cache() {
    let stage = Stage::new();
    let ours = reference(1, 1);
    stage.put("acme", ours, "directory", &directory()).await;
    for _ in 0..2 {
        let one = stage.ask_uncached("acme", ours, "ann", "department").await;
        assert_eq!((one.resolved, one.source), (text("sales"), AnswerSource::Call));
    }
    let in_service = || stage.ask("acme", Some(ours), "ann", "department");
    assert_eq!(in_service().await.source, AnswerSource::Call, "nothing was kept");
    assert_eq!(in_service().await.source, AnswerSource::Cache, "the control");
    let one = stage.ask_uncached("acme", ours, "ann", "department").await;
    assert_eq!(one.source, AnswerSource::Call, "nothing is read");
    let undeclared = stage.ask_uncached("acme", ours, "ann", "shoe_size").await;
    assert_eq!(undeclared.cause(), "not declared");
    let measured = stage.measurements("acme", ours);
    assert_eq!((measured.calls, measured.cached), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_call_apart_moves_no_breaker() {
    let stage = Stage::new();
    let ours = reference(1, 1);
    stage.put("acme", ours, "behaviours", &behaviours(1)).await;
    let breaker = || stage.availability("acme", ours);
    for _ in 0..10 {
        stage.ask_uncached("acme", ours, "panic", "text").await.cause();
    }
    assert_eq!(breaker(), Availability::Active(BreakerState::Closed));
    for _ in 0..5 {
        stage.ask("acme", Some(ours), "panic", "text").await.cause();
    }
    let open = breaker();
    assert!(matches!(open, Availability::Active(BreakerState::Open(_))), "the control: {open:?}");
    // A manager cannot hammer a source that is down.
    let one = stage.ask_uncached("acme", ours, "hello", "text").await;
    assert_eq!(one.source, AnswerSource::Nowhere);
    assert_eq!(breaker(), open);
}
