//! The settings of a tenant: `settings.yaml`.

use portcullis_engine::Json;
use portcullis_engine::fields::{Fields, boolean, list, text};
use portcullis_engine::invalid::{Place, Problems};
use uuid::Uuid;

/// The longest name of an owner, in characters (`docs/semantics.md`, section 6.11).
const MAX_OWNER: usize = 256;
/// The largest share of an owner's objects that one apply may delete, in percent.
const ALL: i32 = 100;

/// Reads the settings. They are kept as they are written, because the service stores and judges them.
pub(super) fn read(
    json: &Json<'_>,
    at: &Place<'_>,
    problems: &mut Problems,
) -> Option<Json<'static>> {
    let mut fields = Fields::open(json, at, problems)?;
    fields.optional("gates", gates);
    fields.optional("max_deletes", |json, at, problems| {
        let percent = if let Json::Number(number) = json { number.as_i32() } else { None };
        if !percent.is_some_and(|percent| (0..=ALL).contains(&percent)) {
            problems.expected(at, format!("a percentage from 0 to {ALL}"));
        }
        Some(())
    });
    fields.optional("owners", owners);
    fields.close();
    Some(json.clone().into_owned())
}

fn gates(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<()> {
    let mut fields = Fields::open(json, at, problems)?;
    fields.optional("cases", boolean);
    fields.optional("approval", boolean);
    fields.close();
    Some(())
}

fn owners(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<()> {
    let Some(owners) = json.as_object() else {
        problems.expected(at, format!("an object, not {}", json.kind()));
        return None;
    };
    for (name, owner) in owners {
        let at = at.key(name);
        if !is_owner(name) {
            problems.expected(&at, OWNER);
        }
        if let Some(mut fields) = Fields::open(owner, &at, problems) {
            fields.required("keys", list(key));
            fields.close();
        }
    }
    Some(())
}

/// Completes "expected …" for the name of an owner.
pub const OWNER: &str = "an owner of 1 to 256 printable characters without a space";

/// Returns whether `name` can be an owner of objects.
#[must_use]
pub fn is_owner(name: &str) -> bool {
    let is_printable = |c: char| !c.is_control() && !c.is_whitespace();
    (1..=MAX_OWNER).contains(&name.chars().count()) && name.chars().all(is_printable)
}

fn key(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<()> {
    let id = text(MAX_OWNER)(json, at, problems)?;
    if Uuid::try_parse(id).is_err() {
        problems.expected(at, "the id of a service key");
    }
    Some(())
}
