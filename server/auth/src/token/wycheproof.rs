//! Runs Wycheproof's JOSE vectors through the verifier (`wycheproof/NOTICE`: source, licence, changes).
//!
//! The payload of a vector is not a set of claims, so the vectors go as far as the signature. None that
//! Wycheproof calls invalid may be accepted. The tables name what becomes of every vector, and at which
//! step, so that every change shows, also one by which a vector fails before the point that it is about.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::jwk::JwkSet;
use jsonwebtoken::{DecodingKey, Validation};
use serde::Deserialize;
use serde_json::{Value, json};

use super::tests::config;
use super::unverified::decode;
use super::*;
use crate::config::MAX_TOKEN;
use crate::testing::key_source;

const SIGNATURES: &str = include_str!("wycheproof/json_web_signature_test.json");
const KEYS: &str = include_str!("wycheproof/json_web_key_test.json");

const ACCEPTED: &str = "accepted";
const PARTS: &str = "expected a token of three parts separated by `.`";
const HEADER: &str =
    "the header of the token is not a JSON object without duplicate keys, in base64url";
const HS256: &str = "the token's algorithm is not accepted: HS256";
const HS384: &str = "the token's algorithm is not accepted: HS384";
const HS512: &str = "the token's algorithm is not accepted: HS512";
const ES512: &str = "the token's algorithm is not accepted: ES512";
const NONE: &str = "the token's algorithm is not accepted: none";
const NONE_IN_CAPITALS: &str = "the token's algorithm is not accepted: NONE";
const NO_KEYS: &str = "no key set of the issuer could be fetched so far";
const NO_KEY: &str = "the issuer's key set does not have exactly one key that matches the token";
const SIGNATURE: &str = "the signature does not match";

/// Wycheproof's result, what the verifier says, how many vectors, and which.
type Row<'r> = (&'r str, &'r str, usize, &'r str);

const SIGNATURE_OUTCOMES: &[Row<'_>] = &[
    ("valid", ACCEPTED, 32, "18, 33, 259-275, 287-288, 320-323, 325-328, 345, 349, 378"),
    // MACs are never taken: a verifier's key would be public here.
    ("valid", HS256, 9, "1, 348, 352, 357-359, 373, 376-377"),
    // P-521 is not on the list; the keys of these two bear `ES521`, a name that does not exist.
    ("valid", ES512, 2, "347, 351"),
    // A `?` in the header's base64url, in a header that names HS256.
    ("valid", HEADER, 1, "372"),
    // The key's `alg` is PS256, the header's PS384.
    ("valid", NO_KEY, 2, "346, 350"),
    ("invalid", PARTS, 18, "4, 7, 10, 12-15, 17, 21, 24, 27, 29-30, 36, 39, 42, 44-45"),
    ("invalid", HEADER, 8, "9, 11, 26, 28, 41, 43, 365-366"),
    // 31 is keyed with the bytes of the public key. 367 and 370 are the valid 357, byte for byte.
    ("invalid", HS256, 18, "2-3, 5-6, 8, 31, 360-364, 367-371, 374-375"),
    ("invalid", NONE, 4, "16, 341, 343-344"),
    ("invalid", NONE_IN_CAPITALS, 1, "342"),
    // The only key of the set has `use` or `key_ops` for encryption.
    ("invalid", NO_KEYS, 4, "353-356"),
    // Another `kid`; a good signature by an algorithm that is not the key's `alg`.
    ("invalid", NO_KEY, 7, "25, 40, 332, 334, 336, 338, 340"),
    (
        "invalid",
        SIGNATURE,
        // The key that signed 32 is in its header.
        295,
        "19-20, 22-23, 32, 34-35, 37-38, 46-258, 276-286, 289-319, 324, 329-331, 333, 335, 337, 339, 379-401",
    ),
];

