use serde_json::{Value, json};

use super::noted::{Counts, NotedProgress};
use super::parts::{FilePart, Parts};
use super::{Loaded, tuple_line};

fn parts(text: &str) -> Parts<&[u8]> {
    Parts::new(text.as_bytes(), Loaded::Relations)
}

fn records(part: &FilePart) -> Value {
    serde_json::from_str(&format!("[{}]", part.records)).expect("JSON")
}

#[test]
fn a_tuple_is_read_from_text() {
    let tuple = |object: &str, relation: &str, subject: &str| json!({"object": object, "relation": relation, "subject": subject});
    let mut of_group = tuple("doc:plan", "viewer", "group:eng");
    of_group["subject_relation"] = json!("member");
    for (text, expected) in [
        ("doc:plan#viewer@user:ann", tuple("doc:plan", "viewer", "user:ann")),
        ("doc:plan#viewer@group:eng#member", of_group),
        ("doc:plan#viewer@user:*", tuple("doc:plan", "viewer", "user:*")),
        ("doc:a#b@c#viewer@user:ann@x.org", tuple("doc:a", "b", "c#viewer@user:ann@x.org")),
        ("doc:a@b#viewer@user:ann@x.org", tuple("doc:a@b", "viewer", "user:ann@x.org")),
    ] {
        assert_eq!(tuple_line::read(text), Some(expected), "{text}");
    }
    for wrong in [
        "",
        "doc:plan",
        "doc:plan#viewer",
        "doc:plan@user:ann",
        "#viewer@user:ann",
        "doc:plan#a b@user:c",
    ] {
        assert_eq!(tuple_line::read(wrong), None, "{wrong}");
    }
}

#[test]
fn parts_have_a_thousand_lines_and_their_numbers() {
    let line = |number: usize| format!("doc:d{number}#viewer@user:ann\n");
    let text = format!("\n{}", (0..1_001).map(line).collect::<String>());
    let mut parts = parts(text.trim_end());
    let first = parts.next().expect("works").expect("a part");
    assert_eq!((first.lines.len(), first.lines[0], first.last_line), (1_000, 2, 1_001));
    let last = parts.next().expect("works").expect("a part");
    assert_eq!(records(&last)[0]["object"], "doc:d1000");
    assert_eq!((&*last.lines, last.begin.line, last.last_line), (&[1_002][..], 1_001, 1_002));
    assert!(parts.next().expect("works").is_none());
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_first_line() {
    let text = "\u{feff}doc:a#viewer@user:b\r\n\u{feff}doc:c#viewer@user:b";
    let part = parts(text).next().expect("works").expect("a part");
    assert_eq!(records(&part)[0]["object"], "doc:a");
    assert_eq!(records(&part)[1]["object"], "\u{feff}doc:c");
}

#[test]
fn a_wrong_line_is_named() {
    let mut entities =
        Parts::new(&b"{\"type\": \"user\", \"id\": \"a\"}\nuser:b\n"[..], Loaded::Entities);
    let error = |error: anyhow::Error| format!("{error:#}");
    let refused = error(entities.next().expect_err("a line without JSON"));
    assert_eq!(refused, "line 2 of the file: expected an entity as a JSON object");
    for (text, expected) in [
        ("doc:a#viewer@user:b\n{\"object\": 1,\n", "line 2 of the file: "),
        ("{\"object\": 1, \"object\": 2}", "line 1 of the file: "),
        ("doc:a", "line 1 of the file: expected a tuple"),
        (&"x".repeat(2 << 20), "line 1 of the file is longer than 1048576 bytes"),
    ] {
        let refused = error(parts(text).next().expect_err("a wrong line"));
        assert!(refused.starts_with(expected), "{refused}");
    }
}

#[test]
fn a_load_goes_on_in_the_same_text_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("tuples.txt");
    let line = |number: usize| format!("doc:d{number}#viewer@user:ann\n");
    let text: String = (0..2_500).map(line).collect();
    let mut read = parts(&text);
    let first = read.next().expect("works").expect("a part");
    let mut noted = NotedProgress::beside(&file, "job");
    assert!(!noted.is_begun());
    let counts = Counts { written: 1_000, ..Counts::default() };
    noted.note(first.begin, first.last_line, None, counts).expect("writes");
    let sync = Some("s1".to_owned());
    let second = read.next().expect("works").expect("a part");
    noted.note(second.begin, second.last_line, sync, counts).expect("writes");
    let noted = NotedProgress::beside(&file, "job");
    assert_eq!((noted.is_begun(), noted.progress().counts), (true, counts));
    assert_eq!(noted.progress().written_to, 2_000);
    let mut rest = parts(&text);
    assert!(rest.skip(noted.progress()).expect("reads"));
    let last = rest.next().expect("works").expect("a part");
    assert_eq!((last.lines.len(), last.lines[0]), (1_000, 1_001));
    // Another text, a shorter one and another job begin anew.
    let changed = text.replacen("d7#", "d8#", 1);
    for other in [&*changed, &text[..900]] {
        assert!(!parts(other).skip(noted.progress()).expect("reads"), "{}", other.len());
    }
    assert!(!NotedProgress::beside(&file, "other").is_begun());
    noted.forget();
    assert!(!NotedProgress::beside(&file, "job").is_begun());
}
