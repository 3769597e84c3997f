//! Tuples as text: `document:plan#viewer@group:eng#member`.

use portcullis_engine::leading_word;
use serde_json::{Value, json};

/// Reads a tuple in its text form; `None` for another text. The first `#relation@` ends the object.
pub(super) fn read(text: &str) -> Option<Value> {
    let mut ends = text.match_indices('@').map(|(at, _)| at);
    let (object, relation, subject) = ends.find_map(|at| {
        let (object, relation) = text[..at].rsplit_once('#')?;
        (is_word(relation) && object.contains(':')).then(|| (object, relation, &text[at + 1..]))
    })?;
    let with_relation = subject.rsplit_once('#').filter(|(_, relation)| is_word(relation));
    Some(match with_relation {
        Some((subject, of)) => {
            json!({"object": object, "relation": relation, "subject": subject, "subject_relation": of})
        }
        None => json!({"object": object, "relation": relation, "subject": subject}),
    })
}

fn is_word(name: &str) -> bool {
    !name.is_empty() && leading_word(name) == name
}
