//! The signatures of a delivery: the header of the contract (`docs/rest.md`), and the headers of Standard Webhooks
//! (<https://www.standardwebhooks.com>). The latter sign the time, too, so that a receiver can refuse a replay.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use http::{HeaderMap, HeaderName, HeaderValue};
use portcullis_model::Timestamp;
use sha2::Sha256;
use uuid::Uuid;

/// Returns the headers that sign `body`, which is sent at `at` and reports `event`. The key is the webhook's secret.
pub(crate) fn headers(secret: &[u8], event: Uuid, at: Timestamp, body: &[u8]) -> HeaderMap {
    let seconds = at.millis().div_euclid(1_000);
    let signed = [format!("{event}.{seconds}.").as_bytes(), body].concat();
    let headers = [
        ("x-authz-signature", hex::encode(mac(secret, body))),
        ("webhook-id", event.to_string()),
        ("webhook-timestamp", seconds.to_string()),
        ("webhook-signature", format!("v1,{}", STANDARD.encode(mac(secret, &signed)))),
    ];
    let headers = headers.into_iter().filter_map(|(name, value)| {
        // Every value is ASCII, so none is left out.
        Some((HeaderName::from_static(name), HeaderValue::from_str(&value).ok()?))
    });
    headers.collect()
}

/// Computes HMAC-SHA256 (RFC 2104); a key may have any length.
fn mac(key: &[u8], message: &[u8]) -> Vec<u8> {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return Vec::new() };
    mac.update(message);
    mac.finalize().into_bytes().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4231, test cases 1, 2 and 6.
    #[test]
    fn the_mac_is_that_of_the_rfc() {
        for (key, message, expected) in [
            (
                vec![0x0b; 20],
                "Hi There",
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
            ),
            (
                b"Jefe".to_vec(),
                "what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            ),
            (
                vec![0xaa; 131],
                "Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
            ),
        ] {
            assert_eq!(hex::encode(mac(&key, message.as_bytes())), expected);
        }
    }

    #[test]
    fn both_schemes_sign_the_bytes_of_the_body() {
        let event = Uuid::from_u128(7);
        let at = Timestamp::from_millis(1_700_000_000_999);
        let headers = headers(b"a-secret-of-sixteen", event, at, b"{}");
        // printf '{}' | openssl dgst -sha256 -hmac a-secret-of-sixteen
        assert_eq!(headers["x-authz-signature"], EXPECTED_PLAIN);
        assert_eq!(headers["webhook-id"], "00000000-0000-0000-0000-000000000007");
        assert_eq!(headers["webhook-timestamp"], "1700000000");
        // printf '00000000-…-000000000007.1700000000.{}' | openssl dgst -sha256 -hmac … -binary | base64
        assert_eq!(headers["webhook-signature"], EXPECTED_STANDARD);
    }

    #[test]
    fn a_stored_secret_with_a_prefix_signs_as_its_text() {
        let event = Uuid::from_u128(7);
        let headers =
            headers(b"whsec_c2l4dGVlbiBsZXR0ZXJz", event, Timestamp::from_millis(0), b"{}");
        // printf '{}' | openssl dgst -sha256 -hmac whsec_c2l4dGVlbiBsZXR0ZXJz
        assert_eq!(headers["x-authz-signature"], EXPECTED_PREFIXED);
    }

    const EXPECTED_PREFIXED: &str =
        "8d558c0627364b8cbd3ee3d46bc683a9c8985f29978dd8de43f9af4a06e989d4";
    const EXPECTED_PLAIN: &str = "14d4e1d9a480ad69f82e76cac725e44541acd3d8aa44eb754d4735fcfaac196a";
    const EXPECTED_STANDARD: &str = "v1,T2IG+qbBu20RiOS/AVzxlXCyRg/yBW42Y85hSdCqOfY=";
}
