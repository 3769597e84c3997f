//! Visitors who prove nothing: what they can make the service do has a bound.

use std::net::TcpStream;

use super::Console;
use super::browser::Browser;
use super::tabs::running;
use crate::support::{Request, eventually};

/// The failures that one address may have. None becomes free again while a test runs.
const FAILURES: usize = 10;
/// The places of managers and strangers. Half are for everybody, and one tenant has half of the others.
const PLACES: u64 = 8;

/// A request that the limits count as one of an attacker's address: the test is a proxy.
fn from_attacker(request: Request) -> Request {
    request.header("x-forwarded-for", "192.0.2.1")
}

#[test]
fn guesses_at_sessions_are_limited_and_a_session_passes() {
    let settings = Console::settings().set("RATE_LIMIT_FAILURES", format!("{FAILURES}/h"));
    let console = Console::with(settings.set("TRUSTED_PROXIES", "127.0.0.0/8"));
    let (address, me) = (console.server.address, console.page("me"));
    let browser = console.signed_in("ines", &["admin"]);
    let (name, value) = browser.session().expect("a session");
    let with = |value: &str| {
        let cookie = format!("{name}={value}");
        from_attacker(Request::new(format!("GET {me}")).header("cookie", &cookie)).send(address)
    };
    let guessed = (0..FAILURES + 5).map(|number| with(&format!("{number:043}")).status);
    let expected = [[303; FAILURES].as_slice(), &[429; 5]].concat();
    assert_eq!(guessed.collect::<Vec<_>>(), expected);
    let refused = with(&"A".repeat(43)).is(429);
    assert!(refused.text.contains("role=\"alert\""), "{}", refused.text);
    assert!(refused.header("retry-after").is_some(), "{:?}", refused.headers);
    with(value).is(200);
    // Without a credential there is nothing to guess.
    from_attacker(Request::new(format!("GET {me}"))).send(address).is(303);
    let metrics = Request::new("GET /metrics").send(address).is(200).text;
    let counted = "portcullis_authentication_failures_total{credential=\"session\"} 16";
    assert!(metrics.lines().any(|line| line == counted), "{metrics}");
}

/// A form of a stranger whose body does not come.
fn unfinished(console: &Console) -> TcpStream {
    let form = Request::new("POST /console/-/link/unknown")
        .body("application/x-www-form-urlencoded", "a=b");
    form.open_without_body(console.server.address)
}

#[test]
fn strangers_have_the_places_of_one_tenant() {
    let console = Console::with(Console::settings().set("MAX_MANAGEMENT", PLACES.to_string()));
    let mut browser = console.signed_in("ines", &["admin"]);
    let held: Vec<_> = (0..2 * PLACES).map(|_| unfinished(&console)).collect();
    eventually("strangers have their share", || running(&console.server) == PLACES * 3 / 4);
    let refused = Browser::new(console.server.address).get(&console.page("sign-in")).is(503);
    assert!(refused.text.contains("role=\"alert\""), "{}", refused.text);
    assert!(refused.header("retry-after").is_some(), "{:?}", refused.headers);
    browser.get(&console.page("me")).is(200);
    drop(held);
    eventually("the places are free", || running(&console.server) == 0);
    Browser::new(console.server.address).get(&console.page("sign-in")).is(200);
}
