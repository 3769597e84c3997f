//! An import refuses by line, and says why.

use std::fs;

use super::*;

/// A model of one type `doc` with these relations, whose first one is in line 5.
fn model(relations: &str) -> String {
    format!("model\n  schema 1.1\ntype user\ntype doc relations\n{relations}\n")
}

/// Returns the faults of a store, without the path of the file.
fn faults(name: &str, text: &str) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    fs::write(&path, text).expect("a file");
    let store = match name.ends_with(".fga.yaml") {
        true => Store::read(&path),
        false => Store::without_tests(&path, None),
    };
    let faults = match store.map(import) {
        Err(error) => vec![error.to_string()],
        Ok(Err(Refusal { faults, .. })) => faults,
        Ok(Ok(imported)) => panic!("{text} is imported: {imported:?}"),
    };
    let start = format!("{}:", path.display());
    faults.iter().map(|fault| fault.strip_prefix(&start).unwrap_or(fault).to_owned()).collect()
}

#[test]
fn a_model_is_refused_by_its_line() {
    let renamed = "rename it in the model, the tuples and the tests, for example to";
    for (relations, expected) in [
        (
            "define a: [user]\ndefine b: a but not b",
            "6: `but not` leads back to `b` of `doc`; subtract a relation that does not depend on it",
        ),
        (
            "define p: [doc]\ndefine a: [user]\ndefine b: a but not (b from p)",
            "7: `but not` leads back to `b` of `doc`; subtract a relation that does not depend on it",
        ),
        (
            "# A comment\ndefine a: [user] # [group]\n\ndefine b: a or c",
            "8: as `a || c`: expected a relation of `doc`: `a` or `b`, not `c` at position 5",
        ),
        (
            "define p: [doc, user:*]\ndefine b: b from p",
            "6: as `p.b`: expected a relation before `.` that stores objects alone: only types in `[…]`, without `#` and `*`, as \
             `p` of `doc` does not, not `p` at position 0",
        ),
        (
            "define can-read: [user]",
            &format!(
                "5: `can-read` of `doc` is not a name of letters, digits and `_`, other than `id` and `type`; {renamed} `can_read`"
            ),
        ),
        (
            "define id: [user]",
            &format!(
                "5: `id` of `doc` is not a name of letters, digits and `_`, other than `id` and `type`; {renamed} `own_id`"
            ),
        ),
        ("define a: [user with c]", "5: the model has no condition `c`"),
        ("define a: [user]\ndefine a: [doc]", "6: `a` of `doc` is defined twice"),
        (
            "define a: [user] or b and c",
            "5: expected parentheses around one of two different operators, not `and`",
        ),
        ("define a: [user", "6: expected `]`, where the text ends"),
        (
            "define a: [user]\n\nextend type doc",
            "7: expected `type`, `define` or `condition`, not `extend`",
        ),
        (
            "define a: b from",
            "6: expected the name of a relation after `from`, where the text ends",
        ),
        (
            &format!("define a: {}b", "(".repeat(33)),
            "5: expected parentheses at most 32 deep, not `b`",
        ),
    ] {
        assert_eq!(faults("model.fga", &model(relations)), [expected], "{relations}");
    }
    for (text, expected) in [
        ("model\n schema 1.0", "2: expected schema `1.1` or `1.2`, not `1.0`"),
        ("module core\ntype user", "1: one module of several; give their `fga.mod`"),
        ("", "1: expected `model`, where the text ends"),
        ("model schema 1.1\ntype a,b", "2: expected `type`, `define` or `condition`, not `,`"),
        (
            "model schema 1.1\ntype context",
            "2: `context` cannot be the name of a type; rename it in the model, the tuples and the tests",
        ),
        (
            "{\"schema_version\": \"1.1\",\n\"type_definitions\": [{\"type\": \"d\", \"relations\": {\n\"a\": {\"this\": {}}}}]}",
            "3: `a` of `d`: `this` needs one list of user types",
        ),
    ] {
        assert_eq!(faults("model.fga", text), [expected], "{text}");
    }
}

#[test]
fn a_condition_is_an_expiry_or_refused() {
    let expression = |parameters: &str, expression: &str| {
        let condition = format!("condition c({parameters}) {{\n  {expression}\n}}");
        model(&format!("define a: [user with c]\n{condition}"))
    };
    const TIMES: &str = "now: timestamp, start: timestamp, length: duration, list: list<string>";
    for text in [
        "now <= start + length",
        "now > start + length",
        "now < start && now > start",
        "now < now",
        "length < start",
        "now < start + start",
        "now < start - length",
        "true",
    ] {
        let found = faults("model.fga", &expression(TIMES, text));
        let is_refused =
            found.len() == 1 && found[0].starts_with("6: `c` is not an expiry such as");
        assert!(is_refused, "{text}: {found:?}");
    }
    let found = faults("model.fga", &expression("ip: ipaddress", "ip.in_cidr('10.0.0.0/8')"));
    assert!(found[0].starts_with("6: `c` is not an expiry"), "{found:?}");
}

