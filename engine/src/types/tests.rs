use super::*;
use crate::invalid::{Place, Problems};
use crate::json;

#[test]
fn a_value_has_the_declared_type() {
    // One letter for each type that admits the value, in the order of the variants.
    for (value, admitted) in [
        (r#""a""#, "t"),
        ("1", "n"),
        ("true", "b"),
        (r#""2026-03-01T08:00:00Z""#, "td"),
        (r#""2026-03-01""#, "t"),
        (r#""10.0.0.1""#, "ti"),
        (r#""::1""#, "ti"),
        (r#""10.0.0.0/8""#, "t"),
        ("[]", "TN"),
        (r#"["a"]"#, "T"),
        ("[1, 2.5]", "N"),
        (r#"["a", 1]"#, ""),
    ] {
        let json = json::parse(value.as_bytes()).expect("JSON");
        let types = PropertyType::VARIANTS.iter().zip("tnbdiTN".chars());
        let found = types.filter(|(kind, _)| kind.admits(&json)).map(|(_, letter)| letter);
        let mut expected: Vec<char> = admitted.chars().collect();
        expected.sort_by_key(|letter| "tnbdiTN".find(*letter));
        assert_eq!(found.collect::<Vec<_>>(), expected, "{value}");
    }
}

#[test]
fn each_name_is_the_same_in_every_form() {
    for kind in PropertyType::VARIANTS {
        let name: &str = kind.into_str();
        assert_eq!(serde_json::to_value(kind).expect("JSON"), name);
        assert_eq!(name.parse(), Ok(*kind));
    }
}

fn types() -> Types {
    let property = |kind| Property { kind, to: None, from: None };
    let of = |name: &str, properties: &[(&str, PropertyType)]| {
        let properties =
            properties.iter().map(|(name, kind)| ((*name).to_owned(), property(*kind)));
        (name.to_owned(), properties.collect::<Vec<_>>())
    };
    let user = of("user", &[("hired", PropertyType::Datetime)]);
    let document = of("document", &[("confidential", PropertyType::Boolean)]);
    [user, document, of("folder", &[])].into_iter().collect()
}

fn faults(check: impl FnOnce(&Place<'_>, &mut Problems)) -> Vec<String> {
    let mut problems = Problems::default();
    check(&Place::root(), &mut problems);
    let faults = problems.into_result().err();
    faults.iter().flat_map(|invalid| invalid.problems()).map(ToString::to_string).collect()
}

#[test]
fn an_entity_has_declared_properties() {
    for (of, properties, expected) in [
        ("document", r#"{"confidential": true}"#, ""),
        (
            "document",
            r#"{"confidental": true}"#,
            "at `/confidental`: expected a declared property of `document` (did you mean `confidential`?)",
        ),
        (
            "document",
            r#"{"confidential": "yes"}"#,
            "at `/confidential`: expected a boolean, as the type `document` declares",
        ),
        (
            "user",
            r#"{"hired": "2026-03-01"}"#,
            "at `/hired`: expected an RFC 3339 date-time, as the type `user` declares",
        ),
        ("user", r#"{"a": 1}"#, "at `/a`: expected a declared property of `user`, `hired`"),
        ("folder", r#"{"a": 1}"#, ""),
        ("chart", r#"{"a": 1}"#, ""),
    ] {
        let json = json::parse(properties.as_bytes()).expect("JSON").into_owned();
        let members = json.as_object().expect("an object").iter();
        let properties: BTreeMap<String, Json<'_>> =
            members.map(|(name, value)| (name.to_string(), value.clone())).collect();
        let found = faults(|at, problems| types().check_properties(of, &properties, at, problems));
        assert_eq!(found.concat(), expected);
    }
}

#[test]
fn attributes_of_a_check_have_declared_names() {
    for (resource, attributes, expected) in [
        ("document:read", "null", ""),
        ("document:read", r#"{"resource": {"confidential": "yes", "id": 1}}"#, ""),
        (
            "document:read",
            r#"{"resource": {"confidental": true}}"#,
            "at `/resource/confidental`: expected a declared property of `document` (did you mean `resource.confidential`?)",
        ),
        ("chart:read", r#"{"resource": {"confidental": true}, "action": {"a": 1}}"#, ""),
        ("document:read", r#"{"resource": {"type": 1, "confidental": true}}"#, ""),
        (
            "chart:read",
            r#"{"resource": {"type": "document", "confidental": true}}"#,
            "at `/resource/confidental`: expected a declared property of `document` (did you mean `resource.confidential`?)",
        ),
        (
            "chart:read",
            r#"{"user": {"roles": ["a"], "type": "user", "hird": 1}}"#,
            "at `/user/hird`: expected a declared property of `user` (did you mean `user.hired`?)",
        ),
    ] {
        let json = json::parse(attributes.as_bytes()).expect("JSON");
        let found = faults(|at, problems| types().check_attributes(resource, &json, at, problems));
        assert_eq!(found.concat(), expected);
    }
}
