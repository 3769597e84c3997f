//! Documents that differ from a sound one in one place.

use serde_json::{Value, json};

/// Returns copies of `document`, each with one change: a value replaced, a member added or left out, an item repeated.
#[must_use]
pub fn mutations(document: &Value) -> Vec<Value> {
    let mut pointers = Vec::new();
    collect_pointers(document, "", &mut pointers);
    let mut all = Vec::new();
    for pointer in &pointers {
        let is_container =
            document.pointer(pointer).is_some_and(|value| value.is_object() || value.is_array());
        let values = if is_container { one_of_each_type() } else { replacements() };
        all.extend(values.into_iter().map(|value| replaced(document, pointer, value)));
        all.extend(of_container(document, pointer));
    }
    all.retain(|mutation| mutation != document);
    all
}

fn one_of_each_type() -> Vec<Value> {
    vec![json!(null), json!(true), json!(0), json!("a"), json!([]), json!({})]
}

/// Values of each type, and texts that some patterns and formats accept.
fn replacements() -> Vec<Value> {
    vec![
        json!(null),
        json!(true),
        json!(0),
        json!(-1),
        json!(1.5),
        json!(1e10),
        json!(""),
        json!("*"),
        json!("a"),
        json!("A b"),
        json!("a:b"),
        json!("a:*"),
        json!("user.a"),
        json!("https://a.example/x"),
        json!("2026-02-28T10:00:00Z"),
        json!("x".repeat(300)),
        json!([]),
        json!(["a"]),
        json!([1, true]),
        json!({}),
        json!({"a": 1}),
        json!({"a": {"a": "a"}}),
    ]
}

/// Returns the changes of the object or list at `pointer` that keep the rest of it.
fn of_container(document: &Value, pointer: &str) -> Vec<Value> {
    match document.pointer(pointer) {
        Some(Value::Object(members)) => {
            let without = members.keys().map(|name| {
                let mut members = members.clone();
                members.shift_remove(name);
                members
            });
            let mut more = members.clone();
            more.insert("zzz".to_owned(), json!("a"));
            let changed = without.chain([more]);
            changed.map(|members| replaced(document, pointer, Value::Object(members))).collect()
        }
        Some(Value::Array(items)) => {
            let repeated: Vec<Value> = items.iter().chain(items.last()).cloned().collect();
            vec![replaced(document, pointer, Value::Array(repeated))]
        }
        _ => vec![],
    }
}

fn replaced(document: &Value, pointer: &str, value: Value) -> Value {
    let mut copy = document.clone();
    if let Some(place) = copy.pointer_mut(pointer) {
        *place = value;
    }
    copy
}

fn collect_pointers(value: &Value, at: &str, pointers: &mut Vec<String>) {
    pointers.push(at.to_owned());
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                let name = name.replace('~', "~0").replace('/', "~1");
                collect_pointers(value, &format!("{at}/{name}"), pointers);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                collect_pointers(value, &format!("{at}/{index}"), pointers);
            }
        }
        _ => {}
    }
}
