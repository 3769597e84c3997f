//! The foundation of the tests: the built server as a child process, an identity provider with real keys, a
//! thin client, and tenants to work in.

#![allow(dead_code, reason = "the benchmarks use a part of this")]

pub(crate) mod certificates;
pub(crate) mod client;
pub(crate) mod costs;
pub(crate) mod http2;
pub(crate) mod keys;
pub(crate) mod kills;
pub(crate) mod openid;
pub(crate) mod operator;
pub(crate) mod packages;
pub(crate) mod process;
pub(crate) mod provider;
pub(crate) mod receiver;
pub(crate) mod resolver;
pub(crate) mod routes;
pub(crate) mod saas;
pub(crate) mod server;
pub(crate) mod tenant;

pub(crate) use client::{Reply, Request};
pub(crate) use operator::Operator;
pub(crate) use provider::Provider;
pub(crate) use receiver::{Answer, Delivery, Receiver};
pub(crate) use server::{Server, Settings};
pub(crate) use tenant::Tenant;

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use portcullis_model::service_key::Permission;
use portcullis_model::webhook::EventType;

/// The limit of every wait: an event that is later never happens.
const PATIENCE: Duration = Duration::from_secs(60);

/// The default management role.
pub(crate) const MANAGER: &str = "admin";

/// A UUID that no record has.
pub(crate) const NO_ID: &str = "01890000-0000-7000-8000-000000000000";

/// The permissions of a service key that is created without any (`docs/semantics.md`, section 6.2).
pub(crate) const PERMISSIONS: [&str; 8] = [
    "resources:read",
    "resources:write",
    "policies:read",
    "policies:write",
    "webhooks:read",
    "webhooks:write",
    "resolvers:read",
    "resolvers:write",
];

/// Every permission of a service key.
pub(crate) static ALL_PERMISSIONS: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| portcullis_engine::names::names::<Permission>().collect());

/// Every event that a change or a check causes (`docs/semantics.md`, section 7.3).
pub(crate) static EVENTS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let events = portcullis_engine::names::names::<EventType>();
    events.filter(|name| *name != EventType::WebhookTest.into_str()).collect()
});

/// The names of an object's members, sorted.
pub(crate) fn names(object: &serde_json::Value) -> Vec<&str> {
    let mut names: Vec<_> =
        object.as_object().into_iter().flatten().map(|(name, _)| &**name).collect();
    // Whether serde_json keeps the order of the text depends on what else is built with it.
    names.sort_unstable();
    names
}

/// Whether `text` is a UUID of version 7 in lower case.
pub(crate) fn is_uuid_v7(text: &str) -> bool {
    let shape = |(index, c): (usize, char)| match index {
        8 | 13 | 18 | 23 => c == '-',
        14 => c == '7',
        19 => "89ab".contains(c),
        _ => c.is_ascii_digit() || ('a'..='f').contains(&c),
    };
    text.len() == 36 && text.chars().enumerate().all(shape)
}

/// Whether `text` is an RFC 3339 time in UTC with milliseconds.
pub(crate) fn is_timestamp(text: &str) -> bool {
    let form = "0000-00-00T00:00:00.000Z";
    text.len() == form.len()
        && text.chars().zip(form.chars()).all(|(c, form)| match form {
            '0' => c.is_ascii_digit(),
            form => c == form,
        })
}

/// Waits until `is_so` is, for what becomes so by itself and nobody tells; panics when it never does.
#[track_caller]
pub(crate) fn eventually(what: &str, is_so: impl Fn() -> bool) {
    eventually_some(what, || is_so().then_some(()));
}

/// Asks again and again until there is an answer; panics when there never is.
#[track_caller]
pub(crate) fn eventually_some<T>(what: &str, ask: impl Fn() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(Instant::now() < deadline, "it never happens: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
