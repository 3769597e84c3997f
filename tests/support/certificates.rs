//! Certificates for servers on the loopback interface, made by `openssl`.

use std::path::Path;
use std::process::Command;

/// Makes an authority `ca.pem`, and a certificate of it for `127.0.0.1` with its key: `certificate.pem` and `key.pem`.
#[track_caller]
pub(crate) fn make(directory: &Path) {
    let new =
        "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=x";
    let authority = "-keyout ca-key.pem -out ca.pem";
    let server = "-CA ca.pem -CAkey ca-key.pem -addext subjectAltName=IP:127.0.0.1 \
        -addext basicConstraints=critical,CA:FALSE -keyout key.pem -out certificate.pem";
    for rest in [authority, server] {
        let arguments = new.split_whitespace().chain(rest.split_whitespace());
        let made = Command::new("openssl").args(arguments).current_dir(directory).output();
        let made = made.expect("openssl runs");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    }
}
