use portcullis_engine::json::Member;

use super::*;

#[test]
fn claims_are_an_object_without_duplicate_keys() {
    for payload in ["{", "[]", "7", r#"{"a":1,"a":2}"#, r#"{"a":"\u0000"}"#] {
        assert!(Claims::read(payload.into()).is_none(), "{payload}");
    }
    let claims = Claims::read(br#"{"sub":"ann","name":"A\u006En"}"#.to_vec()).expect("claims");
    let text = |name| claims.tree().get(name).and_then(Json::as_str);
    assert_eq!((text("sub"), text("name")), (Some("ann"), Some("Ann")));
}

#[test]
fn texts_with_escapes_alone_are_copies() {
    let weight = |payload: &str| {
        let claims = Claims::read(payload.into()).expect("claims");
        claims.heap_bytes() - claims.borrow_owner().capacity()
    };
    let (plain, escaped) = (r#"{"name":"Ann Example"}"#, r#"{"name":"Ann\u0020Example"}"#);
    assert_eq!(weight(plain), size_of::<Member<'_>>());
    assert!(weight(escaped) >= weight(plain) + "Ann Example".len());
}
