use super::*;
use crate::input::DeclaredBody;
use portcullis_engine::json;

fn entities(text: &str) -> Result<Vec<NewEntity>, String> {
    let body = format!(r#"{{"entities": {text}}}"#);
    let json = json::parse(body.as_bytes()).expect("JSON");
    let read = EntitiesBody::parse(&json);
    read.map(|body| body.entities).map_err(|invalid| invalid.to_string())
}

#[test]
fn an_entity_has_what_was_sent() {
    let sent = r#"[{"type": "user", "id": "a", "roles": ["r", "r", "s"], "domain_roles": {"d": ["o"]},
        "properties": {"n": 1, "t": "x", "l": ["a", 2], "b": false, "none": null}}]"#;
    let [entity] = &entities(sent).expect("sound")[..] else { panic!("one entity") };
    assert_eq!(entity.roles, ["r", "s"]);
    assert_eq!(entity.every_role().collect::<Vec<_>>(), ["r", "s", "o"]);
    assert_eq!(entity.properties.keys().collect::<Vec<_>>(), ["b", "l", "n", "t"]);
    assert_eq!(entity.principal(), "a");
    let [bare] = &entities(r#"[{"type": "svc", "id": "a"}]"#).expect("sound")[..] else {
        panic!("one entity")
    };
    assert_eq!((&*bare.principal(), bare.properties.len()), ("svc:a", 0));
}

#[test]
fn faults_have_their_place() {
    let long = "x".repeat(257);
    let many: Vec<String> = (0..101).map(|n| format!("\"r{n}\"")).collect();
    for (sent, fault) in [
        ("{}".to_owned(), "at `/entities`: expected an array, not an object"),
        (r#"[{"id": "a"}]"#.to_owned(), "at `/entities/0`: field `type` is missing"),
        (
            r#"[{"type": "a:b", "id": "a"}]"#.to_owned(),
            "at `/entities/0/type`: expected a type without `:`, white space and control characters",
        ),
        (
            r#"[{"type": "u", "id": "a"}, {"type": "u", "id": "a"}]"#.to_owned(),
            "at `/entities/1/id`: expected each type and id once, but entity 0 has it, too",
        ),
        (
            r#"[{"type": "u", "id": "a", "properties": {"x": [null]}}]"#.to_owned(),
            "at `/entities/0/properties/x`: expected a string, a number, a boolean, a list of strings and numbers, or `null`",
        ),
        (
            r#"[{"type": "u", "id": "a", "properties": {"roles": ["x"]}}]"#.to_owned(),
            "at `/entities/0/properties/roles`: expected no property `roles`; send the roles as `roles` of the entity",
        ),
        (
            format!(r#"[{{"type": "u", "id": "{long}"}}]"#),
            "at `/entities/0/id`: expected 1 to 256 characters",
        ),
        (
            format!(r#"[{{"type": "u", "id": "{}"}}]"#, &long[..255]),
            "at `/entities/0/id`: expected at most 256 characters of type, `:` and id together",
        ),
        (
            format!(r#"[{{"type": "u", "id": "a", "roles": [{}]}}]"#, many.join(",")),
            "at `/entities/0/roles`: expected at most 100 roles",
        ),
        (
            format!(
                r#"[{{"type": "u", "id": "a", "properties": {{"x": "{}"}}}}]"#,
                long.repeat(64)
            ),
            "at `/entities/0`: expected an entity of at most 16384 bytes, not 16464",
        ),
        (
            r#"[{"type": "u", "id": "a", "domain_roles": {"": ["x"]}}]"#.to_owned(),
            "at `/entities/0/domain_roles`: expected domains of 1 to 256 characters",
        ),
    ] {
        let found = entities(&sent).expect_err(fault);
        assert!(found.starts_with(fault), "{found}");
    }
}
