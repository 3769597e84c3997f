//! Attack 12: guessed credentials. And more requests than the service can serve, and the cost of the limits themselves.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use chrono::DateTime;
use portcullis_limits::{CallerLimits, Class, LimitConfig, Moment, Rate, RequestKind};
use portcullis_runtime::metrics::Metrics;
use serde_json::json;

use crate::cost::{Figure, cpu};
use crate::support::client::connect;
use crate::support::saas::{self, operating};
use crate::support::{Provider, Request, Server, Settings, Tenant};

/// Time of each flood.
const FLOOD: Duration = Duration::from_secs(4);
/// Connections of an attacker who guesses.
const GUESSERS: usize = 4;
/// Answers that say that a guess is wrong: a minute's number, and those that become free during the flood.
const WRONG: usize = 60 + 4 + 1;
/// Milliseconds of CPU for 1,000 guesses.
const GUESS_CPU: Duration = Duration::from_millis(200);

/// Guesses admin keys, tokens and service keys as fast as the service answers.
pub(crate) fn guesses() -> Vec<Figure> {
    let on = |settings: Settings| settings.set("RATE_LIMIT_FAILURES", "60/m").start();
    let server = on(saas::settings());
    let good = operating("GET /admin/tenants");
    let mut figures = flood(&server, "/admin/tenants", "x-admin-api-key: guess", &good).figures();
    let forged = "authorization: Bearer eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJ4In0.c2lnbmF0dXJl";
    let key = format!("x-service-api-key: pck_{}_{}", "0".repeat(32), "A".repeat(49));
    for header in [forged, &key] {
        let server = on(Settings::new(Provider::shared()));
        let tenant = Tenant::with_provider(&server, Provider::shared(), "acme");
        let good = tenant.managing("GET /api/v1/resources");
        figures.extend(flood(&server, "/api/v1/resources", header, &good).figures());
    }
    figures
}

/// The answers to a flood of guesses.
struct Guessed {
    wrong: usize,
    all: usize,
    refused_good: usize,
    slowest_good: Duration,
    cpu: Duration,
}

impl Guessed {
    fn figures(self) -> Vec<Figure> {
        let thousands = (self.all as f64 / 1_000.0).max(1.0);
        vec![
            Figure::count("guesses answered by 401", self.wrong, WRONG),
            Figure::count("good credentials refused", self.refused_good, 0),
            Figure::time("slowest good request", self.slowest_good, Duration::from_secs(1)),
            Figure::time("CPU of 1,000 guesses", self.cpu.div_f64(thousands), GUESS_CPU),
        ]
    }
}

/// Sends guesses with `header` to `path` for [`FLOOD`], and the request `good` again and again meanwhile.
fn flood(server: &Server, path: &str, header: &str, good: &Request) -> Guessed {
    let (wrong, all) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let (before, begun) = (cpu(server), Instant::now());
    let (mut refused_good, mut slowest_good) = (0, Duration::ZERO);
    std::thread::scope(|scope| {
        for _ in 0..GUESSERS {
            scope.spawn(|| {
                let mut connection = BufReader::new(connect(server.address));
                let guess = format!("GET {path} HTTP/1.1\r\nhost: x\r\n{header}\r\n\r\n");
                while begun.elapsed() < FLOOD {
                    let status = exchange(&mut connection, guess.as_bytes());
                    all.fetch_add(1, Ordering::Relaxed);
                    wrong.fetch_add(usize::from(status == 401), Ordering::Relaxed);
                }
            });
        }
        while begun.elapsed() < FLOOD {
            let sent = Instant::now();
            refused_good += usize::from(good.send(server.address).status != 200);
            slowest_good = slowest_good.max(sent.elapsed());
        }
    });
    let cpu = cpu(server).saturating_sub(before);
    Guessed { wrong: wrong.into_inner(), all: all.into_inner(), refused_good, slowest_good, cpu }
}

/// Sends a request, reads the answer, and returns its status.
fn exchange(connection: &mut BufReader<TcpStream>, request: &[u8]) -> u16 {
    connection.get_mut().write_all(request).expect("the request is sent");
    let (mut status, mut length) = (0, 0);
    loop {
        let mut line = String::new();
        connection.read_line(&mut line).expect("a line of the answer");
        let line = line.trim_end().to_ascii_lowercase();
        if let Some(rest) = line.strip_prefix("http/1.1 ") {
            status = rest.split(' ').next().and_then(|text| text.parse().ok()).expect("a status");
        }
        if let Some(text) = line.strip_prefix("content-length: ") {
            length = text.parse().expect("a length");
        }
        if line.is_empty() {
            break;
        }
    }
    connection.read_exact(&mut vec![0; length]).expect("the body");
    status
}

