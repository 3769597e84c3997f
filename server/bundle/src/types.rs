//! The types that a tenant declares: `types.yaml`, and the `types` of a bundle.

use portcullis_engine::Json;
use portcullis_engine::fields::list;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::types::Types;
use portcullis_model::relation::schema_of;
use portcullis_model::types::{NewType, declared_types, exceeded_limit};

use crate::unique::each_once;

/// Reads types, each once, as many as a tenant may have.
pub(super) fn read(
    json: &Json<'_>,
    at: &Place<'_>,
    problems: &mut Problems,
) -> Option<Vec<NewType>> {
    let types = list(NewType::read)(json, at, problems)?;
    each_once(types.iter().map(|declared| &declared.kind), "`type`", at, problems);
    if let Some(limit) = exceeded_limit(types.len()) {
        problems.expected(at, limit);
    }
    Some(types)
}

/// Reads every type of a folder. Their references and the lines of their relations fit together.
pub(super) fn read_all(
    json: &Json<'_>,
    at: &Place<'_>,
    problems: &mut Problems,
) -> Option<Vec<NewType>> {
    let types = read(json, at, problems).filter(|_| problems.is_empty())?;
    check_references(&types, at, problems);
    let relations = types.iter().map(|one| (&*one.kind, &one.relations));
    let Err(invalid) = schema_of(relations) else { return Some(types) };
    for problem in invalid.problems() {
        // The path is `/<index>/relations/<name>`.
        let mut parts = problem.path.split('/').skip(1);
        let index = parts.next().and_then(|index| index.parse().ok()).unwrap_or_default();
        let at = at.index(index);
        let name = parts.nth(1).unwrap_or_default();
        problems.push(&at.key("relations").key(name), problem.fault.clone());
    }
    None
}

/// Notes each reference of the types at `at` to a type that is not among them.
fn check_references(types: &[NewType], at: &Place<'_>, problems: &mut Problems) {
    for fault in compiled(Some(types)).unknown_references() {
        let index = types.iter().position(|declared| declared.kind == fault.of).unwrap_or_default();
        let at = at.index(index);
        let what = format!("a type of this file, or `user`: nothing declares `{}`", fault.to);
        problems.expected(&at.key("properties").key(fault.name).key("type"), what);
    }
}

/// Returns the types of a folder as conditions and cases are checked against them.
pub(super) fn compiled(types: Option<&[NewType]>) -> Types {
    declared_types(types.unwrap_or_default().iter().map(NewType::declared))
}
