//! A small identity provider on a real port: discovery, a key set, signed tokens, and a token endpoint whose answers a test
//! chooses.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, OnceLock};
use std::time::SystemTime;

use serde_json::{Value, json};

use super::keys::Key;

/// The lifetime of a token.
const LIFETIME: i64 = 600;

/// An identity provider. The first of its keys signs unless a token says otherwise.
pub(crate) struct Provider {
    address: SocketAddr,
    keys: Vec<Key>,
    shared: Arc<Shared>,
}

/// The state that its HTTP side shows.
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    key_set: String,
    mode: Mode,
    fetches: usize,
    /// The answer of the token endpoint: 400 without one.
    tokens: Option<Value>,
    /// The forms that the token endpoint got.
    asked: Vec<String>,
}

/// The way in which the key set is served.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// As it should be.
    Up,
    /// By a 500.
    Failing,
    /// Not before the mode changes.
    Holding,
}

impl Provider {
    pub(crate) fn new(keys: Vec<Key>) -> Self {
        Self::in_mode(keys, Mode::Up)
    }

    pub(crate) fn in_mode(keys: Vec<Key>, mode: Mode) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let key_set = key_set(&keys);
        let state = State { key_set, mode, fetches: 0, tokens: None, asked: Vec::new() };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
        let provider = Self { address, keys, shared };
        let shared = Arc::clone(&provider.shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&shared);
                // A client that goes away is none of our business.
                std::thread::spawn(move || shared.answer(stream, address).ok());
            }
        });
        provider
    }

    /// The provider of everybody who needs nothing but tokens: a key of each kind, and two of one.
    pub(crate) fn shared() -> &'static Self {
        static SHARED: OnceLock<Provider> = OnceLock::new();
        SHARED.get_or_init(|| {
            Self::new(vec![
                Key::p256("p256"),
                Key::p256("p256-second"),
                Key::p384("p384"),
                Key::ed25519("ed25519"),
                Key::rsa("rsa"),
                Key::rsa("rsa-ps256").with(json!({"use": "sig", "alg": "PS256"})),
            ])
        })
    }

    /// The value of `iss`; discovery is below it.
    pub(crate) fn issuer(&self) -> String {
        format!("http://{}/realm", self.address)
    }

    /// The `iss` of one tenant's tokens, where each tenant has its own.
    pub(crate) fn issuer_of(&self, tenant: &str) -> String {
        format!("http://{}/realms/{tenant}", self.address)
    }

    pub(crate) fn jwks_uri(&self) -> String {
        format!("http://{}/realm/keys", self.address)
    }

    pub(crate) fn key(&self, index: usize) -> &Key {
        &self.keys[index]
    }

    /// The claims of a good token.
    pub(crate) fn claims(&self, domain: &str, subject: &str, roles: &[&str]) -> Value {
        json!({
            "iss": self.issuer(),
            "sub": subject,
            "dom": domain,
            "realm_access": {"roles": roles},
            "exp": now() + LIFETIME,
        })
    }

    /// A token with these claims, signed by the first key.
    pub(crate) fn token(&self, claims: &Value) -> String {
        self.keys[0].token(&self.keys[0].header(), claims)
    }

    /// Replaces its keys, in the key set too.
    pub(crate) fn rotate(&mut self, keys: Vec<Key>) {
        self.serve_key_set(&key_set(&keys));
        self.keys = keys;
    }

    /// Serves this text as its key set.
    pub(crate) fn serve_key_set(&self, text: &str) {
        self.shared.change(|state| text.clone_into(&mut state.key_set));
    }

    pub(crate) fn set_mode(&self, mode: Mode) {
        self.shared.change(|state| state.mode = mode);
    }

    /// Lets the token endpoint answer with these members, or with a refusal.
    pub(crate) fn serve_tokens(&self, tokens: Option<Value>) {
        self.shared.change(|state| state.tokens = tokens);
    }

    /// The forms that the token endpoint got with this grant type.
    pub(crate) fn asked_for(&self, grant: &str) -> usize {
        let wanted = format!("grant_type={grant}");
        let state = self.shared.state.lock().expect("unpoisoned");
        state.asked.iter().filter(|form| form.contains(&wanted)).count()
    }

    /// The number of requests for the key set.
    pub(crate) fn fetches(&self) -> usize {
        self.shared.state.lock().expect("unpoisoned").fetches
    }

    /// Waits until the key set was asked for this often.
    pub(crate) fn wait_for_fetches(&self, count: usize) {
        let state = self.shared.state.lock().expect("unpoisoned");
        drop(self.shared.changed.wait_while(state, |state| state.fetches < count));
    }
}

impl Shared {
    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock().expect("unpoisoned"));
        self.changed.notify_all();
    }

    fn answer(&self, stream: TcpStream, address: SocketAddr) -> std::io::Result<()> {
        let mut reader = BufReader::new(stream.try_clone()?);
        let (mut request, mut length) = (String::new(), 0);
        reader.read_line(&mut request)?;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(": ") else { break };
            if name.eq_ignore_ascii_case("content-length") {
                length = value.parse().unwrap_or_default();
            }
        }
        let mut form = vec![0; length];
        reader.read_exact(&mut form)?;
        let path = request.split(' ').nth(1).unwrap_or_default();
        let (status, body) = if path.ends_with("/keys") {
            self.serve_keys()
        } else if let Some(realm) = path.strip_suffix("/.well-known/openid-configuration") {
            let issuer = format!("http://{address}{realm}");
            let document = json!({
                "issuer": issuer,
                "jwks_uri": format!("{issuer}/keys"),
                "authorization_endpoint": format!("{issuer}/authorize"),
                "authorization_response_iss_parameter_supported": true,
                "token_endpoint": format!("{issuer}/token"),
                "end_session_endpoint": format!("{issuer}/logout"),
            });
            ("200 OK", document.to_string())
        } else if path.ends_with("/token") {
            self.give_tokens(String::from_utf8_lossy(&form).into_owned())
        } else {
            ("404 Not Found", String::new())
        };
        let length = body.len();
        write!(
            &stream,
            "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
             connection: close\r\n\r\n{body}"
        )
    }

    fn give_tokens(&self, form: String) -> (&'static str, String) {
        self.change(|state| state.asked.push(form));
        match &self.state.lock().expect("unpoisoned").tokens {
            Some(tokens) => ("200 OK", tokens.to_string()),
            None => ("400 Bad Request", json!({"error": "invalid_grant"}).to_string()),
        }
    }

    fn serve_keys(&self) -> (&'static str, String) {
        self.change(|state| state.fetches += 1);
        let state = self.state.lock().expect("unpoisoned");
        let state = self.changed.wait_while(state, |state| state.mode == Mode::Holding);
        let state = state.expect("unpoisoned");
        match state.mode {
            Mode::Failing => ("500 Internal Server Error", String::new()),
            _ => ("200 OK", state.key_set.clone()),
        }
    }
}

/// The key set of `keys`.
pub(crate) fn key_set(keys: &[Key]) -> String {
    json!({"keys": keys.iter().map(Key::jwk).collect::<Vec<_>>()}).to_string()
}

/// Seconds since the epoch.
#[expect(clippy::disallowed_methods, reason = "tokens are judged by the server's real clock")]
pub(crate) fn now() -> i64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970");
    now.as_secs().try_into().expect("before the sun dies")
}
