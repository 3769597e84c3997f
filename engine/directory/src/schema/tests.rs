use portcullis_engine::json;

use super::*;
use crate::definition::read_relations;

/// Reads types as `name: {relations}` and compiles them.
fn compile(types: &[(&str, &str)]) -> Result<Schema, String> {
    let mut number = 0;
    let types: Vec<_> = types
        .iter()
        .map(|(name, relations)| {
            let json = json::parse(relations.as_bytes()).expect(relations);
            let mut problems = Problems::default();
            let read = read_relations(&json, &Place::root(), &mut problems);
            let read = problems.finish(read).expect(relations).into_iter();
            let numbered = read.map(|one| {
                number += 1;
                (RelationNumber(number), one)
            });
            (*name, numbered.collect::<Vec<_>>())
        })
        .collect();
    let types: Vec<_> =
        types.iter().map(|(name, relations)| TypeRelations { name, relations }).collect();
    Schema::compile(&types).map_err(|invalid| invalid.to_string())
}

const GROUP: (&str, &str) = ("group", r#"{"member": "[user, group#member]"}"#);
const FOLDER: (&str, &str) = (
    "folder",
    r#"{"parent": "[folder]", "owner": "[user]", "banned": "[user] || parent.banned",
        "viewer": "[user, group#member, user:*] || owner || parent.viewer"}"#,
);
const DOCUMENT: (&str, &str) = (
    "document",
    r#"{"parent": {"from": "[folder]", "request": "parent"}, "editor": "[user, group#member] || parent.owner",
        "viewer": "[user, group#member] || editor || parent.viewer", "read": "viewer && !parent.banned",
        "top": "parent.parent.viewer"}"#,
);

#[test]
fn a_drive_compiles() {
    let schema = compile(&[DOCUMENT, FOLDER, GROUP]).expect("types");
    let relation = |of_type, name| schema.relation(of_type, name).expect(name);
    let read = relation("document", "read");
    assert_eq!((schema.type_of(read), schema.name(read)), ("document", "read"));
    assert_eq!(schema.by_number(schema.number(read)), Some(read));
    assert_eq!(schema.level(read.term()), 1);
    assert_eq!(schema.level(relation("document", "viewer").term()), 0);
    assert_eq!(schema.levels(), 2);
    assert!(schema.has_type("user") && !schema.has_type("files"));
    let parent = relation("document", "parent");
    assert_eq!(schema.requests().collect::<Vec<_>>(), [(parent, "parent")]);
    assert_eq!(schema.leads_to(parent).expect("objects").collect::<Vec<_>>(), ["folder"]);
    assert!(schema.leads_to(read).is_none());
    let viewer = relation("folder", "viewer");
    assert_eq!(schema.storable(viewer).collect::<Vec<_>>(), ["user", "group#member", "user:*"]);
    let member = Some(relation("group", "member"));
    for (subject, subject_relation, expected) in [
        (("user", "ann"), None, true),
        (("user", "*"), None, true),
        (("group", "eng"), member, true),
        (("group", "eng"), None, false),
        (("group", "*"), member, false),
        (("group", "*"), None, false),
        (("user", "ann"), member, false),
        (("users", "ann"), None, false),
    ] {
        assert_eq!(schema.admits(viewer, subject, subject_relation), expected, "{subject:?}");
    }
    let reach = |name| schema.reach(relation("document", name).term());
    assert!(reach("read").has_all && reach("read").has_usersets);
    assert!(!reach("viewer").has_all && !reach("parent").has_usersets);
    assert_eq!(schema.without_subjects().count(), 0);
}

