//! Calls that get into each other's way, and callers that go away.

use std::sync::Arc;

use portcullis_engine::resolver::CallError;
use portcullis_engine::resolver::limits::SLOT_WAIT;
use tokio::sync::{Semaphore, mpsc};

use super::support::{
    BRIEF, GENEROUS, Source, assert_healthy, behave, behaviours, directory, host, host_with, text,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_resolver_that_waits_takes_no_more_than_its_share() {
    let (host, _) = host_with(None, false);
    let (asked, mut asks) = mpsc::unbounded_channel();
    let permits = Arc::new(Semaphore::new(0));
    let slow = Arc::new(behaviours(&host, GENEROUS, Source::Waits(asked, permits.clone())).await);
    let directory = directory(&host).await;

    let call = || {
        let (host, slow) = (host.clone(), slow.clone());
        tokio::spawn(async move { text(behave(&host, &slow, "fetch").await) })
    };
    let running = [call(), call()];
    for _ in &running {
        asks.recv().await.unwrap();
    }
    // Two of eight instances are its share.
    assert_eq!(call().await.unwrap(), Err(CallError::Busy(SLOT_WAIT)));
    assert_healthy(&host, &directory).await;

    permits.add_permits(3);
    for call in running {
        assert_eq!(call.await.unwrap(), Ok("at last".to_owned()));
    }
    assert_eq!(call().await.unwrap(), Ok("at last".to_owned()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_caller_that_goes_away_ends_its_call() {
    let host = host();
    let (asked, mut asks) = mpsc::unbounded_channel();
    let permits = Arc::new(Semaphore::new(0));
    let slow = Arc::new(behaviours(&host, GENEROUS, Source::Waits(asked, permits.clone())).await);
    // More than there are instances, one after the other: each gives back what it held.
    for _ in 0..20 {
        let (host, slow) = (host.clone(), slow.clone());
        let call = tokio::spawn(async move { behave(&host, &slow, "fetch").await });
        asks.recv().await.unwrap();
        call.abort();
        assert!(call.await.unwrap_err().is_cancelled());
    }
    // One that is still on its way out may take a permit along.
    permits.add_permits(21);
    assert_eq!(text(behave(&host, &slow, "fetch").await), Ok("at last".to_owned()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_of_a_call_is_left_for_the_next() {
    let host = host();
    let resolver = behaviours(&host, GENEROUS, super::support::answers()).await;
    let mut peaks = Vec::new();
    for _ in 0..10 {
        let outcome = behave(&host, &resolver, "50 MB").await;
        assert_eq!(outcome.result, Err(CallError::TooLarge));
        peaks.push(behave(&host, &resolver, "greet").await.memory_bytes);
    }
    assert!(peaks.iter().all(|&peak| peak == peaks[0] && peak < 4 << 20), "{peaks:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_and_good_calls_run_side_by_side() {
    let host = host();
    let hostile = Arc::new(behaviours(&host, BRIEF, super::support::answers()).await);
    let directory = Arc::new(directory(&host).await);
    let attacks = ["loop", "memory", "recurse", "panic", "exit", "50 MB", "log for ever", "sleep"];
    let mut calls = Vec::new();
    for subject in attacks.into_iter().cycle().take(40) {
        let (host, hostile, directory) = (host.clone(), hostile.clone(), directory.clone());
        calls.push(tokio::spawn(async move {
            let outcome = behave(&host, &hostile, subject).await;
            assert!(outcome.result.is_err(), "{subject}: {outcome:?}");
            assert_healthy(&host, &directory).await;
        }));
        // At most its share at once: the others would be turned away before they do anything.
        if calls.len() == 2 {
            for call in calls.drain(..) {
                call.await.unwrap();
            }
        }
    }
}
