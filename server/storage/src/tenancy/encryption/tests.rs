//! Values that a key ring decrypts, and values that it must refuse.

use super::*;

const KEY_A: [u8; KEY_BYTES] = [b'a'; KEY_BYTES];
const KEY_B: [u8; KEY_BYTES] = [b'b'; KEY_BYTES];

fn text(keys: &[&[u8]]) -> String {
    keys.iter().map(|key| STANDARD.encode(key)).collect::<Vec<_>>().join(",")
}

fn ring(keys: &[&[u8]]) -> KeyRing {
    KeyRing::parse(&text(keys)).expect("keys")
}

fn context() -> Context<'static> {
    Context { tenant: "acme", record: Uuid::from_u128(7), column: "webhooks.secret" }
}

#[test]
fn what_is_encrypted_decrypts() {
    for plain in ["", "s", "a secret of sixteen or more", &"ß".repeat(500)] {
        let generated = KeyRing::generate_key().expect("random");
        for ring in [ring(&[&KEY_A]), KeyRing::parse(&generated).expect("a key")] {
            let encrypted = ring.encrypt(context(), plain.as_bytes()).expect("encrypts");
            assert_eq!(encrypted.len(), 1 + 4 + 12 + plain.len() + 16);
            assert_eq!(ring.decrypt(context(), &encrypted), Ok(plain.as_bytes().to_vec()));
        }
    }
}

#[test]
fn the_format_starts_with_version_and_key_id() {
    let encrypted = ring(&[&KEY_A, &KEY_B]).encrypt(context(), b"secret").expect("encrypts");
    assert_eq!(encrypted[0], 1);
    assert_eq!(encrypted[1..5], Sha256::digest(KEY_A)[..4]);
}

#[test]
fn what_an_earlier_version_stored_stays_readable() {
    let stored = "ATuj9fQz4LtL0hmBD943kvcgfmSnnDfYfBT71ySLcJX7RlQ+P7iUCQsbDUBB/Heh4PqqjcA=";
    let stored = STANDARD.decode(stored).expect("base64");
    assert_eq!(ring(&[&KEY_A]).decrypt(context(), &stored), Ok(b"kept since the start".to_vec()));
}

#[test]
fn no_nonce_is_used_twice() {
    let ring = ring(&[&KEY_A]);
    let encrypted = |_| ring.encrypt(context(), b"the same").expect("encrypts")[5..17].to_vec();
    let nonces: std::collections::HashSet<Vec<u8>> = (0..1_000).map(encrypted).collect();
    assert_eq!(nonces.len(), 1_000);
}

#[test]
fn a_rotated_ring_reads_the_old_and_writes_with_the_new() {
    let old = ring(&[&KEY_A]).encrypt(context(), b"secret").expect("encrypts");
    let rotated = ring(&[&KEY_B, &KEY_A]);
    assert_eq!(rotated.decrypt(context(), &old), Ok(b"secret".to_vec()));
    let new = rotated.encrypt(context(), b"secret").expect("encrypts");
    let only_new = ring(&[&KEY_B]);
    assert_eq!(only_new.decrypt(context(), &new), Ok(b"secret".to_vec()));
    assert_eq!(only_new.decrypt(context(), &old), Err(CryptoError::UnknownKey));
}

#[test]
fn keys_that_share_an_id_are_all_tried() {
    let encrypted = ring(&[&KEY_A]).encrypt(context(), b"secret").expect("encrypts");
    let mut rotated = ring(&[&KEY_B, &KEY_A]);
    let id = rotated.older[0].id;
    Arc::get_mut(&mut rotated.first).expect("not shared").id = id;
    assert_eq!(rotated.decrypt(context(), &encrypted), Ok(b"secret".to_vec()));
}

