use std::sync::Arc;

use super::*;
use crate::entities::EntityInput;
use crate::json::{self, Json};
use crate::request::{Caller, CheckBody};
use crate::tenant_facts::RoleInclusions;
use crate::types::PropertySource;
use crate::{
    AttributeAnswers, Effect, Plan, Policy, ResourcePattern, expression,
    filter::RowAttributes,
    matrix::{MatrixCell, Outcome, PlanMatrix},
};

const ALL: DirectoryNeeds = DirectoryNeeds {
    roles: true,
    user: true,
    resource: true,
    relations: false,
    withholds_roles: false,
};

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
    let inclusions = RoleInclusions::new([doctor]);
    TenantFacts { directory: Some(precedence), inclusions, ..TenantFacts::default() }
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
    let supply = Supply::new(&facts, (KnownEntities::find(&table, &check, ALL), None), &check, ALL);
    let check = supply.complete(check);
    let roles: Vec<&str> = check.roles.iter().collect();
    let (user, resource) = (shown(check.attributes.user), shown(check.attributes.resource));
    format!("{} | {user} | {resource}", roles.join(" "))
}

/// Returns attributes as text: with `!` those of the directory, with `@` those of the token.
fn shown(map: AttributeMap<'_>) -> String {
    let mut all = Vec::new();
    for (name, value) in map.iter() {
        let from = match map.place(name) {
            PropertySource::Directory => "!",
            PropertySource::Token => "@",
            PropertySource::Request => "",
        };
        let text = match value {
            AttributeValue::Text(text) => text.to_owned(),
            AttributeValue::Number(number) => number.to_string(),
            other => format!("{other:?}"),
        };
        all.push(format!("{name}{from}={text}"));
    }
    all.sort_unstable();
    all.join(" ")
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
    body.attributes.user = AttributeMap::from_members(json.as_object().expect("an object"));
    let check = Check::new(body, "ws", None, chrono::DateTime::UNIX_EPOCH);
    let supply = Supply::new(&facts, (KnownEntities::find(&table, &check, ALL), None), &check, ALL);
    let check = supply.complete(check);
    assert!(check.attributes.user.get("ward").is_none());
    assert!(check.attributes.user.get("level").is_some());
    assert_eq!(check.roles.iter().count(), 0);
}

/// The facts of a tenant that declares the sources of properties.
fn declared_facts() -> TenantFacts {
    use PropertySource::{Directory, Request, Token};
    let declared = [
        ("user", &[("ward", Directory), ("level", Request), ("mfa", Token)][..]),
        ("chart", &[("ward", Directory)]),
        ("note", &[("ward", Request), ("kind", Directory)]),
    ];
    let owned = |(name, sources): (&str, &[(&str, PropertySource)])| {
        let sources = sources.iter().map(|(name, source)| ((*name).to_owned(), *source));
        (name.to_owned(), sources.collect::<Vec<_>>())
    };
    let sources = declared.into_iter().map(owned).collect();
    TenantFacts { directory: Some(Precedence::Request), sources, ..TenantFacts::default() }
}

