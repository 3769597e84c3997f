//! The definition of a relation: its line, and where edges come from beside stored tuples.

use portcullis_engine::fields::{Fields, string, text};
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::{Json, leading_word};

use crate::claim_source::{ClaimSource, MAX_SOURCE};
use crate::line::Line;

/// The maximum number of relations of one type.
pub const MAX_RELATIONS: usize = 64;
/// The maximum length of the name of a relation, in characters.
const MAX_NAME: usize = 128;

/// A relation as a type defines it.
#[derive(Clone, Debug)]
pub struct RelationDefinition {
    /// The name, unique in the type.
    pub name: String,
    /// The line: who can be stored, and which other relations give this one.
    pub line: Line,
    /// The claim of the caller's token that makes the caller a member: a list of ids of objects of the type.
    pub claim: Option<ClaimSource>,
    /// The attribute of the resource that stands for its stored edges.
    pub request: Option<String>,
    /// The name that the relation had before.
    pub renamed_from: Option<String>,
    /// Whether the definition is an object, and the line its member `from`.
    is_long: bool,
}

impl RelationDefinition {
    /// Returns the canonical form: the line if nothing else is said. `renamed_from` is left out.
    pub fn to_json(&self) -> Json<'_> {
        let line = Json::String(self.line.to_string().into());
        let claim = self.claim.as_ref().map(|claim| ("claim".into(), claim.to_json()));
        let request = self.request.as_deref();
        let request = request.map(|name| ("request".into(), Json::String(name.into())));
        let members = [Some(("from".into(), line.clone())), claim, request];
        let members: Vec<_> = members.into_iter().flatten().collect();
        if members.len() == 1 { line } else { Json::Object(members) }
    }

    /// Calls `use_it` with the place of the line, in the definition at `at`.
    pub(crate) fn with_line_at(&self, at: &Place<'_>, use_it: impl FnOnce(&Place<'_>)) {
        if self.is_long { use_it(&at.key("from")) } else { use_it(at) }
    }
}

/// Reads the relations of one type: an object of lines, or of objects with `from`.
pub fn read_relations(
    json: &Json<'_>,
    at: &Place<'_>,
    problems: &mut Problems,
) -> Option<Vec<RelationDefinition>> {
    let Some(members) = json.as_object() else {
        problems.expected(at, format!("an object, not {}", json.kind()));
        return None;
    };
    if members.len() > MAX_RELATIONS {
        problems.expected(at, format!("at most {MAX_RELATIONS} relations"));
        return None;
    }
    let read =
        members.iter().map(|(name, json)| read_relation(name, json, &at.key(name), problems));
    // Collected first: each fault is noted.
    read.collect::<Vec<_>>().into_iter().collect()
}

fn read_relation(
    name: &str,
    json: &Json<'_>,
    at: &Place<'_>,
    problems: &mut Problems,
) -> Option<RelationDefinition> {
    let is_named = is_name(name);
    // The definition is read all the same: each fault is noted.
    if !is_named {
        problems.expected(
            at,
            format!("a name of letters, digits and `_`, of at most {MAX_NAME} characters, neither `id` nor `type`"),
        );
    }
    let mut definition = match json {
        Json::Object(_) => read_long(json, at, problems),
        _ => Some(RelationDefinition {
            name: String::new(),
            line: read_line(json, at, problems)?,
            claim: None,
            request: None,
            renamed_from: None,
            is_long: false,
        }),
    }?;
    definition.name = name.to_owned();
    is_named.then_some(definition)
}

fn read_long(
    json: &Json<'_>,
    at: &Place<'_>,
    problems: &mut Problems,
) -> Option<RelationDefinition> {
    let mut fields = Fields::open(json, at, problems)?;
    let line = fields.required("from", read_line);
    let claim = fields.optional("claim", ClaimSource::read);
    let request = fields.optional("request", read_source);
    let renamed_from = fields.optional("renamed_from", read_source);
    fields.close();
    Some(RelationDefinition {
        name: String::new(),
        line: line?,
        claim,
        request,
        renamed_from,
        is_long: true,
    })
}

