//! Addresses that a tenant may not reach, although the registration was accepted. In `saas` mode the
//! providers of these tests are on the loopback interface, and need what is refused here.

use serde_json::Value;

use crate::everywhere::deliveries::{attempts, register, settings, tenant, test};
use crate::support::Receiver;

#[test]
fn a_name_of_a_refused_address_is_never_called() {
    let listening = Receiver::start();
    let port = listening.address().port();
    let server = settings().set("EGRESS_ALLOW_CIDRS", "10.255.255.0/24").start();
    let tenant = tenant(&server);
    // Names are judged when they are resolved.
    let webhook = register(&tenant, &format!("http://localhost:{port}/"), &["webhook.test"]);
    test(&tenant, &webhook);
    let attempt = attempts(&tenant, &webhook, |all| !all.is_empty()).remove(0);
    assert_eq!(attempt["http_status"], Value::Null);
    let said = attempt["error"].as_str().expect("an error");
    assert!(said.contains("an address that is not allowed"), "{said}");
    assert_eq!(listening.count(), 0);
}