#[test]
fn an_unknown_name_has_its_place_and_the_one_that_is_meant() {
    for (relations, expected) in [
        (
            r#"{"a": "[usr]"}"#,
            "at `/0/relations/a`: expected a type (did you mean `user`?), not `usr` at position 1",
        ),
        (
            r#"{"a": {"from": "[group#memebr]"}}"#,
            "at `/0/relations/a/from`: expected a relation of `group` (did you mean `member`?), not `memebr` at position 7",
        ),
        (
            r#"{"viewer": "[user]", "a": "viewr || x"}"#,
            "at `/0/relations/a`: expected a relation of `doc` (did you mean `viewer`?), not `viewr` at position 0; at \
          `/0/relations/a`: expected a relation of `doc`: `a` or `viewer`, not `x` at position 9",
        ),
        (
            r#"{"a": "perent.viewer", "parent": "[folder]"}"#,
            "at `/0/relations/a`: expected a relation of `doc` (did you mean `parent`?), not `perent` at position 0",
        ),
        (
            r#"{"a": "parent.veiwer", "parent": "[folder, group]"}"#,
            "at `/0/relations/a`: expected a relation of `folder` or `group` (did you mean `viewer`?), not `veiwer` at position 7",
        ),
        (
            r#"{"a": "parent.parent.x", "parent": "[folder]"}"#,
            "at `/0/relations/a`: expected a relation of `folder`, not `x` at position 14",
        ),
    ] {
        assert_eq!(compile(&[("doc", relations), FOLDER, GROUP]).expect_err(relations), expected);
    }
    // A type without the relation gives nobody.
    assert!(
        compile(&[("doc", r#"{"a": "parent.viewer", "parent": "[user, folder]"}"#), FOLDER, GROUP])
            .is_ok()
    );
}

#[test]
fn a_relation_before_a_dot_stores_objects_alone() {
    for parent in ["[folder, user:*]", "[group#member]", "[folder] || x", "x", "[folder] && x"] {
        let relations =
            format!(r#"{{"a": "x || parent.viewer", "x": "[folder]", "parent": "{parent}"}}"#);
        assert_eq!(
            compile(&[("doc", &relations), FOLDER, GROUP]).expect_err(parent),
            "at `/0/relations/a`: expected a relation before `.` that stores objects alone: only types in `[…]`, without \
             `#` and `*`, as `parent` of `doc` does not, not `parent` at position 5"
        );
    }
    let twice = r#"{"a": "parent.viewer.x", "parent": "[folder]"}"#;
    let error = compile(&[("doc", twice), FOLDER, GROUP]).expect_err(twice);
    assert!(
        error.contains("as `viewer` of `folder` does not, not `viewer` at position 7"),
        "{error}"
    );
}

#[test]
fn a_negation_in_its_own_recursion_is_refused() {
    let folder = |viewer: &str| {
        let relations = format!(
            r#"{{"parent": "[folder]", "banned": "[user, folder#viewer] || parent.banned", "owner": "[user]",
                "viewer": "{viewer}", "other": "[user, folder#other] && !owner"}}"#
        );
        compile(&[("folder", &relations)])
    };
    for (viewer, position) in [
        ("owner && !viewer", 9),
        ("owner && !parent.viewer", 9),
        ("owner || (owner && !(owner && parent.viewer))", 19),
        // Over the userset `folder#viewer` of `banned`.
        ("owner && !banned", 9),
        ("owner && !parent.parent.banned", 9),
    ] {
        assert_eq!(
            folder(viewer).expect_err(viewer),
            format!(
                "at `/0/relations/viewer`: expected a line in which no `!` leads back to `viewer` of `folder`, not `!` at \
                 position {position}"
            )
        );
    }
    assert!(folder("owner || parent.viewer && !other").is_ok());
}

#[test]
fn levels_rise_with_each_negation() {
    let schema = compile(&[(
        "doc",
        r#"{"a": "[user]", "b": "a && !(a && !(a && !a))", "c": "[user, doc#b]", "d": "a && !c", "e": "e2 || d", "e2": "e"}"#,
    )])
    .expect("types");
    let level = |name| schema.level(schema.relation("doc", name).expect(name).term());
    assert_eq!(["a", "b", "c", "d", "e", "e2"].map(level), [0, 3, 3, 4, 4, 4]);
}

#[test]
fn a_relation_that_nobody_can_have_is_found() {
    let schema = compile(&[
        ("group", r#"{"member": "[group#member]"}"#),
        ("doc", r#"{"parent": "[doc]", "x": "[user] && parent.y", "y": "parent.y || z", "z": "[group#member]",
            "ok": "[user] || y", "fine": "[group#member, user:*] && !y"}"#),
    ])
    .expect("types");
    let names: Vec<String> = schema
        .without_subjects()
        .map(|one| format!("{}.{}", schema.type_of(one), schema.name(one)))
        .collect();
    assert_eq!(names, ["doc.x", "doc.y", "doc.z", "group.member"]);
}

#[test]
fn sources_of_edges_need_lines_that_have_them() {
    for (relations, expected) in [
        (
            r#"{"a": {"from": "[group#member]", "claim": "groups"}}"#,
            "at `/0/relations/a/claim`: expected `user` in `[…]` of a relation with a claim",
        ),
        (
            r#"{"a": {"from": "[folder, user:*]", "request": "a"}}"#,
            "at `/0/relations/a/request`: expected a relation that stores objects alone: only types in `[…]`, without `#` and \
          `*`",
        ),
    ] {
        assert_eq!(compile(&[("doc", relations), FOLDER, GROUP]).expect_err(relations), expected);
    }
    let schema =
        compile(&[("doc", r#"{"a": {"from": "[user] || a", "claim": "docs"}}"#)]).expect("types");
    let a = schema.relation("doc", "a").expect("a");
    let claims = schema.claims().map(|(relation, claim)| (relation, &*claim.name));
    assert_eq!(claims.collect::<Vec<_>>(), [(a, "docs")]);
}

#[test]
fn sizes_have_limits() {
    let types = |count: usize| {
        let names: Vec<String> = (0..count).map(|n| format!("t{n}")).collect();
        let types: Vec<_> = names.iter().map(|name| (&**name, "{}")).collect();
        compile(&types)
    };
    assert!(types(100).is_ok());
    assert_eq!(types(101).expect_err("101"), "expected at most 100 types");
    assert_eq!(
        compile(&[GROUP, GROUP]).expect_err("twice"),
        "at `/1`: expected the type `group` once"
    );
    // Each arrow leads to 99 types: 64 lines of 34 arrows are too many.
    let target: Vec<String> = (1..100).map(|n| format!("t{n:02}")).collect();
    let line = |from: usize| {
        let arrows: Vec<String> = (0..34).map(|n| format!("parent.x{}", (from + n) % 60)).collect();
        arrows.join(" || ")
    };
    let lines: Vec<String> = (0..62).map(|n| format!(r#""r{n}": "{}""#, line(n))).collect();
    let own = format!(r#"{{"parent": "[{}]", {}}}"#, target.join(", "), lines.join(", "));
    let others: Vec<String> = (0..60).map(|n| format!(r#""x{n}": "[user]""#)).collect();
    let others = format!("{{{}}}", others.join(", "));
    let mut types = vec![("doc", &*own)];
    types.extend(target.iter().map(|name| (&**name, &*others)));
    let error = compile(&types).expect_err("too many");
    assert!(
        error.ends_with("expected at most 100000 parts and targets in the lines of all types"),
        "{error}"
    );
    types[0].1 = "{}";
    assert!(compile(&types).is_ok());
}