const KEY_OUTCOMES: &[Row<'_>] = &[
    ("valid", ACCEPTED, 1, "5"),
    ("valid", HS256, 2, "2, 13"),
    ("valid", HS384, 1, "14"),
    ("valid", HS512, 1, "15"),
    // Known limit: a modulus of a generator that can be factored (ROCA, CVE-2017-15361) is not recognised.
    ("invalid", ACCEPTED, 1, "7"),
    ("invalid", HS256, 7, "1, 3-4, 10, 16, 25-26"),
    ("invalid", HS384, 2, "11, 17"),
    ("invalid", HS512, 2, "12, 18"),
    // The only key of the set is for encryption, has 1,024 bits, or is no RSA key though it says so.
    ("invalid", NO_KEYS, 4, "6, 8, 21, 24"),
    // The key's `alg` or `crv` is not what the header's algorithm needs.
    ("invalid", NO_KEY, 3, "19-20, 23"),
    // A public exponent of one; a point that is not on the curve.
    ("invalid", SIGNATURE, 2, "9, 22"),
];

/// One test of one of Wycheproof's files.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Vector {
    #[serde(default)]
    keys: Vec<Value>,
    tc_id: u32,
    /// The verdict of Wycheproof: `valid`, `invalid` or `acceptable`.
    result: String,
    jws: String,
}

/// The vectors of a file, each with the key set of its group.
fn vectors(file: &str) -> Vec<Vector> {
    #[derive(Deserialize)]
    struct File {
        groups: Vec<Group>,
    }
    #[derive(Deserialize)]
    struct Group {
        keys: Vec<Value>,
        tests: Vec<Vector>,
    }
    let file: File = serde_json::from_str(file).expect("a file of vectors");
    let with_keys = |Group { keys, tests }| {
        tests.into_iter().map(move |vector| Vector { keys: Vec::clone(&keys), ..vector })
    };
    file.groups.into_iter().flat_map(with_keys).collect()
}

/// Returns the verdict of the verifier, without the claims.
async fn outcome(vector: &Vector) -> String {
    let verifier = Verifier::new(config(), key_source(vector.keys.clone()));
    let verified = match decode(&vector.jws, MAX_TOKEN) {
        Ok((signed, _)) => verifier.verify_signature(signed).await.map(|_| ()),
        Err(error) => Err(error),
    };
    match verified {
        Ok(()) => ACCEPTED.to_owned(),
        Err(AuthError::NoKeys(why)) => why,
        Err(AuthError::TokenRefused(why)) if why.ends_with("algorithm is not accepted") => {
            format!("{why}: {}", header_algorithm(&vector.jws))
        }
        Err(AuthError::TokenRefused(why)) => why,
        Err(other) => panic!("{other:?}"),
    }
}

fn header_algorithm(jws: &str) -> String {
    let (header, _) = jws.split_once('.').expect("a header");
    let header = URL_SAFE_NO_PAD.decode(header).expect("base64url");
    let header: Value = serde_json::from_slice(&header).expect("JSON");
    header["alg"].as_str().expect("a name").to_owned()
}

/// Returns whether `jsonwebtoken` accepts a vector if it is used as its manual shows: the key by `kid`, the algorithm by
/// `alg`.
fn naive_accepts(vector: &Vector) -> bool {
    let decode = || {
        let set: JwkSet = serde_json::from_value(json!({"keys": vector.keys})).ok()?;
        let header = jsonwebtoken::decode_header(&vector.jws).ok()?;
        let key = DecodingKey::from_jwk(set.find(header.kid.as_deref()?)?).ok()?;
        let validation = Validation::new(header.alg);
        Some(jsonwebtoken::decode::<Value>(&vector.jws, &key, &validation))
    };
    match decode() {
        None => false,
        Some(Ok(_)) => true,
        // It reads the payload, which is no JSON in these vectors, once the signature is verified.
        Some(Err(error)) => matches!(error.kind(), ErrorKind::Json(_)),
    }
}

