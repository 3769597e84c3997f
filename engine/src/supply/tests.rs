use super::*;
use crate::entities::EntityInput;
use crate::json::{self, Json};
use crate::request::{Caller, CheckBody};
use crate::tenant_facts::RoleInclusions;

const ALL: DirectoryNeeds = DirectoryNeeds { roles: true, user: true, resource: true };

fn table() -> EntityTable {
    let json = |text: &'static str| json::parse(text.as_bytes()).expect("JSON");
    let mut builder = EntityTable::builder();
    for (entity_type, id, roles, domain_roles, properties) in [
        ("user", "ann", r#"["doctor"]"#, r#"{"ws": ["owner"]}"#, r#"{"ward": "er", "level": 3}"#),
        ("svc", "ci", r#"["robot"]"#, "{}", "{}"),
        ("chart", "c1", "[]", "{}", r#"{"ward": "icu", "id": "c2", "type": "x"}"#),
    ] {
        let (roles, domain_roles) = (json(roles), json(domain_roles));
        let properties = json(properties);
        let entity = EntityInput {
            entity_type,
            id,
            roles: roles.as_array().expect("a list"),
            domain_roles: domain_roles.as_object().expect("an object"),
            properties: properties.as_object().expect("an object"),
        };
        builder.push(&entity).expect("fits");
    }
    builder.finish().expect("fits")
}

fn facts(precedence: Precedence) -> TenantFacts {
    let doctor = ("doctor".to_owned(), vec!["staff".to_owned()]);
    TenantFacts { directory: Some(precedence), inclusions: RoleInclusions::new([doctor]) }
}

/// The attributes and roles of a check with what the directory supplies, as text.
fn supplied(precedence: Precedence, check: &str, token_roles: Option<&[&str]>) -> String {
    let (table, facts) = (table(), facts(precedence));
    let json = json::parse(check.as_bytes()).expect("JSON");
    let body = CheckBody::parse(&json).expect("a check");
    let roles: Vec<String> =
        token_roles.unwrap_or_default().iter().map(|role| (*role).to_owned()).collect();
    let claims = Json::Null;
    let caller = Caller { subject: body.subject, roles: &roles, claims: &claims };
    let caller = token_roles.map(|_| caller);
    let check = Check::new(body, "ws", caller, chrono::DateTime::UNIX_EPOCH);
    let supply = Supply::new(&facts, KnownEntities::find(&table, &check, ALL), &check, ALL);
    let check = supply.complete(check);
    let shown = |map: AttributeMap<'_>| {
        let mut all = Vec::new();
        for (name, value) in map.iter() {
            let from = if map.is_stored(name) { "!" } else { "" };
            let text = match value {
                AttributeValue::Text(text) => text.to_owned(),
                AttributeValue::Number(number) => number.to_string(),
                other => format!("{other:?}"),
            };
            all.push(format!("{name}{from}={text}"));
        }
        all.sort_unstable();
        all.join(" ")
    };
    let roles: Vec<&str> = check.roles.iter().collect();
    let (user, resource) = (shown(check.attributes.user), shown(check.attributes.resource));
    format!("{} | {user} | {resource}", roles.join(" "))
}

fn check(subject: &str, attributes: &str) -> String {
    format!(
        r#"{{"subject": "{subject}", "resource": "chart:read", "action": "read", "attributes": {attributes}}}"#
    )
}

#[test]
fn what_a_request_leaves_out_is_supplied() {
    use Precedence::{Directory, Request};
    for (precedence, subject, attributes, token, expected) in [
        (Request, "ann", "{}", None, "doctor owner staff | level!=3 ward!=er | "),
        (Directory, "ann", "{}", None, "doctor owner staff | level!=3 ward!=er | "),
        (
            Request,
            "ann",
            r#"{"user": {"roles": [], "ward": "own"}}"#,
            None,
            " | level!=3 roles=List(Json([])) ward=own | ",
        ),
        (
            Directory,
            "ann",
            r#"{"user": {"ward": "own", "x": 1}}"#,
            None,
            "doctor owner staff | level!=3 ward!=er x=1 | ",
        ),
        (Request, "ann", "{}", Some(&["nurse"][..]), "nurse owner | level!=3 ward!=er | "),
        (Directory, "ann", "{}", Some(&["nurse"]), "doctor owner staff | level!=3 ward!=er | "),
        (Request, "svc:ci", "{}", None, "robot |  | "),
        (Request, "ci", "{}", None, " |  | "),
        // Roles of nobody that the directory knows include others, too.
        (
            Request,
            "bob",
            r#"{"user": {"roles": "doctor"}}"#,
            None,
            "doctor staff | roles=doctor | ",
        ),
        (Request, "bob", "{}", Some(&["doctor"]), "doctor staff |  | "),
        (Request, "bob", r#"{"resource": {"id": "c1"}}"#, None, " |  | id=c1 ward!=icu"),
        (
            Directory,
            "bob",
            r#"{"resource": {"id": "c1", "ward": "x"}}"#,
            None,
            " |  | id=c1 ward!=icu",
        ),
        (
            Request,
            "bob",
            r#"{"resource": {"id": "ci", "type": "svc"}}"#,
            None,
            " |  | id=ci type=svc",
        ),
        (Request, "bob", r#"{"resource": {"id": 1}}"#, None, " |  | id=1"),
    ] {
        let found = supplied(precedence, &check(subject, attributes), token);
        assert_eq!(found, expected, "{precedence:?} {subject} {attributes} {token:?}");
    }
}

#[test]
fn a_null_is_absent_and_nothing_takes_its_place() {
    let (table, facts) = (table(), facts(Precedence::Request));
    let json = json::parse(br#"{"ward": null, "roles": null}"#).expect("JSON");
    let body =
        json::parse(br#"{"subject": "ann", "resource": "a:b", "action": "b"}"#).expect("JSON");
    let mut body = CheckBody::parse(&body).expect("a check");
    body.attributes.user = AttributeMap::of_members(json.as_object().expect("an object"));
    let check = Check::new(body, "ws", None, chrono::DateTime::UNIX_EPOCH);
    let supply = Supply::new(&facts, KnownEntities::find(&table, &check, ALL), &check, ALL);
    let check = supply.complete(check);
    assert!(check.attributes.user.get("ward").is_none());
    assert!(check.attributes.user.get("level").is_some());
    assert_eq!(check.roles.iter().count(), 0);
}
