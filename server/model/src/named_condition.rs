//! Named conditions of a tenant (`docs/semantics.md`, section 4.11).

use portcullis_engine::condition::{CONDITION_NAME, Named, NamedConditions};
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::{Condition, Format, Invalid, Json, Policy};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use crate::authorship::managed_record;
use crate::fields::{parsed, text};
use crate::input::{self, DeclaredBody, Field, Members, field};
use crate::policy::{CompiledRuleData, ConditionTree, RuleData, condition_name};
use crate::{Authorship, SignedRecord, document, schema};

/// Most named conditions of a tenant.
const MAX_CONDITIONS: usize = 500;
/// Most bytes of the named conditions of a tenant together: each write of a policy reads them.
const MAX_BYTES: usize = 1 << 20;
/// Longest description, in characters.
const MAX_ABOUT: usize = 500;

/// A condition as a body or a file has it: an expression or a tree.
#[derive(Clone, Debug)]
pub struct When {
    /// The compact JSON: a string, or the tree.
    pub json: RuleData,
    /// The condition as it is written: names in it stand for nothing yet.
    pub condition: Condition,
}

impl When {
    fn read(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        // Everything that is not an object is read as an expression, whose fault then asks for a string.
        let is_tree = json.as_object().is_some();
        let read = match is_tree {
            true => CompiledRuleData::read(Format::Json, json, at, problems),
            false => CompiledRuleData::read_expression(json, at, problems),
        };
        let condition = read?.condition;
        Some(Self { json: RuleData::from_stored(json.to_string()).ok()?, condition })
    }
}

fn when<'j>() -> impl Field<'j, Value = When> {
    field(|json: &Json<'_>, at, problems| When::read(json, at, problems), when_schema)
}

fn when_schema() -> schema::AnySchema {
    let about = "The condition as an expression, such as `user.ward == resource.ward`";
    let expression = schema::formatted("condition-expression").description(Some(about));
    schema::one_of([expression.into(), schema::named::<ConditionTree>()])
}

managed_record! {
    /// A named condition as the store keeps it and the API shows it.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
    #[schema(examples(json!({
        "name": "on_team",
        "about": "An agent of the team that has the ticket",
        "when": "user.team == resource.team",
        "created_by": "ines-admin",
        "created_at": "2026-05-16T09:30:00.000Z",
        "updated_by": null,
        "updated_at": null,
        "managed_by": null,
    })))]
    pub struct ConditionRecord {
        pub name: String,
        #[schema(required)]
        pub about: Option<String>,
        /// An expression, or a condition tree.
        #[serde(rename = "when")]
        #[schema(schema_with = when_schema)]
        pub condition: RuleData,
    }
}

impl ConditionRecord {
    /// Returns whether the record says what `new` does.
    pub fn says(&self, new: &NewCondition) -> bool {
        (&self.about, &self.condition) == (&new.about, &new.when.json)
    }

    /// Returns the condition with another content.
    #[must_use]
    pub fn with(self, new: NewCondition, by: &Authorship) -> Self {
        Self { about: new.about, condition: new.when.json, ..self.signed(by) }
    }

    /// Returns the format of the condition, and the `rule_data` that a policy with it has.
    pub fn rule_data(&self) -> (Format, String) {
        rule_data(&self.condition)
    }

    /// Returns the condition as it is written.
    ///
    /// # Errors
    /// The stored condition does not compile any more.
    pub fn written(&self) -> Result<Condition, Invalid> {
        let (format, rule_data) = self.rule_data();
        Policy::stored_condition(format, &rule_data)
    }

    /// Returns the bytes that count for the tenant.
    pub fn bytes(&self) -> usize {
        self.name.len() + self.about.as_ref().map_or(0, String::len) + self.condition.text().len()
    }

    /// Notes the names in the condition that do not exist or lead back to it. The record is at `at`.
    pub fn check(&self, names: &NamedConditions, at: &Place<'_>, problems: &mut Problems) {
        if let Ok(written) = self.written() {
            check_names(&written, &self.condition, names, at, problems);
        }
    }
}

