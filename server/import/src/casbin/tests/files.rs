//! The files that an import writes.

use super::super::model::Model;
use super::super::{lines, requests};
use super::support::*;
use crate::files::yaml;

#[test]
fn the_yaml_is_read_back() {
    let model = with_roles(ALLOW_OVERRIDE, BY_ROLE);
    let policy = "p, 0042, wiki, read, allow\np, yes, data1, a#b, allow\np, \"a, \"\"b\"\"\", x:y, no, allow\n\
        p, ä, null, ~, allow\n";
    let converted = converted(&model, policy);
    assert_eq!(converted.faults, []);
    let text = yaml(&converted.rules).expect("YAML");
    let read: Vec<serde_json::Value> = serde_saphyr::from_str(&text).expect(&text);
    assert_eq!(serde_json::json!(read), serde_json::json!(converted.rules), "{text}");
    assert_eq!(read[2]["sub"], "a, \"b\"");
    assert!(read.iter().all(|rule| rule["act"].is_string()), "{text}");
}

/// The table of `docs/casbin.md`: what a check asks depends on the objects of the lines.
#[test]
fn requests_become_checks_as_the_documents_say() {
    let model = plain(ALLOW_OVERRIDE, PLAIN);
    for (lines, object, action, expected) in [
        ("data1", "data1", "read", Ok("data1:read")),
        ("data1", "data1:read", "read", Ok("data1:read:read")),
        ("/data/:id", "https://a/b", "GET", Ok("https://a/b:GET")),
        ("data1", "my data", "a:b", Ok("my%20data:a%3Ab")),
        ("chart:read", "chart:read", "read", Ok("chart:read")),
        ("chart:read", "chart", "read", Err("use an object such as `chart:read`")),
        ("data1 chart:read", "data1", "read", Ok("data1:read")),
        ("data1 chart:read", "chart:read", "read", Ok("chart:read")),
        ("data1 chart:read", "data1:read", "read", Err("as in line 1")),
        ("data1 chart:*", "chart", "read", Err("as in line 2")),
    ] {
        let lines: String =
            lines.split(' ').map(|object| format!("p, ann, {object}, read, allow\n")).collect();
        let found = converted(&model, &lines).objects.resource(object, action);
        match expected {
            Ok(resource) => assert_eq!(found.as_deref(), Ok(resource), "{lines}"),
            Err(reason) => assert!(found.is_err_and(|found| found.contains(reason)), "{lines}"),
        }
    }
}

#[test]
fn role_lines_that_a_function_may_extend_are_noted() {
    let notes = |model: &str, policy: &str| {
        let notes = converted(model, policy).notes.into_iter();
        notes.map(|note| (note.line, note.reason)).collect::<Vec<_>>()
    };
    let line = "p, staff, one, wiki, read, allow\n";
    let plain_names = format!("{line}g, ann, staff, one\n");
    let stars = format!("{plain_names}g, ann, staff, *\ng, /book/:id, books, t*\n");
    for matcher in [IN_DOMAIN, BY_PATTERN] {
        assert_eq!(notes(&with_domains(ALLOW_OVERRIDE, matcher), &plain_names), []);
    }
    let found = notes(&with_domains(ALLOW_OVERRIDE, IN_DOMAIN), &stars);
    assert!(found.len() == 1 && found[0].0 == Some(3), "{found:?}");
    assert!(found[0].1.starts_with("note: `*` is a plain text"), "{found:?}");
    let found = notes(&with_domains(ALLOW_OVERRIDE, BY_PATTERN), &stars);
    assert!(found.len() == 2 && found[0].0 == Some(4) && found[1].0 == Some(3), "{found:?}");
    assert!(found[0].1.starts_with("note: `/book/:id` is a plain text"), "{found:?}");
    assert!(found[1].1.contains("`*` is a pattern of domains, as in Casbin for Go"), "{found:?}");
}