#[test]
fn a_declared_property_is_taken_from_its_source_alone() {
    let facts = declared_facts();
    let (table, claims) = (table(), json::parse(br#"{"mfa": "otp"}"#).expect("JSON"));
    let sent = r#"{"ward": "own", "level": 9, "mfa": "no"}"#;
    for (subject, caller, attributes, expected, overridden) in [
        ("ann", Some("ann"), format!(r#"{{"user": {sent}}}"#), "level=9 mfa@=otp ward!=er | ", 2),
        ("ann", Some("bob"), format!(r#"{{"user": {sent}}}"#), "level=9 ward!=er | ", 2),
        ("ann", None, format!(r#"{{"user": {sent}}}"#), "level=9 ward!=er | ", 2),
        // An entity that the directory does not know has nothing of it.
        ("eve", Some("eve"), format!(r#"{{"user": {sent}}}"#), "level=9 mfa@=otp | ", 2),
        ("ann", None, "{}".to_owned(), "ward!=er | ", 0),
        ("eve", None, r#"{"resource": {"ward": "x", "kind": "k"}}"#.to_owned(), " | kind=k", 1),
        (
            "eve",
            None,
            r#"{"resource": {"id": "c1", "ward": "x"}}"#.to_owned(),
            " | id=c1 ward!=icu",
            1,
        ),
        // Another type in the request takes away no declaration of the checked one.
        (
            "eve",
            None,
            r#"{"resource": {"type": "note", "ward": "x", "kind": "k"}}"#.to_owned(),
            " | type=note",
            2,
        ),
        // A type that is not a text is no type of the directory, and takes away no declaration, either.
        (
            "eve",
            None,
            r#"{"resource": {"id": "c1", "type": 1, "ward": "x"}}"#.to_owned(),
            " | id=c1 type=1",
            1,
        ),
    ] {
        let json = check(subject, &attributes);
        let json = json::parse(json.as_bytes()).expect("JSON");
        let body = CheckBody::parse(&json).expect("a check");
        let caller = caller.map(|subject| Caller { subject, roles: &[], claims: &claims });
        let check = Check::new(body, "ws", caller, chrono::DateTime::UNIX_EPOCH);
        let supply =
            Supply::new(&facts, (KnownEntities::find(&table, &check, ALL), None), &check, ALL);
        let check = supply.complete(check);
        let found =
            format!("{} | {}", shown(check.attributes.user), shown(check.attributes.resource));
        assert_eq!(
            (&*found, supply.overridden()),
            (expected, overridden),
            "{subject} {attributes}"
        );
    }
}

/// Rows of a list, permissions and cells leave open what a check could still have, and no more.
#[test]
fn a_declared_source_settles_what_sets_of_requests_leave_open() {
    let table = table();
    let claims = json::parse(br#"{"mfa": "otp"}"#).expect("JSON");
    let (er, icu) = (r#"user.ward == "er""#, r#"resource.ward == "icu""#);
    let (level, mfa) = ("user.level == 3", r#"user.mfa == "otp""#);
    for (condition, subject, is_caller, attributes, rows, permissions, cell) in [
        (er, "ann", false, r#"{"user": {"ward": "x"}}"#, "allow", "allow", "allow"),
        (er, "eve", false, r#"{"user": {"ward": "er"}}"#, "deny", "deny", "deny"),
        // A cell that is about nobody in particular.
        (er, "", false, "{}", "deny", "depends", "depends"),
        (level, "ann", false, "{}", "deny", "depends", "depends"),
        (mfa, "ann", true, r#"{"user": {"mfa": "no"}}"#, "allow", "allow", "allow"),
        (mfa, "ann", false, r#"{"user": {"mfa": "otp"}}"#, "deny", "deny", "depends"),
        (icu, "eve", false, "{}", "depends, not exact", "depends", "depends"),
        (
            icu,
            "eve",
            false,
            r#"{"resource": {"ward": "icu"}}"#,
            "depends, not exact",
            "depends",
            "depends",
        ),
        (
            icu,
            "eve",
            false,
            r#"{"resource": {"id": "c1", "ward": "x"}}"#,
            "allow",
            "allow",
            "allow",
        ),
        (icu, "eve", false, r#"{"resource": {"id": "c9", "ward": "icu"}}"#, "deny", "deny", "deny"),
    ] {
        let policy = Policy {
            id: uuid::Uuid::nil(),
            name: "it".to_owned(),
            resource: ResourcePattern::Any,
            effect: Effect::Allow,
            priority: 0,
            condition: Ok(expression::parse(condition).expect("an expression")),
        };
        let plan = Plan::compile("chart:read", 1, &[], [policy]);
        let plan = plan.with_facts(Arc::new(declared_facts()));
        let facts = plan.facts().expect("facts");
        let json = check("x", attributes);
        let json = json::parse(json.as_bytes()).expect("JSON");
        let body = CheckBody { subject, ..CheckBody::parse(&json).expect("a check") };
        let caller = is_caller.then_some(Caller { subject, roles: &[], claims: &claims });
        let sent = Check::new(body, "ws", caller, chrono::DateTime::UNIX_EPOCH);
        let supply =
            Supply::new(facts, (KnownEntities::find(&table, &sent, ALL), None), &sent, ALL);
        let check = supply.complete(sent);
        let filter = |rows| {
            let filter = plan.filter(&check, AttributeAnswers::none(), &rows);
            let exact = if filter.unresolved().is_empty() { "" } else { ", not exact" };
            format!("{}{exact}", kind(&filter.outcome))
        };
        assert_eq!(filter(RowAttributes::resource()), rows, "rows of {condition} {attributes}");
        let found = filter(RowAttributes::unsupplied());
        assert_eq!(found.trim_end_matches(", not exact"), permissions, "{condition} {attributes}");
        let anybody = Some(subject).filter(|subject| !subject.is_empty());
        let of =
            MatrixCell { subject: anybody, roles: &[], relation: None, domain: None, action: None };
        let outcome = PlanMatrix::new(&plan, check.attributes).outcome(&of);
        assert_eq!(kind(&outcome), cell, "cell of {condition} {attributes}");
    }
}

fn kind(outcome: &Outcome<'_>) -> &'static str {
    match outcome {
        Outcome::Allow => "allow",
        Outcome::Deny => "deny",
        Outcome::Depends(_) => "depends",
    }
}

#[test]
fn a_subject_that_the_directory_lacks_has_no_roles_if_they_are_withheld() {
    let (table, facts) = (table(), facts(Precedence::Request));
    let empty = EntityTable::default();
    let roles_of = |table: &EntityTable, subject, of_type, withholds_roles, is_caller: bool| {
        let needs = DirectoryNeeds { withholds_roles, ..ALL };
        let text = check(subject, r#"{"user": {"roles": ["claimed"]}}"#);
        let json = json::parse(text.as_bytes()).expect("JSON");
        let body = CheckBody::parse(&json).expect("a check");
        let (roles, claims) = (["token".to_owned()], Json::Null);
        let caller = Caller { subject: body.subject, roles: &roles, claims: &claims };
        let caller = is_caller.then_some(caller);
        let mut check = Check::new(body, "ws", caller, chrono::DateTime::UNIX_EPOCH);
        check.subject_type = of_type;
        let known = (KnownEntities::find(table, &check, needs), None);
        let supply = Supply::new(&facts, known, &check, needs);
        let completed = supply.complete(check);
        // All else stays.
        assert!(completed.attributes.user.has("roles"), "{subject}");
        completed.roles.iter().map(str::to_owned).collect::<Vec<_>>().join(" ")
    };
    for (subject, of_type, is_caller, expected) in [
        ("ann", None, false, "claimed"),
        ("gone", None, false, ""),
        ("gone", None, true, ""),
        ("svc:ci", None, false, "claimed"),
        ("svc:gone", None, false, ""),
        // The directory has no such type.
        ("agent:7", None, false, "claimed"),
        ("agent:7", Some("user"), false, ""),
    ] {
        assert_eq!(roles_of(&table, subject, of_type, true, is_caller), expected, "{subject}");
        let claimed = if is_caller { "token" } else { "claimed" };
        assert_eq!(roles_of(&table, subject, of_type, false, is_caller), claimed, "{subject}");
    }
    assert_eq!(roles_of(&empty, "ann", None, true, false), "");
    assert_eq!(roles_of(&empty, "svc:ci", None, true, false), "claimed");
}
