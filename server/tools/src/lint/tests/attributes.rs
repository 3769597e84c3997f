//! Names of attributes that resemble others, and attributes that requests cannot have.

use super::super::LintFormat;
use super::*;

/// Returns the findings `SIMILAR_NAME` about policies with these conditions and cases with these attributes.
fn similar(conditions: &[(&str, &str)], attributes: &[&str], types: &str) -> Vec<String> {
    let policies = conditions.iter().enumerate().map(|(index, (resource, when))| {
        format!("- {{name: p{index}, resource: '{resource}', effect: deny, priority: 1, when: '{when}'}}\n")
    });
    let cases = attributes.iter().enumerate().map(|(index, attributes)| {
        format!(
            "- name: c{index}\n  check: {{subject: ann, resource: wiki:read, action: read, attributes: {attributes}}}\n  \
             expect: {{decision: deny, rule: default-deny}}\n"
        )
    });
    let (policies, cases): (String, String) = (policies.collect(), cases.collect());
    let policies = if policies.is_empty() { "[]\n" } else { &*policies };
    let cases = if cases.is_empty() { "[]\n" } else { &*cases };
    let files = [("policies.yaml", policies), ("cases.yaml", cases), ("types.yaml", types)];
    let folder = tenant(&files);
    let (_, out, err) = lint(folder.path(), |arguments| arguments.format = LintFormat::Json);
    assert_eq!(err, "");
    let found: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    let findings = found["findings"].as_array().expect("findings").iter();
    let own = findings.filter(|finding| finding["code"] == "SIMILAR_NAME");
    own.map(|finding| {
        let (file, line) = (finding["file"].as_str().unwrap_or_default(), &finding["line"]);
        let file = file.rsplit('/').next().unwrap_or_default();
        format!("{file}:{line}: {}", finding["message"].as_str().unwrap_or_default())
    })
    .collect()
}

#[test]
fn a_name_that_one_item_has_and_that_resembles_another_is_found() {
    let typo = ("wiki:read", "exists(resource.confidental)");
    let right = ("wiki:*", "exists(resource.confidential)");
    let of_policy = "policies.yaml:1: the policy `p0` alone names `resource.confidental`, which resembles `resource.confidential`";
    let of_case = "cases.yaml:2: the case `c0` alone names `resource.confidential`, which resembles `resource.confidental`";
    let sent = "{resource: {confidential: true}}";
    for (conditions, attributes, expected) in [
        (&[typo, right, right][..], &[][..], Some(of_policy)),
        (&[typo, ("*", right.1), right], &[], Some(of_policy)),
        (&[typo], &[sent, sent], Some(of_policy)),
        (&[typo], &[sent], Some(of_case)),
        // Two items have each name.
        (&[typo, typo, right, right], &[], None),
        // Resources of different types, and other namespaces, have their own names.
        (&[typo, ("blog:read", right.1), ("blog:read", right.1)], &[], None),
        (&[typo], &["{user: {confidential: true}}", "{user: {confidential: true}}"], None),
        (&[typo], &["{resource: {type: blog, confidential: true}}"], None),
        // One item has both names.
        (&[("wiki:read", "resource.confidental == resource.confidential"), right], &[], None),
        // Numbered names, and names that requests have without a declaration.
        (&[("*", "exists(user.team1)"), ("*", "exists(user.team2)")], &[], None),
        (&[("*", "exists(user.role)")], &["{user: {roles: [a]}}", "{user: {roles: [a]}}"], None),
    ] {
        let found = similar(conditions, attributes, "[]\n");
        assert_eq!(
            found.iter().map(String::as_str).next(),
            expected,
            "{conditions:?} {attributes:?}"
        );
        assert_eq!(found.len(), usize::from(expected.is_some()), "{found:?}");
    }
}

#[test]
fn declared_names_may_resemble_each_other() {
    let conditions =
        [("wiki:read", "exists(resource.owner)"), ("wiki:read", "exists(resource.owners)")];
    assert_eq!(similar(&conditions, &[], "[]\n").len(), 1);
    let types = "- {type: wiki, properties: {owner: {type: text}, owners: {type: list<text>}}}\n";
    assert_eq!(similar(&conditions, &[], types), [""; 0]);
}

