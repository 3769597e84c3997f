use serde_json::{Value, json};

use super::*;
use crate::keysets::tests::key;

fn rsa(modulus_bytes: usize) -> Value {
    let mut modulus = vec![0xff; modulus_bytes];
    modulus[0] = 0x80;
    json!({"kty": "RSA", "kid": "rsa", "n": URL_SAFE_NO_PAD.encode(modulus), "e": "AQAB"})
}

fn parse(keys: &[Value]) -> anyhow::Result<KeySet> {
    KeySet::parse(json!({"keys": keys}).to_string().as_bytes())
}

#[test]
fn keys_that_must_not_verify_are_left_out() {
    let encryption = {
        let mut key = key("enc");
        key["use"] = json!("enc");
        key
    };
    for unusable in [
        encryption,
        json!({"kty": "oct", "kid": "mac", "k": "c2VjcmV0"}),
        json!({"kty": "XYZ", "kid": "new"}),
        json!({"kty": "EC", "crv": "P-256", "kid": "bad"}),
        json!("no object"),
        rsa(255),
        rsa(128),
    ] {
        let set = parse(&[unusable.clone(), key("good")]).expect("one key is good");
        assert_eq!(set.0.len(), 1, "{unusable}");
        assert!(parse(std::slice::from_ref(&unusable)).is_err(), "{unusable}");
    }
    assert_eq!(parse(&[rsa(256), key("good")]).expect("both are good").0.len(), 2);
}

#[test]
fn oversized_and_malformed_sets_are_refused() {
    let many: Vec<Value> = (0..=MAX_KEYS).map(|index| key(&index.to_string())).collect();
    assert!(parse(&many[1..]).is_ok());
    assert!(parse(&many).is_err());
    for text in ["", "[]", "{}", r#"{"keys":{}}"#, r#"{"keys":[],"keys":[]}"#] {
        assert!(KeySet::parse(text.as_bytes()).is_err(), "{text}");
    }
}
