//! A real OpenID provider: `tests/oidc-provider/server.mjs`, shaped like a Keycloak realm. It needs Node and npm; where
//! they are missing its tests say so and pass, except under `CI=true`.

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};

use super::process::Process;
use super::{Reply, Request, packages};

const FOLDER: &str = "oidc-provider";

/// A realm of the provider, killed when it is dropped.
pub(crate) struct Realm {
    process: Process,
    name: String,
    address: SocketAddr,
}

impl Realm {
    /// Starts the realm `name` on a free port; `None` where that cannot be done.
    #[track_caller]
    pub(crate) fn start(name: &str) -> Option<Self> {
        let directory = packages::from_npm(FOLDER, &["server.mjs"]);
        directory.map(|directory| Self::start_on(&directory, name, 0))
    }

    #[track_caller]
    fn start_on(directory: &Path, name: &str, port: u16) -> Self {
        let mut node = Command::new("node");
        node.arg(directory.join("server.mjs")).args([name, &port.to_string()]).stdin(Stdio::null());
        let process = Process::spawn(node);
        let find = |lines: &[String]| lines.iter().find_map(|line| issuer_address(line));
        let Some(address) = process.out.wait_for(find) else {
            panic!("the OpenID provider does not start:\n{}", process.err.text());
        };
        Self { process, name: name.to_owned(), address }
    }

    /// Restarts it on its port with other keys.
    #[track_caller]
    pub(crate) fn restart_with_other_keys(mut self) -> Self {
        self.process.kill();
        Self::start_on(&packages::target(FOLDER), &self.name, self.address.port())
    }

    /// The value of `iss`, which clients call the address of the auth server.
    pub(crate) fn issuer(&self) -> String {
        format!("http://{}/realms/{}", self.address, self.name)
    }

    pub(crate) fn jwks_uri(&self) -> String {
        format!("{}/protocol/openid-connect/certs", self.issuer())
    }

    /// Asks for a token as the Java client library does.
    pub(crate) fn ask_for_token(&self, client: &str, secret: &str) -> Reply {
        let form = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("grant_type", "client_credentials")
            .append_pair("client_id", client)
            .append_pair("client_secret", secret)
            .finish();
        let route = format!("POST /realms/{}/protocol/openid-connect/token", self.name);
        let request = Request::new(route).body("application/x-www-form-urlencoded", form);
        request.send(self.address)
    }

    /// A token of one of the provider's clients.
    #[track_caller]
    pub(crate) fn token(&self, client: &str) -> String {
        self.ask_for_token(client, &format!("secret of {client}")).is(200).text_of("access_token")
    }
}

/// The address in `issuer http://127.0.0.1:1234/realms/shop`.
fn issuer_address(line: &str) -> Option<SocketAddr> {
    let (address, _) = line.strip_prefix("issuer http://")?.split_once('/')?;
    address.parse().ok()
}

/// Whether a program can be run here.
pub(crate) fn available(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Says that a test is not run, and fails it where nothing may be left out.
#[track_caller]
pub(crate) fn skip(why: &str) {
    let ci = std::env::var_os("CI").is_some_and(|value| value == "true");
    assert!(!ci, "{why}, and CI=true leaves nothing out");
    say(&format!("SKIPPED: {why}"));
}

/// Writes past the test harness, which keeps what a passing test prints to itself.
pub(crate) fn say(text: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{text}");
}
