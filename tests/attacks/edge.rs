//! Attacks on connections and bodies, before anybody is authenticated.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use crate::cost::{Figure, memory, mib};
use crate::support::client::connect;
use crate::support::http2::Http2;
use crate::support::{Provider, Request, Settings};

/// Most bytes of each unfinished body: one less than the largest body.
const BODY: i64 = (1 << 20) - 1;
/// Time for the attack. The service accepts nothing more long before.
const ATTACK: Duration = Duration::from_secs(5);

/// 5 connections of HTTP/2 with 100 unfinished bodies each, to a path that does not exist.
pub(crate) fn unfinished_bodies() -> Vec<Figure> {
    let server = Settings::new(Provider::shared()).start();
    let (before, _) = memory(&server);
    let address = server.address;
    let attackers: Vec<_> = (0..5).map(|_| std::thread::spawn(move || flood(address))).collect();
    let held: Vec<Http2> = attackers.into_iter().filter_map(|one| one.join().ok()).collect();
    Request::new("GET /healthz/live").send(address).is(200);
    let (_, most) = memory(&server);
    drop(held);
    vec![Figure::mib("memory", most - before, 64.0)]
}

/// Opens 100 streams, and sends as much of a body on each as the server allows.
fn flood(address: SocketAddr) -> Http2 {
    let mut connection = Http2::connect(address);
    let mut initial = 65_535;
    let mut whole = initial;
    // What was sent on each stream, and what the server granted beside the initial window.
    let mut streams: Vec<(u32, i64, i64)> = (0..100).map(|n| (2 * n + 1, 0, 0)).collect();
    for (stream, ..) in &streams {
        if connection.request(*stream, "POST", "/unknown", false).is_err() {
            return connection;
        }
    }
    let begun = Instant::now();
    while begun.elapsed() < ATTACK {
        while connection.is_readable() {
            let Some(frame) = connection.next() else { return connection };
            initial = frame.initial_window().unwrap_or(initial);
            match frame.grant() {
                Some(bytes) if frame.stream == 0 => whole += bytes,
                Some(bytes) => {
                    let stream = streams.iter_mut().find(|stream| stream.0 == frame.stream);
                    stream.into_iter().for_each(|stream| stream.2 += bytes);
                }
                None => {}
            }
        }
        for (stream, sent, granted) in &mut streams {
            let free = (initial + *granted - *sent).min(whole).min(BODY - *sent).min(16_384);
            let part = vec![b'x'; usize::try_from(free).unwrap_or(0)];
            if part.is_empty() {
                continue;
            }
            if connection.data(*stream, &part).is_err() {
                return connection;
            }
            *sent += free;
            whole -= free;
        }
    }
    connection
}

/// 1,100 idle connections of HTTP/2 that answer pings, to a service that may open 1,024 files.
pub(crate) fn idle_connections() -> Vec<Figure> {
    let server = Settings::new(Provider::shared()).start_with_files(1_024);
    let mut idle: Vec<Http2> = (0..1_100)
        .filter_map(|_| TcpStream::connect(server.address).ok())
        .filter_map(|stream| Http2::begin(stream, &[]).ok())
        .collect();
    idle.iter_mut().for_each(|connection| drop(connection.ping()));
    let begun = Instant::now();
    Request::new("GET /healthz/ready").send(server.address).is(200);
    let answered = begun.elapsed();
    let files = files(server.process.id());
    drop(idle);
    vec![
        Figure::time("an answer to another client", answered, Duration::from_secs(1)),
        // The rest is for the database and for outgoing requests.
        Figure::count("open files", files, 700),
    ]
}

/// The idle time of attack 52: longer than the time for a header.
const IDLE: Duration = Duration::from_secs(12);

