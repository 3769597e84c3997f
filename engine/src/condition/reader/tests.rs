use super::*;

/// Reads a text without a tree.
fn read(text: &str) -> Option<Condition> {
    Condition::read_plain(text, &mut PatternCheck::Leave)
}

/// Reads a text by way of a tree.
fn by_tree(text: &str) -> Option<Condition> {
    let json: Json<'_> = serde_json::from_str(text).ok()?;
    Condition::parse(&json).ok()
}

fn test(members: &str) -> String {
    format!(r#"{{"type":"CONDITION","attribute":"user.a",{members}}}"#)
}

fn nested(levels: usize) -> String {
    let (open, close) = (r#"{"type":"NOT","child":"#.repeat(levels - 1), "}".repeat(levels - 1));
    format!("{open}{}{close}", test(r#""operator":"exists""#))
}

fn conjunction(nodes: usize) -> String {
    let children = vec![test(r#""operator":"exists""#); nodes - 1];
    format!(r#"{{"type":"AND","children":[{}]}}"#, children.join(","))
}

fn list(values: usize) -> String {
    let values: Vec<_> = (0..values).map(|value| value.to_string()).collect();
    test(&format!(r#""operator":"in","value":[{}]"#, values.join(",")))
}

#[test]
fn usual_trees_are_read_as_by_way_of_a_tree() {
    let mut texts = vec![
        test(r#""operator":"exists""#),
        test(r#""operator":"eq","value":"x","if_missing":true"#),
        test(r#""operator":"contains","value":{"attribute":"token.a.b"}"#),
        test(r#""operator":"in","value":["b",2,"a",-1.5e3,"a",18446744073709551615]"#),
        test(r#""operator":"in","value":[]"#),
        test(r#""operator":"ne","value":false"#),
        test(r#""operator":"before","value":"2026-01-01T00:00:00Z""#),
        test(r#""operator":"starts_with","value":"a text of more than twenty-four bytes""#),
        test(r#""operator":"matches","value":"a+""#),
        test(r#""operator":"ip_in","value":["10.0.0.0/8","10.0.0.1"]"#),
        nested(MAX_DEPTH),
        conjunction(MAX_NODES),
        list(MAX_LIST),
    ];
    for path in ["resource.a", "action.a", "context.a", "token.a.b", "request.roles", "geo.country"]
    {
        texts.push(texts[0].replace("user.a", path));
    }
    texts.push(format!(r#"{{"children":[{},{}],"type":"OR"}}"#, texts[0], texts[1]));
    for text in texts {
        let read = read(&text);
        assert!(read.is_some(), "{text}");
        assert_eq!(read, by_tree(&text), "{text}");
    }
}

#[test]
fn a_condition_that_the_tree_refuses_is_refused_as_text() {
    let exists = test(r#""operator":"exists""#);
    let texts = [
        test(r#""operator":"exists","value":1"#),
        test(r#""operator":"exists","if_missing":true"#),
        test(r#""operator":"eq""#),
        test(r#""operator":"eq","value":null"#),
        test(r#""operator":"eq","value":[1]"#),
        test(r#""operator":"eq","value":{"attribute":"user.b","x":1}"#),
        test(r#""operator":"eq","value":{"attribute":"b"}"#),
        test(r#""operator":"in","value":"a""#),
        test(r#""operator":"in","value":[true]"#),
        test(r#""operator":"in","value":[["a"]]"#),
        test(r#""operator":"lt","value":true"#),
        test(r#""operator":"ends_with","value":1"#),
        test(r#""operator":"after","value":"today""#),
        test(r#""operator":"like","value":1"#),
        test(r#""operator":"eq","value":1,"more":1"#),
        test(r#""operator":"eq","value":1,"children":null"#),
        test(r#""operator":"eq","value":1,"if_missing":1"#),
        test(r#""operator":"eq","value":1e400"#),
        exists.replace("user.a", "user"),
        exists.replace("user.a", "request.colour"),
        exists.replace("CONDITION", "TEST"),
        r#"{"type":"AND","children":[]}"#.to_owned(),
        format!(r#"{{"type":"AND","children":[{exists}],"value":1}}"#),
        format!(r#"{{"type":"AND","child":{exists}}}"#),
        format!(r#"{{"type":"NOT","children":[{exists}]}}"#),
        format!(r#"["AND",[{exists}]]"#),
        format!(r#"{{"type":"NOT","child":["OR",[{exists}]]}}"#),
        format!("{exists} 1"),
        nested(MAX_DEPTH + 1),
        conjunction(MAX_NODES + 1),
        list(MAX_LIST + 1),
        "[".repeat(1_000),
    ];
    for text in texts {
        assert_eq!(by_tree(&text), None, "the tree reads {text}");
        assert_eq!(read(&text), None, "{text}");
    }
}

#[test]
fn rare_forms_are_left_to_the_tree() {
    for text in [
        test(r#""operator":"eq","value":"a","value":"b""#),
        test(r#""operator":"eq","value":"\u0061""#),
        test(r#""operator":"eq","value":"a","if_missing":null"#),
        test(r#""operator":"exists","value":null"#),
        test(r#""value":"a","operator":"eq""#),
        r#"{"attribute":"user.a","operator":"eq","value":2,"type":"LENGTH"}"#.to_owned(),
        r#"{"attribute":"user.a","operator":"eq","type":"CONDITION","value":"x"}"#.to_owned(),
        test(r#""operator":"during","value":{"zone":"UTC"}"#),
    ] {
        assert!(by_tree(&text).is_some(), "{text}");
        assert_eq!(read(&text), None, "{text}");
    }
}
