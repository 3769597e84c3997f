//! Links of `portcullis console link`, and the sessions that they begin.

use std::io::Read;

use super::Console;
use super::browser::{Browser, form, location};
use crate::support::{Request, eventually};

#[test]
fn a_link_signs_somebody_in_once() {
    let console = Console::start();
    let link = console.link("ines", &["admin"]);
    let mut browser = Browser::new(console.server.address);
    let page = browser.get(&link).is(200);
    assert!(page.text.contains("<h1>Sign in</h1>") && page.text.contains("ines"), "{}", page.text);
    // A preview of the link by another program uses it up only if it sends the form.
    browser.get(&link).is(200);
    browser.get(&format!("{link}?tenant=other")).is(400);
    browser.post(&format!("{link}?tenant=other"), &page, &[]).is(400);
    let done = browser.post(&link, &page, &[]).is(303);
    assert_eq!(location(&done), console.page(""));
    let set = done.header("set-cookie").expect("a cookie").to_owned();
    let (name, value) = browser.session().expect("a session");
    assert!(name.starts_with("__Host-pc-") && value.len() == 43, "{name}={value}");
    for flag in ["; Path=/", "; HttpOnly", "; SameSite=Lax", "; Secure"] {
        assert!(set.contains(flag), "{set}");
    }
    let first = browser.get(&console.page("")).is(303);
    let page = browser.get(&location(&first)).is(200);
    assert!(page.text.contains("<h1>Decisions</h1>"), "{}", page.text);
    let status = "<p role=\"status\">You are signed in.</p>";
    assert!(page.text.contains(status), "{}", page.text);
    let again = browser.get(&location(&first)).is(200);
    assert!(!again.text.contains("role=\"status\""), "{}", again.text);
    let records = console.tenant.get("/api/v1/audit?action=console.link_created").is(200).json();
    assert_eq!(records.as_array().map(Vec::len), Some(1), "{records}");
    let mut other = Browser::new(console.server.address);
    other.get(&link).is(410);
    other.post(&link, &page, &[]).is(403);
    assert_eq!(other.session(), None);
}

#[test]
fn the_command_names_what_is_wrong() {
    let console = Console::start();
    let run = |arguments: &[&str]| {
        let finished = console.settings.run(&[&["console", "link"], arguments].concat());
        assert_eq!(finished.code, Some(1), "{}", finished.err);
        finished.err
    };
    let unknown = run(&["--tenant", "nobody", "--as", "ann"]);
    assert!(unknown.contains("there is no tenant `nobody`"), "{unknown}");
    let empty = run(&["--tenant", &console.name(), "--as", ""]);
    assert!(empty.contains("expected 1 to 256 characters"), "{empty}");
}

#[test]
fn a_session_ends_on_every_page_at_once() {
    let console = Console::start();
    let mut one = console.signed_in("ines", &["admin"]);
    let mut two = console.signed_in("ines", &["admin"]);
    let mut other = console.signed_in("bob", &["auditor"]);
    let page = one.get(&console.page("sessions")).is(200);
    assert_eq!(page.text.matches("name=\"id\"").count(), 2, "{}", page.text);
    assert_eq!(page.text.matches("this one").count(), 1);
    // A session of somebody else is one that does not exist.
    let foreign = other.get(&console.page("sessions")).is(200);
    let id = foreign.text.split("name=\"id\" value=\"").nth(1).and_then(|it| it.split('"').next());
    let id = id.expect("an id").to_owned();
    one.post(&console.page("sessions/end"), &page, &[("id", &id)]).is(404);
    other.get(&console.page("me")).is(200);
    let out = one.post(&console.page("sign-out"), &page, &[("everywhere", "true")]).is(200);
    assert!(out.text.contains("Signed out"), "{}", out.text);
    assert_eq!(out.header("clear-site-data"), Some("\"cache\""));
    assert_eq!(one.session(), None);
    let back = two.get(&console.page("decisions?subject=a%20b")).is(303);
    let wanted = console.page("decisions?subject=a%20b");
    let to: String = url::form_urlencoded::byte_serialize(wanted.as_bytes()).collect();
    let to = to.replace('-', "%2D").replace('.', "%2E").replace('_', "%5F");
    assert_eq!(location(&back), format!("{}?to={to}", console.page("sign-in")));
    other.get(&console.page("me")).is(200);
    let records = console.tenant.get("/api/v1/audit?action=console.signed_out").is(200).json();
    assert_eq!(records[0]["actor"], "ines");
    assert_eq!(records[0]["credential"], "session");
}

