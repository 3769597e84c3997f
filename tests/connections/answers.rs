//! Answers that their clients do not read, which leave memory to others.

use serde_json::json;

use crate::support::http2::Http2;
use crate::support::{Provider, Reply, Request, Server, Settings, Tenant, eventually};

const BATCH: &str = "/api/v1/checks";
/// A large answer that needs no credential: more than a megabyte.
const LARGE: &str = "/docs/swagger-ui-bundle.js";

fn server(answer_memory: &str) -> Server {
    let settings = Settings::new(Provider::shared()).set("ANSWER_MEMORY", answer_memory);
    settings.set("PUBLIC_URL", "https://authz.example.com").start()
}

/// Returns a tenant whose batches of [`batch`] have answers of 0.7 MB.
fn tenant(server: &Server, name: &str) -> Tenant<'static> {
    let tenant = Tenant::with_provider(server, Provider::shared(), name);
    let reader = "a".repeat(250);
    tenant.rule(&reader, "doc:read", "read", "allow");
    tenant
}

fn batch() -> String {
    let body = json!({
        "subject": "a".repeat(250), "resource": "doc:read", "action": "read", "checks": vec![json!({}); 2_000],
    });
    body.to_string()
}

fn ask(tenant: &Tenant<'_>) -> Reply {
    let token = tenant.token("gateway", &["service"]);
    let request = Request::new(format!("POST {BATCH}")).token(&token);
    tenant.send(&request.body("application/json", batch()))
}

fn figure(server: &Server, series: &str) -> f64 {
    let text = Request::new("GET /metrics").send(server.address).is(200).text;
    let line = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no {series} in\n{text}")).parse().unwrap()
}

/// Leaves an answer of `greedy` unread, and returns the answers to it and to another tenant after that.
fn beside_an_unread_answer(server: &Server) -> (Http2, Tenant<'static>, [Reply; 2]) {
    let [greedy, modest] = ["greedy", "modest"].map(|name| tenant(server, name));
    let mut unread = Http2::connect_without_window(server.address);
    let token = greedy.token("gateway", &["service"]);
    unread.post(1, BATCH, &token, &batch()).unwrap();
    assert!(unread.wait_for(|frame| frame.is_answer()).expect("an answer").is_ok());
    let answers = [ask(&greedy), ask(&modest)];
    (unread, greedy, answers)
}

#[test]
fn the_unread_answers_of_one_tenant_leave_memory_to_others() {
    // A quarter of it has room for one such answer.
    let server = server("5MiB");
    let (unread, greedy, [shed, served]) = beside_an_unread_answer(&server);
    let held = figure(&server, "portcullis_answer_bytes");
    assert!((600_000.0..900_000.0).contains(&held), "{held}");
    let shed = shed.refused(503, "DEPENDENCY_UNAVAILABLE");
    assert_eq!(shed.header("retry-after"), Some("1"));
    assert!(shed.text.contains("answers that are not read yet"), "{}", shed.text);
    assert!(served.is(200).text.len() > 600_000);
    assert_eq!(figure(&server, "portcullis_answers_refused_total"), 1.0);
    // Small answers need no room.
    assert!(greedy.decide(&"a".repeat(250), "doc:read", "read").allowed());
    drop(unread);
    eventually("the memory is free again", || ask(&greedy).status == 200);
    eventually("nothing is charged", || figure(&server, "portcullis_answer_bytes") == 0.0);
}

#[test]
fn with_plenty_of_memory_unread_answers_refuse_nobody() {
    let server = server("128MiB");
    let (_unread, _, answers) = beside_an_unread_answer(&server);
    for answer in answers {
        answer.is(200);
    }
}

#[test]
fn a_file_is_in_memory_once_for_all_who_do_not_read_it() {
    let server = server("256KiB");
    let mut unread = Http2::connect_without_window(server.address);
    for stream in (0..100).map(|number| 2 * number + 1) {
        unread.request(stream, "GET", LARGE, true).unwrap();
    }
    for _ in 0..100 {
        assert!(unread.wait_for(|frame| frame.is_answer()).expect("an answer").is_ok());
    }
    assert_eq!(figure(&server, "portcullis_answer_bytes"), 0.0);
}

/// Asks for twelve documents of 3 KB, which take 16 KiB each, and reads none. Returns how many the service has.
fn unread_documents(connection: &mut Http2) -> usize {
    // The document names it.
    let path = format!("/.well-known/authzen-configuration/{}", "t".repeat(3_000));
    let streams = (0..12).map(|number| 2 * number + 1);
    let answers = streams.map(|stream| {
        connection.request(stream, "GET", &path, true).unwrap();
        connection.wait_for(|frame| frame.is_answer()).expect("an answer").is_ok()
    });
    answers.filter(|is_ok| *is_ok).count()
}

#[test]
fn an_address_without_a_credential_has_a_share() {
    let server = server("256KiB");
    let connect = || Http2::connect_without_window(server.address);
    // 64 KiB are free, and as much is the share of the address.
    let mut first = connect();
    assert_eq!(unread_documents(&mut first), 8);
    // A further connection has no more than what is free.
    let mut second = connect();
    assert_eq!(unread_documents(&mut second), 4);
    Request::new("GET /healthz/ready").send(server.address).is(200);
    drop((first, second));
    eventually("the memory is free again", || unread_documents(&mut connect()) == 8);
}