#[test]
fn expected_decisions_are_compared() {
    let model = with_roles(ALLOW_AND_DENY, BY_ROLE);
    let converted = converted(
        &model,
        "p, staff, wiki, read, allow\np, bob, wiki, read, deny\ng, ann, staff\ng, bob, staff\n",
    );
    let model = Model::parse(&model).expect("a model");
    let differences = |text: &str| {
        let now = chrono::DateTime::UNIX_EPOCH;
        let (asked, faults) =
            requests::differences(&model, &converted, text, now).expect("records");
        (asked, faults.into_iter().map(|fault| (fault.line, fault.reason)).collect::<Vec<_>>())
    };
    assert_eq!(differences("# who\nann, wiki, read, true\nbob, wiki, read, false\n"), (2, vec![]));
    let fault = |line, reason: &str| (Some(line), reason.to_owned());
    assert_eq!(
        differences(
            "ann, wiki, read, false\nbob, wiki, read, true\nann, wiki, true\nann, wiki, read, yes\n"
        ),
        (
            4,
            vec![
                fault(1, "Casbin decides deny, Portcullis allow"),
                fault(2, "Casbin decides allow, Portcullis deny"),
                fault(3, "expected 3 values, then `true` or `false`"),
                fault(4, "expected `true` or `false` at the end, not `yes`"),
            ]
        )
    );
    assert_eq!(lines::read("").count(), 0);
}

#[test]
fn lines_without_effect_and_lines_about_everything_are_noted() {
    let notes = |model: &str, policy: &str| {
        let notes = converted(model, policy).notes.into_iter();
        notes.map(|note| (note.line, note.reason)).collect::<Vec<_>>()
    };
    let slip = format!("{BY_ROLE} || p.act == \".*\"");
    let never = format!("{BY_ROLE} && p.act != \"none\"");
    let allow = "p, ann, wiki, read, allow\n";
    for (effect, matcher, line, said) in [
        (ALLOW_OVERRIDE, BY_ROLE, "p, bob, wiki, read, deny", "left out: a deny decides nothing"),
        (ALLOW_AND_DENY, BY_ROLE, "p, bob, wiki, read, maybe", "left out: its effect `maybe`"),
        (
            ALLOW_AND_DENY,
            &never,
            "p, bob, wiki, none, allow",
            "left out: the matcher is never true",
        ),
        (
            ALLOW_OVERRIDE,
            &slip,
            "p, bob, wiki, .*, allow",
            "note: the line allows everything to everybody",
        ),
        (
            PRIORITY,
            &slip,
            "p, bob, wiki, .*, deny",
            "note: the line denies everything to everybody",
        ),
    ] {
        let found = notes(&with_roles(effect, matcher), &format!("{allow}{line}\n"));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].0 == Some(2) && found[0].1.starts_with(said), "{found:?}");
    }
    // No line concerns this matcher.
    let found = notes(&with_roles(ALLOW_OVERRIDE, "true"), allow);
    let said = "note: the matcher allows everything to everybody, because it is always true";
    assert_eq!(found, [(None, said.to_owned())]);
}

/// Columns hold texts, and applications send numbers.
#[test]
fn numbers_of_a_column_compare_as_numbers() {
    let sizes = "r.sub == p.sub && r.obj == p.obj && r.act == p.act && r.size <= p.max";
    let text = model("sub, obj, act, size", "sub, obj, act, max", "", ALLOW_OVERRIDE, sizes);
    let converted = converted(&text, "p, ann, disk, write, 100\np, ann, tape, write, 2x\n");
    assert_eq!(converted.faults, []);
    let notes: Vec<_> = converted.notes.iter().map(|note| (note.line, &*note.reason)).collect();
    assert!(
        matches!(notes[..], [(Some(1), number), (Some(2), text)]
        if number.contains("`100` in the column `max` compares as a number") && text.contains("`2x`")),
        "{notes:?}"
    );
    let model = Model::parse(&text).expect("a model");
    let expected =
        "ann, disk, write, 50, true\nann, disk, write, 9, true\nann, disk, write, 150, false\n";
    let now = chrono::DateTime::UNIX_EPOCH;
    assert_eq!(
        requests::differences(&model, &converted, expected, now).expect("records"),
        (3, Vec::new())
    );
}
