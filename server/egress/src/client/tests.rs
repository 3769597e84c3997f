//! The guard at the moment of connecting, and what a hostile server can answer. Each defence has its control:
//! a client without it gets there.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use super::*;

/// Longer than the head of an answer takes on a busy machine, and much shorter than the answers of the slow servers here.
const TIMEOUT: Duration = Duration::from_secs(2);
const PATIENT: Duration = Duration::from_secs(60);

/// A server on loopback that counts its connections and hands each to `answer`.
fn serve_by(answer: impl Fn(TcpStream) + Send + Sync + 'static) -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("0.0.0.0:0").expect("a port");
    let port = listener.local_addr().expect("bound").port();
    let (count, answer) = (Arc::new(AtomicUsize::new(0)), Arc::new(answer));
    let counted = Arc::clone(&count);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, answer) = (stream.expect("a connection"), Arc::clone(&answer));
            counted.fetch_add(1, Ordering::SeqCst);
            std::thread::spawn(move || {
                let _ = stream.read(&mut [0; 4_096]);
                answer(stream);
            });
        }
    });
    (port, count)
}

fn serve(answer: &'static str) -> (u16, Arc<AtomicUsize>) {
    serve_by(move |mut stream| {
        let _ = stream.write_all(answer.as_bytes());
    })
}

/// Sends `start`, and then `part` again and again until the other side goes away.
fn serve_without_end(start: &'static str, part: &'static str, pause: Duration) -> u16 {
    let (port, _) = serve_by(move |mut stream| {
        let _ = stream.write_all(start.as_bytes());
        while stream.write_all(part.as_bytes()).is_ok() {
            std::thread::sleep(pause);
        }
    });
    port
}

fn config(allow: &[&str]) -> EgressConfig {
    EgressConfig { rules: rules(allow), ..EgressConfig::default() }
}

fn rules(allow: &[&str]) -> EgressRules {
    let allow = allow.iter().map(|text| text.parse().expect("a network")).collect();
    EgressRules { allow_http: true, allow }
}

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok";

async fn get(client: &Client, url: &str) -> anyhow::Result<Vec<u8>> {
    client.get(url.parse()?, 10).await
}

async fn post(client: &Client, port: u16) -> Result<Answer, RequestError> {
    let url = format!("http://127.0.0.1:{port}/").parse().expect("a URL");
    client.post(url, HeaderMap::new(), b"{}".to_vec(), 16 * 1_024).await
}

fn local_client() -> Client {
    Client::guarded(&config(&["127.0.0.0/8"]), PATIENT).expect("a client")
}

#[tokio::test]
async fn a_guarded_client_never_connects_where_it_must_not() {
    let (port, connections) = serve(OK);
    let client = Client::guarded(&config(&[]), PATIENT).expect("a client");
    for host in [
        "127.0.0.1",
        "localhost",
        "127.1",
        "0x7f.1",
        "2130706433",
        "017700000001",
        "0",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "localhost.",
        "127.0.0.1.",
        "127\u{3002}0\u{3002}0\u{3002}1",
        "\u{2460}\u{2461}\u{2466}.0.0.1",
        "user@127.0.0.1",
    ] {
        let url = format!("http://{host}:{port}/");
        assert!(get(&client, &url).await.is_err(), "{url}");
    }
    assert_eq!(connections.load(Ordering::SeqCst), 0);
    // The control: the same addresses answer a client that may go there.
    let client = Client::trusted(PATIENT).expect("a client");
    for host in ["localhost", "0x7f.1", "\u{2460}\u{2461}\u{2466}.0.0.1"] {
        let url = format!("http://{host}:{port}/");
        assert_eq!(get(&client, &url).await.expect("answers"), b"ok", "{url}");
    }
    let allowed = config(&["127.0.0.0/8", "::1/128"]);
    let client = Client::guarded(&allowed, PATIENT).expect("a client");
    let url = format!("http://localhost:{port}/");
    assert_eq!(get(&client, &url).await.expect("answers"), b"ok");
    assert_eq!(connections.load(Ordering::SeqCst), 4);
}

/// Names whose addresses are others each time.
#[derive(Clone)]
struct Changing(Arc<Mutex<Vec<Vec<Ipv4Addr>>>>);

impl Changing {
    fn through(answers: &[&[[u8; 4]]]) -> Self {
        let answers = answers.iter().rev().map(|set| set.iter().copied().map(Ipv4Addr::from));
        Self(Arc::new(Mutex::new(answers.map(Iterator::collect).collect())))
    }

    fn names(&self) -> Names {
        let answers = self.clone();
        Names::new(move |_| {
            let answer = answers.next().into_iter().map(IpAddr::from).collect();
            Box::pin(async { Ok(answer) })
        })
    }

    fn next(&self) -> Vec<Ipv4Addr> {
        self.0.lock().expect("unpoisoned").pop().expect("one more answer")
    }

    fn left(&self) -> usize {
        self.0.lock().expect("unpoisoned").len()
    }
}