fn rule_data(when: &RuleData) -> (Format, String) {
    let text = when.text();
    // Compact JSON has no white space before its first character, so that character tells a string from a tree.
    match text.starts_with('"') {
        true => (Format::Expression, format!("{{\"expression\":{text}}}")),
        false => (Format::Json, text.to_owned()),
    }
}

/// Checks the names in the condition of an object at `at`. Its attributes are checked where it is used.
fn check_names(
    written: &Condition,
    when: &RuleData,
    names: &NamedConditions,
    at: &Place<'_>,
    problems: &mut Problems,
) {
    let (format, rule_data) = rule_data(when);
    match format {
        Format::Json => written.check_names(names, &at.key("when"), problems),
        // Nodes of a text have no place of their own in the JSON, so their faults are at the text as a whole.
        _ => written.check_names_of_text(names, &rule_data, &at.key("when"), problems),
    }
}

/// Returns the named conditions of a tenant. One that does not compile any more is left out.
pub fn named_conditions<'r>(
    records: impl IntoIterator<Item = &'r ConditionRecord>,
) -> NamedConditions {
    let written = records
        .into_iter()
        .filter_map(|record| Some((record.name.as_str().into(), record.written().ok()?)));
    NamedConditions::new(written)
}

/// Returns the limit that the conditions exceed together, as "at most …".
pub fn exceeded_limit(sizes: impl IntoIterator<Item = usize>) -> Option<String> {
    let (mut count, mut bytes) = (0, 0);
    for size in sizes {
        count += 1;
        bytes += size;
    }
    if count > MAX_CONDITIONS {
        return Some(format!("at most {MAX_CONDITIONS} named conditions"));
    }
    (bytes > MAX_BYTES)
        .then(|| format!("named conditions of at most {} MiB together", MAX_BYTES >> 20))
}

/// Returns whether a condition can have this name.
pub fn is_condition_name(text: &str) -> bool {
    Named::written(text).is_some()
}

/// A condition that a bundle or the file `conditions.yaml` names.
#[derive(Clone, Debug)]
pub struct NewCondition {
    pub name: String,
    pub about: Option<String>,
    pub when: When,
}

impl NewCondition {
    /// Reads the condition at `at`.
    pub fn read(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        input::read(json, at, problems, Self::declare)
    }

    fn declare(members: &mut Members<'_, '_>) -> Option<Self> {
        let name = members.required("name", name().about("The name; unique"));
        let (about, when) = declare_rest(members);
        Some(Self { name: name?, about, when: when? })
    }

    /// Returns the record of a new condition.
    pub fn into_record(self, by: &Authorship) -> ConditionRecord {
        ConditionRecord {
            name: self.name,
            about: self.about,
            condition: self.when.json,
            created_by: by.actor.clone(),
            created_at: by.at,
            updated_by: None,
            updated_at: None,
            managed_by: None,
        }
    }

    /// Returns the bytes that count for the tenant.
    pub fn bytes(&self) -> usize {
        self.name.len() + self.about.as_ref().map_or(0, String::len) + self.when.json.text().len()
    }

    /// Notes the names in the condition that do not exist or lead back to it. The object is at `at`.
    pub fn check(&self, names: &NamedConditions, at: &Place<'_>, problems: &mut Problems) {
        check_names(&self.when.condition, &self.when.json, names, at, problems);
    }
}

document!(NewCondition, naming ConditionTree => {
    input::describe(NewCondition::declare).about("A named condition").example(json!({
        "name": "on_team",
        "about": "An agent of the team that has the ticket",
        "when": "user.team == resource.team",
    }))
});

/// The body of `PUT /api/v1/conditions/{name}`.
#[derive(Clone, Debug)]
pub struct ConditionBody {
    name: Option<String>,
    about: Option<String>,
    when: When,
}

impl DeclaredBody<'_> for ConditionBody {
    fn declare(members: &mut Members<'_, '_>) -> Option<Self> {
        let about = "The name, which the path has";
        let name = members.optional("name", name().about(about));
        let (about, when) = declare_rest(members);
        Some(Self { name, about, when: when? })
    }
}

