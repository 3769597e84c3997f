//! The files that clients of other languages share (`clients/`), compared with what the service has.
//!
//! `BLESS=1 cargo test clients` writes the document of today.

use serde_json::Value;

use crate::support::process::repository;
use crate::support::{Provider, Request, Settings};

#[test]
fn the_document_of_the_clients_is_the_served_one() {
    let server = Settings::new(Provider::shared()).start();
    let served = Request::new("GET /openapi.json").send(server.address).is(200).json();
    let path = repository().join("clients/openapi.json");
    if std::env::var_os("BLESS").is_some() {
        let text = serde_json::to_string_pretty(&served).expect("JSON");
        std::fs::write(&path, text + "\n").expect("writes");
    }
    let kept = std::fs::read(&path).expect("clients/openapi.json");
    let kept: Value = serde_json::from_slice(&kept).expect("JSON");
    assert!(
        kept == served,
        "{} is not what the service serves; `BLESS=1 cargo test clients` writes it",
        path.display()
    );
}
