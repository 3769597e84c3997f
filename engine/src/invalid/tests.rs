use super::*;
use crate::json::{self, Json, JsonError};
use crate::{CheckBody, Condition};

/// The most that an answer may hold, in bytes of JSON (`docs/semantics.md`, section 8.4). The names of unknown members
/// are there twice.
const MAX_ANSWER: usize = 64 * 1_024;

/// Returns the length of the parts of an answer that an input chooses, in bytes of JSON.
fn answer_len(invalid: &Invalid) -> usize {
    let of_problem = |problem: &Problem| {
        let name = match &problem.fault {
            Fault::Unknown { name, .. } => json_len(name),
            _ => 0,
        };
        json_len(&problem.path) + json_len(&problem.fault.to_string()) + name + 32
    };
    json_len(&invalid.to_string()) + invalid.problems().iter().map(of_problem).sum::<usize>()
}

fn refused<T>(text: &str, read: impl Fn(&Json<'_>) -> Result<T, Invalid>) -> Invalid {
    let json = match json::parse(text.as_bytes()) {
        Ok(json) => json,
        Err(JsonError::Invalid(invalid)) => return invalid,
        Err(error) => panic!("{error}"),
    };
    read(&json).err().expect("the input must be refused")
}

/// Repeats an item with commas between.
fn many(item: &str, count: usize) -> String {
    vec![item; count].join(",")
}

#[test]
fn an_error_is_short_whatever_the_input() {
    let long = "n".repeat(200_000);
    let escaped = "\\u0001".repeat(30_000);
    let unknown: Vec<String> =
        (0..20_000).map(|n| format!(r#""{n}-{}":1"#, "x".repeat(20))).collect();
    let unknown = unknown.join(",");
    let bad_attributes: Vec<String> = (0..4_000).map(|n| format!(r#""a{n}":null"#)).collect();
    let bad_attributes = bad_attributes.join(",");
    for text in [
        // One long name above many faults.
        format!(r#"{{"{long}":{{{}}}}}"#, many(r#""":1"#, 10_000)),
        format!(r#"{{"{long}":[{}]}}"#, many(r#""\u0000""#, 10_000)),
        // Names that JSON writes with six times their bytes.
        format!(r#"{{"{escaped}":{{{}}}}}"#, many(r#""":1"#, 10_000)),
        format!(r#"{{"{escaped}":1,"{escaped}":1}}"#),
        format!(r#"{{"{}":[{}]}}"#, "/~".repeat(50_000), many(r#""\u0000""#, 10_000)),
        // Many long names, and very many short ones.
        format!(r#"{{"a{long}":1,"b{long}":1,"c{long}":1}}"#),
        format!("{{{unknown}}}"),
        format!(r#"{{"attributes":{{"user":{{{bad_attributes}}}}}}}"#),
        // Deep.
        format!(
            "{}{}{}",
            r#"{"aaaaaaaaaaaaaaaaaaaa":"#.repeat(120),
            r#"{"":1,"":2}"#,
            "}".repeat(120)
        ),
    ] {
        let invalid = refused(&text, |json| CheckBody::parse(json).map(drop));
        assert!(
            answer_len(&invalid) <= MAX_ANSWER,
            "{}: {} bytes",
            &text[..40],
            answer_len(&invalid)
        );
    }
    let bad = r#"{"type":"CONDITION","attribute":"user.a","operator":"nope","value":1,"extra":2}"#;
    let tree = format!(r#"{{"type":"AND","children":[{}]}}"#, many(bad, 900));
    let invalid = refused(&tree, |json| Condition::parse(json).map(drop));
    assert!(answer_len(&invalid) <= MAX_ANSWER && invalid.left_out() > 0);
}

/// The control: written out in full, the paths of such an input are very large.
#[test]
fn the_paths_of_a_small_input_can_be_very_large() {
    let (long, faults) = ("n".repeat(280_000), 4_000);
    let root = Place::root();
    let above = root.key(&long);
    let mut problems = Problems::default();
    let mut written_out = 0;
    for index in 0..faults {
        problems.expected(&above.index(index), "a string");
        if index == 0 {
            written_out = above.index(index).to_string().len() * faults;
        }
    }
    assert!(written_out > 1_000_000_000);
    let invalid = problems.into_result().expect_err("faults");
    assert!(answer_len(&invalid) <= MAX_ANSWER);
    assert_eq!(invalid.problems().len() + invalid.left_out(), faults);
}

#[test]
fn the_first_problems_are_kept_and_the_others_counted() {
    let root = Place::root();
    let mut problems = Problems::default();
    for index in 0..250 {
        problems.expected(&root.index(index), "a string");
    }
    let invalid = problems.into_result().expect_err("faults");
    assert_eq!(invalid.problems().len(), MAX_PROBLEMS);
    assert_eq!(invalid.left_out(), 250 - MAX_PROBLEMS);
    assert_eq!(invalid.problems()[99].path, "/99");
    let message = invalid.to_string();
    assert!(message.ends_with("at `/2`: expected a string; and 247 more"), "{message}");
}

#[test]
fn a_long_path_ends_with_an_ellipsis() {
    let root = Place::root();
    let long = "é".repeat(MAX_TEXT);
    let place = root.key("~a/b").key(&long).index(7).to_string();
    assert!(place.starts_with("/~0a~1b/é") && place.ends_with("é/7"), "written out in full");
    let mut problems = Problems::default();
    problems.expected(&root.key("~a/b").key(&long).index(7), "a string");
    problems.unknown(&root, &long, &["name"]);
    let invalid = problems.into_result().expect_err("faults");
    let [first, second] = invalid.problems() else { panic!("two problems") };
    assert!(first.path.starts_with("/~0a~1b/éé") && first.path.ends_with("é…"), "{}", first.path);
    assert!(first.path.len() <= MAX_TEXT + '…'.len_utf8());
    let Fault::Unknown { name, .. } = &second.fault else { panic!("an unknown member") };
    assert!(name.ends_with("é…") && name.len() <= MAX_TEXT + '…'.len_utf8());
}

#[test]
fn an_unknown_member_names_the_one_that_is_meant() {
    let fault = |name: &str, known: &[&'static str]| {
        let mut problems = Problems::default();
        problems.unknown(&Place::root(), name, known);
        problems.into_result().expect_err("a fault").to_string()
    };
    for (name, known, expected) in [
        ("efect", &["effect", "sub", "obj", "act"][..], "; did you mean `effect`?"),
        ("efect", &["effect"], "; did you mean `effect`?"),
        ("ip", &["user", "resource"], "; did you mean `user` or `resource`?"),
        ("ip", &["a", "b", "c"], "; did you mean `a`, `b` or `c`?"),
        ("ip", &["a", "b", "c", "d"], ""),
        ("ip", &[], ""),
    ] {
        assert_eq!(fault(name, known), format!("field `{name}` is unknown{expected}"));
    }
}