/// Gives the answers without a guard.
impl Resolve for Changing {
    fn resolve(&self, _: Name) -> Resolving {
        let addresses: Vec<_> =
            self.next().into_iter().map(|ip| SocketAddr::from((ip, 0))).collect();
        Box::pin(async move { Ok(Box::new(addresses.into_iter()) as Addrs) })
    }
}

const OPEN: [u8; 4] = [127, 0, 0, 2];
const SHUT: [u8; 4] = [127, 0, 0, 1];

#[tokio::test]
async fn a_request_connects_to_the_judged_address_after_the_name_changes() {
    // Tells which of its addresses was called.
    let (port, connections) = serve_by(|mut stream| {
        let called = stream.local_addr().expect("connected").ip().to_string();
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{called}", called.len());
        let _ = stream.write_all(head.as_bytes());
    });
    let url = format!("http://rebinding.example:{port}/");
    let names = Changing::through(&[&[OPEN], &[SHUT], &[OPEN, SHUT], &[OPEN]]);
    let config = EgressConfig { names: names.names(), ..config(&["127.0.0.2/32"]) };
    let guarded = Client::guarded(&config, PATIENT).expect("a client");
    assert_eq!(get(&guarded, &url).await.expect("is open"), b"127.0.0.2");
    assert_eq!(names.left(), 3, "it was asked once");
    assert!(get(&guarded, &url).await.is_err(), "each request is judged anew");
    assert!(get(&guarded, &url).await.is_err(), "one bad address spoils the name");
    assert_eq!(get(&guarded, &url).await.expect("is open again"), b"127.0.0.2");
    assert_eq!(connections.load(Ordering::SeqCst), 2);
    // The control: who judges one answer and connects to the next one is led astray.
    let names = Changing::through(&[&[OPEN], &[SHUT]]);
    let judged = names.resolve("rebinding.example".parse().expect("a name")).await;
    assert!(judged.expect("resolves").all(|address| config.rules.permits(address.ip())));
    let naive = builder(PATIENT).dns_resolver(Arc::new(names)).build().expect("a client");
    let astray = naive.get(&url).send().await.expect("answers").text().await;
    assert_eq!(astray.expect("a text"), "127.0.0.1");
}

#[tokio::test]
async fn a_kept_connection_goes_where_it_was_judged_to_go() {
    let (port, connections) = serve_by(|mut stream| {
        let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
        for _ in 0..2 {
            let _ = stream.write_all(answer);
            let _ = stream.read(&mut [0; 4_096]);
        }
    });
    let url = format!("http://rebinding.example:{port}/");
    for (idle, second_is_answered) in [(PATIENT, true), (Duration::ZERO, false)] {
        let names = Changing::through(&[&[OPEN], &[SHUT], &[SHUT]]);
        let config = EgressConfig { names: names.names(), ..config(&["127.0.0.2/32"]) };
        let client = Client::guarded_that_keeps(&config, PATIENT, idle).expect("a client");
        let before = connections.load(Ordering::SeqCst);
        assert_eq!(get(&client, &url).await.expect("is open"), b"ok");
        assert_eq!(get(&client, &url).await.is_ok(), second_is_answered, "{idle:?}");
        assert!(get(&client, &url).await.is_err(), "the server closed it, and the name is shut");
        assert_eq!(connections.load(Ordering::SeqCst), before + 1, "no other connection");
    }
}

#[test]
fn our_own_addresses_are_ours() {
    let own = |address: &str| is_own(&EgressRules::default(), address.parse().expect("an address"));
    assert!(own("127.0.0.1"));
    assert!(!own("93.184.215.14"));
    assert!(!is_own(&rules(&["127.0.0.0/8"]), Ipv4Addr::LOCALHOST.into()), "unless it is opened");
}

