//! Attack "exports": many exports of a large tenant at once, by clients that read them and by clients that do not.

use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

use crate::cost::{Figure, memory};
use crate::plans::{large_tree, p99};
use crate::support::client::connect;
use crate::support::{MANAGER, Provider, Settings, Tenant};

/// Exports at once.
const EXPORTS: usize = 24;
/// Policies of 240 KB.
const POLICIES: usize = 100;

/// Exports 24 MB 24 times at once, with as many clients that take nothing, and measures the checks of another tenant.
pub(crate) fn many() -> Vec<Figure> {
    let server = Settings::new(Provider::shared()).start();
    let [attacker, stalling, other] = ["attacker", "stalling", "other"]
        .map(|name| Tenant::with_provider(&server, Provider::shared(), name));
    for tenant in [&attacker, &stalling] {
        fill(tenant);
    }
    other.rule("alice", "*", "read", "allow");
    p99(&other);
    let (before, _) = memory(&server);
    let token = stalling.token("boss", &[MANAGER]);
    let request =
        format!("GET /api/v1/export HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n\r\n");
    let ask = || {
        let mut stream = connect(server.address);
        stream.write_all(request.as_bytes()).expect("the request is sent");
        stream
    };
    let stalled: Vec<TcpStream> = (0..EXPORTS).map(|_| ask()).collect();
    let (slowest, wrong) = std::thread::scope(|scope| {
        let readers: Vec<_> = (0..EXPORTS).map(|_| scope.spawn(|| is_right(&attacker))).collect();
        let slowest = p99(&other);
        let answers = readers.into_iter().map(|reader| reader.join().expect("no panic"));
        (slowest, answers.filter(|is_right| !is_right).count())
    });
    let (_, most) = memory(&server);
    drop(stalled);
    vec![
        Figure::mib("memory, more than before", most - before, 128.0),
        Figure::time("a check of another tenant, p99", slowest, Duration::from_millis(50)),
        Figure::count("answers that are neither whole nor a 503", wrong, 0),
    ]
}

fn fill(tenant: &Tenant<'_>) {
    for number in 0..POLICIES {
        let tree = large_tree(number);
        tenant.policy(&format!("p{number}"), &format!("doc-{number}:read"), "allow", 1, &tree);
    }
}

/// Returns whether an export is whole, or a 503 that says when to come again.
fn is_right(tenant: &Tenant<'_>) -> bool {
    let reply = tenant.get("/api/v1/export");
    match reply.status {
        200 => {
            let bundle: Value = reply.json();
            bundle["bundle"]["policies"].as_array().is_some_and(|all| all.len() == POLICIES)
        }
        503 => reply.header("retry-after").is_some(),
        _ => false,
    }
}
