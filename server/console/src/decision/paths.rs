//! The tuples that lead from an object to its subject, as figures.

use askama::Template;
use serde_json::Value;

use super::known::text_of;

/// The width and height of a box, in units of the figure.
const BOX: (usize, usize) = (176, 32);
/// The room for an arrow and its name.
const GAP: usize = 120;
/// The height of a figure: a box with room above and below.
const HEIGHT: usize = BOX.1 + 16;
/// Most characters of a name in a box, and of one above an arrow. The table has the whole.
const NAME: usize = 21;
const RELATION: usize = 14;
/// The source of an attribute that is a relation.
const RELATIONS: &str = "relations";

#[derive(Template)]
#[template(path = "decision_paths.html")]
pub(crate) struct Paths {
    paths: Vec<PathFigure>,
    /// A sentence about the time of the tuples.
    note: Option<&'static str>,
    height: usize,
}

/// The path of one relation. It has one column for each object on the way.
struct PathFigure {
    /// The attribute, such as `relation.viewer`.
    attribute: String,
    /// The path as a sentence.
    name: String,
    width: usize,
    boxes: Vec<Placed>,
    arrows: Vec<Placed>,
    edges: Vec<Edge>,
}

/// A box or an arrow, from `x` to `end`.
struct Placed {
    x: usize,
    end: usize,
    middle: usize,
    text: String,
}

struct Edge {
    object: String,
    relation: String,
    subject: String,
    source: String,
}

impl Paths {
    /// Returns the paths of an explanation of the present; `None` if it has no relation that holds.
    pub(crate) fn of(explanation: &Value) -> Option<Self> {
        let paths: Vec<_> = relations(explanation).filter_map(PathFigure::of).collect();
        (!paths.is_empty()).then_some(Self { paths, note: None, height: HEIGHT })
    }

    /// Returns the paths of the relations that `recorded` read, as they lead `now`; `None` if it read none that held. A record
    /// has the answer of a relation alone.
    pub(super) fn of_record(recorded: &[Value], now: Option<&Value>) -> Option<Self> {
        let held: Vec<&str> = held(recorded).collect();
        if held.is_empty() {
            return None;
        }
        let mut paths = now.and_then(Self::of).map(|paths| paths.paths).unwrap_or_default();
        paths.retain(|figure| held.contains(&&*figure.attribute));
        let note = match paths.len() == held.len() {
            true => {
                "The record has the answer of a relation; the path is the one that leads there now."
            }
            false => {
                "The record has the answer of a relation; the tuples that led there then are gone."
            }
        };
        Some(Self { paths, note: Some(note), height: HEIGHT })
    }
}

/// Returns whether a decision read a relation that held, so that it has a path.
pub(super) fn has_path(recorded: &[Value]) -> bool {
    held(recorded).next().is_some()
}

/// Returns the names of the relations that held.
fn held(attributes: &[Value]) -> impl Iterator<Item = &str> {
    let held = attributes.iter().filter(|one| one["source"] == RELATIONS && one["value"] == true);
    held.filter_map(|one| one["attribute"].as_str())
}

/// Returns the relations of an explanation.
fn relations(explanation: &Value) -> impl Iterator<Item = &Value> {
    let attributes = explanation["attributes"].as_array().into_iter().flatten();
    attributes.filter(|one| one["source"] == RELATIONS)
}

impl PathFigure {
    /// Returns the path of a relation, or of its first part that holds; `None` without one.
    fn of(relation: &Value) -> Option<Self> {
        let own = relation["path"].as_array();
        let branches = relation["branches"].as_array().into_iter().flatten();
        // A part that is negated holds because nothing leads there.
        let of_parts = branches.filter(|part| part["holds"] == true && part["negated"] != true);
        let path = own.into_iter().chain(of_parts.filter_map(|part| part["path"].as_array()));
        let edges: Vec<Edge> =
            path.into_iter().find(|path| !path.is_empty())?.iter().map(edge).collect();
        let last = edges.last()?.subject.clone();
        let names = edges.iter().map(|edge| &*edge.object).chain([&*last]);
        let boxes: Vec<Placed> = names
            .enumerate()
            .map(|(column, name)| Placed::new(column * (BOX.0 + GAP), BOX.0, cut(name, NAME)))
            .collect();
        let arrows = edges.iter().enumerate().map(|(column, edge)| {
            Placed::new(column * (BOX.0 + GAP) + BOX.0, GAP, cut(&edge.relation, RELATION))
        });
        let said = edges
            .iter()
            .map(|edge| format!("{} of {} is {}", edge.relation, edge.object, edge.subject));
        Some(Self {
            attribute: relation["attribute"].as_str().unwrap_or_default().to_owned(),
            name: said.collect::<Vec<_>>().join(", "),
            width: boxes.last()?.end,
            arrows: arrows.collect(),
            boxes,
            edges,
        })
    }
}

impl Placed {
    fn new(x: usize, width: usize, text: String) -> Self {
        Self { x, end: x + width, middle: x + width / 2, text }
    }
}

fn edge(edge: &Value) -> Edge {
    let [object, relation, subject, source] =
        ["object", "relation", "subject", "source"].map(|name| text_of(edge, name));
    let subject = match edge["subject_relation"].as_str() {
        Some(relation) => format!("{subject}#{relation}"),
        None => subject,
    };
    Edge { object, relation, subject, source }
}

/// Returns the first characters of a text, with a sign if there are more.
fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_path_has_a_column_for_each_object() {
        let edge = |object: &str, relation: &str, subject: &str| json!({"object": object, "relation": relation, "subject": subject});
        let mut group = edge("folder:sales", "viewer", "group:eng");
        group["subject_relation"] = json!("member");
        let path = json!([
            edge("document:plan", "parent", "folder:sales"),
            group,
            edge("group:eng", "member", "user:ann")
        ]);
        let relation = json!({"attribute": "relation.viewer", "source": "relations", "value": true, "path": path});
        let text =
            Paths::of(&json!({"attributes": [relation]})).and_then(|paths| paths.render().ok());
        let text = text.unwrap_or_default();
        for expected in [
            "<h2>Path</h2>",
            "aria-label=\"parent of document:plan is folder:sales, viewer of folder:sales is group:eng#member, member of group:eng is user:ann\"",
            "viewBox=\"0 0 1064 48\"",
            "<summary>Table</summary>",
        ] {
            assert!(text.contains(expected), "{expected}: {text}");
        }
        assert_eq!(text.matches("<rect").count(), 4);
        let none = json!({"attributes": [{"attribute": "relation.viewer", "source": "relations", "value": false}]});
        assert!(Paths::of(&none).is_none());
        let held = [json!({"attribute": "relation.viewer", "source": "relations", "value": true})];
        let gone = Paths::of_record(&held, Some(&none)).and_then(|paths| paths.note);
        assert!(gone.is_some_and(|note| note.contains("are gone")));
        assert!(has_path(&held) && Paths::of_record(&[], None).is_none());
    }
}
