//! Deliveries over TLS: a receiver's certificate is verified, and `EGRESS_CA_FILE` adds one that is trusted.

use std::process::{Command, Stdio};

use crate::everywhere::deliveries::{attempts, register, settings, tenant, test};
use crate::support::certificates;
use crate::support::openid::{available, skip};
use crate::support::process::Process;

/// Answers every request by 204, over TLS.
const RECEIVER: &str = r#"
import ssl, sys
from http.server import BaseHTTPRequestHandler, HTTPServer

class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(204)
        self.end_headers()

server = HTTPServer(("127.0.0.1", 0), Receiver)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1], sys.argv[2])
server.socket = context.wrap_socket(server.socket, server_side=True)
print("listening on", server.server_port, flush=True)
server.serve_forever()
"#;

#[test]
fn a_certificate_is_verified_and_the_operator_can_add_one() {
    if !available("python3") || Command::new("openssl").arg("version").output().is_err() {
        return skip("deliveries over TLS need `python3` and `openssl`");
    }
    let directory = tempfile::tempdir().unwrap();
    certificates::make(directory.path());
    let mut python = Command::new("python3");
    python.args(["-c", RECEIVER, "certificate.pem", "key.pem"]).current_dir(directory.path());
    let receiver = Process::spawn({
        python.stdin(Stdio::null());
        python
    });
    let port = receiver.out.wait_for(|lines| {
        lines.iter().find_map(|line| line.strip_prefix("listening on ")?.parse::<u16>().ok())
    });
    let url = format!("https://127.0.0.1:{}/", port.expect("it starts"));
    let authority = directory.path().join("ca.pem");
    let trusting = settings().set("EGRESS_CA_FILE", authority.to_str().unwrap());
    for (settings, trusted) in [(trusting, true), (settings(), false)] {
        let server = settings.start();
        let tenant = tenant(&server);
        let webhook = register(&tenant, &url, &["webhook.test"]);
        test(&tenant, &webhook);
        let attempt = attempts(&tenant, &webhook, |all| !all.is_empty()).pop().unwrap();
        let error = attempt["error"].as_str();
        assert_eq!(attempt["http_status"] == 204, trusted, "{attempt}");
        assert_eq!(error.is_some_and(|text| text.contains("certificate")), !trusted, "{attempt}");
    }
}