/// `1-3, 7`
fn ranges(ids: &[u32]) -> String {
    let runs = ids.chunk_by(|one, next| one + 1 == *next);
    let texts = runs.map(|run| match (run.first(), run.last()) {
        (Some(first), Some(last)) if first != last => format!("{first}-{last}"),
        _ => run[0].to_string(),
    });
    texts.collect::<Vec<_>>().join(", ")
}

async fn assert_outcomes(file: &str, expected: &[Row<'_>]) {
    let mut found: BTreeMap<(String, String), Vec<u32>> = BTreeMap::new();
    for vector in vectors(file) {
        let key = (vector.result.clone(), outcome(&vector).await);
        found.entry(key).or_default().push(vector.tc_id);
    }
    let listed = found.iter().map(|((result, outcome), ids)| {
        ((result.as_str(), outcome.as_str()), (ids.len(), ranges(ids)))
    });
    let expected = expected
        .iter()
        .map(|(result, outcome, count, ids)| ((*result, *outcome), (*count, (*ids).to_owned())));
    assert_eq!(listed.collect::<BTreeMap<_, _>>(), expected.collect::<BTreeMap<_, _>>());
}

/// The invalid vectors of a file that the verifier accepts after `change` to their keys.
async fn falsely_accepted(file: &str, change: impl Fn(&mut Value)) -> String {
    let mut accepted = Vec::new();
    for mut vector in vectors(file).into_iter().filter(|vector| vector.result != "valid") {
        vector.keys.iter_mut().for_each(&change);
        if outcome(&vector).await == ACCEPTED {
            accepted.push(vector.tc_id);
        }
    }
    ranges(&accepted)
}

#[tokio::test]
async fn no_invalid_vector_is_accepted_but_one_known_limit() {
    assert_eq!(vectors(SIGNATURES).len(), 401, "the file is complete");
    assert_eq!(vectors(KEYS).len(), 26, "the file is complete");
    assert_eq!(falsely_accepted(SIGNATURES, |_| ()).await, "");
    assert_eq!(falsely_accepted(KEYS, |_| ()).await, "7", "the ROCA key");
}

#[tokio::test]
async fn every_vector_ends_where_the_tables_say() {
    assert_outcomes(SIGNATURES, SIGNATURE_OUTCOMES).await;
    assert_outcomes(KEYS, KEY_OUTCOMES).await;
}

/// The control: what the checks before and around `jsonwebtoken` are needed for.
#[test]
fn plain_jsonwebtoken_accepts_invalid_vectors() {
    for (file, expected) in [
        // The key's `alg`, its `use`, its `key_ops`; 367 and 370 are valid but for being MACs.
        (SIGNATURES, "332, 334, 336, 338, 340, 353-356, 367, 370"),
        // Symmetric and duplicate keys, weak secrets, the key's `use`, the ROCA key, its `alg` and `crv`.
        (KEYS, "1, 4, 6-7, 10-12, 16-21, 23, 25-26"),
    ] {
        let invalid = vectors(file).into_iter().filter(|vector| vector.result != "valid");
        let accepted: Vec<_> = invalid.filter(naive_accepts).map(|vector| vector.tc_id).collect();
        assert_eq!(ranges(&accepted), expected);
    }
}

/// The control of three single checks: without the member of the key that they look at, they let pass.
#[tokio::test]
async fn a_key_whose_use_or_alg_differs_is_refused() {
    for (member, signatures, keys) in [
        ("alg", "332, 334, 336, 338, 340", "7, 19-20"),
        ("use", "353-354", "7, 21"),
        ("key_ops", "355-356", "7"),
    ] {
        let without = |key: &mut Value| {
            key.as_object_mut().expect("an object").remove(member);
        };
        assert_eq!(falsely_accepted(SIGNATURES, without).await, signatures, "{member}");
        assert_eq!(falsely_accepted(KEYS, without).await, keys, "{member}");
    }
}
