//! Clients of HTTP/2.

use std::time::Instant;

use super::{Answers, Supply};

/// Connections.
const CONNECTIONS: usize = 4;
/// Requests on the way on each connection.
const STREAMS: usize = 16;

/// Sends the load.
pub(super) fn send(supply: &Supply) -> Vec<Answers> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    let clients: Vec<_> = (0..CONNECTIONS).map(|_| client()).collect();
    std::thread::scope(|scope| {
        let streams = clients.iter().flat_map(|client| (0..STREAMS).map(move |_| client));
        let streams: Vec<_> = streams
            .map(|client| {
                let runtime = &runtime;
                scope.spawn(move || runtime.block_on(serve_stream(supply, client)))
            })
            .collect();
        streams.into_iter().map(|stream| stream.join().expect("a stream")).collect()
    })
}

fn client() -> reqwest::Client {
    let client = reqwest::Client::builder().http2_prior_knowledge().no_proxy().build();
    client.expect("a client")
}

async fn serve_stream(supply: &Supply, client: &reqwest::Client) -> Answers {
    let url = format!("http://{}{}", supply.address(), supply.path());
    let mut answers = Answers::default();
    while let Some(check) = supply.next() {
        let begun = Instant::now();
        let request = client.post(&url).bearer_auth(&check.token).body(check.body.clone());
        let request = request.header("content-type", "application/json");
        let answer = request.send().await.expect("an answer");
        let status = answer.status().as_u16();
        answer.bytes().await.expect("the body");
        answers.add(status, begun.elapsed());
    }
    answers
}
