//! A receiver of webhooks on a real port: it keeps every request, and answers as a test tells it to.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use sha2::Sha256;

/// The limit of every wait: a request that is later never arrives.
const PATIENCE: Duration = Duration::from_secs(30);

/// A request as it arrived.
#[derive(Clone, Debug)]
pub(crate) struct Delivery {
    pub(crate) path: String,
    /// By name in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
    pub(crate) at: Instant,
}

impl Delivery {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("a body is JSON")
    }

    /// The event's id.
    #[track_caller]
    pub(crate) fn id(&self) -> String {
        self.json()["id"].as_str().expect("an event has an id").to_owned()
    }

    #[track_caller]
    pub(crate) fn kind(&self) -> String {
        self.json()["type"].as_str().expect("an event has a type").to_owned()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    /// Whether both signatures are those of `secret`.
    pub(crate) fn is_signed_with(&self, secret: &str) -> bool {
        let mac = |message: &[u8]| {
            let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("any length");
            mac.update(message);
            mac.finalize().into_bytes().to_vec()
        };
        let hex: String = mac(&self.body).iter().map(|byte| format!("{byte:02x}")).collect();
        let (id, time) = (self.header("webhook-id"), self.header("webhook-timestamp"));
        let signed = [format!("{id}.{time}.").as_bytes(), &self.body].concat();
        self.header("x-authz-signature") == hex
            && self.header("webhook-signature") == format!("v1,{}", STANDARD.encode(mac(&signed)))
            && self.id() == id
    }
}

/// The answer to a request.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    Status(u16),
    /// By 200, after a while.
    Late(Duration),
    /// These bytes, and the end of the connection.
    Raw(Vec<u8>),
    /// By nothing, and the end of the connection.
    Reset,
    /// By nothing, until the other side goes away.
    Hang,
    /// By 200, once the test says so.
    Hold,
}

type Script = Box<dyn Fn(&Delivery) -> Answer + Send>;

/// A running receiver.
pub(crate) struct Receiver {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    deliveries: Vec<Delivery>,
    answered: usize,
    script: Script,
    holding: bool,
}

impl Receiver {
    /// Answers everything by 200.
    pub(crate) fn start() -> Self {
        Self::with(|_| Answer::Status(200))
    }

    pub(crate) fn with(script: impl Fn(&Delivery) -> Answer + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let state =
            State { deliveries: Vec::new(), answered: 0, script: Box::new(script), holding: true };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
        let receiver = Self { address, shared: Arc::clone(&shared) };
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&shared);
                // A sender that goes away is what some tests are about.
                std::thread::spawn(move || shared.answer(stream).ok());
            }
        });
        receiver
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers otherwise from now on.
    pub(crate) fn answer_by(&self, script: impl Fn(&Delivery) -> Answer + Send + 'static) {
        self.shared.change(|state| state.script = Box::new(script));
    }

    /// Answers what is held, and whatever is to be held from now on.
    pub(crate) fn release(&self) {
        self.shared.change(|state| state.holding = false);
    }

    /// Forgets the requests so far, and keeps their number.
    pub(crate) fn forget(&self) {
        self.shared.change(|state| state.deliveries.clear());
    }

    pub(crate) fn deliveries(&self) -> Vec<Delivery> {
        self.shared.state.lock().expect("unpoisoned").deliveries.clone()
    }

    /// The number of answered requests.
    pub(crate) fn answered(&self) -> usize {
        self.shared.state.lock().expect("unpoisoned").answered
    }

    pub(crate) fn count(&self) -> usize {
        self.shared.state.lock().expect("unpoisoned").deliveries.len()
    }

    /// Waits for the first `count` requests.
    #[track_caller]
    pub(crate) fn wait_for(&self, count: usize) -> Vec<Delivery> {
        self.wait_until(&format!("{count} deliveries"), |all| all.len() >= count)
    }

    /// Waits until the requests so far are as they should be.
    #[track_caller]
    pub(crate) fn wait_until(
        &self,
        what: &str,
        is_so: impl Fn(&[Delivery]) -> bool,
    ) -> Vec<Delivery> {
        let deadline = Instant::now() + PATIENCE;
        let mut state = self.shared.state.lock().expect("unpoisoned");
        while !is_so(&state.deliveries) {
            let left = deadline.saturating_duration_since(Instant::now());
            let kinds = || state.deliveries.iter().map(Delivery::kind).collect::<Vec<_>>();
            assert!(!left.is_zero(), "it never arrives: {what}; there are {:?}", kinds());
            state = self.shared.changed.wait_timeout(state, left).expect("unpoisoned").0;
        }
        state.deliveries.clone()
    }
}

impl Shared {
    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock().expect("unpoisoned"));
        self.changed.notify_all();
    }

    fn answer(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let delivery = read(&stream)?;
        let answer = {
            let mut state = self.state.lock().expect("unpoisoned");
            let answer = (state.script)(&delivery);
            state.deliveries.push(delivery);
            answer
        };
        self.changed.notify_all();
        self.give(&mut stream, answer)?;
        self.change(|state| state.answered += 1);
        Ok(())
    }

    fn give(&self, stream: &mut TcpStream, answer: Answer) -> std::io::Result<()> {
        match answer {
            Answer::Status(status) => respond(stream, status),
            Answer::Late(pause) => {
                std::thread::sleep(pause);
                respond(stream, 200)
            }
            Answer::Raw(bytes) => stream.write_all(&bytes),
            Answer::Reset => stream.shutdown(Shutdown::Both),
            Answer::Hang => stream.read_to_end(&mut Vec::new()).map(drop),
            Answer::Hold => {
                let state = self.state.lock().expect("unpoisoned");
                drop(self.changed.wait_while(state, |state| state.holding));
                respond(stream, 200)
            }
        }
    }
}

fn respond(stream: &mut TcpStream, status: u16) -> std::io::Result<()> {
    write!(
        stream,
        "HTTP/1.1 {status} Whatever\r\ncontent-length: 5\r\nconnection: close\r\n\r\nheard"
    )
}

fn read(stream: &TcpStream) -> std::io::Result<Delivery> {
    let mut reader = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            // Whoever was sending was killed over it.
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        if line.trim().is_empty() {
            break;
        }
        lines.push(line.trim().to_owned());
    }
    let header = |line: &String| {
        let (name, value) = line.split_once(": ")?;
        Some((name.to_ascii_lowercase(), value.to_owned()))
    };
    let headers: BTreeMap<_, _> = lines.iter().filter_map(header).collect();
    let length = headers.get("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let path = lines.first().and_then(|line| line.split(' ').nth(1)).unwrap_or_default();
    Ok(Delivery { path: path.to_owned(), headers, body, at: Instant::now() })
}