#[test]
fn tuples_and_tests_are_refused_by_their_lines() {
    let store = |rest: &str| {
        let lines = "define a: [user, user with c]\ncondition c(now: timestamp, end: timestamp) { now < end }";
        let lines = model(lines).replace('\n', "\n  ");
        // The model has nine lines.
        faults("store.fga.yaml", &format!("model: |\n  {lines}\n{rest}"))
    };
    let tuple = |rest: &str| store(&format!("tuples:\n- {{relation: a, {rest}}}"));
    let with = |context: &str| {
        tuple(&format!(
            "user: user:x, object: doc:d, condition: {{name: c, context: {{{context}}}}}"
        ))
    };
    for (found, expected) in [
        (
            tuple("user: doc:d, object: doc:d"),
            "10: `doc:d` is not listed in the `[…]` of `a` of `doc`",
        ),
        (
            tuple("user: user:*, object: doc:d"),
            "10: `user:*` is not listed in the `[…]` of `a` of `doc`",
        ),
        (
            tuple("user: user, object: doc:d"),
            "10: expected `<type>:<id>` of at most 256 characters, not `user`",
        ),
        (tuple("user: user:x, object: page:d"), "10: the model has no relation `a` of `page`"),
        (
            tuple("user: user:x, object: doc:d, condition: {name: x}"),
            "10: `user:x` with `x` is not listed in the `[…]` of `a` of `doc`",
        ),
        (
            with(""),
            "10: the context of the tuple's condition lacks `end`; a value that checks give is not an expiry",
        ),
        (with("now: x"), "10: the tuple gives `now`, which is the time of a check"),
        (with("end: x"), "10: expected an instant such as `2026-01-15T10:00:00Z`, not `x`"),
        (
            with("end: 2026-01-15T10:00:00.0001Z"),
            "10: the tuple expires at `2026-01-15T10:00:00.000100+00:00`; round it to milliseconds",
        ),
        (
            store(
                "tuples:\n- {user: user:x, relation: a, object: doc:d}\n- {user: user:x, relation: a, object: doc:d,\n   condition: {name: c, context: {end: 2026-01-15T10:00:00Z}}}",
            ),
            "11: the tuple occurs twice, with different conditions",
        ),
        (
            store(
                "tests:\n- check:\n  - user: user:x\n    object: doc:d\n    assertions:\n      b: true",
            ),
            "14: the model has no relation `b` of `doc`",
        ),
        (
            store(
                "tests:\n- check:\n  - user: user:x\n    object: doc:d\n    assertions:\n      a: true",
            ),
            "14: `user:x` `a` `doc:d`: the test expects true, Portcullis answers false",
        ),
        (
            store("tests:\n- check:\n  - user: user:x\n    assertions: {a: true}"),
            "11: expected `user` or `users`, and `object` or `objects`",
        ),
        (store("model_file: model.fga"), "1: expected `model` or `model_file`"),
    ] {
        assert_eq!(found, [expected]);
    }
    let found = store("tuple_file: none.csv");
    assert!(
        found[0].starts_with("9: there is no file ") && found[0].ends_with("none.csv"),
        "{found:?}"
    );
    let expected = "9: unknown field `test`, expected one of name, model, model_file, tuples, tuple_file, tuple_files, tests";
    assert_eq!(store("test: []"), [expected]);
}

#[test]
fn columns_of_csv_are_known() {
    let start = Place::start("t.csv".as_ref());
    let read = |text: &str| tuples::read(text, &start).map(|read| read.len());
    const COLUMNS: &str = "user_type,user_id,relation,object_type,object_id";
    assert_eq!(read(&format!("{COLUMNS}\nuser,x,a,doc,d\n\nuser,y,a,doc,d")), Ok(2));
    for (text, expected) in [
        (format!("{COLUMNS}\nuser,x,a,doc"), "t.csv:2: expected 5 values, not 4"),
        (format!("{COLUMNS}\nuser,x,,doc,d"), "t.csv:2: expected a value in the column `relation`"),
        (format!("{COLUMNS},x\nuser,x,a,doc,d,"), "t.csv:2: the column `x` is unknown"),
        (
            format!("{COLUMNS},condition_name,condition_context\nuser,x,a,doc,d,c,\"{{\""),
            "t.csv:2: condition_context: EOF while parsing an object at line 1 column 1",
        ),
    ] {
        assert_eq!(read(&text), Err(expected.to_owned()));
    }
}
