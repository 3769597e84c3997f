//! The request that a guest's call becomes, and the response that the guest gets.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::time::Duration;

use portcullis_engine::json;
use portcullis_resolver_host::Method;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::*;
use portcullis_egress::EgressConfig;
use portcullis_model::egress_rules::EgressRules;

const PATIENT: Duration = Duration::from_secs(30);

/// A server on loopback that gives the same answer to everybody, and what it was sent.
fn serve(answer: impl Into<Vec<u8>>) -> (u16, UnboundedReceiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("bound").port();
    let (sender, received) = unbounded_channel();
    let answer = answer.into();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let mut request = String::new();
            let mut part = [0; 4_096];
            while !(request.ends_with("\r\n\r\n") && !request.starts_with("POST")
                || request.ends_with("{}"))
                && let Ok(length @ 1..) = stream.read(&mut part)
            {
                request.push_str(&String::from_utf8_lossy(&part[..length]));
            }
            let _ = sender.send(request);
            let _ = stream.write_all(&answer);
        }
    });
    (port, received)
}

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Page: 1\r\nSet-Cookie: a=b\r\n\r\nok";

fn config(allow: &[&str]) -> EgressConfig {
    EgressConfig { rules: rules(allow), ..EgressConfig::default() }
}

fn rules(allow: &[&str]) -> EgressRules {
    let allow = allow.iter().map(|text| text.parse().expect("a network")).collect();
    EgressRules { allow_http: true, allow }
}

/// One endpoint, `source`, at `url`.
fn granted(url: &str, egress: &EgressConfig, timeout: Duration) -> Granted {
    // Registration would refuse what is not allowed; here it is the request that must.
    let anywhere = rules(&["0.0.0.0/0", "::/0"]);
    let manifest = serde_json::json!({
        "namespace": "hr",
        "secrets": {"token": "s3cret"},
        "endpoints": {"source": {
            "url": url,
            "methods": ["GET", "POST"],
            "headers": {"authorization": "Bearer ${token}", "x-team": "hr"},
        }},
    });
    let manifest = manifest.to_string();
    let manifest = json::parse(manifest.as_bytes()).expect("JSON");
    let manifest = Manifest::parse(&manifest, &anywhere).expect("a manifest");
    let client = Client::guarded(egress, timeout).expect("a client");
    Granted::new(client, &manifest).expect("headers")
}

fn local(port: u16) -> Granted {
    granted(&format!("http://127.0.0.1:{port}/api"), &config(&["127.0.0.0/8"]), PATIENT)
}

fn get(path: &str) -> HttpRequest {
    HttpRequest { method: Method::Get, path: path.to_owned(), headers: vec![], body: None }
}

#[track_caller]
fn refused(sent: Result<HttpResponse, SendError>, expected: &str) {
    let Err(SendError::Refused(cause)) = sent else { panic!("{sent:?}") };
    assert!(cause.contains(expected), "{cause}");
    for hidden in ["s3cret", "127.0.0.1", "localhost", "http:"] {
        assert!(!cause.contains(hidden), "{cause}");
    }
}

