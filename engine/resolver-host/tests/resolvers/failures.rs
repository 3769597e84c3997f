//! Every kind of failure: its typed cause, and a host that serves other calls meanwhile and afterwards.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join;
use portcullis_resolver_host::limits::{
    HTTP_BODY_BYTES, HTTP_REQUESTS, LOG_LINES, MEMORY_BYTES, TEXT_BYTES,
};
use portcullis_resolver_host::{CallError, Failure, FailureKind, Limits};
use tokio::sync::Semaphore;

use super::support::{
    BRIEF, GENEROUS, Source, answers, assert_healthy, behave, behaviours, component, directory,
    down, grant, host, load, request, text,
};

/// Makes the component behave in each of these ways, beside a resolver that behaves well and must not notice.
async fn assert_failures(limits: Limits, rows: Vec<(&str, CallError)>) {
    let host = host();
    let (hostile, directory) = (behaviours(&host, limits, answers()).await, directory(&host).await);
    for (subject, expected) in rows {
        let (outcome, ()) =
            join(behave(&host, &hostile, subject), assert_healthy(&host, &directory)).await;
        assert_eq!(outcome.result, Err(expected), "{subject}");
        assert_healthy(&host, &directory).await;
    }
}

fn bad(why: &str) -> CallError {
    CallError::BadAnswer(why.to_owned())
}

