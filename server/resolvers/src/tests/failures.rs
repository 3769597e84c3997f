//! Every way to fail: the cause, and a resolver of another tenant that notices nothing.

use futures_util::future::join;
use portcullis_resolver_host::limits::MEMORY_BYTES;

use super::*;

#[tokio::test(start_paused = true)]
async fn hostile_components_fail_alone_and_with_a_cause() {
    let stage = Stage::new();
    let port = serve(|stream| send(stream, OK));
    let hostile = stage
        .resolvers
        .runtime
        .admit("acme", component("behaviours").into())
        .await
        .expect("is admitted");
    let good = reference(2, 1);
    stage.put("bolt", good, "directory", &directory()).await;
    let memory = format!("memory limit of {} MiB", MEMORY_BYTES >> 20);
    let rows = [
        ("loop", "timed_out", "timed out after 120 ms"),
        ("sleep", "timed_out", "timed out after 120 ms"),
        ("config for ever", "timed_out", "timed out after 120 ms"),
        ("memory", "memory", &memory),
        ("recurse", "stack", "stack limit of 512 KiB"),
        ("recurse with large frames", "out_of_bounds", "memory access out of bounds"),
        ("panic", "panicked", "panicked: the sky is falling"),
        ("exit", "exited", "called `exit`"),
        ("50 MB", "too_large", "passed more than 1024 KiB to the host"),
        ("request of 50 MB", "too_large", "passed more than 1024 KiB to the host"),
        ("undeclared", "bad_answer", "bad answer: `shoe_size` is not declared"),
        ("mistyped", "bad_answer", "bad answer: `text` is declared as a string"),
        ("unwanted", "bad_answer", "bad answer: `number` was not wanted"),
        ("twice", "bad_answer", "bad answer: `text` is answered twice"),
        ("elsewhere", "refused", "refused: endpoint `elsewhere` is not granted"),
        ("request too many", "refused", "refused: more than 8 requests in one call"),
        ("invalid", "invalid", "invalid request: no such person"),
        ("internal", "internal", "internal error: no idea"),
        ("unavailable", "unavailable", "unavailable: the directory is down"),
    ];
    for (version, (subject, outcome, cause)) in (1..).zip(rows) {
        let mut manifest = behaviours(port);
        if outcome == "timed_out" {
            manifest["limits"]["timeout_ms"] = 120.into();
        }
        let bad = reference(1, version);
        stage.put_module("acme", bad, &hostile, &manifest);
        let before = calls_that_ended(&stage, outcome);
        // The good resolver is called each time.
        stage.put("bolt", reference(2, version), "directory", &directory()).await;
        let (failed, answered) = join(
            stage.ask("acme", Some(bad), subject, "text"),
            stage.ask("bolt", Some(reference(2, version)), "ann", "department"),
        )
        .await;
        assert!(failed.cause().starts_with(cause), "{subject}: {}", failed.cause());
        assert_eq!(failed.report.origin, Some(ResolverOrigin::Tenant));
        assert_eq!((answered.resolved, answered.source), (text("sales"), AnswerSource::Call));
        assert_eq!(calls_that_ended(&stage, outcome), before + 1, "{subject}");
        // Nothing of it is kept: the same question is a call again.
        let again = stage.ask("acme", Some(bad), subject, "text").await;
        assert!(again.cause().starts_with(cause), "{subject}: {}", again.cause());
    }
    let measured = stage.measurements("acme", reference(1, 1));
    assert_eq!((measured.calls, measured.cached), (2 * rows.len() as u64, 0));
    assert_eq!(measured.failures["timed_out"], 6);
    let last = measured.last_error.expect("an error").message;
    assert_eq!(last, "unavailable: the directory is down");
    assert_eq!(stage.measurements("bolt", good).failures.len(), 0);
}

/// Returns the number of calls that `GET /metrics` shows for `outcome`.
fn calls_that_ended(stage: &Stage, outcome: &str) -> u64 {
    let start = format!("portcullis_resolver_calls_total{{outcome=\"{outcome}\"}} ");
    let text = stage.rendered();
    let count = text.lines().find_map(|line| line.strip_prefix(&start));
    count.and_then(|count| count.parse().ok()).expect("a series")
}