#[tokio::test]
async fn the_host_adds_url_and_credentials_and_keeps_cookies() {
    let (port, mut received) = serve(OK);
    let mut request = get("/users?name=ann");
    request.headers = vec![("Accept".to_owned(), "text/plain".to_owned())];
    let response = local(port).send("source", request, 10).await.expect("an answer");
    assert_eq!((response.status, response.body), (200, b"ok".to_vec()));
    let headers = [("content-length", "2"), ("x-page", "1")];
    assert_eq!(response.headers, headers.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let sent = received.recv().await.expect("a request").to_lowercase();
    for line in [
        "get /api/users?name=ann http/1.1\r\n",
        &format!("host: 127.0.0.1:{port}\r\n"),
        "authorization: bearer s3cret\r\n",
        "x-team: hr\r\n",
        "accept: text/plain\r\n",
    ] {
        assert!(sent.contains(line), "{line}: {sent}");
    }
    let body = HttpRequest { method: Method::Post, body: Some(b"{}".to_vec()), ..get("") };
    local(port).send("source", body, 10).await.expect("an answer");
    let sent = received.recv().await.expect("a request");
    assert!(sent.starts_with("POST /api HTTP/1.1\r\n") && sent.ends_with("\r\n\r\n{}"), "{sent}");
}

#[tokio::test]
async fn what_is_not_granted_is_refused_before_anything_is_sent() {
    let (port, mut received) = serve(OK);
    let granted = local(port);
    assert!(granted.has("source") && !granted.has("other"));
    refused(granted.send("other", get("/"), 10).await, "endpoint `other`: it is not granted");
    let delete = HttpRequest { method: Method::Delete, ..get("/") };
    refused(granted.send("source", delete, 10).await, "the method DELETE is not granted");
    refused(granted.send("source", get("/../admin"), 10).await, "expected a path without");
    for name in [
        "Authorization",
        "Connection",
        "Content-Length",
        "Cookie",
        "Host",
        "Keep-Alive",
        "Proxy-Authorization",
        "Proxy-Connection",
        "TE",
        "Trailer",
        "Transfer-Encoding",
        "Upgrade",
        "X-Team",
    ] {
        let headers = vec![(name.to_owned(), "x".to_owned())];
        let sent = granted.send("source", HttpRequest { headers, ..get("/") }, 10).await;
        refused(sent, &format!("may not set the header `{}`", name.to_lowercase()));
    }
    for (name, value) in [("x y", "1"), ("", "1"), ("x", "1\r\nhost: other"), ("x", "\0")] {
        let headers = vec![(name.to_owned(), value.to_owned())];
        let sent = granted.send("source", HttpRequest { headers, ..get("/") }, 10).await;
        refused(sent, "is not valid");
    }
    drop(granted);
    assert!(received.try_recv().is_err(), "nothing was sent");
}

#[tokio::test]
async fn an_address_that_is_not_allowed_is_refused_by_number_and_by_name() {
    let (port, mut received) = serve(OK);
    for host in ["127.0.0.1", "localhost", "0x7f.1", "[::ffff:127.0.0.1]"] {
        let granted = granted(&format!("http://{host}:{port}/"), &config(&[]), PATIENT);
        refused(granted.send("source", get("/"), 10).await, "its address is not allowed");
    }
    assert!(received.try_recv().is_err(), "nothing was sent");
    // The control: where it is allowed, it gets there.
    let open = config(&["127.0.0.0/8", "::1/128"]);
    let granted = granted(&format!("http://localhost:{port}/"), &open, PATIENT);
    assert_eq!(granted.send("source", get("/"), 10).await.expect("an answer").status, 200);
}

#[tokio::test]
async fn a_redirect_is_a_response_and_nobody_follows() {
    let (elsewhere, mut visits) = serve(OK);
    let (port, _) = serve(format!(
        "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:{elsewhere}/\r\nContent-Length: 0\r\n\r\n"
    ));
    let response = local(port).send("source", get("/"), 10).await.expect("an answer");
    assert_eq!(response.status, 302);
    assert!(visits.try_recv().is_err());
}

#[tokio::test]
async fn the_limit_of_a_body_is_exact() {
    let (port, _) = serve(OK);
    assert_eq!(local(port).send("source", get("/"), 2).await.expect("fits").body, b"ok");
    assert_eq!(local(port).send("source", get("/"), 1).await, Err(SendError::TooLarge));
}

#[tokio::test]
async fn a_source_that_fails_is_a_failure_of_its_kind() {
    let kind = |sent| match sent {
        Err(SendError::Failed(Failure { kind, message })) => {
            assert!(!message.contains("127.0.0.1") && !message.contains("s3cret"), "{message}");
            kind
        }
        other => panic!("{other:?}"),
    };
    let nobody = {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.local_addr().expect("bound").port()
    };
    let sent = local(nobody).send("source", get("/"), 10).await;
    assert_eq!(kind(sent), FailureKind::Unreachable);
    let (broken, _) = serve("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok");
    assert_eq!(kind(local(broken).send("source", get("/"), 10).await), FailureKind::Unreachable);

    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/", silent.local_addr().expect("bound"));
    let granted = granted(&url, &config(&["127.0.0.0/8"]), Duration::from_millis(100));
    assert_eq!(kind(granted.send("source", get("/"), 10).await), FailureKind::TimedOut);
}

#[test]
fn nothing_is_shown_of_credentials() {
    let shown = format!("{:?}", local(1));
    assert_eq!(shown, r#"{"source"}"#);
}
