//! Breakers, requests that must not be made, and calls that nobody waits for any more.

use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::mpsc::unbounded_channel;
use tokio::time::advance;

use super::*;

#[tokio::test(start_paused = true)]
async fn a_breaker_opens_recovers_and_is_one_tenants() {
    let stage = Stage::new();
    let (ours, theirs) = (reference(1, 1), reference(2, 1));
    stage.put("acme", ours, "behaviours", &behaviours(1)).await;
    stage.put("bolt", theirs, "behaviours", &behaviours(1)).await;
    for _ in 0..5 {
        let failed = stage.ask("acme", Some(ours), "panic", "text").await;
        assert!(failed.cause().starts_with("panicked: the sky"), "{}", failed.cause());
    }
    let open = BreakerState::Open(Duration::from_secs(10));
    assert_eq!(stage.availability("acme", ours), Availability::Active(open));
    assert!(stage.shows("resolver_breaker_openings_total 1"));
    // Not even what would succeed is called.
    let suspended = stage.ask("acme", Some(ours), "hello", "text").await;
    let cause =
        "circuit breaker open for 10 s because calls failed, the last one: panicked: the sky";
    assert!(suspended.cause().starts_with(cause), "{}", suspended.cause());
    assert!(suspended.report.call.is_none());
    assert!(stage.shows("resolver_calls_suspended_total 1"));
    let other = stage.ask("bolt", Some(theirs), "hello", "text").await;
    assert_eq!(other.resolved, text("hello"));

    advance(Duration::from_secs(10)).await;
    assert_eq!(stage.availability("acme", ours), Availability::Active(BreakerState::HalfOpen));
    stage.ask("acme", Some(ours), "panic", "text").await.cause();
    let open = BreakerState::Open(Duration::from_secs(20));
    assert_eq!(stage.availability("acme", ours), Availability::Active(open));
    advance(Duration::from_secs(20)).await;
    let probe = stage.ask("acme", Some(ours), "hello", "text").await;
    assert_eq!(probe.resolved, text("hello"));
    assert_eq!(stage.availability("acme", ours), Availability::Active(BreakerState::Closed));
    assert_eq!(stage.measurements("acme", ours).calls, 7);
    assert!(stage.shows("resolver_breaker_openings_total 2"));
}

#[tokio::test(start_paused = true)]
async fn a_new_version_is_tried_at_once() {
    let stage = Stage::new();
    stage.put("acme", reference(1, 1), "behaviours", &behaviours(1)).await;
    for _ in 0..5 {
        stage.ask("acme", Some(reference(1, 1)), "panic", "text").await.cause();
    }
    stage.put("acme", reference(1, 2), "behaviours", &behaviours(1)).await;
    let fixed = stage.ask("acme", Some(reference(1, 2)), "hello", "text").await;
    assert_eq!(fixed.resolved, text("hello"));
    assert_eq!(stage.measurements("acme", reference(1, 2)).calls, 6, "the figures go on");
}

#[tokio::test(start_paused = true)]
async fn invalid_request_errors_do_not_open_the_breaker() {
    let stage = Stage::new();
    let asked = reference(1, 1);
    stage.put("acme", asked, "behaviours", &behaviours(1)).await;
    for _ in 0..40 {
        stage.ask("acme", Some(asked), "invalid", "text").await.cause();
    }
    assert_eq!(stage.availability("acme", asked), Availability::Active(BreakerState::Closed));
}

#[tokio::test(start_paused = true)]
async fn a_redirect_to_loopback_is_not_followed() {
    let visits = Arc::new(AtomicUsize::new(0));
    let visited = Arc::clone(&visits);
    let inside = serve(move |stream| {
        visited.fetch_add(1, Ordering::SeqCst);
        send(stream, OK);
    });
    let outside = serve(move |stream| {
        let location = format!("location: http://127.0.0.1:{inside}/");
        send(stream, &format!("HTTP/1.1 302 Found\r\n{location}\r\ncontent-length: 0\r\n\r\n"));
    });
    let stage = Stage::new();
    stage.put("acme", reference(1, 1), "behaviours", &behaviours(outside)).await;
    let redirected = stage.ask("acme", Some(reference(1, 1)), "fetch", "text").await;
    assert_eq!(redirected.cause(), "unavailable: status 302");
    assert_eq!(visits.load(Ordering::SeqCst), 0);
    // The control: it would answer.
    stage.put("acme", reference(1, 2), "behaviours", &behaviours(inside)).await;
    let direct = stage.ask("acme", Some(reference(1, 2)), "fetch", "text").await;
    assert_eq!((direct.resolved, visits.load(Ordering::SeqCst)), (text("a page"), 1));
}