#[test]
fn a_person_has_twenty_sessions() {
    let console = Console::start();
    let mut first = console.signed_in("ines", &["admin"]);
    let mut second = console.signed_in("ines", &["admin"]);
    let mut last = None;
    for _ in 0..19 {
        last = Some(console.signed_in("ines", &["admin"]));
    }
    first.get(&console.page("me")).is(303);
    second.get(&console.page("me")).is(200);
    let page = last.expect("a browser").get(&console.page("sessions")).is(200);
    assert_eq!(page.text.matches("name=\"id\"").count(), 20);
    // Sign-ins of a minute share audit records.
    let records = console.tenant.get("/api/v1/audit?action=console.signed_in").is(200).json();
    assert_eq!(records.as_array().map(Vec::len), Some(10));
}

#[test]
fn a_session_that_nobody_uses_ends() {
    let console = Console::with(Console::settings().set("CONSOLE_SESSION_IDLE", "2s"));
    let mut idle = console.signed_in("ines", &["admin"]);
    let mut used = console.signed_in("ines", &["admin"]);
    idle.get(&console.page("me")).is(200);
    // To look at a session is to use it: the other one tells when it has ended.
    let sessions = console.page("sessions");
    eventually("one session is left", || {
        used.clone().get(&sessions).is(200).text.matches("name=\"id\"").count() == 1
    });
    idle.get(&console.page("me")).is(303);
    used.get(&console.page("me")).is(200);
}

#[test]
fn a_session_ends_however_it_is_used() {
    let console = Console::with(Console::settings().set("CONSOLE_SESSION_MAX", "2s"));
    let mut browser = console.signed_in("ines", &["admin"]);
    browser.get(&console.page("me")).is(200);
    eventually("the session ends", || browser.clone().get(&console.page("me")).status == 303);
}

#[test]
fn a_form_without_a_session_is_refused_and_a_page_leads_to_the_sign_in() {
    let console = Console::start();
    let mut browser = Browser::new(console.server.address);
    browser.get(&console.page("me")).is(303);
    let answer = browser.send(form(&console.page("sign-out"), &[])).refused(401, "UNAUTHENTICATED");
    assert!(answer.header("location").is_none());
    let asked = Request::new(format!("GET {}", console.page("decisions/live")));
    browser.send(asked.header("accept", "text/event-stream")).is(401);
}

#[test]
fn an_open_stream_ends_with_its_session() {
    let console = Console::start();
    let mut browser = console.signed_in("ines", &["admin"]);
    let (name, value) = browser.session().expect("a session");
    let live = Request::new(format!("GET {}", console.page("decisions/live")));
    let live =
        live.header("accept", "text/event-stream").header("cookie", &format!("{name}={value}"));
    let mut stream = live.open(console.server.address);
    let mut head = [0; 15];
    stream.read_exact(&mut head).expect("an answer begins");
    assert_eq!(&head, b"HTTP/1.1 200 OK");
    let page = browser.get(&console.page("sessions")).is(200);
    browser.post(&console.page("sign-out"), &page, &[]).is(200);
    // It ends although its client reads on.
    let mut rest = String::new();
    stream.read_to_string(&mut rest).expect("the stream ends");
    assert!(rest.contains("text/event-stream"), "{rest}");
}

#[test]
fn a_person_of_a_link_asks_in_the_domain_of_the_tenants_rules() {
    let console = Console::start();
    let tenant = &console.tenant;
    // A rule without a domain gets the one of the manager's token.
    tenant.rule("nurse", "chart:read", "read", "allow");
    let mut browser = console.signed_in("ines", &["admin"]);
    let attributes = "attributes=%7B%22user%22:%7B%22roles%22:%5B%22nurse%22%5D%7D%7D";
    let page = browser
        .get(
            &console.page(&format!("ask?subject=ann&resource=chart:read&action=read&{attributes}")),
        )
        .is(200);
    assert!(page.text.contains("data-testid=\"outcome\">Allow<"), "{}", page.text);
    let page = browser.get(&console.page("access?roles=nurse")).is(200);
    assert!(page.text.contains("data-decision=\"allow\""), "{}", page.text);
}