#[tokio::test(start_paused = true)]
async fn what_a_guest_says_before_it_fails_is_reported() {
    let stage = Stage::new();
    let bad = reference(1, 1);
    stage.put("acme", bad, "behaviours", &behaviours(1)).await;
    let failed = stage.ask("acme", Some(bad), "panic", "text").await;
    let call = failed.report.call.expect("a call");
    let last = call.log.lines.last().expect("last words");
    assert!(last.text.starts_with("the sky is falling"), "{}", last.text);
    assert!(call.memory_bytes > 0 && !call.elapsed.is_zero());
}

#[tokio::test(start_paused = true)]
async fn a_missing_answer_fails_and_an_absent_value_is_an_answer() {
    let stage = Stage::new();
    let asked = reference(1, 1);
    stage.put("acme", asked, "behaviours", &behaviours(1)).await;
    let silent = stage.ask("acme", Some(asked), "silent", "text").await;
    assert_eq!(silent.cause(), "not answered");
    assert_eq!(stage.ask("acme", Some(asked), "silent", "shoe_size").await.cause(), "not declared");
    let absent = stage.ask("acme", Some(asked), "absent", "text").await;
    assert_eq!((absent.resolved, absent.source), (AttributeAnswer::Absent, AnswerSource::Call));
}

#[tokio::test(start_paused = true)]
async fn a_resolver_that_cannot_be_called_is_named() {
    let stage = Stage::new();
    let cause = async |resolver| {
        let one = stage.ask("acme", resolver, "ann", "department").await;
        assert!(one.report.call.is_none());
        one.cause().to_owned()
    };
    assert_eq!(cause(None).await, "there is no resolver `test`");
    assert_eq!(cause(Some(reference(1, 1))).await, "resolver `test` is still loading");
    stage.resolvers.suspend("acme", reference(1, 2), "is disabled");
    assert_eq!(cause(Some(reference(1, 2))).await, "resolver `test` is disabled");
    assert_eq!(
        stage.availability("acme", reference(1, 2)),
        Availability::Unavailable("is disabled".into())
    );
    // A plan may be older than what is in service, and never newer.
    stage.put("acme", reference(1, 4), "directory", &directory()).await;
    let older = stage.ask("acme", Some(reference(1, 3)), "ann", "department").await;
    assert_eq!(older.resolved, text("sales"));
    assert_eq!(cause(Some(reference(1, 5))).await, "resolver `test` is still loading");
    // What comes late changes nothing.
    stage.resolvers.suspend("acme", reference(1, 3), "is disabled");
    let still = stage.ask("acme", Some(reference(1, 4)), "ann", "department").await;
    assert_eq!(still.resolved, text("sales"));
    stage.resolvers.tenants.remove("acme", reference(1, 4).id);
    assert!(stage.resolvers.status("acme", reference(1, 4).id).is_none());
    assert_eq!(cause(Some(reference(1, 4))).await, "resolver `test` is still loading");
}

#[tokio::test(start_paused = true)]
async fn a_load_that_fails_takes_nothing_out_of_service() {
    let stage = Stage::new();
    let why: Arc<str> = "could not be loaded: the database is unavailable".into();
    let is = |version| stage.availability("acme", reference(1, version));
    let ready = Availability::Active(BreakerState::Closed);
    stage.resolvers.fail("acme", reference(1, 1), &why);
    assert_eq!(is(1), Availability::Unavailable(Arc::clone(&why)));
    stage.put("acme", reference(1, 1), "directory", &directory()).await;
    for version in [1, 0] {
        stage.resolvers.fail("acme", reference(1, version), &why);
        assert_eq!(is(1), ready, "{version}");
    }
    // Another cause of the same version is news, and so is a later version.
    stage.resolvers.fail("acme", reference(1, 2), &why);
    assert_eq!(is(2), Availability::Unavailable(Arc::clone(&why)));
    stage.resolvers.fail("acme", reference(1, 2), "could not be loaded: the host failed");
    assert_eq!(is(2), Availability::Unavailable("could not be loaded: the host failed".into()));
}