#[tokio::test(start_paused = true)]
async fn an_address_inside_is_refused() {
    let visits = Arc::new(AtomicUsize::new(0));
    let visited = Arc::clone(&visits);
    let inside = serve(move |stream| {
        visited.fetch_add(1, Ordering::SeqCst);
        send(stream, OK);
    });
    let stage = Stage::with(ResolverConfig::default(), &[]);
    for (version, host) in (1..).zip(["127.0.0.1", "localhost"]) {
        let mut manifest = behaviours(inside);
        manifest["endpoints"]["source"]["url"] = format!("http://{host}:{inside}/").into();
        stage.put("acme", reference(1, version), "behaviours", &manifest).await;
        let refused = stage.ask("acme", Some(reference(1, version)), "fetch", "text").await;
        assert_eq!(refused.cause(), "refused: endpoint `source`: its address is not allowed");
    }
    assert_eq!(visits.load(Ordering::SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn a_source_that_keeps_silent_costs_the_time_of_one_call() {
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let mut manifest = behaviours(silent.local_addr().expect("bound").port());
    manifest["limits"]["timeout_ms"] = 150.into();
    let stage = Stage::new();
    stage.put("acme", reference(1, 1), "behaviours", &manifest).await;
    let late = stage.ask("acme", Some(reference(1, 1)), "fetch", "text").await;
    assert_eq!(late.cause(), "timed out after 150 ms");
}

#[tokio::test(start_paused = true)]
async fn a_check_that_is_given_up_ends_its_calls() {
    let (asked, mut was_asked) = unbounded_channel();
    let (left, mut was_left) = unbounded_channel();
    let port = serve(move |mut stream| {
        let _ = asked.send(());
        // The end of the connection.
        let _ = left.send(stream.read(&mut [0; 1]).unwrap_or(0));
    });
    let stage = Stage::new();
    let slow = reference(1, 1);
    stage.put("acme", slow, "behaviours", &behaviours(port)).await;
    tokio::select! {
        _ = stage.ask("acme", Some(slow), "fetch", "text") => panic!("nobody answers"),
        Some(()) = was_asked.recv() => {}
    }
    assert_eq!(was_left.recv().await, Some(0));
    assert_eq!(stage.measurements("acme", slow).calls, 0);
    assert_eq!(stage.ask("acme", Some(slow), "hello", "text").await.resolved, text("hello"));
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_is_given_up_leaves_its_turn_to_the_next() {
    let (asked, mut was_asked) = unbounded_channel();
    let port = serve(move |mut stream| {
        let _ = asked.send(());
        let _ = stream.read(&mut [0; 1]);
    });
    let stage = Stage::new();
    let ours = reference(1, 1);
    stage.put("acme", ours, "behaviours", &behaviours(port)).await;
    for _ in 0..5 {
        stage.ask("acme", Some(ours), "panic", "text").await.cause();
    }
    advance(Duration::from_secs(10)).await;
    let probe = stage.ask("acme", Some(ours), "fetch", "text");
    let others = async {
        was_asked.recv().await.expect("the probe");
        let other = stage.ask("acme", Some(ours), "hello", "text").await;
        assert!(
            other.cause().starts_with("circuit breaker open while a trial call runs"),
            "{}",
            other.cause()
        );
    };
    tokio::select! {
        _ = probe => panic!("nobody answers"),
        () = others => {}
    }
    assert_eq!(stage.ask("acme", Some(ours), "hello", "text").await.resolved, text("hello"));
}

#[tokio::test(start_paused = true)]
async fn resolvers_of_a_check_are_asked_at_the_same_time_and_once() {
    let (together, requests) = (Barrier::new(2), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&requests);
    // Answers nobody before both have asked.
    let port = serve(move |stream| {
        counted.fetch_add(1, Ordering::SeqCst);
        together.wait();
        send(stream, OK);
    });
    let stage = Stage::new();
    let asks = [1, 2].map(|id| AttributeRequest {
        namespace: format!("test{id}").into(),
        resolver: Some(reference(id, 1)),
        attributes: vec!["text".into(), "number".into()],
    });
    for ask in &asks {
        let reference = ask.resolver.expect("one");
        stage.put("acme", reference, "behaviours", &behaviours(port)).await;
    }
    let asked = stage.ask_all("acme", "fetch", &asks).await;
    for ask in &asks {
        assert_eq!(asked.answers.get(&ask.namespace, "text"), Some(&text("a page")));
        let silent =
            AttributeAnswer::Failed(format!("resolver `{}`: not answered", ask.namespace).into());
        assert_eq!(asked.answers.get(&ask.namespace, "number"), Some(&silent));
    }
    assert_eq!(requests.load(Ordering::SeqCst), 2);
    assert_eq!(asked.reports.len(), 2);
}