/// Connections of HTTP/1 and HTTP/2 that ask for nothing after one request, and requests that arrive while the service stops.
pub(crate) fn idle_times() -> Vec<Figure> {
    let server = Settings::new(Provider::shared()).set("CONNECTION_IDLE_TIMEOUT", "12s").start();
    let address = server.address;
    let idle_of = [
        std::thread::spawn(move || {
            let mut stream = alive(address);
            let began = Instant::now();
            let _ = stream.read_to_end(&mut Vec::new());
            began.elapsed()
        }),
        std::thread::spawn(move || {
            let mut connection = Http2::connect(address);
            let began = Instant::now();
            connection.wait_until_closed();
            began.elapsed()
        }),
    ];
    let times: Vec<Duration> = idle_of.into_iter().filter_map(|one| one.join().ok()).collect();
    let early = times.iter().filter(|time| **time < IDLE - Duration::from_millis(500)).count();
    let latest = times.iter().max().copied().unwrap_or_default();
    let streams: Vec<TcpStream> = (0..100).map(|_| alive(address)).collect();
    server.process.terminate();
    server
        .process
        .err
        .wait_for(|lines| lines.iter().find(|line| line.contains("stopping")).map(drop));
    let answered = streams.into_iter().filter_map(|mut stream| {
        stream.write_all(PROBE).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        let answer = answer.to_lowercase();
        (answer.starts_with("http/1.1 ") && answer.contains("connection: close")).then_some(())
    });
    let lost = 100 - answered.count();
    vec![
        Figure::count("connections that are closed early", early, 0),
        Figure::time("until an idle connection is closed", latest, IDLE + Duration::from_secs(3)),
        Figure::count("requests lost at the stop", lost, 0),
    ]
}

/// A request that keeps its connection.
const PROBE: &[u8] = b"GET /healthz/live HTTP/1.1\r\nhost: x\r\n\r\n";

/// Returns a connection of HTTP/1 that had its first answer.
fn alive(address: SocketAddr) -> TcpStream {
    let mut stream = connect(address);
    stream.write_all(PROBE).expect("the request is sent");
    let mut answer = [0; 4_096];
    let read = stream.read(&mut answer).expect("an answer");
    assert!(answer[..read].starts_with(b"HTTP/1.1 200"), "one segment has the whole answer");
    stream
}

/// A log of every level whose reader does not read, with 5,000 requests.
pub(crate) fn unread_log() -> Vec<Figure> {
    let settings = Settings::new(Provider::shared()).set("RUST_LOG", "trace");
    let (mut process, unread, address) = settings.start_unread();
    let before = mib(process.id(), "VmRSS:").unwrap_or_default();
    let mut slowest = Duration::ZERO;
    for _ in 0..5_000 {
        let sent = Instant::now();
        Request::new("GET /healthz/live").send(address).is(200);
        slowest = slowest.max(sent.elapsed());
    }
    let after = mib(process.id(), "VmRSS:").unwrap_or_default();
    let stop = Instant::now();
    let _ = std::process::Command::new("kill").arg(process.id().to_string()).status();
    let code = process.wait().ok().and_then(|status| status.code());
    let stopped = stop.elapsed();
    drop(unread);
    vec![
        Figure::time("slowest request", slowest, Duration::from_secs(1)),
        Figure::mib("memory", after - before, 32.0),
        Figure::time("stop", stopped, Duration::from_secs(3)),
        Figure::count("exit codes other than 0", usize::from(code != Some(0)), 0),
    ]
}

/// Returns the number of files that a process has open.
fn files(process: u32) -> usize {
    std::fs::read_dir(format!("/proc/{process}/fd")).map_or(0, Iterator::count)
}

/// The rights of other users on the files of the database.
pub(crate) fn database_files() -> Vec<Figure> {
    let settings = Settings::new(Provider::shared());
    let _server = settings.start();
    let open = ["portcullis.db", "portcullis.db-wal", "portcullis.db-shm"]
        .iter()
        .filter_map(|name| settings.path(name).metadata().ok())
        .filter(|metadata| metadata.permissions().mode() & 0o077 != 0);
    vec![Figure::count("files that others may read", open.count(), 0)]
}