/// In a case the attributes stand for every source, so that a policy that reads the directory can have cases.
#[test]
fn an_attribute_that_its_source_cannot_supply_is_found() {
    let types = "- {type: user, properties: {level: {type: number, from: token}, team: {type: text, from: directory}}}\n\
        - {type: wiki, properties: {owner: {type: text, from: directory}, size: {type: number, from: request}, \
        space: {type: ref<space>}}}\n\
        - {type: space, properties: {team: {type: text, from: directory}}}\n";
    for (caller, attributes, expected) in [
        ("as: ann, ", "{user: {level: 3, team: a}}", None),
        ("", "{user: {team: a}, resource: {size: 1}}", None),
        ("", "{user: {level: 3}}", Some("`user.level`, which comes from the token")),
        (
            "as: ann, ",
            "{resource: {owner: ann}}",
            Some("`resource.owner`, which comes from the directory"),
        ),
        ("as: ann, ", "{resource: {id: home, owner: ann}}", None),
        (
            "",
            "{resource: {space.team: a}}",
            Some("`resource.space.team`, which comes from the directory"),
        ),
        ("", "{resource: {space: s, space.team: a}}", None),
    ] {
        let cases = format!(
            "- {{name: c, {caller}check: {{subject: ann, resource: wiki:read, action: read, attributes: {attributes}}}, \
             expect: {{decision: deny, rule: default-deny}}}}\n"
        );
        let folder = tenant(&[("cases.yaml", &cases), ("types.yaml", types)]);
        let (_, out, err) = lint(folder.path(), |_| ());
        assert_eq!(err, "");
        assert_eq!(out.contains("OVERRIDDEN_ATTRIBUTE"), expected.is_some(), "{attributes}: {out}");
        assert!(out.contains(expected.unwrap_or_default()), "{out}");
    }
}

/// The order of texts is not the order of instants. Of declared ones it is a fault.
#[test]
fn orders_of_undeclared_date_times_are_found() {
    let types = "- type: wiki\n  properties: {frozen_at: {type: datetime}, note: {type: text}, size: {type: number}, days: {type: list<text>}}\n";
    for (resource, when, is_found) in [
        ("blog:*", "(request.time > resource.frozen_at) ?? false", true),
        ("blog:read", "(user.until >= \"2026-01-01T00:00:00Z\") ?? false", true),
        ("blog:read", "(user.until >= \"later\") ?? false", false),
        ("wiki:read", "(resource.note < request.time) ?? false", false),
        ("wiki:read", "(resource.frozen_at before request.time) ?? false", false),
        ("wiki:read", "(resource.frozen_at == \"2026-01-01T00:00:00Z\") ?? false", false),
        ("wiki:read", "(resource.size <= 5) ?? false", false),
        ("blog:read", "(resource.frozen_at <= request.time) ?? false", true),
        ("blog:read", "(any(resource.days, item < request.time)) ?? false", true),
        ("blog:read", "(all(resource.days, item > \"2026-01-01T00:00:00Z\")) ?? false", true),
        ("wiki:read", "(any(resource.days, item < request.time)) ?? false", false),
    ] {
        let policy = format!(
            "- {{name: p, resource: '{resource}', effect: deny, priority: 1, when: '{when}'}}\n"
        );
        let folder = tenant(&[("policies.yaml", &policy), ("types.yaml", types)]);
        let (_, out, err) = lint(folder.path(), |_| {});
        assert_eq!(
            (out.contains("warning DATETIMES_AS_TEXTS"), &*err),
            (is_found, ""),
            "{when}: {out}"
        );
    }
}

/// Two attributes are compared as date-times if cases and entities say that they are.
#[test]
fn orders_of_two_date_times_are_found() {
    let policy = "- {name: p, resource: 'blog:read', effect: deny, priority: 1, when: '(resource.until < user.since) ?? false'}\n";
    for (until, since, is_found) in [
        ("2026-01-15T10:00:00+02:00", "2026-01-15T09:00:00Z", true),
        ("2026-01-15T10:00:00+02:00", "yesterday", false),
        ("soon", "2026-01-15T09:00:00Z", false),
    ] {
        let case = format!(
            "- name: c\n  check: {{subject: ann, resource: 'blog:read', action: read, attributes: {{resource: {{until: '{until}'}}}}}}\n  \
             expect: {{decision: deny, rule: default-deny}}\n"
        );
        let entity = format!("- {{type: user, id: ann, properties: {{since: '{since}'}}}}\n");
        let files = [("policies.yaml", policy), ("cases.yaml", &case), ("entities.yaml", &entity)];
        let folder = tenant(&files);
        let (_, out, err) = lint(folder.path(), |_| {});
        let expected =
            "the policy `p` orders date-times as texts: `(resource.until < user.since) ?? false`";
        assert_eq!((out.contains(expected), &*err), (is_found, ""), "{until} {since}: {out}");
    }
}
