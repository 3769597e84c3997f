//! The JSON text of a record, byte by byte, and its members beside the table that names them.

use std::collections::BTreeSet;

use portcullis_model::decision::{MEMBERS, MemberPresence, Treatment};
use portcullis_model::relation::{NewTuple, ObjectName};
use serde_json::Value;

use super::*;
use crate::{HashKey, Minimisation, RecordedShadow};

/// As every version wrote it, with each later member.
const WHOLE: &str = r#"{"id":"019e401b-6e00-7000-8000-000000000000","time":"2026-05-19T12:00:00.000Z","tenant":"acme","revision":812,"entities_revision":40,"via":"check","request_id":"req-1","caller":{"kind":"key","sub":"svc"},"subject":"dana","domain":"acme","resource":"chart:read","action":"read","attributes":{"user":{"department":"er \"3\"","teams":["a",2],"level":null},"resource":{"vip":false}},"token":{"ward":"er"},"directory":{"user":{"shift":"night"}},"relations":{"viewer":true},"resolved":{"geo":{"values":{"country":"DE"},"source":"call"}},"assumed":[{"object":"chart:c1","relation":"viewer","subject":"user:dana"}],"decision":"deny","rule":"default-deny","reason":"no RBAC rule allows it","undetermined":["resource.vip"],"expected":"allow","shadow":{"draft":"next","decision":"allow"},"us":7,"dropped":["user.pin"]}"#;

#[test]
fn a_record_has_the_members_of_the_table_in_their_order() {
    let (json, id) = (attributes(), "019e401b-6e00-7000-8000-000000000000".parse().expect("an id"));
    let terms = [("user.pin", Treatment::Drop)];
    let terms = Minimisation::new(HashKey::for_tenant(&[7; 32], "acme"), terms).expect("terms");
    let night = AttributeValue::Text("night");
    let name = |text| ObjectName::parse(text).expect("a name");
    let tuple = NewTuple {
        object: name("chart:c1"),
        relation: "viewer".to_owned(),
        subject: name("user:dana"),
        subject_relation: None,
        expires_at: None,
    };
    let decision = RecordedDecision {
        assumed: &[tuple],
        directory: Some(&|members| {
            members.object("user", |user| user.attribute("user", "shift", night));
        }),
        expected: Some(Effect::Allow),
        shadow: Some(RecordedShadow { draft: "next", decision: Effect::Allow }),
        ..denial(id, "dana", sent(&json))
    };
    let mut text = Vec::new();
    assert!(decision.encode(Some(&terms), &mut text).is_empty(), "nothing is apart");
    assert_eq!(String::from_utf8_lossy(&text), WHOLE);

    let of_records = MEMBERS.iter().filter(|member| member.presence != MemberPresence::OfCounts);
    let places = of_records.map(|member| WHOLE.find(&format!("\"{}\":", member.name)));
    let places: Vec<_> = places.collect::<Option<_>>().expect("every member");
    assert!(places.is_sorted(), "{places:?}");
    let Value::Object(written) = serde_json::from_str(WHOLE).expect("JSON") else { panic!() };
    let named: BTreeSet<_> = MEMBERS.iter().map(|member| member.name).collect();
    assert!(written.keys().all(|name| named.contains(&**name)), "{written:?}");
    let read: DecisionRecord = serde_json::from_slice(&text).expect("a record");
    assert_eq!(serde_json::to_string(&read).expect("JSON"), WHOLE);
}
