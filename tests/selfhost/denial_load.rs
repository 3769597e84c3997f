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

/// Connections of the load. All send a check, then all read the answer.
const CONNECTIONS: usize = 128;
const CHECKS: usize = 80_000;
/// The most denied checks that are not delivered; the load waits then. Beyond 10,000 the service drops some.
const MOST_BEHIND: usize = 5_000;
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

/// The end of the first message in `bytes`, with a body as long as its head says.
fn message_end(bytes: &[u8]) -> Option<usize> {
    let head = bytes.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let text = std::str::from_utf8(&bytes[..head]).expect("a head is ASCII").to_ascii_lowercase();
    let length = text.split("content-length: ").nth(1)?.split('\r').next()?;
    let end = head + length.parse::<usize>().expect("a length");
    (bytes.len() >= end).then_some(end)
}

/// Reads one message.
fn read(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<Vec<u8>> {
    loop {
        if let Some(end) = message_end(buffer) {
            return Some(buffer.drain(..end).collect());
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
    ids: Mutex<HashSet<Vec<u8>>>,
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
                    let marker = b"webhook-id: ";
                    let at = message.windows(marker.len()).position(|part| part == marker);
                    let at = at.expect("a delivery names its event") + marker.len();
                    arrived.ids.lock().expect("unpoisoned").insert(message[at..at + 36].to_vec());
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

/// Sends denied checks, all connections at a time, and never more than [`MOST_BEHIND`] ahead of what arrived.
fn load(address: SocketAddr, token: &str, arrived: &Arrived, checks: usize) -> Duration {
    let body = json!({"subject": "mallory", "resource": "doc:read", "action": "read"}).to_string();
    let request = format!(
        "POST /api/v1/check HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let connect = |_| {
        let stream = TcpStream::connect(address).expect("connects");
        stream.set_nodelay(true).expect("an option");
        (stream, Vec::new())
    };
    let mut connections: Vec<_> = (0..CONNECTIONS).map(connect).collect();
    let (mut sent, mut paused) = (0, Duration::ZERO);
    let before = arrived.count.load(Ordering::Relaxed);
    while sent < checks {
        let waits = Instant::now();
        while sent + before > arrived.count.load(Ordering::Relaxed) + MOST_BEHIND {
            std::thread::sleep(Duration::from_millis(1));
        }
        paused += waits.elapsed();
        for (stream, _) in &mut connections {
            stream.write_all(request.as_bytes()).expect("sends");
        }
        for (stream, buffer) in &mut connections {
            let answer = read(stream, buffer).expect("an answer");
            assert!(answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer));
        }
        sent += CONNECTIONS;
    }
    paused
}

#[test]
#[ignore = "prints measurements"]
fn measurements_of_denied_checks_that_are_all_delivered() {
    for at_once in ["1", "16"] {
        let settings = settings();
        // Version 0.1 does not know the variable.
        let server = match at_once {
            "1" => settings.start(),
            _ => settings.set("WEBHOOK_DENIALS_AT_ONCE", at_once).start(),
        };
        let arrived = Arc::new(Arrived::default());
        let told = Tenant::of(&server, Provider::shared(), "listening");
        register(&told, &format!("http://{}/", receive(&arrived)), &["access.denied"]);
        let token = told.token("gateway", &["service"]);
        load(told.address, &token, &arrived, 12_800);
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
        let paused = load(told.address, &token, &arrived, CHECKS);
        let answered = began.elapsed();
        all(12_800 + CHECKS);
        let (took, after) = (began.elapsed(), cpu());
        let each = |part: usize| {
            after[part].saturating_sub(before[part]).as_secs_f64() * 1e6 / CHECKS as f64
        };
        say(&format!(
            "{}: denied checks, {at_once} at once to the receiver: {:.0}/s answered and delivered; all answered after \
             {:.1} s, of which the load waited {:.1} s for the receiver; all delivered after {:.1} s; CPU of each: server \
             {:.0} µs, PostgreSQL {:.0} µs, load and receiver {:.0} µs",
            if setup::POSTGRES { "PostgreSQL" } else { "SQLite" },
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
