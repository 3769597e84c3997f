//! Attack names: a tenant has webhooks whose names no server resolves, to hold up the deliveries of others.

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::cost::Figure;
use crate::support::{Provider, Receiver, Settings, Tenant};

/// Webhooks of the tenant. Each has two queues, so that twice as many names are needed at a time.
const WEBHOOKS: usize = 50;
/// Deliveries of another tenant, one after the other.
const DELIVERIES: usize = 20;
/// The time that each of these may take.
const BOUND: Duration = Duration::from_secs(2);
/// The address of the name server. It is no other one's on a usual machine.
const NAME_SERVER: &str = "127.0.0.9";
/// `quick.test` in a query.
const QUICK: &[u8] = b"\x05quick\x04test";

/// Causes deliveries to names that are never resolved, and measures how long deliveries of another tenant take.
pub(crate) fn silent_name_server() -> Vec<Figure> {
    let Ok(socket) = UdpSocket::bind((NAME_SERVER, 53)) else {
        eprintln!("attack names is skipped: only root can be a name server");
        return Vec::new();
    };
    std::thread::spawn(move || serve(&socket));
    let server = Settings::new(Provider::shared())
        .set("EGRESS_ALLOW_HTTP", "true")
        .set("EGRESS_ALLOW_CIDRS", "127.0.0.0/8")
        .start_with_name_server(NAME_SERVER);
    let noisy = Tenant::with_provider(&server, Provider::shared(), "noisy");
    let quiet = Tenant::with_provider(&server, Provider::shared(), "quiet");
    let register = |tenant: &Tenant<'_>, url: String, events: &[&str]| {
        let webhook = json!({"url": url, "events": events, "secret": "a-secret-of-sixteen"});
        tenant.manage("POST /api/v1/webhooks", &webhook).is(201);
    };
    for number in 0..WEBHOOKS {
        let url = format!("http://slow-{number}.test/");
        register(&noisy, url, &["access.denied", "policy.rbac.changed"]);
    }
    let receiver = Receiver::start();
    let port = receiver.address().port();
    register(&quiet, format!("http://quick.test:{port}/"), &["policy.rbac.changed"]);
    noisy.decide("mallory", "doc:read", "read").is_default();
    noisy.rule("mallory", "doc:read", "read", "allow");
    let deliveries = (1..=DELIVERIES).map(|count| {
        let begun = Instant::now();
        quiet.rule(&format!("reader-{count}"), "doc:read", "read", "allow");
        receiver.wait_for(count);
        let taken = begun.elapsed();
        // The flood goes on: the failed attempts are repeated, and the name server stays silent.
        std::thread::sleep(Duration::from_millis(500));
        taken
    });
    let slowest = deliveries.max().unwrap_or_default();
    vec![Figure::time("a delivery of another tenant", slowest, BOUND)]
}

/// Answers queries for `quick.test` by 127.0.0.1, and no others.
fn serve(socket: &UdpSocket) {
    let mut buffer = [0; 512];
    while let Ok((length, from)) = socket.recv_from(&mut buffer) {
        let query = &buffer[..length];
        if query.get(12..12 + QUICK.len()) != Some(QUICK) {
            continue;
        }
        // The name ends with a zero, and the type of the record follows: 1 is that of IPv4.
        let end = 12 + QUICK.len() + 1;
        let is_ipv4 = query.get(end..end + 2) == Some(&[0, 1][..]);
        let mut answer = query[..(end + 4).min(length)].to_vec();
        answer[2..12].copy_from_slice(&[0x81, 0x80, 0, 1, 0, u8::from(is_ipv4), 0, 0, 0, 0]);
        if is_ipv4 {
            answer.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, 127, 0, 0, 1]);
        }
        // A server that went away asks no more.
        let _ = socket.send_to(&answer, from);
    }
}
