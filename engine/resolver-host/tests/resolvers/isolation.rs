//! Concurrent calls of several tenants, and callers that go away.

use std::sync::Arc;

use futures_util::FutureExt as _;
use portcullis_resolver_host::CallError;
use portcullis_resolver_host::limits::SLOT_WAIT;
use tokio::sync::{Semaphore, mpsc};

use super::support::{
    BRIEF, GENEROUS, Source, assert_healthy, behave, behaviours, component, directory, grant, host,
    host_with, load, text,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tenant_whose_resolvers_wait_takes_no_more_than_its_share() {
    let (host, _) = host_with(None, false);
    let (asked, mut asks) = mpsc::unbounded_channel();
    let permits = Arc::new(Semaphore::new(0));
    let directory = directory(&host).await;
    let module = load(&host, component("behaviours")).await.unwrap();

    // Four calls of one tenant, each of a new binding: the share is per tenant, not per binding.
    let call = || {
        let (host, module) = (host.clone(), module.clone());
        let source = grant(&[], Source::Waits(asked.clone(), permits.clone()));
        let slow = host.bind(module, source, GENEROUS, "acme").unwrap();
        tokio::spawn(async move { text(behave(&host, &slow, "fetch").await) })
    };
    let running = [call(), call()];
    for _ in &running {
        asks.recv().await.unwrap();
    }
    // The share is two of eight instances.
    for turned_away in [call(), call()] {
        assert_eq!(turned_away.await.unwrap(), Err(CallError::Busy(SLOT_WAIT)));
    }
    assert_healthy(&host, &directory).await;

    permits.add_permits(3);
    for call in running {
        assert_eq!(call.await.unwrap(), Ok("at last".to_owned()));
    }
    assert_eq!(call().await.unwrap(), Ok("at last".to_owned()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn four_resolvers_of_a_tenant_spin_while_that_of_another_answers() {
    let (host, _) = host_with(None, false);
    let directory = directory(&host).await;
    let module = load(&host, component("behaviours")).await.unwrap();
    // Four calls of each tenant: twice as many as instances, and they never end by themselves.
    let mut spinning = Vec::new();
    for _ in 0..4 {
        let grant = grant(&[], super::support::answers());
        let resolver = host.bind(module.clone(), grant, GENEROUS, "acme").unwrap();
        let resolver = Arc::new(resolver);
        for _ in 0..4 {
            let (host, resolver) = (host.clone(), resolver.clone());
            spinning.push(tokio::spawn(async move { behave(&host, &resolver, "loop").await }));
        }
    }
    // All calls without an instance are refused; the others spin.
    let (mut away, mut spinning) = (0, spinning);
    while away < 14 {
        let (outcome, _, rest) = futures_util::future::select_all(spinning).await;
        assert_eq!(outcome.unwrap().result, Err(CallError::Busy(SLOT_WAIT)));
        (away, spinning) = (away + 1, rest);
    }
    for _ in 0..5 {
        assert_healthy(&host, &directory).await;
    }
    assert!(spinning.iter().all(|call| !call.is_finished()));
    spinning.iter().for_each(tokio::task::JoinHandle::abort);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn loading_a_module_takes_from_the_share_and_waits_for_it() {
    let (host, _) = host_with(None, false);
    let (asked, mut asks) = mpsc::unbounded_channel();
    let permits = Arc::new(Semaphore::new(0));
    let module = load(&host, component("behaviours")).await.unwrap();
    let source = grant(&[], Source::Waits(asked, permits.clone()));
    let slow = Arc::new(host.bind(module, source, GENEROUS, "acme").unwrap());
    let call = || {
        let (host, slow) = (host.clone(), slow.clone());
        tokio::spawn(async move { text(behave(&host, &slow, "fetch").await) })
    };
    let running = [call(), call()];
    for _ in &running {
        asks.recv().await.unwrap();
    }
    let mut loading = tokio::spawn({
        let host = host.clone();
        async move { host.load(component("directory"), "acme").await }
    });
    // Meanwhile another tenant loads the same module, and a call of this tenant is refused.
    load(&host, component("directory")).await.unwrap();
    assert_eq!(call().await.unwrap(), Err(CallError::Busy(SLOT_WAIT)));
    assert!((&mut loading).now_or_never().is_none());

    permits.add_permits(2);
    for call in running {
        assert_eq!(call.await.unwrap(), Ok("at last".to_owned()));
    }
    loading.await.unwrap().unwrap();
    drop(slow);
    assert_eq!(host.tenants(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_caller_that_goes_away_ends_its_call() {
    let host = host();
    let (asked, mut asks) = mpsc::unbounded_channel();
    let permits = Arc::new(Semaphore::new(0));
    let slow = Arc::new(behaviours(&host, GENEROUS, Source::Waits(asked, permits.clone())).await);
    // More calls than instances, one after the other: each returns its permits.
    for _ in 0..20 {
        let (host, slow) = (host.clone(), slow.clone());
        let call = tokio::spawn(async move { behave(&host, &slow, "fetch").await });
        asks.recv().await.unwrap();
        call.abort();
        assert!(call.await.unwrap_err().is_cancelled());
    }
    // A call that is still ending may hold a permit.
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
        // At most the share at once: other calls would be refused before they start.
        if calls.len() == 2 {
            for call in calls.drain(..) {
                call.await.unwrap();
            }
        }
    }
}

#[tokio::test]
async fn a_call_finds_nothing_in_memory_that_another_one_left() {
    let host = host();
    let resolver = behaviours(&host, GENEROUS, super::support::answers()).await;
    let behave = async |subject| text(behave(&host, &resolver, subject).await);
    // The module and its slot are the same in each round. Some memory is written over, the kernel takes back the rest.
    for _ in 0..5 {
        assert_eq!(behave("leave marks").await, Ok("left".to_owned()));
        assert_eq!(behave("find marks").await, Ok("0".to_owned()));
    }
    assert_eq!(behave("leave and find marks").await, Ok("true".to_owned()), "marks can be found");
}