fn read_source(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<String> {
    text(MAX_SOURCE)(json, at, problems).map(str::to_owned)
}

fn read_line(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Line> {
    let line = Line::parse(string(json, at, problems)?);
    line.map_err(|fault| problems.push(at, fault)).ok()
}

/// Returns whether `text` can be the name of a relation: `relation.<name>` is an attribute, and `<name>@resource` a
/// subject of rules.
fn is_name(text: &str) -> bool {
    leading_word(text) == text
        && !matches!(text, "" | "id" | "type")
        && text.chars().count() <= MAX_NAME
}

#[cfg(test)]
mod tests {
    use portcullis_engine::json;

    use super::*;

    fn read(text: &str) -> Result<Vec<RelationDefinition>, String> {
        let json = json::parse(text.as_bytes()).expect("JSON");
        let mut problems = Problems::default();
        let read = read_relations(&json, &Place::root(), &mut problems);
        problems.finish(read).map_err(|invalid| invalid.to_string())
    }

    #[test]
    fn both_forms_are_read_and_written() {
        let text = r#"{"parent": {"from": "[folder]", "request": "parent", "renamed_from": "in"},
            "member": {"from": "([user])", "claim": "groups"}, "viewer": {"from": "a||b"}, "owner": "[user]",
            "lead": {"from": "[user]", "claim": {"name": "leads", "absent": "nobody"}},
            "guest": {"from": "[user]", "claim": {"absent": "undetermined", "name": "guests"}}}"#;
        let read = read(text).expect("relations");
        assert_eq!(read[0].renamed_from.as_deref(), Some("in"));
        let written: Vec<String> = read.iter().map(|one| one.to_json().to_string()).collect();
        assert_eq!(
            written,
            [
                r#"{"from":"[folder]","request":"parent"}"#,
                r#"{"from":"[user]","claim":"groups"}"#,
                r#""a || b""#,
                r#""[user]""#,
                r#"{"from":"[user]","claim":{"name":"leads","absent":"nobody"}}"#,
                r#"{"from":"[user]","claim":"guests"}"#,
            ]
        );
    }

    #[test]
    fn each_fault_has_its_place() {
        for (text, expected) in [
            ("[]", "expected an object, not an array"),
            (r#"{"a": 7}"#, "at `/a`: expected a string, not a number"),
            (
                r#"{"a": "b c"}"#,
                "at `/a`: expected `||`, `&&` or the end of the line, not `c` at position 2",
            ),
            (r#"{"a": {}}"#, "at `/a`: field `from` is missing"),
            (
                r#"{"a": {"from": "", "claims": "g"}}"#,
                "at `/a/from`: expected `[`, the name of a relation, `!` or `(`, where the text ends at position 0; at `/a`: \
              field `claims` is unknown; did you mean `claim`?",
            ),
            (
                r#"{"a": {"from": "[user]", "claim": 7}, "b": {"from": "[user]", "claim": {"name": "g", "absent": "no"}}}"#,
                "at `/a/claim`: expected a string, not a number; at `/b/claim/absent`: expected `undetermined` or `nobody`, not \
              `no`",
            ),
            (
                r#"{"id": "a", "b": ""}"#,
                "at `/id`: expected a name of letters, digits and `_`, of at most 128 characters, neither `id` nor `type`; \
              at `/b`: expected `[`, the name of a relation, `!` or `(`, where the text ends at position 0",
            ),
        ] {
            assert_eq!(read(text).expect_err(text), expected);
        }
        for name in ["type", "", "a.b", "3", "a-b", "a#b", &"a".repeat(129)] {
            assert!(read(&format!(r#"{{"{name}": "[user]"}}"#)).is_err(), "{name}");
        }
        assert!(read(&format!(r#"{{"{}": "[user]"}}"#, "a".repeat(128))).is_ok());
    }

    #[test]
    fn a_type_has_a_limited_number_of_relations() {
        let relations = |count: usize| {
            let all: Vec<String> = (0..count).map(|n| format!(r#""r{n}": "[user]""#)).collect();
            read(&format!("{{{}}}", all.join(",")))
        };
        assert_eq!(relations(64).expect("64").len(), 64);
        assert_eq!(relations(65).expect_err("65"), "expected at most 64 relations");
    }
}