fn refused(why: impl Into<String>) -> CallError {
    CallError::Refused(why.into())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn time_runs_out() {
    let out = || CallError::TimedOut(BRIEF.timeout);
    let rows = ["loop", "sleep", "log for ever", "config for ever", "print for ever"];
    assert_failures(BRIEF, rows.into_iter().map(|subject| (subject, out())).collect()).await;
    assert_eq!(out().to_string(), "timed out after 120 ms");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn spinning_calls_yield_to_other_calls_on_their_thread() {
    assert_failures(BRIEF, vec![("loop", CallError::TimedOut(BRIEF.timeout))]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_and_stack_run_out() {
    let memory = || CallError::Memory(MEMORY_BYTES);
    assert_failures(
        GENEROUS,
        vec![
            ("memory", memory()),
            ("100 MB", memory()),
            ("recurse", CallError::Stack),
            ("recurse with large frames", CallError::OutOfBounds),
        ],
    )
    .await;
    assert_eq!(memory().to_string(), "memory limit of 64 MiB");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_manifest_may_allow_less_memory() {
    let limits = Limits { memory_bytes: 8 << 20, ..GENEROUS };
    assert_failures(limits, vec![("50 MB", CallError::Memory(8 << 20))]).await;

    let host = host();
    let hungry = behaviours(&host, Limits { memory_bytes: 1 << 16, ..GENEROUS }, answers()).await;
    let outcome = behave(&host, &hungry, "greet").await;
    assert_eq!(outcome.result, Err(CallError::Memory(1 << 16)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn too_much_is_passed_to_the_host() {
    let rows = ["50 MB", "list of 50 MB", "log 50 MB", "request of 50 MB"];
    let rows = rows.into_iter().map(|subject| (subject, CallError::TooLarge)).collect();
    assert_failures(GENEROUS, rows).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn handles_run_out() {
    let host = host();
    let module = load(&host, component("handles")).await.unwrap();
    let resolver = host.bind(module, grant(&[], answers()), GENEROUS, "acme").unwrap();
    let outcome = host.resolve(&resolver, request("ann", &["count"])).await;
    assert_eq!(outcome.result, Err(CallError::Handles));
    assert_healthy(&host, &directory(&host).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_break_the_contract() {
    let twice = "`text` is answered twice";
    assert_failures(
        GENEROUS,
        vec![
            ("undeclared", bad("`shoe_size` is not declared")),
            ("undeclared absent", bad("`shoe_size` is not declared")),
            ("mistyped", bad("`text` is declared as a string, and is something else")),
            ("unwanted", bad("`number` was not wanted")),
            ("unwanted absent", bad("`number` was not wanted")),
            ("twice", bad(twice)),
            ("both", bad(twice)),
        ],
    )
    .await;

    let host = host();
    let resolver = behaviours(&host, GENEROUS, answers()).await;
    for (subject, name) in [("nan", "number"), ("infinity", "numbers")] {
        let outcome = host.resolve(&resolver, request(subject, &[name])).await;
        assert_eq!(outcome.result, Err(bad(&format!("`{name}` is not a finite number"))));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_resolver_says_itself_that_it_failed() {
    let failure =
        Failure { kind: FailureKind::Unreachable, message: "the directory is down".to_owned() };
    assert_failures(
        GENEROUS,
        vec![
            ("invalid", CallError::Invalid("no such person".to_owned())),
            ("unavailable", CallError::Unavailable(failure)),
            ("internal", CallError::Internal("no idea".to_owned())),
            ("exit", CallError::Exited),
        ],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_panic_is_told_with_its_text() {
    let host = host();
    let (hostile, directory) =
        (behaviours(&host, GENEROUS, answers()).await, directory(&host).await);
    let outcome = behave(&host, &hostile, "panic").await;
    let Err(CallError::Panicked(why)) = outcome.result else { panic!("{outcome:?}") };
    assert!(why.starts_with("the sky is falling (examples/behaviours.rs:"), "{why}");
    assert_eq!(outcome.log.lines[0].text, why);

    let outcome = behave(&host, &hostile, "long panic").await;
    let Err(CallError::Panicked(why)) = outcome.result else { panic!("{outcome:?}") };
    assert_eq!(why.len(), TEXT_BYTES);
    assert_healthy(&host, &directory).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_second_call_traps() {
    let host = host();
    let resolver = behaviours(&host, GENEROUS, answers()).await;
    for _ in 0..50 {
        let (trap, good) =
            join(behave(&host, &resolver, "panic"), behave(&host, &resolver, "greet")).await;
        assert!(matches!(trap.result, Err(CallError::Panicked(_))), "{trap:?}");
        assert_eq!(text(good), Ok("hello".to_owned()));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_is_bounded() {
    let host = host();
    let resolver = behaviours(&host, GENEROUS, answers()).await;
    let outcome = behave(&host, &resolver, "log").await;
    assert_eq!(outcome.log.lines.len(), LOG_LINES);
    assert_eq!(outcome.log.dropped, 1_000 - LOG_LINES as u64);
    for (index, line) in outcome.log.lines.iter().enumerate() {
        assert!(line.text.starts_with(&format!("line {index} é")), "{line:?}");
        assert!((TEXT_BYTES - 1..=TEXT_BYTES).contains(&line.text.len()), "{}", line.text.len());
    }
    assert_eq!(text(outcome), Ok("logged".to_owned()));

    let seconds = Limits { timeout: Duration::from_secs(3), ..GENEROUS };
    let hurried = behaviours(&host, seconds, answers()).await;
    let outcome = behave(&host, &hurried, "log for ever").await;
    assert_eq!(outcome.log.lines.len(), LOG_LINES);
    assert!(outcome.log.dropped > 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_host_refuses_and_no_resolver_can_take_it_for_an_answer() {
    assert_failures(
        GENEROUS,
        vec![
            ("elsewhere", refused("endpoint `elsewhere` is not granted")),
            ("path", refused("the path is not allowed")),
            (
                "request too many",
                refused(format!("more than {HTTP_REQUESTS} requests in one call")),
            ),
        ],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sources_fail() {
    let host = host();
    let directory = directory(&host).await;
    let too_large = || refused("the response of `source` has more than 1024 KiB");
    let status = Failure { kind: FailureKind::Status, message: "status 503".to_owned() };
    let rows = [
        (Source::Fails, CallError::Unavailable(down())),
        (Source::Answers(503, vec![]), CallError::Unavailable(status)),
        (Source::Refuses, refused("10.0.0.1 is not allowed")),
        (Source::TooLarge, too_large()),
        // The host does not trust an implementation that reads more than the limit.
        (Source::Answers(200, vec![b'x'; HTTP_BODY_BYTES + 1]), too_large()),
    ];
    let module = load(&host, component("behaviours")).await.unwrap();
    for (source, expected) in rows {
        let resolver = host.bind(module.clone(), grant(&[], source), GENEROUS, "acme").unwrap();
        assert_eq!(behave(&host, &resolver, "fetch").await.result, Err(expected));
        assert_healthy(&host, &directory).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_source_is_slow() {
    let host = host();
    let (asked, _asked) = tokio::sync::mpsc::unbounded_channel();
    let source = Source::Waits(asked, Arc::new(Semaphore::new(0)));
    let resolver = behaviours(&host, BRIEF, source).await;
    let outcome = behave(&host, &resolver, "fetch").await;
    assert_eq!(outcome.result, Err(CallError::TimedOut(BRIEF.timeout)));
    assert_healthy(&host, &directory(&host).await).await;
}
