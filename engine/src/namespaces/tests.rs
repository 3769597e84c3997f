use strum::VariantArray;

use super::*;
use crate::condition::Condition;
use crate::invalid::{Place, Problems};
use crate::json;
use crate::policy::{Format, Policy};
use crate::types::{Property, PropertyType};

fn faults(tree: &str) -> String {
    let mut namespaces = Namespaces::default();
    let kinds = AttributeKind::VARIANTS.iter().map(|kind| (kind.into_str().to_owned(), *kind));
    namespaces.insert("geo", kinds);
    let tree = json::parse(tree.as_bytes()).expect("JSON");
    let condition = Condition::parse(&tree).expect("a condition");
    check(&condition, &namespaces)
}

fn check(condition: &Condition, namespaces: &Namespaces) -> String {
    let mut problems = Problems::default();
    let root = Place::root();
    let attributes = namespaces.readable_on(&ResourcePattern::Any);
    condition.check(attributes, &root.key("rule_data"), &mut problems);
    problems.into_result().err().map(|invalid| invalid.to_string()).unwrap_or_default()
}

fn test(attribute: &str, operator: &str, value: &str) -> String {
    format!(
        r#"{{"type": "CONDITION", "attribute": "{attribute}", "operator": "{operator}", "value": {value}}}"#
    )
}