impl ConditionBody {
    /// Returns the condition, which the path calls `name`.
    ///
    /// # Errors
    /// The body has another name.
    pub fn into_condition(self, name: &str) -> Result<NewCondition, Invalid> {
        if self.name.is_some_and(|own| own != name) {
            let what = format!("`{name}`, the name of the path; it may be left out");
            return Err(Invalid::expected("/name", what));
        }
        Ok(NewCondition { name: name.to_owned(), about: self.about, when: self.when })
    }
}

document!(ConditionBody => {
    input::describe(ConditionBody::declare)
        .about("A condition; it replaces the one from before")
        .example(json!({"when": "user.team == resource.team"}))
});

fn name<'j>() -> impl Field<'j, Value = String> {
    parsed(
        |text| is_condition_name(text).then(|| text.to_owned()),
        || CONDITION_NAME.to_owned(),
        condition_name,
    )
}

fn declare_rest(members: &mut Members<'_, '_>) -> (Option<String>, Option<When>) {
    let about =
        members.optional("about", text(MAX_ABOUT).about("A sentence for people: what it is"));
    (about, members.required("when", when()))
}

#[cfg(test)]
mod tests {
    use portcullis_engine::json;

    use super::*;

    fn read(text: &str) -> Result<NewCondition, String> {
        let json = json::parse(text.as_bytes()).expect("JSON");
        let mut problems = Problems::default();
        let read = NewCondition::read(&json, &Place::root(), &mut problems);
        problems.finish(read).map_err(|invalid| invalid.to_string())
    }

    #[test]
    fn a_condition_is_an_expression_or_a_tree() {
        let text = read(r#"{"name": "on_team", "when": "user.team == resource.team"}"#);
        let text = text.expect("an expression");
        assert_eq!(text.when.json.text(), r#""user.team == resource.team""#);
        let tree = r#"{"name": "on_team", "about": "x", "when": {"type": "CONDITION", "attribute": "user.team",
            "operator": "eq", "value": {"attribute": "resource.team"}}}"#;
        let tree = read(tree).expect("a tree");
        assert_eq!(tree.when.condition, text.when.condition);
        let by = Authorship { actor: "ann".to_owned(), at: crate::Timestamp::from_millis(0) };
        for new in [text, tree] {
            let record = new.clone().into_record(&by);
            assert!(record.says(&new));
            assert_eq!(record.written().expect("a condition"), new.when.condition);
        }
    }

    #[test]
    fn a_name_is_a_word() {
        let named = |name: &str| read(&json!({"name": name, "when": "user.a"}).to_string());
        for name in ["a", "_x1", &"x".repeat(64)] {
            assert!(named(name).is_ok(), "{name}");
        }
        for name in ["", "1a", "a.b", "a-b", "a b", &"x".repeat(65)] {
            let fault = named(name).expect_err(name);
            assert!(fault.contains("at `/name`: expected the name of a condition"), "{fault}");
        }
    }

    #[test]
    fn a_fault_has_its_place() {
        let fault = read(r#"{"name": "a", "when": "user.a =="}"#).expect_err("refused");
        assert!(fault.starts_with("at `/when`"), "{fault}");
        let fault = read(r#"{"name": "a", "when": {"type": "X"}}"#).expect_err("refused");
        assert!(fault.starts_with("at `/when/type`"), "{fault}");
        let fault = read(r#"{"name": "a"}"#).expect_err("refused");
        assert!(fault.contains("`when` is missing"), "{fault}");
    }

    #[test]
    fn the_conditions_of_a_tenant_are_bounded() {
        assert_eq!(exceeded_limit([2; 500]), None);
        assert_eq!(exceeded_limit([2; 501]).as_deref(), Some("at most 500 named conditions"));
        assert_eq!(exceeded_limit([1 << 19; 2]), None);
        let bytes = Some("named conditions of at most 1 MiB together");
        assert_eq!(exceeded_limit([1 << 19, (1 << 19) + 1]).as_deref(), bytes);
    }
}
