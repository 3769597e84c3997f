//! Relations that nobody can have, and subjects that look like subjects of tuples.

use portcullis_bundle::{Bundle, ItemKind};
use portcullis_engine::Json;
use portcullis_engine::entities::USER;
use portcullis_engine::excerpt::quoted;

use super::code::LintCode;
use super::finding::{Doubt, LintSubject};

/// Returns the findings about relations of types, and about subjects of rules and cases, if there are types.
pub(super) fn doubts(bundle: &Bundle) -> Vec<Doubt> {
    let types = bundle.types.as_deref().unwrap_or_default();
    if types.is_empty() {
        return Vec::new();
    }
    let mut doubts = Vec::new();
    for (name, relation) in bundle.rulebook.relations_of_nobody() {
        let Some(index) = types.iter().position(|one| one.kind == name) else { continue };
        doubts.push(Doubt {
            code: LintCode::NobodyHas,
            subject: LintSubject::Item(ItemKind::Type, index, "/relations"),
            message: format!("nobody can have `{relation}` of `{name}`, whatever is stored"),
            advice: "say in `[…]` who can be stored, such as `[user]`, or delete the relation"
                .to_owned(),
        });
    }
    let rules = bundle.rules.iter().enumerate();
    doubts.extend(rules.filter_map(|(index, rule)| {
        let what = format!("the rule `{}`", rule.tuple);
        let subject = LintSubject::Item(ItemKind::Rule, index, "/sub");
        mistaken(bundle, subject, &what, &rule.tuple.sub)
    }));
    let cases = bundle.cases.iter().enumerate();
    doubts.extend(cases.filter_map(|(index, case)| {
        let sub = case.check.get("subject").and_then(Json::as_str)?;
        let what = format!("the case {}", quoted(&case.name));
        let subject = LintSubject::Item(ItemKind::Case, index, "/check/subject");
        mistaken(bundle, subject, &what, sub)
    }));
    doubts
}

/// Returns the finding about a subject that is written as a tuple names a user, unless there is a user of this name.
fn mistaken(bundle: &Bundle, subject: LintSubject, what: &str, sub: &str) -> Option<Doubt> {
    let (_, id) = sub.split_once(':').filter(|(kind, _)| *kind == USER)?;
    if bundle.user(sub).is_some() {
        return None;
    }
    Some(Doubt {
        code: LintCode::MistakenSubject,
        subject,
        message: format!(
            "{what} names {}, who is not {}: only tuples write the type of a user",
            quoted(sub),
            quoted(id)
        ),
        advice: format!("write {}", quoted(id)),
    })
}
