//! The server of the benchmarks: what it answers depends on the first segment of the path alone.

use std::io::Write as _;
use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::http;
use crate::scenario::{Answer, Fault, Seen};

/// Prints the address, and answers below `/allow` with a decision, below `/busy` with a 503, below `/hang` never, and `/count`
/// with the number of the other requests so far.
pub(crate) fn run() -> anyhow::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!("http://{}", listener.local_addr()?);
    std::io::stdout().flush()?;
    let count = AtomicUsize::new(0);
    http::serve(&listener, move |seen| Ok(answer(&seen, &count)));
    Ok(())
}

fn answer(seen: &Seen, count: &AtomicUsize) -> Answer {
    if seen.path == "/count" {
        return plain(200, json!(count.load(Ordering::SeqCst)), None);
    }
    count.fetch_add(1, Ordering::SeqCst);
    match seen.path.split('/').nth(1) {
        Some("busy") => plain(503, json!({}), None),
        Some("hang") => plain(200, json!({}), Some(Fault::Hang)),
        _ => {
            let reason = "matched rule `ann, wards, chart:read, read`";
            plain(
                200,
                json!({"decision": "allow", "matched_rule_id": "r1", "reason": reason}),
                None,
            )
        }
    }
}

fn plain(status: u16, json: Value, fault: Option<Fault>) -> Answer {
    let headers = Default::default();
    Answer { status, headers, json: Some(json), body: None, extra: true, delay_ms: 0, fault }
}