#[test]
fn knows_namespaces_and_attributes() {
    let tree = format!(
        r#"{{"type": "AND", "children": [{}, {{"type": "NOT", "child": {}}}, {}]}}"#,
        test("geo.text", "eq", r#""DE""#),
        test("weather.rain", "eq", "true"),
        test("user.country", "eq", r#"{"attribute": "geo.region"}"#),
    );
    assert_eq!(
        faults(&tree),
        "at `/rule_data/children/1/child/attribute`: expected an attribute of `user`, `resource`, `action`, \
         `context`, `request` or `token`; there is no resolver `weather`; at `/rule_data/children/2/value/attribute`: expected \
         `geo.boolean`, `geo.number`, `geo.numbers`, `geo.text`, `geo.texts`; resolver `geo` has no `region`"
    );
}

#[test]
fn relations_are_booleans_of_the_types_of_a_tenant() {
    let types: [(&str, &[&str]); 2] = [("document", &["viewer"]), ("group", &["member"])];
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let relations: RelationNames =
        types.map(|(name, names)| (name.to_owned(), owned(names))).into_iter().collect();
    let mut namespaces = Namespaces::default();
    namespaces.insert("relation", [("viewer".to_owned(), AttributeKind::Text)]);
    let fault = |namespaces: &Namespaces, text: &str, resource: &str| {
        let condition = crate::expression::parse(text).expect("an expression");
        let resource = ResourcePattern::parse(resource).expect("a pattern");
        let mut problems = Problems::default();
        condition.check(namespaces.readable_on(&resource), &Place::root(), &mut problems);
        problems.into_result().err().map(|invalid| invalid.to_string()).unwrap_or_default()
    };
    // Without relations, the namespace is that of a resolver.
    assert_eq!(fault(&namespaces, r#"relation.viewer == "x""#, "document:*"), "");
    let namespaces = namespaces.with_types(Types::default().with_relations(relations));
    for (text, resource, expected) in [
        ("relation.viewer == true", "document:*", ""),
        ("relation.member == true", "*", ""),
        (r#"relation["group:eng#member"] == true"#, "document:read", ""),
        (r#"relation.viewer == "x""#, "document:*", "(`relation.viewer` is a boolean)"),
        (
            "relation.viewr == true",
            "document:*",
            "a relation of `document` (did you mean `relation.viewer`?)",
        ),
        ("relation.viewer == true", "group:*", "a relation of `group`, `relation.member`"),
    ] {
        let found = fault(&namespaces, text, resource);
        assert!(found.ends_with(expected), "{text} on {resource}: {found}");
        assert_eq!(found.is_empty(), expected.is_empty(), "{text} on {resource}: {found}");
    }
}

#[test]
fn compares_kinds_with_literals() {
    for (attribute, operator, value, fits) in [
        ("geo.text", "eq", r#""DE""#, true),
        ("geo.text", "eq", "1", false),
        ("geo.number", "eq", "1", true),
        ("geo.number", "ne", "true", false),
        ("geo.boolean", "eq", "true", true),
        ("geo.boolean", "eq", r#""true""#, false),
        ("geo.texts", "eq", r#""DE""#, false),
        ("geo.number", "gte", "1", true),
        ("geo.number", "gte", r#""1""#, false),
        ("geo.text", "in", r#"["DE", 1]"#, true),
        ("geo.text", "in", "[]", true),
        ("geo.text", "not_in", "[1]", false),
        ("geo.boolean", "in", r#"["true"]"#, false),
        ("geo.texts", "in", r#"["DE"]"#, false),
        ("geo.texts", "contains", r#""DE""#, true),
        ("geo.texts", "contains", "1", false),
        ("geo.numbers", "contains", "1", true),
        ("geo.text", "contains", r#""D""#, true),
        ("geo.number", "starts_with", r#""D""#, false),
        ("geo.text", "matches", r#""D.""#, true),
        ("geo.texts", "matches", r#""D.""#, false),
        ("geo.text", "ip_in", r#""10.0.0.0/8""#, true),
        ("geo.number", "ip_in", r#""10.0.0.0/8""#, false),
        ("geo.text", "before", r#""2026-03-01T08:00:00Z""#, true),
        ("geo.number", "after", r#""2026-03-01T08:00:00Z""#, false),
        ("geo.text", "during", r#"{"zone": "UTC"}"#, true),
        ("geo.texts", "during", r#"{"zone": "UTC"}"#, false),
    ] {
        let tree = test(attribute, operator, value);
        assert_eq!(faults(&tree).is_empty(), fits, "{tree}: {}", faults(&tree));
    }
    assert_eq!(
        faults(&test("geo.number", "eq", r#""1""#)),
        "at `/rule_data/attribute`: expected an attribute that `eq` compares with this value (`geo.number` is a number)"
    );
}

#[test]
fn compares_kinds_with_attributes() {
    for (left, operator, right, fits) in [
        ("geo.text", "eq", "user.country", true),
        ("geo.text", "eq", "request.subject", true),
        ("geo.number", "eq", "request.subject", false),
        ("request.subject", "in", "geo.texts", true),
        ("request.subject", "in", "geo.numbers", false),
        ("user.country", "in", "geo.text", false),
        ("user.country", "eq", "geo.texts", false),
        ("request.roles", "contains", "geo.text", true),
        ("request.roles", "contains", "geo.number", false),
        ("geo.text", "eq", "geo.number", false),
        // Without a resolver attribute, only a check finds out.
        ("request.roles", "eq", "request.subject", true),
    ] {
        let tree = test(left, operator, &format!(r#"{{"attribute": "{right}"}}"#));
        assert_eq!(faults(&tree).is_empty(), fits, "{tree}: {}", faults(&tree));
    }
    assert_eq!(
        faults(&test("user.country", "in", r#"{"attribute": "geo.text"}"#)),
        "at `/rule_data/value/attribute`: expected an attribute that `in` compares `user.country` with \
         (`geo.text` is a string)"
    );
}

#[test]
fn exists_takes_every_kind() {
    for name in crate::names::names::<AttributeKind>() {
        let tree =
            format!(r#"{{"type": "CONDITION", "attribute": "geo.{name}", "operator": "exists"}}"#);
        assert_eq!(faults(&tree), "");
    }
}

/// Checks a condition as text against declarations: `<type>.<name>` and the type of its values.
fn faults_of_text(
    format: Format,
    text: &str,
    resource: &str,
    declared: &[(&str, PropertyType)],
) -> Vec<String> {
    let properties = declared.iter().filter_map(|(path, kind)| {
        let (of, name) = path.split_once('.')?;
        Some((of.to_owned(), (name.to_owned(), Property { kind: *kind, to: None, from: None })))
    });
    let mut types: BTreeMap<String, Vec<_>> = BTreeMap::new();
    properties.for_each(|(of, property)| types.entry(of).or_default().push(property));
    let mut namespaces = Namespaces::default().with_types(types.into_iter().collect());
    namespaces.insert("geo", [("text".to_owned(), AttributeKind::Text)]);
    let resource = ResourcePattern::parse(resource).expect("a pattern");
    let member = if format == Format::Casbin { "matcher" } else { "expression" };
    let rule_data = serde_json::json!({ member: text }).to_string();
    let condition = Policy::stored_condition(format, &rule_data).expect("a condition");
    let mut problems = Problems::default();
    let attributes = namespaces.readable_on(&resource);
    condition.check_text(format, &rule_data, attributes, &Place::root(), &mut problems);
    let faults = problems.into_result().err();
    faults.iter().flat_map(|invalid| invalid.problems()).map(ToString::to_string).collect()
}

#[test]
fn faults_of_a_text_are_those_of_tokens() {
    let text =
        r#"exists(geo.text) && (weather.rain == true || user["geo.wind"] == 3 || geo.wind > 3)"#;
    assert_eq!(
        faults_of_text(Format::Expression, text, "*", &[("user.a", PropertyType::Text)]),
        [
            "expected an attribute of `user`, `resource`, `action`, `context`, `request` or `token`; there is no \
             resolver `weather`, not `weather.rain` at position 21",
            r#"expected a declared property of `user`, `user.a`, `user.roles` or `user.type`, not `"geo.wind"` at position 50"#,
            "expected `geo.text`; resolver `geo` has no `wind`, not `geo.wind` at position 70",
        ]
    );
    // The second mention of an attribute, and sides that a matcher exchanges.
    let text = r#"r.sub.age > 3 && ("a" in r.sub.age || r.obj.x == 1 && "b" == r.obj.y)"#;
    let declared = [("user.age", PropertyType::Number), ("doc.x", PropertyType::Number)];
    assert_eq!(
        faults_of_text(Format::Casbin, text, "doc:*", &declared),
        [
            "expected an attribute that `contains` compares with this value (`user.age` is declared as `number`), not \
             `r.sub.age` at position 25",
            "expected a declared property of `doc`, `resource.id`, `resource.type` or `resource.x`, not `r.obj.y` at position 61",
        ]
    );
}

#[test]
fn a_declared_namespace_has_no_other_names() {
    use PropertyType::{Boolean, Text};
    let declared = [
        ("document.confidential", Boolean),
        ("folder.owner", Text),
        ("user.department", Text),
        ("context.network", Text),
    ];
    for (resource, attribute, meant) in [
        ("document:read", "resource.confidental", "did you mean `resource.confidential`?"),
        ("document:*", "resource.confidental", "did you mean `resource.confidential`?"),
        ("document:read", "resource.owner", "a declared property of `document`"),
        ("document:read", "resource.confidential", ""),
        ("document:read", "resource.id", ""),
        ("folder:read", "resource.confidential", "a declared property of `folder`"),
        ("invoice:read", "resource.confidental", ""),
        ("*", "resource.confidential", ""),
        ("*", "resource.owner", ""),
        ("*", "resource.department", ""),
        (
            "*",
            "resource.confidental",
            "a declared property of a resource (did you mean `resource.confidential`?)",
        ),
        ("user:read", "resource.department", ""),
        ("user:read", "resource.owner", "a declared property of `user`"),
        ("context:read", "resource.owner", ""),
        ("invoice:read", "user.departement", "did you mean `user.department`?"),
        ("invoice:read", "user.roles", ""),
        ("invoice:read", "context.netwrk", "did you mean `context.network`?"),
        ("invoice:read", "action.netwrk", ""),
        ("invoice:read", "token.departement", ""),
        ("invoice:read", "request.subject", ""),
    ] {
        let text = format!("exists({attribute})");
        let found = faults_of_text(Format::Expression, &text, resource, &declared).concat();
        let fits = if meant.is_empty() { found.is_empty() } else { found.contains(meant) };
        assert!(fits, "{resource} {attribute}: {found}");
    }
    let of_user = [("user.department", Text)];
    assert!(faults_of_text(Format::Expression, "exists(resource.owner)", "*", &of_user).is_empty());
    let text = "(resource.confidental == true) ?? false";
    assert_eq!(
        faults_of_text(Format::Expression, text, "document:read", &declared),
        [
            "expected a declared property of `document` (did you mean `resource.confidential`?), not `resource.confidental` \
          at position 1"
        ]
    );
}

#[test]
fn a_declared_type_is_compared_as_such() {
    let declared = [
        ("user.text", PropertyType::Text),
        ("user.number", PropertyType::Number),
        ("user.boolean", PropertyType::Boolean),
        ("user.datetime", PropertyType::Datetime),
        ("user.ip", PropertyType::Ip),
        ("user.texts", PropertyType::Texts),
        ("user.numbers", PropertyType::Numbers),
        ("a.mixed", PropertyType::Number),
        ("b.mixed", PropertyType::Ip),
    ];
    for (text, fits) in [
        (r#"user.text == "a""#, true),
        ("user.text == 1", false),
        ("user.number == 1", true),
        ("user.number >= user.text", false),
        ("user.number in [1, \"a\"]", true),
        ("user.number in [\"a\"]", false),
        ("user.boolean == true", true),
        (r#"user.boolean == "true""#, false),
        (r#"user.boolean in ["true"]"#, false),
        (r#"user.datetime before "2026-03-01T08:00:00Z""#, true),
        ("user.datetime before request.time", true),
        ("user.datetime before geo.text", true),
        ("user.datetime before context.any", true),
        ("request.time before user.text", false),
        (r#"user.text before "2026-03-01T08:00:00Z""#, false),
        (r#"user.datetime == "2026-03-01T08:00:00Z""#, true),
        (r#"user.datetime == "2026-03-01""#, false),
        (r#"user.datetime starts_with "2026""#, true),
        ("user.datetime == user.text", true),
        (r#"during(user.datetime, "UTC")"#, true),
        (r#"during(user.text, "UTC")"#, false),
        (r#"ip_in(user.ip, "10.0.0.0/8")"#, true),
        (r#"ip_in(user.text, "10.0.0.0/8")"#, false),
        (r#"user.ip in ["::1", "home"]"#, true),
        (r#"user.ip not_in ["home"]"#, false),
        ("user.ip in []", true),
        ("user.ip in user.texts", true),
        ("user.ip in user.numbers", false),
        (r#"user.texts contains "a""#, true),
        ("user.texts contains 1", false),
        (r#"user.texts == "a""#, false),
        ("user.numbers contains user.number", true),
        (r#"user.texts contains_any ["a"]"#, true),
        ("user.texts contains_any [1]", false),
        ("user.numbers contains_all user.numbers", true),
        ("user.numbers contains_all user.texts", false),
        (r#"user.text contains_any ["a"]"#, false),
        ("user.texts contains_any []", true),
        ("request.roles contains_any user.texts", true),
        (r#"user.datetime within "P30D""#, true),
        (r#"user.text within "P30D""#, false),
        ("user.text matches \"a.\"", true),
        ("user.texts matches \"a.\"", false),
        ("exists(user.numbers)", true),
        ("resource.mixed == 1", true),
        (r#"resource.mixed == "::1""#, true),
        (r#"resource.mixed == "a""#, false),
        ("resource.mixed == true", false),
        // A request decides what an undeclared side is.
        ("user.number == context.any", true),
    ] {
        let found = faults_of_text(Format::Expression, text, "*", &declared);
        assert_eq!(found.is_empty(), fits, "{text}: {found:?}");
    }
    assert_eq!(
        faults_of_text(Format::Expression, "resource.mixed == true", "*", &declared),
        [
            "expected an attribute that `eq` compares with this value (`resource.mixed` is declared as `ip` or `number`), not \
          `resource.mixed` at position 0"
        ]
    );
}

#[test]
fn faults_of_a_condition_are_bounded() {
    let names: Vec<_> = (0..150).map(|n| format!("exists(user.x{n})")).collect();
    let declared = [("user.a", PropertyType::Text)];
    let found = faults_of_text(Format::Expression, &names.join(" && "), "*", &declared);
    assert_eq!(found.len(), 100);
}