#[tokio::test]
async fn redirects_errors_and_long_answers_are_refused() {
    let client = Client::trusted(PATIENT).expect("a client");
    for answer in [
        "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 11\r\n\r\nhello world",
    ] {
        let (port, _) = serve(answer);
        assert!(get(&client, &format!("http://127.0.0.1:{port}/")).await.is_err(), "{answer}");
    }
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_nobody_goes_there() {
    let (elsewhere, visits) = serve(OK);
    let (port, _) = serve_by(move |mut stream| {
        let location = format!("http://127.0.0.1:{elsewhere}/");
        let head = format!("HTTP/1.1 307 X\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n");
        let _ = stream.write_all(head.as_bytes());
    });
    let answer = post(&local_client(), port).await.expect("an answer");
    assert_eq!((answer.status.as_u16(), visits.load(Ordering::SeqCst)), (307, 0));
    // The control: a client of the usual kind follows.
    let usual = reqwest::Client::builder().no_proxy().build().expect("a client");
    let url = format!("http://127.0.0.1:{port}/");
    assert_eq!(usual.get(url).send().await.expect("answers").status(), 200);
    assert_eq!(visits.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn one_deadline_covers_header_and_body() {
    let client = Client::guarded(&config(&["127.0.0.0/8"]), TIMEOUT).expect("a client");
    let pause = Duration::from_millis(50);
    for (start, part, status) in [
        // Says nothing; a header in drips; a body in drips, whose status has come.
        ("", "", None),
        ("HTTP/1.1 200 OK\r\n", "x: y\r\n", None),
        ("HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n", "x", Some(200)),
    ] {
        let port = serve_without_end(start, part, pause);
        let began = Instant::now();
        match post(&client, port).await {
            Ok(answer) => assert_eq!(Some(answer.status.as_u16()), status, "{start}"),
            Err(RequestError::Timeout) => assert_eq!(status, None, "{start}"),
            Err(other) => panic!("{start}: {other}"),
        }
        assert!(began.elapsed() >= TIMEOUT, "the deadline, and nothing else, has ended it");
        assert!(began.elapsed() < PATIENT, "{:?}", began.elapsed());
    }
}

#[tokio::test]
async fn the_deadline_covers_the_resolution_of_the_name() {
    let names = Names::new(|_| Box::pin(std::future::pending()));
    let config = EgressConfig { names, ..config(&[]) };
    let client = Client::guarded(&config, TIMEOUT).expect("a client");
    let url: Url = "http://silent.example/".parse().expect("a URL");
    let refused = client.post(url, HeaderMap::new(), Vec::new(), 1).await.expect_err("no answer");
    assert!(matches!(refused, RequestError::Timeout), "{refused}");
}

#[tokio::test]
async fn an_answer_that_breaks_off_after_its_head_is_one_to_a_post_alone() {
    let broken = "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf";
    let (port, _) = serve(broken);
    let answer = post(&local_client(), port).await.expect("an answer");
    assert_eq!((answer.status.as_u16(), &*answer.body), (200, &b"half"[..]));
    let url = format!("http://127.0.0.1:{port}/");
    assert!(get(&local_client(), &url).await.is_err(), "whoever needs the body needs all of it");
}

#[tokio::test]
async fn an_endless_body_is_read_up_to_the_limit() {
    let start = "HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n";
    let port = serve_without_end(start, "0123456789abcdef", Duration::ZERO);
    let answer = post(&local_client(), port).await.expect("an answer");
    assert_eq!((answer.status.as_u16(), answer.body.len()), (200, 16 * 1_024));
}

#[tokio::test]
async fn an_endless_header_is_refused() {
    let line = "x-filler: 0123456789012345678901234567890123456789\r\n";
    let port = serve_without_end("HTTP/1.1 200 OK\r\n", line, Duration::ZERO);
    let client = Client::guarded(&config(&["127.0.0.0/8"]), PATIENT).expect("a client");
    let refused = post(&client, port).await.expect_err("no answer");
    assert!(matches!(refused, RequestError::Broken(_)), "before the deadline: {refused}");
}

#[tokio::test]
async fn an_error_shows_nothing_of_the_url() {
    let url: Url = "http://127.0.0.1:1/path?token=hidden".parse().expect("a URL");
    let refused = local_client().post(url, HeaderMap::new(), Vec::new(), 1).await;
    let text = refused.expect_err("nobody listens").to_string();
    assert!(text.starts_with("cannot connect: ") && !text.contains("hidden"), "{text}");
}

#[tokio::test]
async fn a_name_is_looked_up_on_behalf_of_the_tenant_of_the_request() {
    let (port, _) = serve(OK);
    let names = Names::new(|name| {
        Box::pin(async move {
            match name.starts_with("slow") {
                true => std::future::pending().await,
                false => Ok(vec![Ipv4Addr::LOCALHOST.into()]),
            }
        })
    });
    let config = EgressConfig { names: names.clone(), ..config(&["127.0.0.0/8"]) };
    let client = Client::guarded(&config, TIMEOUT).expect("a client");
    let patient = Client::guarded(&config, PATIENT).expect("a client");
    let requests = (0..50).map(|number| {
        let client = client.for_tenant("noisy");
        tokio::spawn(async move { get(&client, &format!("http://slow-{number}.example/")).await })
    });
    let requests: Vec<_> = requests.collect();
    while names.measure().names < 50 {
        tokio::task::yield_now().await;
    }
    let quick = format!("http://quick.example:{port}/");
    assert_eq!(get(&patient.for_tenant("quiet"), &quick).await.expect("answers"), b"ok");
    assert!(get(&client.for_tenant("noisy"), &quick).await.is_err(), "it waits for its own");
    for request in requests {
        assert!(request.await.expect("no panic").is_err());
    }
}

#[tokio::test]
async fn a_server_without_tls_is_told_from_a_broken_one() {
    let (port, _) = serve(OK);
    let client = Client::trusted(PATIENT).expect("a client");
    let error = get(&client, &format!("https://127.0.0.1:{port}/")).await.expect_err("no TLS");
    let expected = "cannot connect: the other side does not speak TLS, which `https` needs";
    assert_eq!(error.to_string(), expected);
}
