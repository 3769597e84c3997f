//! TLS without a proxy: the protocols, the certificate, and its renewal.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use reqwest::Version;
use reqwest::blocking::Client;

use crate::support::openid::skip;
use crate::support::{Provider, Server, Settings, certificates, eventually};

/// A client that trusts the authority of `directory`, with new connections for each request.
fn client(directory: &Path, is_http_1: bool) -> Client {
    let authority = std::fs::read(directory.join("ca.pem")).unwrap();
    let authority = reqwest::Certificate::from_pem(&authority).unwrap();
    let client = Client::builder()
        .no_proxy()
        .pool_max_idle_per_host(0)
        .timeout(Duration::from_secs(20))
        .tls_certs_only([authority]);
    if is_http_1 { client.http1_only().build().unwrap() } else { client.build().unwrap() }
}

/// The version of HTTP of an answer; `None` if there is none.
fn version(client: &Client, server: &Server) -> Option<Version> {
    let answer = client.get(format!("https://{}/healthz/live", server.address)).send().ok()?;
    assert_eq!(answer.status().as_u16(), 200);
    Some(answer.version())
}

#[test]
fn a_renewed_certificate_serves_without_a_restart() {
    if Command::new("openssl").arg("version").output().is_err() {
        return skip("TLS needs `openssl`");
    }
    let [old, new, bad] = [(); 3].map(|()| tempfile::tempdir().unwrap());
    certificates::make(old.path());
    certificates::make(new.path());
    let settings = Settings::new(Provider::shared());
    let (certificate, key) = (settings.path("certificate.pem"), settings.path("key.pem"));
    let install = |from: &Path| {
        for name in ["certificate.pem", "key.pem"] {
            std::fs::copy(from.join(name), settings.path(name)).unwrap();
        }
    };
    install(old.path());
    let server = settings
        .clone()
        .set("TLS_CERT_FILE", certificate.to_str().unwrap())
        .set("TLS_KEY_FILE", key.to_str().unwrap())
        .start();
    let (trusts_old, trusts_new) = (client(old.path(), false), client(new.path(), false));
    assert_eq!(version(&trusts_old, &server), Some(Version::HTTP_2));
    assert_eq!(version(&client(old.path(), true), &server), Some(Version::HTTP_11));
    assert_eq!(version(&trusts_new, &server), None);
    let plain = reqwest::blocking::get(format!("http://{}/healthz/live", server.address));
    assert!(plain.is_err(), "nothing is served without TLS");

    install(new.path());
    eventually("the new certificate serves", || version(&trusts_new, &server).is_some());
    // A client that connected before could resume its session.
    assert_eq!(version(&client(old.path(), false), &server), None);

    // A signal lets it read the files at once, and does not end it.
    server.process.signal("HUP");
    let asked =
        |lines: &[String]| lines.iter().find(|line| line.contains("because of a signal")).map(drop);
    server.process.err.wait_for(asked).expect("the log says that the files are read");
    assert!(version(&trusts_new, &server).is_some());

    // A file that is half written: its key is another one.
    certificates::make(bad.path());
    let faults =
        |lines: &[String]| lines.iter().filter(|line| line.contains("TLS_KEY_FILE")).count();
    let before = faults(&server.process.err.lines());
    std::fs::copy(bad.path().join("key.pem"), &key).unwrap();
    let told = |lines: &[String]| (faults(lines) > before).then_some(());
    server.process.err.wait_for(told).expect("the log says what does not serve");
    assert!(version(&trusts_new, &server).is_some(), "the certificate before it stays");

    // Whoever asks again is told again.
    let before = faults(&server.process.err.lines());
    server.process.signal("HUP");
    let told = |lines: &[String]| (faults(lines) > before).then_some(());
    server.process.err.wait_for(told).expect("the log says that the files do still not serve");
}

#[test]
fn a_key_that_cannot_be_read_says_why() {
    let settings = Settings::new(Provider::shared());
    let file = |name: &str, text: &str| {
        std::fs::write(settings.path(name), text).unwrap();
        settings.path(name).display().to_string()
    };
    let certificate =
        file("certificate.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    let rsa = "RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n\nAAAA\n-----END RSA PRIVATE KEY";
    let pkcs8 = "ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY";
    for (key, expected) in [
        (rsa, "its private key is encrypted: give one without a passphrase"),
        (pkcs8, "its private key is encrypted: give one without a passphrase"),
        ("CERTIFICATE-----\nAAAA\n-----END CERTIFICATE", "the file has no private key"),
    ] {
        let key = file("key.pem", &format!("-----BEGIN {key}-----\n"));
        let settings = settings.clone().set("TLS_CERT_FILE", &certificate);
        let done = settings.set("TLS_KEY_FILE", key).run(&["serve"]);
        assert_eq!(done.code, Some(2), "{done:?}");
        let line = format!("TLS_KEY_FILE: expected a usable file in PEM: {expected}");
        assert!(done.err.contains(&line), "{done:?}");
    }
}

#[test]
fn files_that_do_not_serve_stop_the_start() {
    let settings = Settings::new(Provider::shared());
    std::fs::write(settings.path("empty.pem"), "no certificate").unwrap();
    let empty = settings.path("empty.pem");
    let empty = empty.to_str().unwrap();
    let done = settings.set("TLS_CERT_FILE", empty).set("TLS_KEY_FILE", empty).run(&["serve"]);
    assert_eq!(done.code, Some(2), "{done:?}");
    let naming: Vec<_> = done.err.lines().filter(|line| line.contains("TLS_CERT_FILE")).collect();
    assert_eq!(naming.len(), 1, "{done:?}");
}