#[test]
fn another_context_is_refused() {
    let ring = ring(&[&KEY_A]);
    let encrypted = ring.encrypt(context(), b"secret").expect("encrypts");
    let here = context();
    for (what, other) in [
        ("another tenant", Context { tenant: "acme2", ..here }),
        ("a tenant that is a part", Context { tenant: "acm", ..here }),
        ("no tenant", Context { tenant: "", ..here }),
        ("another record", Context { record: Uuid::from_u128(8), ..here }),
        ("another column", Context { column: "resolvers.secret", ..here }),
        ("a column that is a part", Context { column: "webhooks.secre", ..here }),
    ] {
        assert_eq!(ring.decrypt(other, &encrypted), Err(CryptoError::Forged), "{what}");
    }
}

#[test]
fn different_contexts_give_different_bytes() {
    // Joined without lengths, these two would be equal: what one has at the end of its tenant, the other
    // has in its record and column.
    let record = Uuid::from_bytes(*b"0123456789abcdef");
    let shifted = Uuid::from_bytes(*b"123456789abcdefx");
    let one = Context { tenant: "a", record, column: "xy" };
    let two = Context { tenant: "a0", record: shifted, column: "y" };
    let joined =
        |c: Context<'_>| [c.tenant.as_bytes(), c.record.as_bytes(), c.column.as_bytes()].concat();
    assert_eq!(joined(one), joined(two));
    assert_ne!(one.associated_data(), two.associated_data());
}

#[test]
fn every_flipped_bit_is_refused() {
    let ring = ring(&[&KEY_A, &KEY_B]);
    let encrypted = ring.encrypt(context(), b"secret").expect("encrypts");
    for index in 0..encrypted.len() {
        for bit in 0..8 {
            let mut changed = encrypted.clone();
            changed[index] ^= 1 << bit;
            let expected = match index {
                0 => CryptoError::Format,
                1..5 => CryptoError::UnknownKey,
                _ => CryptoError::Forged,
            };
            assert_eq!(ring.decrypt(context(), &changed), Err(expected), "byte {index}, bit {bit}");
        }
    }
}

#[test]
fn input_that_was_cut_or_extended_is_refused() {
    let ring = ring(&[&KEY_A]);
    let encrypted = ring.encrypt(context(), b"secret").expect("encrypts");
    for length in 0..encrypted.len() {
        let expected = if length < 17 { CryptoError::Format } else { CryptoError::Forged };
        assert_eq!(ring.decrypt(context(), &encrypted[..length]), Err(expected), "{length} bytes");
    }
    let longer = [&*encrypted, &[0]].concat();
    assert_eq!(ring.decrypt(context(), &longer), Err(CryptoError::Forged));
}

#[test]
fn keys_are_32_bytes_in_base64() {
    let (a, b) = (STANDARD.encode(KEY_A), STANDARD.encode(KEY_B));
    for accepted in [a.clone(), format!(" {a} "), format!("{a},{b}"), format!("{a} , {b}")] {
        assert!(KeyRing::parse(&accepted).is_ok(), "{accepted}");
    }
    // Bytes that read `-` and `_` in the alphabet for URLs.
    let url_safe = base64::engine::general_purpose::URL_SAFE.encode([0xfb; KEY_BYTES]);
    for (refused, number) in [
        (String::new(), 1),
        (",".to_owned(), 1),
        (text(&[&KEY_A[1..]]), 1),
        (text(&[&[0; 33]]), 1),
        (text(&[&[0; 16]]), 1),
        ("61".repeat(32), 1),
        (a.trim_end_matches('=').to_owned(), 1),
        (url_safe, 1),
        (format!("{a},"), 2),
        (format!(",{a}"), 1),
        (format!("{a},{b},{}", &b[1..]), 3),
        (format!("{a};{b}"), 1),
    ] {
        let error = KeyRing::parse(&refused).expect_err(&refused);
        let expected = "32 bytes in base64, or several such keys separated by commas; key";
        assert_eq!(error, format!("{expected} {number} is not valid"), "{refused}");
    }
}

#[test]
fn generated_keys_differ() {
    assert_ne!(KeyRing::generate_key(), KeyRing::generate_key());
}

#[test]
fn debug_output_holds_no_key() {
    assert_eq!(format!("{:?}", ring(&[&KEY_A, &KEY_B])), "KeyRing(2 keys)");
}
