//! References between types, each to a type that somebody declares (`docs/semantics.md`, section 12.15).

use portcullis_engine::Invalid;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::types::{ReferenceFault, Types};
use portcullis_runtime::write_refusal::BrokenObjects;

use super::broken_objects::note;

/// Notes the stored types that refer to types which nobody declares any more. `place` gives the JSON pointer of a type that
/// the caller sent.
///
/// # Errors
/// A sent type refers to one that nobody declares.
pub(crate) fn check_references(
    types: &Types,
    place: impl Fn(&str) -> Option<String>,
    broken: &mut BrokenObjects,
) -> Result<(), Invalid> {
    for ReferenceFault { of, name, to } in types.unknown_references() {
        let expected = format!("a declared type: nobody declares `{to}`");
        match place(of) {
            Some(at) => {
                let (mut problems, root) = (Problems::default(), Place::root());
                problems.expected(&root.key("properties").key(name).key("type"), expected);
                problems.into_result().map_err(|invalid| invalid.under(&at))?;
            }
            None => {
                let message = format!(
                    "its property `{name}` would refer to what is not there; expected {expected}"
                );
                note(broken, "type", || of.to_owned(), message);
            }
        }
    }
    Ok(())
}
