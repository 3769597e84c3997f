//! The content of a tenant that types, tuples and questions become.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use chrono::SecondsFormat;
use portcullis_bundle::{ExportedContent, TENANT_FILE, folder_files};
use portcullis_engine::entities::USER;
use portcullis_engine::{DEFAULT_DENY, Json, json};
use serde_json::{Map, Value, json};

use super::questions::{ImportedTest, Question};
use super::tuples::ImportedTuple;
use super::types::ImportedModel;

/// The tuples of a folder, which tests read.
const RELATIONS_FILE: &str = "relations.yaml";
/// The files that a folder needs, and that an import does not replace: it has nothing for them.
const KEPT_FILES: [&str; 2] = [TENANT_FILE, "policies.yaml"];

/// The content of a tenant, and its tuples.
#[derive(Debug)]
pub(crate) struct ImportedContent {
    pub(crate) types: Vec<Value>,
    pub(crate) resources: Vec<Value>,
    pub(crate) rules: Value,
    pub(crate) cases: Vec<Value>,
    pub(crate) tuples: Vec<ImportedTuple>,
}

impl ImportedContent {
    /// Makes the content. Notes what is left out.
    ///
    /// # Errors
    /// Each relation for which Portcullis has no rule.
    pub(crate) fn new(
        model: &ImportedModel,
        tuples: Vec<ImportedTuple>,
        tests: &[ImportedTest],
        notes: &mut Vec<String>,
    ) -> Result<Self, Vec<String>> {
        let rules = model.rules()?;
        let types = model.types().map(|(name, relations)| {
            let lines =
                relations.iter().map(|(_, one)| (one.name.clone(), json!(one.line.to_string())));
            json!({"type": name, "relations": lines.collect::<Map<_, _>>()})
        });
        let resources = rules.iter().map(|rule| json!({"name": rule.obj})).collect();
        let (types, rules) = (types.collect(), json!(rules));
        Ok(Self { types, resources, rules, cases: cases(model, tests, notes), tuples })
    }

    /// Returns the members of a bundle for a service. Cases stay in folders: the cases of a service have no tuples.
    pub(crate) fn bundle(&self) -> Value {
        let Self { types, resources, rules, .. } = self;
        json!({"types": types, "resources": resources, "rules": rules})
    }

    /// Returns the counts of everything, for people.
    pub(crate) fn summary(&self) -> String {
        let Self { types, resources, tuples, cases, .. } = self;
        format!(
            "{} types, {} rules, {} relations, {} cases",
            types.len(),
            resources.len(),
            tuples.len(),
            cases.len()
        )
    }

    /// Returns the files of the tenant `tenant` in the folder `to`, without those that it keeps; `None` is no folder.
    ///
    /// # Errors
    /// A value that no file can have.
    pub(crate) fn files(
        &self,
        tenant: &str,
        to: Option<&Path>,
    ) -> anyhow::Result<Vec<(PathBuf, String)>> {
        let Self { types, resources, rules, cases, tuples } = self;
        let kinds = json!({
            "types": types, "resources": resources, "rules": rules, "policies": [], "cases": cases,
        });
        let kinds = kinds.to_string();
        let kinds: Json<'_> = json::parse(kinds.as_bytes())?;
        let files = folder_files(&ExportedContent { tenant, kinds: &kinds, descriptors: &[] })?;
        let files = files.into_iter().filter(|file| !to.is_some_and(|to| keeps(to, &file.name)));
        let in_folder = |name: &str| to.unwrap_or(Path::new("")).join(name);
        let mut files: Vec<_> = files.map(|file| (in_folder(&file.name), file.text)).collect();
        files.push((in_folder(RELATIONS_FILE), lines(tuples)?));
        Ok(files)
    }
}

/// Returns whether `folder` has a file that it keeps, of this name.
fn keeps(folder: &Path, name: &str) -> bool {
    KEPT_FILES.contains(&name) && folder.join(name).exists()
}

/// Returns the tuples as YAML, one in each line.
fn lines(tuples: &[ImportedTuple]) -> anyhow::Result<String> {
    if tuples.is_empty() {
        return Ok("[]\n".to_owned());
    }
    let lines = tuples.iter().map(|one| Ok(format!("- {}\n", serde_json::to_string(one)?)));
    lines.collect()
}

/// Returns the cases of the tests: each question as a check.
fn cases(model: &ImportedModel, tests: &[ImportedTest], notes: &mut Vec<String>) -> Vec<Value> {
    let (mut cases, mut names) = (Vec::new(), HashMap::<String, usize>::new());
    for test in tests {
        if !test.tuples.is_empty() {
            let reason =
                "left out: the cases of a folder share its tuples, and this test has others";
            notes.push(test.place.says(reason));
            continue;
        }
        let mut asked = HashSet::new();
        for question in &test.questions {
            // A list and a single question of a test may ask the same.
            if !asked.insert((&question.user, &question.relation, &question.object, question.now)) {
                continue;
            }
            if is_ambiguous(model, question) {
                let reason = format!("left out: a check cannot name `{}`", question.user);
                notes.push(question.place.says(reason));
                continue;
            }
            let Question { user, relation, object, .. } = question;
            // Names of cases are unique, and a test may ask the same at several instants.
            let mut name = format!("{}: {user} {relation} {object}", test.name);
            let count = names.entry(name.clone()).or_default();
            *count += 1;
            if *count > 1 {
                name = format!("{name} ({count})");
            }
            cases.push(case(name, question));
        }
    }
    cases
}

/// Returns whether a check with the id of the user would be about an object of another type.
fn is_ambiguous(model: &ImportedModel, question: &Question) -> bool {
    let named = question.subject().split_once(':').map(|(kind, _)| kind);
    question.user.starts_with(&format!("{USER}:"))
        && named.is_some_and(|kind| kind != USER && model.schema.has_type(kind))
}

fn case(name: String, question: &Question) -> Value {
    let Question { relation, object, expected, now, .. } = question;
    // A question about an object without a type was refused before.
    let (object_type, id) = object.split_once(':').unwrap_or((object, ""));
    let resource = format!("{object_type}:{relation}");
    let (decision, rule) = match expected {
        true => ("allow", format!("{relation}@resource, *, {resource}, {relation}")),
        false => ("deny", DEFAULT_DENY.to_owned()),
    };
    let mut case = json!({
        "name": name,
        "check": {
            "subject": question.subject(),
            "resource": resource,
            "action": relation,
            "attributes": {"resource": {"id": id}},
        },
        "expect": {"decision": decision, "rule": rule},
    });
    if let (Some(now), Some(members)) = (now, case.as_object_mut()) {
        let now = now.to_rfc3339_opts(SecondsFormat::AutoSi, true);
        members.insert("now".to_owned(), now.into());
    }
    case
}
