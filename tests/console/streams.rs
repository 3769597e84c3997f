//! The end of sessions in answers that go on, also at another replica.

use std::io::Read;
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use serde_json::json;

use super::Console;
use super::browser::Browser;
use super::desk::Desk;
use crate::setup;
use crate::support::{Operator, Request, Server, Settings};

/// An answer that still goes on then does not end with its session.
const PATIENCE: Duration = Duration::from_secs(60);

/// The process beside the one that ends a session. SQLite serves one process.
fn replica(settings: &Settings) -> Option<Server> {
    let log = settings.path("another-log").display().to_string();
    setup::is_postgres().then(|| settings.clone().set("DECISION_LOG_BUFFER", log).start())
}

/// Begins to follow decisions at `address`.
#[track_caller]
fn follow(browser: &Browser, address: SocketAddr, live: &str) -> TcpStream {
    let (name, value) = browser.session().expect("a session");
    let request = Request::new(format!("GET {live}"));
    let request = request.header("accept", "text/event-stream");
    let mut stream = request.header("cookie", &format!("{name}={value}")).open(address);
    let mut head = [0; 15];
    stream.read_exact(&mut head).expect("an answer begins");
    assert_eq!(&head, b"HTTP/1.1 200 OK");
    stream
}

/// Asserts that an answer ends although its client reads on: otherwise it would go on for five minutes.
#[track_caller]
fn ends(mut stream: TcpStream) {
    let (deadline, mut piece) = (Instant::now() + PATIENCE, [0; 1_024]);
    while stream.read(&mut piece).expect("a piece or the end") > 0 {
        assert!(Instant::now() < deadline, "the stream goes on");
    }
}

#[test]
fn a_person_ends_sessions_in_open_streams() {
    let console = Console::start();
    let replica = replica(&console.settings);
    let there = replica.as_ref().map_or(console.server.address, |other| other.address);
    let live = console.page("decisions/live");
    let mut other = console.signed_in("ines", &["admin"]);
    let watching = console.signed_in("ines", &["admin"]);
    let stream = follow(&watching, there, &live);
    let page = other.get(&console.page("sessions")).is(200);
    // The list has the newest session first.
    let id = page.text.split("name=\"id\" value=\"").nth(1).and_then(|it| it.split('"').next());
    other.post(&console.page("sessions/end"), &page, &[("id", id.expect("an id"))]).is(303);
    ends(stream);
    watching.at(there).get(&console.page("me")).is(303);
    let watching = console.signed_in("ines", &["admin"]);
    let stream = follow(&watching, there, &live);
    other.post(&console.page("sign-out"), &page, &[("everywhere", "true")]).is(200);
    ends(stream);
    watching.at(there).get(&console.page("me")).is(303);
}

#[test]
fn a_provider_and_the_operator_end_sessions_in_open_streams() {
    let desk = Desk::with("access_token", Settings::recording);
    let replica = replica(&desk.settings);
    let there = replica.as_ref().map_or(desk.server.address, |other| other.address);
    let live = desk.page("decisions/live");
    let stream = follow(&desk.sign_in("ann", |_| {}), there, &live);
    desk.log_out(&desk.logout("ann")).is(200);
    ends(stream);
    if !setup::is_saas() {
        return;
    }
    let operator = |route: String| Operator::new(&desk.server).send(route, &json!({}));
    let tenant = format!("/admin/tenants/{}", desk.tenant);
    let stream = follow(&desk.sign_in("ann", |_| {}), there, &live);
    operator(format!("POST {tenant}/suspend")).is(200);
    ends(stream);
    operator(format!("POST {tenant}/resume")).is(200);
    let watching = desk.sign_in("ann", |_| {});
    let stream = follow(&watching, there, &live);
    let link = desk.link(&mut Browser::new(desk.server.address));
    let (_, provider) = link.split_once("/sign-in/").expect("a provider");
    let (provider, _) = provider.split_once('?').expect("a parameter");
    Operator::new(&desk.server).remove(&desk.tenant, provider).is(204);
    ends(stream);
    watching.at(there).get(&desk.page("me")).is(303);
}
