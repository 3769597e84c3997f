//! `kill -9` of a server under load.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::{Server, eventually};

/// Kills of a loop that `.ci/long` runs, unless `KILLS` says another number.
const MANY: usize = 20;
/// The milliseconds after the first acknowledgement within which kills fall.
const SPREAD: usize = 400;
/// Clients at work when the server is killed.
pub(crate) const CLIENTS: usize = 3;

/// Returns the number of kills of a loop that `.ci/long` runs.
pub(crate) fn many() -> usize {
    let kills = std::env::var_os("KILLS");
    kills.map_or(MANY, |text| text.to_str().and_then(|text| text.parse().ok()).expect("a number"))
}

/// Has clients at work and kills the server, each `round` at another instant. A client is a call of `work` with its number
/// and a count of acknowledgements, which it raises; it ends when it gets no answer. Returns what the clients return.
pub(crate) fn kill_under_load<T: Send>(
    mut server: Server,
    round: usize,
    work: impl Fn(usize, &AtomicUsize) -> Vec<T> + Sync,
) -> Vec<T> {
    let acknowledged = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let client = |number| {
            let (work, acknowledged) = (&work, &acknowledged);
            scope.spawn(move || work(number, acknowledged))
        };
        let clients: Vec<_> = (0..CLIENTS).map(client).collect();
        eventually("something is acknowledged", || acknowledged.load(Ordering::SeqCst) > 0);
        std::thread::sleep(Duration::from_millis((round * 37 % SPREAD) as u64));
        server.process.kill();
        clients.into_iter().flat_map(|client| client.join().expect("no panic")).collect()
    })
}
