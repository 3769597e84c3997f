//! Measures the denied checks that the service stores and delivers in a second to a receiver that keeps up, and the CPU of
//! each part. The load and the receiver are raw sockets, so that they leave the cores to the service.
//!
//! It runs as the other measurements do (`measurements.rs`).

use std::collections::HashSet;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::everywhere::deliveries::{register, settings};
use crate::setup;
use crate::support::costs::{cpu_time, cpu_time_of_postgres};
use crate::support::openid::say;
use crate::support::{Provider, Tenant};

/// Checks that are on the way together. All connections send a request, then all read the answer.
const TOGETHER: usize = 128;
const CHECKS: usize = 80_000;
/// The most denied checks that are not delivered; the load waits then. Beyond 10,000 the service drops some.
const MAX_BEHIND: usize = 5_000;
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

/// Returns the value of the header `name` in a message, and the place behind the head. `None` if the head is not complete.
///
/// It goes from line to line, because a search in a debug build takes longer than all else here.
fn header<'m>(message: &'m str, name: &str) -> Option<(Option<&'m str>, usize)> {
    let (mut value, mut at) = (None, 0);
    loop {
        let line = &message[at..at + message[at..].find('\n')?];
        at += line.len() + 1;
        if line == "\r" {
            return Some((value, at));
        }
        value =
            line.strip_prefix(name).map(|rest| rest.trim_start_matches(": ").trim_end()).or(value);
    }
}

/// Reads one message, with a body as long as its head says. `None` at the end of the stream.
fn read(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<String> {
    loop {
        let message = std::str::from_utf8(buffer).expect("a message is text");
        if let Some((length, head)) = header(message, "content-length") {
            let end = head + length?.parse::<usize>().expect("a length");
            if buffer.len() >= end {
                return String::from_utf8(buffer.drain(..end).collect()).ok();
            }
        }
        let mut part = [0; 16 * 1024];
        match stream.read(&mut part) {
            Ok(0) | Err(_) => return None,
            Ok(count) => buffer.extend_from_slice(&part[..count]),
        }
    }
}

/// The ids of the events that arrived.
#[derive(Default)]
struct Arrived {
    count: AtomicUsize,
    ids: Mutex<HashSet<String>>,
}

fn receive(arrived: &Arc<Arrived>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("bound");
    let arrived = Arc::clone(arrived);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let arrived = Arc::clone(&arrived);
            stream.set_nodelay(true).expect("an option");
            std::thread::spawn(move || {
                let mut buffer = Vec::new();
                while let Some(message) = read(&mut stream, &mut buffer) {
                    let (event, _) = header(&message, "webhook-id").expect("a whole head");
                    let event = event.expect("a delivery names its event").to_owned();
                    arrived.ids.lock().expect("unpoisoned").insert(event);
                    arrived.count.fetch_add(1, Ordering::Relaxed);
                    if stream.write_all(ANSWER).is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}

/// Sends denied checks, `batch` in a request, all connections at a time, and never more than [`MAX_BEHIND`] ahead of what
/// arrived. Returns the time that it waited for the receiver.
fn load(
    address: SocketAddr,
    token: &str,
    arrived: &Arrived,
    (checks, batch): (usize, usize),
) -> Duration {
    let check = json!({"subject": "mallory", "resource": "doc:read", "action": "read"});
    let (path, body) = match batch {
        1 => ("check", check),
        _ => ("checks", json!({"checks": vec![check; batch]})),
    };
    let body = body.to_string();
    let request = format!(
        "POST /api/v1/{path} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let connect = |_| {
        let stream = TcpStream::connect(address).expect("connects");
        stream.set_nodelay(true).expect("an option");
        (stream, Vec::new())
    };
    let mut connections: Vec<_> = (0..TOGETHER / batch).map(connect).collect();
    let (mut sent, mut paused) = (0, Duration::ZERO);
    let before = arrived.count.load(Ordering::Relaxed);
    while sent < checks {
        let waits = Instant::now();
        while sent + before > arrived.count.load(Ordering::Relaxed) + MAX_BEHIND {
            std::thread::sleep(Duration::from_millis(1));
        }
        paused += waits.elapsed();
        for (stream, _) in &mut connections {
            stream.write_all(request.as_bytes()).expect("sends");
        }
        for (stream, buffer) in &mut connections {
            let answer = read(stream, buffer).expect("an answer");
            assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        }
        sent += connections.len() * batch;
    }
    paused
}

#[test]
#[ignore = "prints measurements"]
fn measurements_of_denied_checks_that_are_all_delivered() {
    for (at_once, batch) in [("1", 1), ("16", 1), ("32", 1), ("32", 8)] {
        let settings = settings();
        // Version 0.1 does not know the variable.
        let server = match at_once {
            "1" => settings.start(),
            _ => settings.set("WEBHOOK_DENIALS_AT_ONCE", at_once).start(),
        };
        let arrived = Arc::new(Arrived::default());
        let told = Tenant::with_provider(&server, Provider::shared(), "listening");
        register(&told, &format!("http://{}/", receive(&arrived)), &["access.denied"]);
        let token = told.token("gateway", &["service"]);
        load(told.address, &token, &arrived, (12_800, batch));
        let all = |expected: usize| {
            let deadline = Instant::now() + Duration::from_secs(60);
            while arrived.count.load(Ordering::Relaxed) < expected && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(1));
            }
        };
        all(12_800);
        let cpu = || {
            [cpu_time(server.process.id()), cpu_time_of_postgres(), cpu_time(std::process::id())]
        };
        let (before, began) = (cpu(), Instant::now());
        let paused = load(told.address, &token, &arrived, (CHECKS, batch));
        let answered = began.elapsed();
        all(12_800 + CHECKS);
        let (took, after) = (began.elapsed(), cpu());
        let each = |part: usize| {
            after[part].saturating_sub(before[part]).as_secs_f64() * 1e6 / CHECKS as f64
        };
        say(&format!(
            "{}: denied checks, {batch} in a request, {at_once} at once to the receiver: {:.0}/s answered and delivered; all answered after \
             {:.1} s, of which the load waited {:.1} s for the receiver; all delivered after {:.1} s; CPU of each: server \
             {:.0} µs, PostgreSQL {:.0} µs, load and receiver {:.0} µs",
            if setup::is_postgres() { "PostgreSQL" } else { "SQLite" },
            CHECKS as f64 / took.as_secs_f64(),
            answered.as_secs_f64(),
            paused.as_secs_f64(),
            took.as_secs_f64(),
            each(0),
            each(1),
            each(2),
        ));
        let different = arrived.ids.lock().expect("unpoisoned").len();
        assert_eq!(
            (arrived.count.load(Ordering::Relaxed), different),
            (12_800 + CHECKS, 12_800 + CHECKS)
        );
    }
}
