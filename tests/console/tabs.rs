//! Tabs that close before their page comes, and pages that nobody reads.

use portcullis_test_postgres::Role;

use super::Console;
use super::browser::{Browser, csrf, form};
use crate::support::http2::Http2;
use crate::support::{Request, Server, eventually};

/// Tabs that wait for a page: more than the pool has connections.
const TABS: u64 = 30;

/// The value of a series of the metrics.
#[track_caller]
fn metric(server: &Server, series: &str) -> u64 {
    let text = Request::new("GET /metrics").send(server.address).is(200).text;
    let line = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    line.expect("a series").parse().expect("a number")
}

/// The number of requests of managers and strangers that have a place.
#[track_caller]
pub(super) fn running(server: &Server) -> u64 {
    metric(server, "portcullis_requests_running{class=\"management\"}")
}

#[test]
fn a_tab_that_closes_cancels_no_sign_in_and_leaves_no_transaction_open() {
    let console = Console::start();
    // SQLite lets nobody hold a table for itself.
    let Some(database) = console.settings.database() else { return };
    let address = console.server.address;
    let link = console.link("ines", &[]);
    let page = Browser::new(address).get(&link).is(200);
    let sign_in = form(&link, &[("csrf", &csrf(&page))]).header("sec-fetch-site", "same-origin");
    let mut browser = console.signed_in("bob", &[]);
    let (name, value) = browser.session().expect("a session");
    let cookie = format!("{name}={value}");
    let me = Request::new(format!("GET {}", console.page("me"))).header("cookie", &cookie);
    let mut holder = database.session(Role::Owner);
    holder.execute("BEGIN");
    holder.execute("LOCK TABLE console_sessions IN ACCESS EXCLUSIVE MODE");
    let connections = || metric(&console.server, "portcullis_connections");
    let before = connections();
    let count = |state: &str| {
        let ours = "SELECT count(*) FROM pg_stat_activity WHERE usename <> current_user \
            AND datname = current_database() AND";
        database.sql(&format!("{ours} {state}")).trim().to_owned()
    };
    let mut tabs = vec![sign_in.open(address)];
    eventually("it waits for the table", || count("wait_event_type = 'Lock'") != "0");
    tabs.extend((0..TABS).map(|_| me.open(address)));
    eventually("the pages are asked for", || connections() > before + TABS);
    drop(tabs);
    eventually("the tabs are closed", || connections() <= before);
    holder.execute("COMMIT");
    drop(holder);
    eventually("the link is taken", || Browser::new(address).get(&link).status == 410);
    eventually("no transaction is open", || count("xact_start IS NOT NULL") == "0");
    eventually("every place is free", || running(&console.server) == 0);
    browser.get(&console.page("me")).is(200);
}

/// A browser that asks for a page, and reads none of it.
fn unread(console: &Console) -> Http2 {
    let browser = console.signed_in("ines", &["admin"]);
    let (name, value) = browser.session().expect("a session");
    let mut connection = Http2::connect_without_window(console.server.address);
    let fields = [("cookie", &*format!("{name}={value}"))];
    let page = console.page("decisions");
    connection.request_with(1, "GET", &page, &fields, true).expect("it is sent");
    assert!(connection.wait_for(|frame| frame.is_answer()).is_some());
    connection
}

#[test]
fn a_page_that_nobody_reads_ends_and_gives_its_place_back() {
    let hasty = Console::with(Console::settings().set("CONNECTION_WRITE_TIMEOUT", "200ms"));
    let patient = Console::start();
    let (mut stuck, mut control) = (unread(&hasty), unread(&patient));
    stuck.wait_until_closed();
    eventually("the place is free", || running(&hasty.server) == 0);
    assert!(control.is_open(), "without the limit it goes on");
    assert_eq!(running(&patient.server), 1, "and so does its place");
}