/// Clients that measure the capacity: enough to keep the service busy.
const CLIENTS: usize = 8;
/// A client does not wait longer for its answer.
const GIVES_UP: Duration = Duration::from_secs(5);
/// Percent of the capacity that may be lost at three times the capacity.
const LOST: usize = 20;

/// Offers three times as many bulk registrations as the service can write.
pub(crate) fn three_times_the_capacity() -> Vec<Figure> {
    let server = Settings::new(Provider::shared()).start();
    let tenant = Tenant::with_provider(&server, Provider::shared(), "acme");
    let other = Tenant::with_provider(&server, Provider::shared(), "other");
    let resources: Vec<_> = (0..200).map(|n| json!({"name": format!("doc-{n}:read")})).collect();
    let write = tenant.managing("POST /api/v1/resources/list").json(&json!(resources));
    write.send(server.address).is(200);
    let capacity = capacity(&server, &write);
    let (in_time, slowest_probe) = overload(&server, &write, &other, 3.0 * capacity);
    let goodput = in_time / FLOOD.as_secs_f64() / capacity;
    let lost = ((1.0 - goodput).max(0.0) * 100.0).ceil() as usize;
    vec![
        Figure::count("percent of the capacity lost", lost, LOST),
        Figure::time("slowest liveness probe and check", slowest_probe, Duration::from_secs(1)),
    ]
}

/// Returns the requests per second that the service answers when a few clients send one after the other.
fn capacity(server: &Server, request: &Request) -> f64 {
    let (done, begun) = (AtomicUsize::new(0), Instant::now());
    std::thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                while begun.elapsed() < FLOOD {
                    let is_done = request.send(server.address).status == 200;
                    done.fetch_add(usize::from(is_done), Ordering::Relaxed);
                }
            });
        }
    });
    done.into_inner() as f64 / begun.elapsed().as_secs_f64()
}

/// Sends `rate` requests per second, each by its own client. Returns how many were served in time, and the slowest
/// probe or check of another tenant meanwhile.
fn overload(server: &Server, request: &Request, other: &Tenant<'_>, rate: f64) -> (f64, Duration) {
    let (in_time, begun) = (AtomicUsize::new(0), Instant::now());
    let token = other.token("gateway", &["service"]);
    let check = json!({"subject": "alice", "resource": "doc:read", "action": "read"});
    let mut slowest = Duration::ZERO;
    std::thread::scope(|scope| {
        let mut sent = 0.0;
        while begun.elapsed() < FLOOD {
            if begun.elapsed().as_secs_f64() * rate > sent {
                sent += 1.0;
                scope.spawn(|| {
                    let came = Instant::now();
                    let answer = request.try_send(server.address);
                    let is_good = answer.is_some_and(|answer| answer.status == 200);
                    let is_in_time = is_good && came.elapsed() <= GIVES_UP;
                    in_time.fetch_add(usize::from(is_in_time), Ordering::Relaxed);
                });
                continue;
            }
            let probed = Instant::now();
            Request::new("GET /healthz/live").send(server.address).is(200);
            other.check_by(&token, &check).is(200);
            slowest = slowest.max(probed.elapsed());
        }
    });
    (in_time.into_inner() as f64, slowest)
}

/// Calls of each measurement.
const CALLS: u32 = 1_000_000;
/// Nanoseconds that a limit may add to a check.
const BOUND: usize = 100;

/// Measures the limits on the way of a check.
pub(crate) fn cost_of_limits() -> Vec<Figure> {
    let mut config = LimitConfig::default();
    config.rates.checks.tenant = Some(Rate::new(10_000_000, 1));
    let limits = CallerLimits::new(config, Metrics::new().limits);
    let now = Moment::from_time(DateTime::UNIX_EPOCH);
    let place = nanos(|| drop(limits.places.enter(Class::Checks, "acme", now)));
    let of_caller = ("acme", "alice");
    let count = || limits.rates.count(RequestKind::Check, of_caller, None, now, 1);
    let rate = nanos(|| drop(count()));
    vec![
        Figure::count("nanoseconds for a place", place, BOUND),
        Figure::count("nanoseconds for a rate", rate, BOUND),
    ]
}

/// Returns the nanoseconds of one call.
fn nanos(call: impl Fn()) -> usize {
    let begun = Instant::now();
    for _ in 0..CALLS {
        call();
    }
    (begun.elapsed().as_nanos() / u128::from(CALLS)) as usize
}
